//! Tests of `filch-lab lab litmus`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn litmus(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filch-lab"));
    command.args(["lab", "litmus"]).args(arguments).current_dir(folder).output().expect("the program starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn refused(arguments: &[&str], folder: &Path, reason: &str) {
    let output = litmus(arguments, folder);
    let stderr = stderr(&output);
    assert!(!output.status.success(), "{arguments:?} was accepted");
    assert!(stderr.contains(reason), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty());
}

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
    let state = ["--runs", "1", "--state", "state.json"];
    let files = ["--bound", "128", "--json", "sweep.json", "--plot", "sweep.svg"];
    let output = litmus(&[&state[..], &files[..]].concat(), folder);
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
    refused(&state, folder, "state.json already exists");
    let counted = |state: &[u8]| serde_json::from_slice::<serde_json::Value>(state).unwrap()["runs"].as_u64().unwrap();
    let resumed = |runs: &str| {
        let output = litmus(&["--runs", runs, "--state", "state.json", "--resume"], folder);
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
    refused(&["--state", "state.json", "--resume"], folder, "found a damaged file");
    assert_eq!(fs::read_to_string(folder.join("state.json")).unwrap(), half);
}

#[test]
fn invalid_options_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    refused(&["--runs", "0"], folder.path(), "too few runs: give at least 1");
    refused(&["--bound", "1000"], folder.path(), "from 2 to 512");
    refused(&["--resume"], folder.path(), "--state");
    if cfg!(target_arch = "x86_64") {
        refused(&["--bound", "73", "--calibrate", "no/where"], folder.path(), "there is no folder no");
        refused(
            &["--bound", "73", "--state", "none.json", "--resume"],
            folder.path(),
            "none.json: cannot read the file",
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
