//! Runs a process from its start to its end.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};

use crate::bench::rayon::child::{spawn, wait_for_answer};
use crate::interrupt::entrust;
use crate::sync::lock;
use crate::watch;

/// The time after which a process counts as hung. No run takes even a tenth of this.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Runs a command to its end. Returns its time and its standard output.
pub(super) fn timed(command: &mut Command) -> Result<(Duration, Vec<u8>)> {
    timed_with_timeout(command, TIMEOUT)
}

fn timed_with_timeout(command: &mut Command, timeout: Duration) -> Result<(Duration, Vec<u8>)> {
    let start = Instant::now();
    let mut process = spawn(command.stdin(Stdio::null()))?;
    let mut pipe = process.stdout.take().context("cannot read the output of the program")?;
    let (send, output) = mpsc::channel();
    // The thread ends with the process's output, at the latest when the process is killed.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = send.send(pipe.read_to_end(&mut bytes).map(|_| bytes));
    });

    let process = entrust(process);
    let output = wait_for_answer(&output, timeout);
    let mut process = lock(&process);
    let Ok(output) = output else {
        let _ = process.kill();
        let _ = process.wait();
        ensure!(!watch::is_over(), "the program was stopped before it ended");
        bail!("the program did not end within {} seconds and was stopped", timeout.as_secs_f64());
    };
    let status = process.wait().context("cannot wait for the end of the program")?;
    let elapsed = start.elapsed();
    ensure!(status.success(), "the program failed ({status})");
    Ok((elapsed, output.context("cannot read the output of the program")?))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: f64) -> Result<(Duration, Vec<u8>)> {
        timed_with_timeout(Command::new("/bin/sh").args(["-c", script]), Duration::from_secs_f64(seconds))
    }

    #[test]
    fn the_output_of_a_process_is_returned() {
        let (elapsed, output) = shell("echo a; echo b", 60.0).unwrap();
        assert_eq!(output, b"a\nb\n");
        assert!(elapsed > Duration::ZERO);
    }

    #[test]
    fn a_process_that_fails_or_hangs_is_an_error() {
        assert!(shell("exit 3", 60.0).unwrap_err().to_string().contains("failed (exit status: 3)"));
        assert!(shell("exec sleep 1000", 0.5).unwrap_err().to_string().contains("did not end within 0.5 seconds"));
        let refusal = timed(&mut Command::new("/nowhere/program")).unwrap_err().to_string();
        assert!(refusal.contains("/nowhere/program could not be started"), "{refusal}");
    }
}
