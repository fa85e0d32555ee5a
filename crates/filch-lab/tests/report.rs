//! Tests of `filch-lab report`. Figures do not matter here: the tests run rehearsals, and parts of
//! them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn command(out: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filch-lab"));
    command.args(["report", "--out"]).arg(out).args(words.split(' '));
    command
}

fn report(out: &Path, words: &str) -> (Output, String) {
    let output = command(out, words).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{said}");
    (output, said)
}

#[test]
fn selected_parts_are_on_the_page_and_its_path_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/report");
    let (output, said) = report(&out, "--rehearsal --only timeline --only balance");
    assert_eq!(output.status.code(), Some(0), "{said}");
    let index = out.join("index.html");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.ends_with(&format!("The page is {}\n", index.display())), "{shown}");
    let page = fs::read_to_string(index).unwrap();
    assert!(
        page.contains("its figures mean nothing") && page.contains("Only the selected parts were measured"),
        "{page}"
    );
    assert!(said.contains("timeline, 1 of 2;") && said.contains("balance, 2 of 2;"), "{said}");
}

#[test]
fn bad_arguments_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "kept").unwrap();
    for (out, words, code, reason) in [
        (&file, "--rehearsal", 1, "file: a file is in its place"),
        (&file.join("below"), "--rehearsal", 1, "file/below: a file is in its place"),
        (
            &folder.path().join("new"),
            "--only qeues",
            1,
            "no part of the report is named `qeues`; the parts are store-buffer, litmus,",
        ),
        (&folder.path().join("new"), "--full --rehearsal", 2, "cannot be used with"),
    ] {
        let (output, said) = report(out, words);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(reason), "{said}");
        assert!(output.stdout.is_empty() && !said.contains("This takes about"), "{said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
mod interrupted {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Child, ChildStderr, Stdio};

    use super::*;

    /// Starts the program, and waits for a line that begins with `line_begins`.
    fn begun(out: &Path, words: &str, line_begins: &str) -> (Child, BufReader<ChildStderr>) {
        let mut child = command(out, words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with(line_begins) {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "the program ended by itself");
        }
        (child, said)
    }

    fn signal(child: &Child, name: &str) {
        assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
    }

    /// Returns the output and the page of an interrupted run.
    fn ended(mut child: Child, mut said: BufReader<ChildStderr>, out: &Path) -> (String, String, String) {
        let (mut rest, mut shown) = (String::new(), String::new());
        said.read_to_string(&mut rest).unwrap();
        child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
        assert!(!rest.contains("panicked") && !rest.contains("error"), "{rest}");
        (rest, shown, fs::read_to_string(out.join("index.html")).unwrap())
    }

    #[test]
    fn a_signal_ends_the_run_with_a_page_of_the_results_so_far() {
        for name in ["-INT", "-TERM"] {
            let out = tempfile::tempdir().unwrap();
            let words = "--rehearsal --only store-buffer --only queues --only bulk --only models";
            let (child, said) = begun(out.path(), words, "  queues: burst-64");
            signal(&child, name);
            let (rest, shown, page) = ended(child, said, out.path());
            assert!(rest.contains("the page will contain the results so far"), "{rest}");
            assert!(shown.contains("The page is "), "{shown}");
            // The program is in the middle of the queues, or, if the signal came late, of the next
            // part.
            assert!(
                page.contains("models: not measured, because the run was interrupted")
                    && !page.contains("queues failed"),
                "{page}"
            );
            // The results of finished parts exist.
            assert_eq!(out.path().join("data/store-buffer.json").exists(), cfg!(target_arch = "x86_64"));
            assert!(!out.path().join("data/models-searched.csv").exists());
        }
    }

    #[test]
    fn a_signal_also_ends_a_child_process_and_counts_as_no_failure() {
        let out = tempfile::tempdir().unwrap();
        // Unoptimised, and in full: minutes, of which a single process takes many seconds.
        let (child, said) = begun(out.path(), "--full --only solver --only models", "  solver: misp");
        signal(&child, "-INT");
        let (_, _, page) = ended(child, said, out.path());
        assert!(!page.contains("failed"), "{page}");
        let is_said =
            page.contains("before solver had any results") || page.contains("solver, which did not stop in time");
        assert!(is_said && page.contains("models: not measured, because the run was interrupted"), "{page}");
    }
}
