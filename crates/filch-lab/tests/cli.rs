//! Tests of the command line.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

fn filch_lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_filch-lab")).args(arguments).output().expect("the program starts")
}

fn refused(arguments: &[&str], reason: &str) {
    let output = filch_lab(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{arguments:?} was accepted");
    assert!(said.contains(reason), "{arguments:?}: {said}");
    assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn bad_input_is_refused_before_anything_is_measured() {
    refused(&["bench", "queues", "--threads", "0"], "the owner needs a thread");
    refused(&["bench", "queues", "--threads", "64"], "at most 2 threads");
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
        let said = String::from_utf8_lossy(&output.stderr);
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
    let output = filch_lab(&["lab", "fences", "--quick", "--json", path.to_str().unwrap()]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for case in ["store", "fence", "locked-add"] {
        let row = rows.iter().find(|row| row["case"] == case).unwrap_or_else(|| panic!("there is no row of {case}"));
        assert_eq!((&row["suite"], &row["impl"], &row["unit"]), (&"fences".into(), &"machine".into(), &"ns/op".into()));
        assert!(shown.contains(case), "{shown}");
    }
}

#[test]
fn the_trace_of_a_refuted_model_shows_store_buffers() {
    let output = filch_lab(&["verify", "chase_lev/unfenced", "--trace", "--bound", "1"]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    for part in ["step | owner", "its buffer | thief", "[T=", "reaches memory", "So a task is extracted twice: task"] {
        assert!(shown.contains(part), "`{part}` is not in\n{shown}");
    }
}

#[test]
fn a_model_that_holds_has_no_trace() {
    let output = filch_lab(&["verify", "chase_lev", "--trace", "--bound", "1", "--tasks", "2"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("nothing is refuted"));
}

#[test]
fn the_published_bulk_queue_is_refuted_as_expected() {
    let output = filch_lab(&["verify", "bulk/published", "--quick"]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
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
        let output = filch_lab(&[
            "bench",
            "solver-run",
            "golomb/7",
            "--contender",
            contender,
            "--threads",
            "2",
            "--limit",
            "60",
        ]);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{contender}: {}", String::from_utf8_lossy(&output.stderr));
        let answer: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!((answer["cost"].as_i64(), answer["proven"].as_bool()), (Some(25), Some(true)), "{contender}");
        assert!(answer["seconds"].as_f64().unwrap() > 0.0 && answer["explored"].as_f64().unwrap() >= 1.0);
    }
    refused(
        &["bench", "solver-run", "golomb/7", "--contender", "unknown", "--threads", "1", "--limit", "1"],
        "there are filch, ddo and serial-pair",
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
