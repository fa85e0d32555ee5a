//! A run in a separate process, so that its peak memory use is its own.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use filch_dd::Cost;
use serde::{Deserialize, Serialize};

use crate::interrupt::{entrust, shield};
use crate::sync::lock;
use crate::watch;

/// The time beyond its limit after which a run counts as hung.
const GRACE_PERIOD: Duration = Duration::from_secs(30);
/// The interval between checks of a run.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The parameters of a run, as passed to the child.
#[derive(Clone, Debug)]
pub(crate) struct ChildRun {
    /// The name of the case.
    pub(crate) case: String,
    /// The contender that solves it.
    pub(crate) contender: &'static str,
    pub(crate) threads: usize,
    /// The folder of published instances.
    pub(crate) data: Option<PathBuf>,
    /// The time limit.
    pub(crate) limit: Duration,
}

/// The result of a run, as the child prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The time of a solution. For two runs side by side, it is half of the time of both.
    pub(crate) seconds: f64,
    /// The number of nodes explored for a solution.
    pub(crate) explored: f64,
    /// The number of nodes of all diagrams, if counted.
    pub(crate) diagram_nodes: Option<f64>,
    /// The cost of the solution.
    pub(crate) cost: Option<Cost>,
    /// Whether the solution is proven optimal.
    pub(crate) proven: bool,
    /// The peak memory use of the process, if the system reports it.
    pub(crate) peak_bytes: Option<u64>,
}

impl ChildRun {
    /// Runs it in a new process of this program.
    pub(crate) fn run(&self) -> Result<Answer> {
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        self.run_by(&program)
    }

    fn run_by(&self, program: &Path) -> Result<Answer> {
        let mut command = Command::new(program);
        command.args(["bench", "solver-run", &self.case, "--contender", self.contender]);
        command.args(["--threads", &self.threads.to_string(), "--limit", &self.limit.as_secs_f64().to_string()]);
        if let Some(data) = &self.data {
            command.arg("--data").arg(data);
        }
        let process = shield(&mut command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} could not be started", program.display()))?;
        let process = entrust(process);
        let start = Instant::now();
        let status = loop {
            let mut process = lock(&process);
            if let Some(status) = process.try_wait().context("cannot wait for the run")? {
                break status;
            }
            let hangs = start.elapsed() > self.limit + GRACE_PERIOD;
            if hangs || watch::is_over() {
                let _ = process.kill();
                let _ = process.wait();
                ensure!(hangs, "the run was stopped before it ended");
                bail!("the run did not stop at its limit of {} seconds and was killed", self.limit.as_secs_f64());
            }
            drop(process);
            thread::sleep(POLL_INTERVAL);
        };
        let output = lock(&process).stdout.take();
        let mut text = String::new();
        if let Some(mut output) = output {
            // It is one short line, which the pipe holds until it is read.
            output.read_to_string(&mut text).context("cannot read the answer of the run")?;
        }
        ensure!(status.success(), "the run failed ({status})");
        serde_json::from_str(&text).with_context(|| format!("cannot parse the answer `{}` of the run", text.trim()))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::fs;

    use super::*;

    #[cfg(unix)]
    fn answer(script: &str, limit: Duration) -> Result<Answer> {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        loop {
            let run = ChildRun { case: "golomb/5".to_owned(), contender: "filch", threads: 2, data: None, limit };
            let answer = run.run_by(&program);
            // Another test that starts a process at this moment may hold the script open until that
            // process has begun.
            let is_busy = |cause: &(dyn std::error::Error + 'static)| {
                let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
                kind == Some(std::io::ErrorKind::ExecutableFileBusy)
            };
            if !answer.as_ref().is_err_and(|error| error.chain().any(is_busy)) {
                return answer;
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_answer_is_a_line_of_json() {
        let line = r#"{"seconds":0.5,"explored":7,"diagram_nodes":null,"cost":11,"proven":true,"peak_bytes":4096}"#;
        let parsed = answer(&format!("echo '{line}'"), Duration::from_secs(60)).unwrap();
        assert_eq!((parsed.seconds, parsed.explored, parsed.cost, parsed.proven), (0.5, 7.0, Some(11), true));
    }

    #[cfg(unix)]
    #[test]
    fn a_run_that_fails_or_prints_no_answer_is_an_error() {
        let refusal = |script: &str| answer(script, Duration::from_secs(60)).unwrap_err().to_string();
        assert!(refusal("exit 3").contains("exit status: 3"));
        assert!(refusal("echo hello").contains("cannot parse the answer `hello`"));
        assert!(refusal("true").contains("cannot parse the answer ``"));
    }
}
