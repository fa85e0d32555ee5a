//! Tests of `filch solve` and `filch generate`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Instance (1) of the paper on bulk operations: the optimum is 15.
const SACK: &str = "4 7\n8 3\n5 2\n7 4\n6 6\n";
/// Five vertices in a ring.
const RING: &str = "p edge 5 5\ne 1 2\ne 2 3\ne 3 4\ne 4 5\ne 5 1\n";
/// Two places besides the depot, of which one closes before any vehicle can reach it.
const TOO_LATE: &str = "3\n0 10 10\n10 0 10\n10 10 0\n0 100\n0 5\n0 100\n";
/// A ruler that no search proves within the time of a test.
const LONG: [&str; 2] = ["golomb", "14"];

fn filch(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filch"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

fn solve(folder: &Path, arguments: &[&str]) -> Output {
    filch(folder, &[&["solve"], arguments].concat())
}

/// Returns the output of a run that ends with this code.
fn shown(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = solve(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("error"), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn listing(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut entries: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap_or_default()))
        .collect();
    entries.sort();
    entries
}

/// Checks that the run fails with one sentence, no panic and no new file.
fn refused(folder: &Path, arguments: &[&str], code: i32, reason: &str) {
    let before = listing(folder);
    let output = filch(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(stderr.contains(reason), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert_eq!(listing(folder), before, "{arguments:?}");
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn an_optimum_is_proven_with_all_settings() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sack"), SACK).unwrap();
    fs::write(folder.path().join("ring"), RING).unwrap();
    for threads in ["1", "2"] {
        for cutset in ["last-exact-layer", "frontier"] {
            for more in [&["--cache", "--width", "2"][..], &["--no-cache", "--no-dominance", "--width", "1x"]] {
                let of = |problem: &str, file: &str| {
                    let arguments = [&[problem, file, "--threads", threads, "--cutset", cutset], more].concat();
                    shown(folder.path(), &arguments, 0)
                };
                let sack = of("knapsack", "sack");
                assert!(sack.contains("optimum   15, proven") && sack.contains("solution  1 3\n"), "{sack}");
                assert!(of("misp", "ring").contains("optimum   2, proven"));
                assert!(of("clique", "ring").contains("optimum   2, proven"));
                assert!(of("golomb", "5").contains("optimum   11, proven"));
            }
        }
    }
}

#[test]
fn all_requested_files_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("sack"), SACK).unwrap();
    let arguments = "knapsack sack --threads 1 --json a.json --solution a.txt --trace a.jsonl --plot a.svg --quiet";
    let output = solve(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "--quiet prints no progress");

    let summary = json(&path("a.json"));
    for (key, value) in [
        ("problem", Value::from("knapsack")),
        ("file", "sack".into()),
        ("sense", "maximise".into()),
        ("variables", 4.into()),
        ("ending", "optimal".into()),
        ("cost", 15.into()),
        ("bound", 15.into()),
        ("gap", 0.0.into()),
        ("solution", "1 3".into()),
        ("threads", 1.into()),
    ] {
        assert_eq!(summary[key], value, "{key}");
    }
    assert!(summary["seconds"].as_f64().unwrap() > 0.0);
    assert!(summary["statistics"]["explored"].as_u64().unwrap() >= 1);
    assert_eq!(summary["settings"]["dominance"], true);

    assert_eq!(fs::read_to_string(path("a.txt")).unwrap(), "1 3\n");
    let trace = fs::read_to_string(path("a.jsonl")).unwrap();
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = |event: &str| events.iter().rev().find(|line| line["event"] == event).cloned().unwrap();
    assert_eq!(last("incumbent")["cost"], 15);
    assert_eq!(last("bound")["bound"], 15);
    assert_eq!(events.last().unwrap()["event"], "end");
    let times: Vec<f64> = events.iter().map(|event| event["at"].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let plot = fs::read_to_string(path("a.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("bound") && plot.contains("best"));
}

#[test]
fn json_without_a_file_is_printed_instead_of_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let shown = shown(folder.path(), &["golomb", "6", "--json"], 0);
    let summary: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&summary["cost"], &summary["sense"]), (&Value::from(17), &Value::from("minimise")));
}

#[test]
fn a_run_with_one_thread_can_be_repeated_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let shown = shown(folder.path(), &["golomb", "7", "--threads", "1", "--json"], 0);
        let mut summary: Value = serde_json::from_str(&shown).unwrap();
        summary["seconds"] = Value::Null;
        summary
    };
    assert_eq!(run(), run());
}

#[test]
fn the_exit_code_reports_a_limit_before_the_proof() {
    let folder = tempfile::tempdir().unwrap();
    let text = shown(folder.path(), &[&LONG[..], &["--nodes", "1", "--solution", "a", "--json", "b"]].concat(), 3);
    assert!(text.contains("not proven: bound") && text.contains("gap"), "{text}");
    assert!(folder.path().join("a").exists());
    let summary = json(&folder.path().join("b"));
    assert_eq!(summary["ending"], "node-limit");
    assert!(summary["gap"].as_f64().unwrap() > 0.0);
    assert!(summary["bound"].as_i64().unwrap() <= summary["cost"].as_i64().unwrap());
}

#[test]
fn the_exit_code_reports_that_there_is_no_solution_and_no_file_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tour"), TOO_LATE).unwrap();
    let text = shown(folder.path(), &["tsptw", "tour", "--solution", "a", "--plot", "b.svg"], 4);
    assert!(text.contains("proven that there is no solution"), "{text}");
    assert!(!folder.path().join("a").exists());
    let text = shown(folder.path(), &[&LONG[..], &["--time", "0.000000001", "--solution", "a"]].concat(), 5);
    assert!(text.contains("none found"), "{text}");
    assert!(!folder.path().join("a").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_search_with_the_best_solution_so_far() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;

    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let mut solving = Command::new(env!("CARGO_BIN_EXE_filch"))
            .arg("solve")
            .args(LONG)
            .args(["--json", "a.json", "--solution", "a.txt"])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // The program prints when it has a solution and a bound.
        let mut stderr = BufReader::new(solving.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("bound") || line.contains("none") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the program ended before the signal");
        }
        let sent = Command::new("kill").args([signal, &solving.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let code = solving.wait().unwrap().code();
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert_eq!(code, Some(3), "{rest}");
        assert!(rest.contains("Stopping with the best solution so far"), "{rest}");
        let summary = json(&folder.path().join("a.json"));
        assert_eq!(summary["ending"], "cancelled");
        assert!(summary["gap"].as_f64().unwrap() > 0.0);
        assert!(folder.path().join("a.txt").exists());
    }
}

#[test]
fn an_invalid_instance_is_reported_with_file_line_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let bad = [
        ("knapsack", "2 10\n5 5\n", "bad:1: expected 2 items"),
        ("knapsack", "1 10\n5 x\n", "bad:2: "),
        ("knapsack", "1 10\n5 -1\n", "bad:2: "),
        ("knapsack", "2 10\n9223372036854775807 1\n9223372036854775807 1\n", "bad"),
        ("misp", "e 1 2\n", "bad:1: "),
        ("misp", "p edge 2 1\ne 1 3\n", "bad:2: "),
        ("clique", "p edge 2 1\ne 1 1\n", "bad:2: "),
        ("tsptw", "2\n0 1\n1 0\n0 10\n9 3\n", "bad:5: "),
        ("golomb", "many\n", "bad:1: "),
        ("flow", "p flow 2 1\na 2 1 5\n", "bad:2: "),
        ("flow", "", "bad:1: "),
    ];
    for (problem, text, reason) in bad {
        fs::write(folder.path().join("bad"), text).unwrap();
        let arguments = ["solve", problem, "bad", "--json", "a", "--solution", "b", "--trace", "c", "--plot", "d"];
        refused(folder.path(), &arguments, 1, reason);
    }
    refused(folder.path(), &["solve", "misp", "missing"], 1, "missing: cannot read the file");
    refused(folder.path(), &["solve", "misp", "."], 1, ".: cannot read the file");
    refused(folder.path(), &["solve", "golomb", "99"], 1, "99 marks");
}

#[test]
fn a_bad_command_line_is_refused_before_anything_is_solved() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sack"), SACK).unwrap();
    for (arguments, reason) in [
        (&["knapsack"][..], "required"),
        (&["sudoku", "sack"], "possible values"),
        (&["knapsack", "sack", "--width", "0"], "room for a node"),
        (&["knapsack", "sack", "--threads", "0"], "a pool needs a thread"),
        (&["knapsack", "sack", "--time", "-1"], "unexpected argument"),
        (&["knapsack", "sack", "--cutset", "x"], "last-exact-layer"),
    ] {
        refused(folder.path(), &[&["solve"], arguments].concat(), 2, reason);
    }
    for (arguments, reason) in [
        (&["knapsack", "sack", "--json", "nowhere/a"][..], "cannot be written: there is no folder"),
        (&["knapsack", "sack", "--plot", "."], "it is a folder"),
        (&["knapsack", "sack", "--trace", "a", "--plot", "a"], "the same file"),
        (&["knapsack", "sack", "--solution", "sack"], "the file of the instance"),
    ] {
        refused(folder.path(), &[&["solve"], arguments].concat(), 1, reason);
    }
}

#[test]
fn generated_instances_can_be_solved() {
    let folder = tempfile::tempdir().unwrap();
    for (recipe, problems) in [
        ("knapsack --items 20 --kind weakly", &["knapsack"][..]),
        ("graph --vertices 20 --heaviest 9", &["misp", "clique"]),
        ("tsptw --places 7", &["tsptw"]),
        ("flow --layers 3 --width 2", &["flow"]),
    ] {
        let words: Vec<&str> = std::iter::once("generate").chain(recipe.split(' ')).collect();
        let make = |more: &[&str]| filch(folder.path(), &[&words, more].concat());
        let printed = make(&["--seed", "7"]);
        assert!(printed.status.success(), "{recipe}: {}", String::from_utf8_lossy(&printed.stderr));
        assert!(make(&["--seed", "7", "--out", "file"]).status.success());
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), printed.stdout);
        assert_ne!(make(&["--seed", "8"]).stdout, printed.stdout);
        for problem in problems {
            assert!(shown(folder.path(), &[problem, "file"], 0).contains("proven"));
        }
    }
    refused(folder.path(), &["generate", "graph", "--per-thousand", "1001"], 2, "1001");
    refused(folder.path(), &["generate", "tsptw", "--places", "0"], 2, "0 is not in");
    refused(folder.path(), &["generate", "tsptw", "--out", "nowhere/a"], 1, "there is no folder");
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_build_without_mpi_says_how_to_build_with_it() {
    let folder = tempfile::tempdir().unwrap();
    refused(folder.path(), &["solve", "golomb", "5", "--mpi"], 1, "--features mpi");
}
