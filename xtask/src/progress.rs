//! Console output of parallel steps. It shows a line when a step begins, and the step's whole
//! output when it has ended. On a terminal it also shows the running steps.
#![allow(clippy::print_stdout, reason = "this prints the output of steps from their files")]

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::output;
use crate::summary::format_duration;

/// Moves to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// The running steps and their start times. Only the holder of the lock prints.
pub(crate) struct Progress {
    running: Mutex<Vec<(&'static str, Instant)>>,
    /// The folder for the output of running steps.
    folder: PathBuf,
    terminal: bool,
}

impl Progress {
    /// Creates a display of progress. The steps write to files in `folder`.
    pub(crate) fn new(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        Ok(Self { running: Mutex::default(), folder, terminal: io::stdout().is_terminal() })
    }

    /// Runs `work`, and shows the running steps from time to time until it ends.
    pub(crate) fn refresh_while<T>(&self, work: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            // The sender is dropped when `work` ends or panics.
            let (_done, wait) = mpsc::channel::<()>();
            if self.terminal {
                scope.spawn(move || {
                    while wait.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                        self.show_running(&self.lock());
                    }
                });
            }
            work()
        })
    }

    /// Runs the step called `name`, and shows its output when it has ended.
    pub(crate) fn run_step<T>(&self, name: &'static str, step: impl FnOnce() -> T) -> Result<T> {
        let path = self.folder.join(name).with_extension("log");
        let log = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        self.step_begins(name, &path);
        let result = output::redirect_to(log, step);
        self.step_ended(name, &path)?;
        Ok(result)
    }

    fn step_begins(&self, name: &'static str, path: &Path) {
        let mut running = self.lock();
        self.clear_line();
        let others: Vec<&str> = running.iter().map(|(name, _)| *name).collect();
        let others = if others.is_empty() { String::new() } else { format!(" in parallel with {}", others.join(", ")) };
        println!("== {name} begins{others}; its output goes to {} until it ends", path.display());
        running.push((name, Instant::now()));
        self.show_running(&running);
    }

    fn step_ended(&self, name: &'static str, path: &Path) -> Result<()> {
        let mut running = self.lock();
        running.retain(|(other, _)| *other != name);
        self.clear_line();
        let output = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        print!("{}", String::from_utf8_lossy(&output));
        self.show_running(&running);
        Ok(())
    }

    fn clear_line(&self) {
        if self.terminal {
            print!("{CLEAR}");
        }
    }

    fn show_running(&self, running: &[(&'static str, Instant)]) {
        if self.terminal && !running.is_empty() {
            let each = running.iter().map(|(name, start)| format!("{name} for {}", format_duration(start.elapsed())));
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
    use crate::command_line::CommandLine;
    use crate::output::print_line;

    #[test]
    fn output_of_a_step_and_its_commands_goes_to_its_file_in_order() {
        let folder = std::env::temp_dir().join(format!("filch-xtask-progress-{}", std::process::id()));
        let progress = Progress::new(folder.clone()).unwrap();
        let shell = |script: &str| CommandLine::new("sh", Path::new("/")).arg("-c").arg(script);
        let result = progress.run_step("fake", || {
            print_line!("one");
            shell("echo two; echo three >&2").run().unwrap();
            assert_eq!(shell("echo read; echo four >&2").capture_stdout().unwrap(), b"read\n");
            CommandLine::run_parallel(&[shell("echo five"), shell("echo six >&2")]).unwrap();
            7
        });
        assert_eq!(result.unwrap(), 7);
        let log = fs::read_to_string(folder.join("fake.log")).unwrap();
        let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with('$')).collect();
        assert_eq!(lines, ["one", "two", "three", "four", "five", "six"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
