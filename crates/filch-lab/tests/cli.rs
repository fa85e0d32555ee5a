//! Tests of the command line.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn filch_lab(arguments: &[&str]) -> Output {
    filch_lab_in(Path::new("."), arguments)
}

fn filch_lab_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filch-lab"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns what the program printed. It must succeed.
fn printed(arguments: &[&str]) -> String {
    let output = filch_lab(arguments);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {}\n{shown}", stderr(&output));
    shown
}

fn refused(arguments: &[&str], reason: &str) {
    refused_in(Path::new("."), arguments, reason);
}

fn refused_in(folder: &Path, arguments: &[&str], reason: &str) {
    let output = filch_lab_in(folder, arguments);
    let said = stderr(&output);
    assert!(!output.status.success(), "{arguments:?} was accepted");
    assert!(said.contains(reason), "{arguments:?}: {said}");
    assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn bad_input_is_refused_before_anything_is_measured() {
    refused(&["bench", "queues", "--threads", "0"], "a pool needs a thread");
    refused(&["bench", "queues", "--threads", "1,two"], "not a number of threads");
    refused(&["bench", "queues", "--task-cost", "1,x"], "whole number of nanoseconds");
    refused(&["bench", "fork-join", "--threads", "0"], "a pool needs a thread");
    refused(&["bench", "fork-join", "--threads", "many"], "not a number of threads");
    refused(&["bench", "rayon", "--threads", "0"], "a pool needs a thread");
    refused(
        &["bench", "rayon", "--case", "par-sort-11m"],
        "no case begins with `par-sort-11m`; there are par-iter-sum-10m,",
    );
    refused(&["bench", "graphs", "--threads", "0"], "a pool needs a thread");
    refused(&["bench", "graphs", "--case", "bfs"], "no case begins with `bfs`; there are closure/kgraph-250k,");
    refused(&["bench", "bulk", "--threads", "1", "--case", "steal"], "an owner and a thief");
    refused(&["bench", "bulk", "--case", "theft"], "no case begins with `theft`; there are push/1, push/128,");
    refused(&["bench", "bulk", "--quick", "--full"], "cannot be used with");
    refused(&["bench", "solver", "--case", "misp/keller"], "no case begins with `misp/keller`; there are misp/random-");
    refused(&["bench", "solver", "--data", "nowhere"], "nowhere is not a folder");
    refused(&["bench", "nothing"], "unrecognized subcommand");
    refused(&["lab", "nothing"], "unrecognized subcommand");
    refused(&["lab", "delta", "nowhere", "pop"], "nowhere: cannot read the file");
    refused(&["lab", "delta", "Cargo.toml", "pop"], "Cargo.toml: expected a compiled program");
    refused(&["lab", "delta", "Cargo.toml", "pop", "--bound", "0"], "--bound");
    refused(&["verify", "unknown"], "no model is named `unknown`; the models are chase_lev,");
    refused(&["verify", "chase_lev", "--tasks", "99"], "may be from 1 to");
    refused(&["verify", "--trace"], "required");
}

#[test]
fn a_suite_whose_output_cannot_be_written_does_not_run() {
    for (suite, option, first) in [
        ("queues", "--json", "burst-64"),
        ("fork-join", "--json", "fib-38"),
        ("fork-join", "--plot", "fib-38"),
        ("rayon", "--json", "Building"),
        ("graphs", "--json", "closure/"),
        ("bulk", "--json", "push/"),
        ("solver", "--json", "misp/"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("figures");
        let output = filch_lab(&["bench", suite, option, path.to_str().unwrap()]);
        let said = stderr(&output);
        assert!(!output.status.success());
        assert!(said.contains("cannot be written"), "{said}");
        assert!(!said.contains(first), "the suite ran anyway: {said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn an_instrument_whose_output_cannot_be_written_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nowhere").join("figures");
    let path = path.to_str().unwrap();
    refused(&["lab", "store-buffer", "--json", path], "cannot be written: there is no folder");
    refused(&["lab", "store-buffer", "--plot", path], "cannot be written: there is no folder");
    refused(&["lab", "fences", "--json", path], "cannot be written: there is no folder");
    refused(&["lab", "delta", "Cargo.toml", "pop", "--json", path], "cannot be written: there is no folder");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn fence_costs_are_rows_and_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("figures.json");
    let shown = printed(&["lab", "fences", "--quick", "--json", path.to_str().unwrap()]);
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for case in ["store", "fence", "locked-add"] {
        let row = rows.iter().find(|row| row["case"] == case).unwrap_or_else(|| panic!("there is no row of {case}"));
        assert_eq!((&row["suite"], &row["impl"], &row["unit"]), (&"fences".into(), &"machine".into(), &"ns/op".into()));
        assert!(shown.contains(case), "{shown}");
    }
}

#[test]
fn the_trace_of_a_refuted_model_shows_store_buffers() {
    let shown = printed(&["verify", "chase_lev/unfenced", "--trace", "--bound", "1"]);
    for part in ["step | owner", "its buffer | thief", "[T=", "reaches memory", "So a task is extracted twice: task"] {
        assert!(shown.contains(part), "`{part}` is not in\n{shown}");
    }
}

#[test]
fn a_model_that_holds_has_no_trace() {
    let shown = printed(&["verify", "chase_lev", "--trace", "--bound", "1", "--tasks", "2"]);
    assert!(shown.contains("nothing is refuted"), "{shown}");
}

#[test]
fn the_published_bulk_queue_is_refuted_as_expected() {
    let shown = printed(&["verify", "bulk/published", "--quick"]);
    assert!(shown.contains("refuted: a task is extracted twice"), "{shown}");
}

#[test]
fn the_explorer_listens_on_the_loopback_interface_only() {
    let mut served = Command::new(env!("CARGO_BIN_EXE_filch-lab"))
        .args(["verify", "chase_lev", "--explore", "--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    BufReader::new(served.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    // The program listens a moment after it has printed its address.
    let mut stream = (0..6_000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        TcpStream::connect(address).ok()
    });
    let stream = stream.as_mut().expect("it listens");
    write!(stream, "GET /.status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    served.kill().unwrap();
    served.wait().unwrap();
    assert!(answer.contains("no claim is broken"), "{answer}");
}

#[test]
fn one_run_of_the_solver_suite_prints_its_result() {
    for contender in ["filch", "ddo", "serial-pair"] {
        let options = ["--contender", contender, "--threads", "2", "--limit", "60"];
        let shown = printed(&[&["bench", "solver-run", "golomb/7"], &options[..]].concat());
        let answer: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!((answer["cost"].as_i64(), answer["proven"].as_bool()), (Some(25), Some(true)), "{contender}");
        assert!(answer["seconds"].as_f64().unwrap() > 0.0 && answer["explored"].as_f64().unwrap() >= 1.0);
    }
    refused(
        &["bench", "solver-run", "golomb/7", "--contender", "unknown", "--threads", "1", "--limit", "1"],
        "there are filch, filch-chase_lev, filch-mutex, ddo and serial-pair",
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_suite_with_the_finished_cases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("figures.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_filch-lab"))
        .args(["bench", "bulk", "--quick", "--json", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // The first case is finished, and many are not.
    while !line.starts_with("[2/") {
        line.clear();
        assert_ne!(said.read_line(&mut line).unwrap(), 0, "the program ended by itself");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let (mut rest, mut shown) = (String::new(), String::new());
    said.read_to_string(&mut rest).unwrap();
    child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("Stopping after this sample, with the figures so far") && !rest.contains("error"), "{rest}");
    assert!(shown.contains("Interrupted: not all cases were measured"), "{shown}");
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(rows.iter().any(|row| row["case"] == "push/1"), "{rows:?}");
    assert!(!rows.iter().any(|row| row["case"].as_str().is_some_and(|case| case.starts_with("dag/"))));
    assert!(shown.contains("\npush/1: ") && !shown.contains("\ndag/"), "{shown}");
}

const LITMUS: [&str; 2] = ["lab", "litmus"];

/// Whether this machine can race; if not, the program said why.
fn can_race(output: &Output) -> bool {
    let stderr = stderr(output);
    let reasons = ["only one hardware thread", "this test needs an x86-64 CPU", "this program runs under"];
    if !output.status.success() && reasons.iter().any(|reason| stderr.contains(reason)) {
        return false;
    }
    assert!(output.status.success(), "{stderr}");
    true
}

#[test]
fn a_small_sweep_is_printed_drawn_saved_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let refused = |options: &[&str], reason| refused_in(folder, &[&LITMUS[..], options].concat(), reason);
    let state = ["--runs", "1", "--state", "state.json"];
    let files = ["--bound", "128", "--json", "sweep.json", "--plot", "sweep.svg"];
    let output = filch_lab_in(folder, &[&LITMUS[..], &state, &files].concat());
    if !can_race(&output) {
        return;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("at most S = 128 stores (as given)") && text.contains("unpinned: "), "{text}");

    let json: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("sweep.json")).unwrap()).unwrap();
    let points = json["points"].as_array().unwrap();
    assert!(points.len() > 100 && points.iter().all(|point| point["runs"] == 1));
    assert!(fs::read_to_string(folder.join("sweep.svg")).unwrap().contains("</svg>"));

    // Counts are neither lost nor counted again, unless more runs are requested.
    refused(&state, "state.json already exists");
    let counted = |state: &[u8]| serde_json::from_slice::<serde_json::Value>(state).unwrap()["runs"].as_u64().unwrap();
    let resumed = |runs: &str| {
        let options = ["--runs", runs, "--state", "state.json", "--resume"];
        let output = filch_lab_in(folder, &[&LITMUS[..], &options].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        counted(&fs::read(folder.join("state.json")).unwrap())
    };
    let runs = counted(&fs::read(folder.join("state.json")).unwrap());
    // A bound that was raised in the last pass has points of its own, which are left.
    let finished = resumed("1");
    assert!((runs..2 * runs).contains(&finished));
    assert!(resumed("2") >= 2 * finished);

    let text = fs::read_to_string(folder.join("state.json")).unwrap();
    let half = &text[..text.len() / 2];
    fs::write(folder.join("state.json"), half).unwrap();
    refused(&["--state", "state.json", "--resume"], "found a damaged file");
    assert_eq!(fs::read_to_string(folder.join("state.json")).unwrap(), half);
}

#[test]
fn invalid_options_of_the_litmus_test_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |options: &[&str], reason| refused_in(folder.path(), &[&LITMUS[..], options].concat(), reason);
    refused(&["--runs", "0"], "too few runs: give at least 1");
    refused(&["--bound", "1000"], "from 2 to 512");
    refused(&["--resume"], "--state");
    if cfg!(target_arch = "x86_64") {
        refused(&["--bound", "73", "--calibrate", "no/where"], "there is no folder no");
        refused(&["--bound", "73", "--state", "none.json", "--resume"], "none.json: cannot read the file");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
