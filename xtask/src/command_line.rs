//! A command line that can be run and shown. The shown line can be pasted into a shell to repeat
//! it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::output::{self, print_line};
use crate::summary::format_duration;

/// A program with its arguments, additional environment variables, and working directory.
///
/// Everything else is inherited, so variables such as `CARGO_TERM_COLOR` reach the child.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(String, OsString)>,
    dir: PathBuf,
}

/// Error from a command that failed or could not be started.
#[derive(Debug)]
pub(crate) struct CommandFailed {
    /// The command line that repeats it.
    pub(crate) command: String,
    reason: String,
}

impl fmt::Display for CommandFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for CommandFailed {}

impl CommandLine {
    /// Creates a command line of `program` that runs in `dir`.
    pub(crate) fn new(program: impl AsRef<OsStr>, dir: &Path) -> Self {
        Self { program: program.as_ref().into(), args: Vec::new(), env: Vec::new(), dir: dir.into() }
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().into());
        self
    }

    /// Adds the words of `line`, split at white space.
    pub(crate) fn words(mut self, line: &str) -> Self {
        self.args.extend(line.split_whitespace().map(OsString::from));
        self
    }

    /// Wraps this command in `launcher`. The program and its arguments become the launcher's last
    /// arguments.
    pub(crate) fn launched_by(&self, launcher: &CommandLine) -> CommandLine {
        let mut command = launcher.clone().arg(&self.program);
        command.args.extend(self.args.iter().cloned());
        command
    }

    /// Sets an environment variable for the child.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().into()));
        self
    }

    /// Shows the command and runs it. Its output goes to the output of this thread.
    pub(crate) fn run(&self) -> Result<()> {
        print_line!("$ {self}");
        let (output, errors) = output::child_streams()?;
        let status = self.command().stdout(output).stderr(errors).status();
        self.check_status(status.with_context(|| self.not_started())?)
    }

    /// Runs all commands at the same time. Shows the output of each when it has ended.
    pub(crate) fn run_parallel(commands: &[CommandLine]) -> Result<()> {
        thread::scope(|scope| {
            let running: Vec<_> = commands.iter().map(|command| scope.spawn(|| command.output())).collect();
            let mut result = Ok(());
            for (command, running) in commands.iter().zip(running) {
                let output = running.join().expect("`output` returns errors and does not panic")?;
                print_line!("$ {command}");
                output::write_captured(&output.stdout, &output.stderr)?;
                result = result.and(command.check_status(output.status));
            }
            result
        })
    }

    /// Shows the command, runs it and returns its standard output. Its standard error goes to the
    /// output of this thread.
    pub(crate) fn capture_stdout(&self) -> Result<Vec<u8>> {
        print_line!("$ {self}");
        let (_, errors) = output::child_streams()?;
        let output = self.command().stderr(errors).output().with_context(|| self.not_started())?;
        self.check_status(output.status)?;
        Ok(output.stdout)
    }

    /// Runs the command silently and returns all its output, whether or not it succeeded.
    pub(crate) fn output(&self) -> Result<Output> {
        self.command().output().with_context(|| self.not_started())
    }

    /// Runs the command silently and returns all its output. Kills the command after `timeout`.
    ///
    /// The output goes to the file `log`: a pipe would stay open for as long as a child of the
    /// child lives. If the command fails, all output is shown.
    pub(crate) fn capture_with_timeout(&self, timeout: Duration, log: &Path) -> Result<String> {
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = self
            .command()
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| self.not_started())?;
        let start = Instant::now();
        let result = loop {
            if let Some(status) = child.try_wait()? {
                break self.check_status(status);
            }
            if start.elapsed() > timeout {
                child.kill()?;
                child.wait()?;
                break Err(self.failure(&format!("did not end within {} and was killed", format_duration(timeout))));
            }
            thread::sleep(Duration::from_millis(2));
        };
        let output = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
        let output = String::from_utf8_lossy(&output).into_owned();
        if result.is_err() {
            print_line!("{output}");
        }
        result.map(|()| output)
    }

    /// Returns whether the program exists and the command succeeds. Prints nothing.
    pub(crate) fn succeeds(&self) -> bool {
        self.command()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.dir);
        if self.env.iter().any(|(name, _)| name == "RUSTFLAGS") {
            // Cargo prefers this variable, and would ignore the flags of the step.
            command.env_remove("CARGO_ENCODED_RUSTFLAGS");
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    fn check_status(&self, status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        Err(self.failure(&format!("ended with {status}")))
    }

    fn failure(&self, reason: &str) -> anyhow::Error {
        let program = self.program.to_string_lossy();
        CommandFailed { command: self.to_string(), reason: format!("`{program}` {reason}") }.into()
    }

    fn not_started(&self) -> CommandFailed {
        let program = self.program.to_string_lossy();
        CommandFailed {
            command: self.to_string(),
            reason: format!("cannot start `{program}`; check that it is installed and on the PATH"),
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.env {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&quoted(&self.program))?;
        self.args.iter().try_for_each(|arg| write!(f, " {}", quoted(arg)))
    }
}

/// Quotes `word` for a shell.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_quoted_for_a_shell() {
        let command = CommandLine::new("cargo", Path::new("/"))
            .words("test -p filch-queue")
            .arg("it's")
            .env("RUSTFLAGS", "--cfg loom")
            .env("CARGO_TARGET_DIR", "target/loom");
        assert_eq!(
            command.to_string(),
            r"RUSTFLAGS='--cfg loom' CARGO_TARGET_DIR=target/loom cargo test -p filch-queue 'it'\''s'"
        );
    }

    #[test]
    fn a_launcher_gets_the_program_and_its_arguments() {
        let launcher = CommandLine::new("mpirun", Path::new("/")).words("-n 2").env("A", "1");
        let command = CommandLine::new("filch", Path::new("/")).words("solve golomb").launched_by(&launcher);
        assert_eq!(command.to_string(), "A=1 mpirun -n 2 filch solve golomb");
    }

    #[test]
    fn an_empty_argument_is_not_lost() {
        assert_eq!(CommandLine::new("a", Path::new("/")).arg("").to_string(), "a ''");
    }

    #[test]
    fn a_failure_has_the_command_that_repeats_it() {
        let error = CommandLine::new("false", Path::new("/")).arg("x y").run().unwrap_err();
        assert_eq!(error.downcast_ref::<CommandFailed>().unwrap().command, "false 'x y'");
    }

    #[test]
    fn a_missing_program_and_a_failing_one_have_different_errors() {
        let here = Path::new("/");
        let reason = |program: &str| {
            CommandLine::new(program, here).run().unwrap_err().downcast::<CommandFailed>().unwrap().reason
        };
        assert!(reason("filch-no-such-program").contains("cannot start"));
        assert!(reason("false").contains("exit status: 1"));
    }

    #[test]
    fn a_command_that_does_not_end_is_killed_and_its_output_is_kept() {
        let log = std::env::temp_dir().join(format!("filch-xtask-{}.log", std::process::id()));
        let shell = |script: &str| CommandLine::new("sh", Path::new("/")).arg("-c").arg(script);
        let output = shell("echo one; echo two >&2").capture_with_timeout(Duration::from_secs(60), &log).unwrap();
        assert_eq!(output, "one\ntwo\n");
        // On a busy machine, a shell may take seconds to start.
        let kept = [1, 4, 16, 50].into_iter().find(|&seconds| {
            let error = shell("echo here; exec sleep 600")
                .capture_with_timeout(Duration::from_secs(seconds), &log)
                .unwrap_err();
            let reason = error.downcast::<CommandFailed>().unwrap().reason;
            assert!(reason.contains(&format!("did not end within {seconds}.0 s")), "{reason}");
            fs::read_to_string(&log).unwrap() == "here\n"
        });
        assert!(kept.is_some());
        fs::remove_file(&log).unwrap();
    }
}
