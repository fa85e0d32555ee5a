//! Runs the program as users do, in a folder of its own.

// Every test program has this module, and uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_filch");
/// Instance (1) of the paper on bulk operations: the optimum is 15.
pub(crate) const SACK: &str = "4 7\n8 3\n5 2\n7 4\n6 6\n";
/// Five vertices in a ring.
pub(crate) const RING: &str = "p edge 5 5\ne 1 2\ne 2 3\ne 3 4\ne 4 5\ne 5 1\n";
/// A ruler that no search proves within the time of a test.
pub(crate) const LONG: &str = "golomb 14";

/// The folder in which the program runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// Makes a folder with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// All files, with their contents.
    pub(crate) fn listing(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap());
        let mut entries: Vec<_> = entries
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap_or_default()))
            .collect();
        entries.sort();
        entries
    }

    /// Returns the program with the arguments in `words`.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words.split(' ')).current_dir(&self.0);
        command
    }

    pub(crate) fn run(&self, words: &str) -> Output {
        self.command(words).output().expect("the program starts")
    }

    /// Returns standard output and standard error of a run that ends with this code.
    pub(crate) fn shown(&self, words: &str, code: i32) -> (String, String) {
        let output = self.run(words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{words}: {stderr}");
        assert!(!stderr.contains("panicked"), "{words}: {stderr}");
        assert_eq!(stderr.contains("error"), code == 1 || code == 2, "{words}: {stderr}");
        (String::from_utf8(output.stdout).unwrap(), stderr)
    }

    /// Checks that the run fails with one sentence, no panic and no new file.
    pub(crate) fn refused(&self, words: &str, code: i32, reasons: &[&str]) {
        let before = self.listing();
        let (shown, stderr) = self.shown(words, code);
        for reason in reasons {
            assert!(stderr.contains(reason), "{words}: {stderr} does not say `{reason}`");
        }
        // The parser of the command line adds how the command is used.
        assert!(code == 2 || stderr.lines().count() == 1, "{words}: {stderr}");
        assert!(shown.is_empty(), "{words}: {shown}");
        assert!(self.listing() == before, "{words}");
    }

    /// Starts the program. Its standard error can be read.
    pub(crate) fn spawn(&self, words: &str) -> (Child, BufReader<ChildStderr>) {
        let mut child = self.command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        (child, stderr)
    }
}

/// Returns the first line that is enough.
pub(crate) fn wait_for_line(stderr: &mut impl BufRead, is_enough: impl Fn(&str) -> bool) -> String {
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the program ended before the expected line");
        if is_enough(&line) {
            return line;
        }
    }
}

/// Waits until a search has a solution and a bound.
pub(crate) fn wait_for_bound(stderr: &mut impl BufRead) {
    wait_for_line(stderr, |line| line.contains("bound") && !line.contains("none"));
}

/// Waits until the condition holds or the program has ended.
pub(crate) fn poll(child: &mut Child, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !condition() {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(Instant::now() < deadline, "the condition does not become true");
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Sends a signal. Returns whether the process still existed.
pub(crate) fn signal(name: &str, process: u32) -> bool {
    Command::new("kill").args([name, &process.to_string()]).status().unwrap().success()
}
