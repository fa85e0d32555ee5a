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

use crate::console::{self, say};
use crate::summary::clock;

/// A program with its arguments, additional environment variables, and working directory.
///
/// Everything else is inherited, so variables such as `CARGO_TERM_COLOR` reach the child.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(String, OsString)>,
    dir: PathBuf,
}

/// Error from a command that failed or could not be started.
#[derive(Debug)]
pub(crate) struct CallFailed {
    /// The command line that repeats it.
    pub(crate) command: String,
    how: String,
}

impl fmt::Display for CallFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.how)
    }
}

impl std::error::Error for CallFailed {}

impl Call {
    /// Creates a call of `program` that runs in `dir`.
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
    pub(crate) fn under(&self, launcher: &Call) -> Call {
        let mut call = launcher.clone().arg(&self.program);
        call.args.extend(self.args.iter().cloned());
        call
    }

    /// Sets an environment variable for the child.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().into()));
        self
    }

    /// Shows the command and runs it. Its output goes to the output of this thread.
    pub(crate) fn run(&self) -> Result<()> {
        say!("$ {self}");
        let (output, errors) = console::streams()?;
        let status = self.command().stdout(output).stderr(errors).status();
        self.judge(status.with_context(|| self.not_started())?)
    }

    /// Runs all calls at the same time. Shows the output of each when it has ended.
    pub(crate) fn run_together(calls: &[Call]) -> Result<()> {
        thread::scope(|scope| {
            let running: Vec<_> = calls.iter().map(|call| scope.spawn(|| call.output())).collect();
            let mut all = Ok(());
            for (call, running) in calls.iter().zip(running) {
                let output = running.join().expect("a command that cannot be run is an error, not a panic")?;
                say!("$ {call}");
                console::repeat(&output.stdout, &output.stderr)?;
                all = all.and(call.judge(output.status));
            }
            all
        })
    }

    /// Shows the command, runs it and returns its standard output. Its standard error goes to the
    /// output of this thread.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        say!("$ {self}");
        let (_, errors) = console::streams()?;
        let output = self.command().stderr(errors).output().with_context(|| self.not_started())?;
        self.judge(output.status)?;
        Ok(output.stdout)
    }

    /// Runs the command silently and returns all its output, whether or not it succeeded.
    pub(crate) fn output(&self) -> Result<Output> {
        self.command().output().with_context(|| self.not_started())
    }

    /// Runs the command silently and returns all its output. Kills the command after `limit`.
    ///
    /// The output goes to the file `log`: a pipe would stay open for as long as a child of the
    /// child lives. If the command fails, all output is shown.
    pub(crate) fn read_within(&self, limit: Duration, log: &Path) -> Result<String> {
        let file = File::create(log).with_context(|| format!("{} could not be written", log.display()))?;
        let mut child = self
            .command()
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| self.not_started())?;
        let start = Instant::now();
        let ended = loop {
            if let Some(status) = child.try_wait()? {
                break self.judge(status);
            }
            if start.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                break Err(self.failed(&format!("was killed, because it did not end within {}", clock(limit))));
            }
            thread::sleep(Duration::from_millis(2));
        };
        let said = fs::read(log).with_context(|| format!("{} could not be read", log.display()))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        if ended.is_err() {
            say!("{said}");
        }
        ended.map(|()| said)
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

    fn judge(&self, status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        Err(self.failed(&format!("ended with {status}")))
    }

    fn failed(&self, how: &str) -> anyhow::Error {
        let program = self.program.to_string_lossy();
        CallFailed { command: self.to_string(), how: format!("`{program}` {how}") }.into()
    }

    fn not_started(&self) -> CallFailed {
        let program = self.program.to_string_lossy();
        CallFailed {
            command: self.to_string(),
            how: format!("`{program}` could not be started; check that it is installed and on the PATH"),
        }
    }
}

impl fmt::Display for Call {
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
    fn a_command_is_shown_as_a_shell_would_need_it() {
        let call = Call::new("cargo", Path::new("/"))
            .words("test -p filch-queue")
            .arg("it's")
            .env("RUSTFLAGS", "--cfg loom")
            .env("CARGO_TARGET_DIR", "target/loom");
        assert_eq!(
            call.to_string(),
            r"RUSTFLAGS='--cfg loom' CARGO_TARGET_DIR=target/loom cargo test -p filch-queue 'it'\''s'"
        );
    }

    #[test]
    fn a_launcher_gets_the_program_and_its_arguments() {
        let launcher = Call::new("mpirun", Path::new("/")).words("-n 2").env("A", "1");
        let call = Call::new("filch", Path::new("/")).words("solve golomb").under(&launcher);
        assert_eq!(call.to_string(), "A=1 mpirun -n 2 filch solve golomb");
    }

    #[test]
    fn an_empty_argument_is_not_lost() {
        assert_eq!(Call::new("a", Path::new("/")).arg("").to_string(), "a ''");
    }

    #[test]
    fn a_failure_carries_the_command_that_repeats_it() {
        let error = Call::new("false", Path::new("/")).arg("x y").run().unwrap_err();
        assert_eq!(error.downcast_ref::<CallFailed>().unwrap().command, "false 'x y'");
    }

    #[test]
    fn a_missing_program_is_told_from_a_failing_one() {
        let here = Path::new("/");
        let how = |program: &str| Call::new(program, here).run().unwrap_err().downcast::<CallFailed>().unwrap().how;
        assert!(how("filch-no-such-program").contains("could not be started"));
        assert!(how("false").contains("exit status: 1"));
    }

    #[test]
    fn a_command_that_does_not_end_is_killed_and_what_it_said_is_kept() {
        let log = std::env::temp_dir().join(format!("filch-xtask-{}.log", std::process::id()));
        let shell = |script: &str| Call::new("sh", Path::new("/")).arg("-c").arg(script);
        let said = shell("echo one; echo two >&2").read_within(Duration::from_secs(60), &log).unwrap();
        assert_eq!(said, "one\ntwo\n");
        // On a busy machine, a shell may take seconds to start.
        let kept = [1, 4, 16, 50].into_iter().find(|&seconds| {
            let error = shell("echo here; exec sleep 600").read_within(Duration::from_secs(seconds), &log).unwrap_err();
            let how = error.downcast::<CallFailed>().unwrap().how;
            assert!(how.contains(&format!("did not end within {seconds}.0 s")), "{how}");
            fs::read_to_string(&log).unwrap() == "here\n"
        });
        assert!(kept.is_some());
        fs::remove_file(&log).unwrap();
    }
}
