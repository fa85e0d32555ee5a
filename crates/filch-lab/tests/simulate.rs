//! Tests of `filch-lab simulate`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use filch_dd::problems::independent_set;

fn filch_lab(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_filch-lab")).args(arguments).current_dir(folder).output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Makes a folder with a recording of a small search.
fn recorded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("graph"), independent_set::random(60, 150, 1, 1).text()).unwrap();
    let output = filch_lab(&["simulate", "--record", "misp", "graph", "--out", "recording"], folder.path());
    assert!(output.status.success(), "{}", said(&output.stderr));
    assert!(said(&output.stdout).starts_with("Recorded: misp graph, "), "{}", said(&output.stdout));
    folder
}

#[test]
fn a_recorded_search_is_simulated_deterministically() {
    let folder = recorded();
    let simulate = || {
        let words =
            "simulate --recording recording --ranks 2,20 --nodes 50 --handle 500 --json rows.json --plot plot.svg";
        let output = filch_lab(&words.split(' ').collect::<Vec<_>>(), folder.path());
        assert!(output.status.success(), "{}", said(&output.stderr));
        said(&output.stdout)
    };
    let text = simulate();
    for part in ["misp graph", "Strong scaling", "Weak scaling", "InfiniBand", "Ethernet"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert_eq!(simulate(), text);
    let rows: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("rows.json")).unwrap()).unwrap();
    assert_eq!(rows["rows"].as_array().unwrap().len(), 2 * 5);
    assert!(fs::read_to_string(folder.path().join("plot.svg")).unwrap().contains("</svg>"));
}

#[test]
fn an_invalid_recording_is_refused_with_a_reason() {
    let folder = recorded();
    let whole = fs::read(folder.path().join("recording")).unwrap();
    fs::write(folder.path().join("short"), &whole[..whole.len() / 2]).unwrap();
    for (file, reason) in [
        ("graph", "expected a recording, found another kind of file"),
        ("short", "damaged or truncated"),
        ("none", "cannot read the file"),
    ] {
        let output = filch_lab(&["simulate", "--recording", file], folder.path());
        assert!(!output.status.success());
        assert!(said(&output.stderr).contains(reason), "{file}: {}", said(&output.stderr));
    }
}
