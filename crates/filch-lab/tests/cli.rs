//! The program as a user meets it.

use std::fs;
use std::process::{Command, Output};

fn filch(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_filch")).args(arguments).output().expect("the program starts")
}

fn refused(arguments: &[&str], reason: &str) {
    let output = filch(arguments);
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
    refused(&["bench", "nothing"], "unrecognized subcommand");
}

#[test]
fn figures_that_cannot_be_written_are_not_measured() {
    for (suite, option, first) in [
        ("queues", "--json", "burst-64"),
        ("fork-join", "--json", "fib-38"),
        ("fork-join", "--plot", "fib-38"),
        ("rayon", "--json", "Building"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("figures");
        let output = filch(&["bench", suite, option, path.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(said.contains("cannot be written"), "{said}");
        assert!(!said.contains(first), "it was measured all the same: {said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
