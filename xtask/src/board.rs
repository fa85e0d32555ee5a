//! Console output of parallel steps. It shows a line when a step begins, and the step's whole
//! output when it has ended. On a terminal it also shows the running steps.
#![allow(clippy::print_stdout, reason = "this prints what the steps have said to files")]

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::console;
use crate::summary::clock;

/// Moves to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// The running steps and their start times. Only the holder of the lock prints.
pub(crate) struct Board {
    running: Mutex<Vec<(&'static str, Instant)>>,
    /// The folder for the output of running steps.
    folder: PathBuf,
    terminal: bool,
}

impl Board {
    /// Creates a board whose steps write to files in `folder`.
    pub(crate) fn new(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("the folder {} could not be made", folder.display()))?;
        Ok(Self { running: Mutex::default(), folder, terminal: io::stdout().is_terminal() })
    }

    /// Runs `work`, and shows the running steps from time to time until it ends.
    pub(crate) fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            // The sender is dropped when `work` ends or panics.
            let (_over, wait) = mpsc::channel::<()>();
            if self.terminal {
                scope.spawn(move || {
                    while wait.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                        self.show(&self.lock());
                    }
                });
            }
            work()
        })
    }

    /// Runs the step called `name`, and shows its output when it has ended.
    pub(crate) fn run<T>(&self, name: &'static str, step: impl FnOnce() -> T) -> Result<T> {
        let path = self.folder.join(name).with_extension("log");
        let log = File::create(&path).with_context(|| format!("{} could not be written", path.display()))?;
        self.begin(name, &path);
        let result = console::to_file(log, step);
        self.end(name, &path)?;
        Ok(result)
    }

    fn begin(&self, name: &'static str, path: &Path) {
        let mut running = self.lock();
        self.clear();
        let beside: Vec<&str> = running.iter().map(|(name, _)| *name).collect();
        let beside = if beside.is_empty() { String::new() } else { format!(" beside {}", beside.join(", ")) };
        println!("== {name} begins{beside}; what it says is in {} until it ends", path.display());
        running.push((name, Instant::now()));
        self.show(&running);
    }

    fn end(&self, name: &'static str, path: &Path) -> Result<()> {
        let mut running = self.lock();
        running.retain(|(other, _)| *other != name);
        self.clear();
        let said = fs::read(path).with_context(|| format!("{} could not be read", path.display()))?;
        print!("{}", String::from_utf8_lossy(&said));
        self.show(&running);
        Ok(())
    }

    fn clear(&self) {
        if self.terminal {
            print!("{CLEAR}");
        }
    }

    fn show(&self, running: &[(&'static str, Instant)]) {
        if self.terminal && !running.is_empty() {
            let each = running.iter().map(|(name, since)| format!("{name} for {}", clock(since.elapsed())));
            print!("{CLEAR}running: {}", each.collect::<Vec<_>>().join(", "));
        }
        // An error here means that the terminal is gone, so it is ignored.
        drop(io::stdout().flush());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(&'static str, Instant)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::console::say;

    #[test]
    fn what_a_step_and_its_commands_say_goes_to_its_file_in_order() {
        let folder = std::env::temp_dir().join(format!("filch-xtask-board-{}", std::process::id()));
        let board = Board::new(folder.clone()).unwrap();
        let shell = |script: &str| Call::new("sh", Path::new("/")).arg("-c").arg(script);
        let result = board.run("fake", || {
            say!("one");
            shell("echo two; echo three >&2").run().unwrap();
            assert_eq!(shell("echo read; echo four >&2").read().unwrap(), b"read\n");
            Call::run_together(&[shell("echo five"), shell("echo six >&2")]).unwrap();
            7
        });
        assert_eq!(result.unwrap(), 7);
        let said = fs::read_to_string(folder.join("fake.log")).unwrap();
        let said: Vec<&str> = said.lines().filter(|line| !line.starts_with('$')).collect();
        assert_eq!(said, ["one", "two", "three", "four", "five", "six"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
