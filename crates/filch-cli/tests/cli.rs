//! Tests of the completions and the manual pages.

use std::process::{Command, Output};

fn filch(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_filch")).args(arguments).output().expect("the program starts")
}

#[test]
fn completions_and_manual_pages_know_all_commands() {
    for (arguments, part) in [(&["completions", "bash"][..], "spanning-tree"), (&["man"], "filch\\-generate")] {
        let output = filch(arguments);
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains(part), "{output:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(filch(&["man", folder.path().to_str().unwrap()]).status.success());
    assert!(folder.path().join("filch-generate-knapsack.1").is_file());
    let output = filch(&["man", "no/such/folder"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no/such/folder: cannot write the manual pages"));
    assert_eq!(output.status.code(), Some(1));
}
