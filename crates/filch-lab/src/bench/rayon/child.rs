//! One of filch's programs in a process of its own that takes commands.
//!
//! Its `main.rs` describes the protocol.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use tempfile::TempDir;

use crate::interrupt::shield;
use crate::watch;

/// The time after which a process without an answer counts as hung.
///
/// No request takes even a tenth of this.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The interval at which a waiting thread checks whether measuring is over.
///
/// It is long because the measured process runs at the same time.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The environment variables that set the folder of temporary files.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// A process that waits for commands to run.
#[derive(Debug)]
pub(crate) struct Child {
    process: Process,
    /// Taken to end the process.
    commands: Option<ChildStdin>,
    answers: Receiver<String>,
    timeout: Duration,
    /// The folder of its temporary files.
    ///
    /// It is removed after the process has ended, however it ended.
    _folder: TempDir,
}

/// The result of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) nanos: f64,
    pub(crate) cpu_nanos: f64,
    /// The number of operations in the round.
    pub(crate) operations: f64,
    pub(crate) checksum: u64,
    /// The median time of single calls, if the program timed them one by one.
    pub(crate) median_nanos: Option<f64>,
    /// The time that 99 of 100 of these calls do not exceed.
    pub(crate) p99_nanos: Option<f64>,
    /// The number of allocations, if the program counted them.
    pub(crate) allocations: Option<f64>,
}

impl Child {
    /// Starts a program and waits until it is ready, with `threads` threads.
    pub(crate) fn start(command: Command, threads: usize) -> Result<Child> {
        Child::start_with_timeout(command, threads, TIMEOUT)
    }

    fn start_with_timeout(mut command: Command, threads: usize, timeout: Duration) -> Result<Child> {
        let folder = tempfile::tempdir().context("cannot create a folder for temporary files")?;
        for variable in TEMPORARY {
            command.env(variable, folder.path());
        }
        let mut process = spawn(command.stdin(Stdio::piped()))?;
        let (send, answers) = mpsc::channel();
        if let Some(output) = process.stdout.take() {
            // The thread ends with the process's output, at the latest when the process is killed.
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let commands = process.stdin.take();
        let mut child = Child { process, commands, answers, timeout, _folder: folder };
        let ready = child.answer()?;
        ensure!(ready == format!("ready {threads}"), "expected `ready {threads}` from the program, got `{ready}`");
        Ok(child)
    }

    /// Makes the program run once.
    pub(crate) fn run(&mut self) -> Result<Answer> {
        // If the write fails, the process has ended, and the answer says how.
        let _ = self.commands.as_ref().map(|mut commands| commands.write_all(b"run\n"));
        parse(&self.answer()?)
    }

    fn answer(&mut self) -> Result<String> {
        match wait_for_answer(&self.answers, self.timeout) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                ensure!(!watch::is_over(), "the program was stopped before it answered");
                bail!("the program did not answer within {} seconds and was stopped", self.timeout.as_secs_f64())
            }
            Err(RecvTimeoutError::Disconnected) => match self.process.wait() {
                Ok(status) => bail!("the program ended without an answer ({status})"),
                Err(error) => bail!("the program ended without an answer: {error}"),
            },
        }
    }
}

/// Starts a program whose output is read, shielded from Ctrl-C.
pub(super) fn spawn(command: &mut Command) -> Result<Process> {
    shield(command)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} could not be started", command.get_program().to_string_lossy()))
}

/// Waits for an answer, for at most `timeout`.
///
/// It stops waiting earlier if measuring [is over](watch::is_over).
pub(super) fn wait_for_answer<T>(answers: &Receiver<T>, timeout: Duration) -> Result<T, RecvTimeoutError> {
    let start = Instant::now();
    loop {
        let left = timeout.saturating_sub(start.elapsed());
        match answers.recv_timeout(POLL_INTERVAL.min(left)) {
            Err(RecvTimeoutError::Timeout) if left > POLL_INTERVAL && !watch::is_over() => {}
            answer => return answer,
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.commands.take());
        // Nothing is lost: the process has answered, or never will.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn parse(line: &str) -> Result<Answer> {
    let answer = || {
        let words: Vec<&str> = line.split(' ').collect();
        let ["done", nanos, cpu_nanos, operations, checksum, ref more @ ..] = words[..] else {
            return None;
        };
        let figure = |text: &str| text.parse::<u64>().ok().map(|figure| figure as f64);
        let answer = Answer {
            nanos: figure(nanos)?,
            cpu_nanos: figure(cpu_nanos)?,
            operations: figure(operations).filter(|&operations| operations > 0.0)?,
            checksum: u64::from_str_radix(checksum, 16).ok()?,
            ..Answer::default()
        };
        match more {
            [] => Some(answer),
            ["allocations", count] => Some(Answer { allocations: Some(figure(count)?), ..answer }),
            [median, p99] => {
                Some(Answer { median_nanos: Some(figure(median)?), p99_nanos: Some(figure(p99)?), ..answer })
            }
            _ => None,
        }
    };
    answer().with_context(|| format!("cannot parse the answer `{line}` of the program"))
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::path::Path;

    #[cfg(unix)]
    use super::super::variant::Variant;
    use super::*;

    #[test]
    fn an_answer_has_four_figures_and_more_if_calls_were_timed_or_allocations_were_counted() {
        let answer = Answer { nanos: 3000.0, cpu_nanos: 5.0, operations: 7.0, checksum: 0xabc, ..Answer::default() };
        assert_eq!(parse("done 3000 5 7 0000000000000abc").unwrap(), answer);
        let timed = Answer { median_nanos: Some(400.0), p99_nanos: Some(900.0), ..answer };
        assert_eq!(parse("done 3000 5 7 0000000000000abc 400 900").unwrap(), timed);
        let allocations = Some(21.0);
        let counted = "done 3000 5 7 0000000000000abc allocations 21";
        assert_eq!(parse(counted).unwrap(), Answer { allocations, ..answer });
        for line in [
            "",
            "done",
            "done 1 2 3",
            "done 1 2 3 4 5",
            "done 1 2 3 4 5 x",
            "done 1 2 3 4 5 6 7",
            "done 1 2 3 4 allocations",
            "done 1 2 3 4 allocations x",
            "done -1 2 3 4",
            "done 1 2 0 4",
            "done 1 2 3 xyz",
            "done 1.5 2 3 4",
            "ready 2",
        ] {
            let refusal = parse(line).unwrap_err().to_string();
            assert!(refusal.contains(&format!("cannot parse the answer `{line}`")), "{refusal}");
        }
    }

    #[cfg(unix)]
    fn shell(script: &str, timeout: Duration) -> Result<Child> {
        let mut command = Variant::Stock.command(Path::new("/bin/sh"), 2);
        command.args(["-c", script]);
        Child::start_with_timeout(command, 2, timeout)
    }

    /// A time limit for answers that are expected.
    #[cfg(unix)]
    const LONG: Duration = Duration::from_secs(60);

    #[cfg(unix)]
    #[test]
    fn a_child_answers_each_run_command() {
        let script = "echo ready $RAYON_NUM_THREADS; while read c; do echo done 1 2 3 4; done";
        let mut child = shell(script, LONG).unwrap();
        for _ in 0..3 {
            assert_eq!(child.run().unwrap().checksum, 4);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_child_that_dies_hangs_or_prints_no_answer_is_an_error() {
        let within = |timeout: Duration, script: &str| {
            shell(script, timeout).and_then(|mut child| child.run()).unwrap_err().to_string()
        };
        let refusal = |script: &str| within(LONG, script);
        assert!(refusal("exit 3").contains("ended without an answer (exit status: 3)"));
        assert!(refusal("echo ready 2; read c; exit 4").contains("ended without an answer (exit status: 4)"));
        assert!(refusal("echo ready 2; read c; kill -9 $$").contains("signal: 9"));
        let half_a_second = Duration::from_millis(500);
        assert!(within(half_a_second, "echo ready 2; exec sleep 1000").contains("did not answer within 0.5 seconds"));
        assert!(within(half_a_second, "exec sleep 1000").contains("did not answer"));
        assert!(refusal("echo ready 3; exec sleep 1000").contains("expected `ready 2` from the program, got `ready 3`"));
        assert!(refusal("echo ready 2; read c; echo nonsense").contains("cannot parse the answer `nonsense`"));
    }

    #[cfg(unix)]
    #[test]
    fn temporary_files_are_removed_with_the_child_even_if_it_hangs() {
        let script = "echo ready 2; touch $TMPDIR/file; read c; echo done 1 2 3 4; exec sleep 1000";
        let mut child = shell(script, LONG).unwrap();
        child.run().unwrap();
        let folder = child._folder.path().to_owned();
        assert!(folder.join("file").exists());
        drop(child);
        assert!(!folder.exists());
    }

    #[test]
    fn a_missing_program_is_named_in_the_error() {
        let refusal = Child::start(Command::new("/nowhere/program"), 1).unwrap_err().to_string();
        assert!(refusal.contains("/nowhere/program could not be started"), "{refusal}");
    }
}
