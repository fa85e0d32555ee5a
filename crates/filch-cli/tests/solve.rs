//! Tests of `filch solve` and `filch generate`.

mod program;

use program::{Folder, LONG, RING, SACK};
use serde_json::Value;

/// Two places besides the depot, of which one closes before any vehicle can reach it.
const TOO_LATE: &str = "3\n0 10 10\n10 0 10\n10 10 0\n0 100\n0 5\n0 100\n";

#[test]
fn an_optimum_is_proven_with_all_settings() {
    let folder = Folder::new(&[("sack", SACK), ("ring", RING)]);
    for threads in ["1", "2"] {
        for cutset in ["last-exact-layer", "frontier"] {
            for more in ["--cache --width 2", "--no-cache --no-dominance --width 1x"] {
                for (problem, parts) in [
                    ("knapsack sack", &["optimum   15, proven", "solution  1 3\n"][..]),
                    ("misp ring", &["optimum   2, proven"]),
                    ("clique ring", &["optimum   2, proven"]),
                    ("golomb 5", &["optimum   11, proven"]),
                ] {
                    let words = format!("solve {problem} --threads {threads} --cutset {cutset} {more}");
                    let (text, _) = folder.shown(&words, 0);
                    assert!(parts.iter().all(|part| text.contains(part)), "{words}: {text}");
                }
            }
        }
    }
}

#[test]
fn all_requested_files_are_written() {
    let folder = Folder::new(&[("sack", SACK)]);
    let files = "--json a.json --solution a.txt --trace a.jsonl --plot a.svg";
    let (_, stderr) = folder.shown(&format!("solve knapsack sack --threads 1 {files} --quiet"), 0);
    assert!(stderr.is_empty(), "--quiet prints no progress");

    let summary = folder.json("a.json");
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

    assert_eq!(folder.text("a.txt"), "1 3\n");
    let trace = folder.text("a.jsonl");
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = |event: &str| events.iter().rev().find(|line| line["event"] == event).cloned().unwrap();
    assert_eq!(last("incumbent")["cost"], 15);
    assert_eq!(last("bound")["bound"], 15);
    assert_eq!(events.last().unwrap()["event"], "end");
    let times: Vec<f64> = events.iter().map(|event| event["at"].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let plot = folder.text("a.svg");
    assert!(plot.starts_with("<svg") && plot.contains("bound") && plot.contains("best"));
}

#[test]
fn json_without_a_file_is_printed_instead_of_the_text() {
    let (shown, _) = Folder::new(&[]).shown("solve golomb 6 --json", 0);
    let summary: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&summary["cost"], &summary["sense"]), (&Value::from(17), &Value::from("minimise")));
}

#[test]
fn a_run_with_one_thread_can_be_repeated_exactly() {
    let folder = Folder::new(&[]);
    let run = || {
        let (shown, _) = folder.shown("solve golomb 7 --threads 1 --json", 0);
        let mut summary: Value = serde_json::from_str(&shown).unwrap();
        summary["seconds"] = Value::Null;
        summary
    };
    assert_eq!(run(), run());
}

#[test]
fn the_exit_code_reports_a_limit_before_the_proof() {
    let folder = Folder::new(&[]);
    let (text, _) = folder.shown(&format!("solve {LONG} --nodes 1 --solution a --json b"), 3);
    assert!(text.contains("not proven: bound") && text.contains("gap"), "{text}");
    assert!(folder.has("a"));
    let summary = folder.json("b");
    assert_eq!(summary["ending"], "node-limit");
    assert!(summary["gap"].as_f64().unwrap() > 0.0);
    assert!(summary["bound"].as_i64().unwrap() <= summary["cost"].as_i64().unwrap());
}

#[test]
fn the_exit_code_reports_that_there_is_no_solution_and_no_file_is_written() {
    let folder = Folder::new(&[("tour", TOO_LATE)]);
    for (words, code, part) in [
        ("tsptw tour --plot b.svg", 4, "proven that there is no solution"),
        (&format!("{LONG} --time 0.000000001"), 5, "none found"),
    ] {
        let (text, _) = folder.shown(&format!("solve {words} --solution a"), code);
        assert!(text.contains(part), "{text}");
        assert!(!folder.has("a"));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_search_with_the_best_solution_so_far() {
    use std::io::Read;

    for name in ["-INT", "-TERM"] {
        let folder = Folder::new(&[]);
        let (mut solving, mut stderr) = folder.spawn(&format!("solve {LONG} --json a.json --solution a.txt"));
        program::wait_for_bound(&mut stderr);
        assert!(program::signal(name, solving.id()));
        let code = solving.wait().unwrap().code();
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert_eq!(code, Some(3), "{rest}");
        assert!(rest.contains("Stopping with the best solution so far"), "{rest}");
        let summary = folder.json("a.json");
        assert_eq!(summary["ending"], "cancelled");
        assert!(summary["gap"].as_f64().unwrap() > 0.0);
        assert!(folder.has("a.txt"));
    }
}

#[test]
fn an_invalid_instance_is_reported_with_file_line_and_reason() {
    let folder = Folder::new(&[]);
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
        folder.write("bad", text);
        let words = format!("solve {problem} bad --json a --solution b --trace c --plot d");
        folder.refused(&words, 1, &[reason]);
    }
    folder.refused("solve misp missing", 1, &["missing: cannot read the file"]);
    folder.refused("solve misp .", 1, &[".: cannot read the file"]);
    folder.refused("solve golomb 99", 1, &["99 marks"]);
}

#[test]
fn a_bad_command_line_is_refused_before_anything_is_solved() {
    let folder = Folder::new(&[("sack", SACK)]);
    for (words, code, reason) in [
        ("knapsack", 2, "required"),
        ("sudoku sack", 2, "possible values"),
        ("knapsack sack --width 0", 2, "room for a node"),
        ("knapsack sack --threads 0", 2, "a pool needs a thread"),
        ("knapsack sack --time -1", 2, "unexpected argument"),
        ("knapsack sack --cutset x", 2, "last-exact-layer, frontier"),
        ("knapsack sack --json nowhere/a", 1, "cannot be written: there is no folder"),
        ("knapsack sack --plot .", 1, "it is a folder"),
        ("knapsack sack --trace a --plot a", 1, "the same file"),
        ("knapsack sack --solution sack", 1, "the file of the instance"),
    ] {
        folder.refused(&format!("solve {words}"), code, &[reason]);
    }
}

#[test]
fn generated_instances_can_be_solved() {
    let folder = Folder::new(&[]);
    for (recipe, problems) in [
        ("knapsack --items 20 --kind weakly", &["knapsack"][..]),
        ("graph --vertices 20 --heaviest 9", &["misp", "clique"]),
        ("tsptw --places 7", &["tsptw"]),
        ("flow --layers 3 --width 2", &["flow"]),
    ] {
        let make = |more: &str| folder.shown(&format!("generate {recipe} {more}"), 0).0;
        let printed = make("--seed 7");
        make("--seed 7 --out file");
        assert_eq!(folder.text("file"), printed);
        assert_ne!(make("--seed 8"), printed);
        for problem in problems {
            assert!(folder.shown(&format!("solve {problem} file"), 0).0.contains("proven"));
        }
    }
    folder.refused("generate graph --per-thousand 1001", 2, &["1001"]);
    folder.refused("generate tsptw --places 0", 2, &["0 is not in"]);
    folder.refused("generate tsptw --out nowhere/a", 1, &["there is no folder"]);
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_build_without_mpi_says_how_to_build_with_it() {
    Folder::new(&[]).refused("solve golomb 5 --mpi", 1, &["--features mpi"]);
}
