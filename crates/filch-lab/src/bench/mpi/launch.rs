//! A run of `filch solve` in processes of its own, with or without `mpirun`.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{bail, ensure, Context, Result};
use filch_cli::mpi::INSTALL;
use filch_dd::Cost;
use serde::Deserialize;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// The file of the instance, a graph.
    pub(super) file: PathBuf,
    /// The number of ranks; 0 for one process without MPI.
    pub(super) ranks: usize,
    /// The number of threads of each rank.
    pub(super) threads: usize,
    /// The file of the checkpoints and their interval in seconds.
    pub(super) checkpoint: Option<(PathBuf, f64)>,
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) seconds: f64,
    pub(super) cost: Cost,
    pub(super) explored: f64,
    pub(super) transfers: f64,
}

/// The part of the output of `filch solve --json` that matters here.
#[derive(Debug, Deserialize)]
struct Printed {
    ending: String,
    cost: Option<Cost>,
    seconds: f64,
    statistics: Statistics,
}

#[derive(Debug, Deserialize)]
struct Statistics {
    explored: f64,
    transfers: f64,
}

/// Checks whether ranks can be started.
pub(super) fn check() -> Result<()> {
    if !cfg!(feature = "mpi") {
        bail!(
            "this filch-lab was built without MPI. {INSTALL}, and start with `cargo run --release -p filch-lab --features mpi -- bench mpi`"
        );
    }
    mpirun(1).map(|_| ())
}

fn mpirun(ranks: usize) -> Result<Command> {
    filch_mpi::launch::mpirun(ranks)
        .context("`mpirun` cannot be started; it comes with Open MPI (Debian: openmpi-bin) or MPICH")
}

impl Launch {
    /// Makes two runs at the same time. The time of each is half of the time of both.
    pub(super) fn run_twice(&self) -> Result<Answer> {
        let (one, other) = thread::scope(|scope| {
            let other = scope.spawn(|| self.run());
            (self.run(), other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let (one, other) = (one?, other?);
        ensure!(one.cost == other.cost, "two runs at the same time proved {} and {}", one.cost, other.cost);
        Ok(Answer { seconds: one.seconds.max(other.seconds) / 2.0, ..one })
    }

    pub(super) fn run(&self) -> Result<Answer> {
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let mut command = match self.ranks {
            0 => Command::new(&program),
            ranks => {
                let mut command = mpirun(ranks)?;
                command.arg(&program);
                command
            }
        };
        command.args(["solve", "misp"]).arg(&self.file).args(["--threads", &self.threads.to_string()]);
        command.args(["--quiet", "--json"]);
        if self.ranks > 0 {
            command.arg("--mpi");
        }
        if let Some((file, every)) = &self.checkpoint {
            // Each round starts a search from the beginning.
            for file in [file.clone(), file.with_extension("previous")] {
                let _ = std::fs::remove_file(file);
            }
            command.arg("--checkpoint").arg(file).args(["--every", &every.to_string()]);
        }
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let output = output.with_context(|| format!("{command:?} could not be started"))?;
        ensure!(output.status.success(), "{command:?} ended with {}", output.status);
        parse(&output.stdout).with_context(|| format!("{command:?} printed no proof of an optimum"))
    }
}

/// Parses the output of a run, which must be a proof.
fn parse(output: &[u8]) -> Result<Answer> {
    let printed: Printed = serde_json::from_slice(output).context("cannot parse the output")?;
    let Printed { ending, cost, seconds, statistics: Statistics { explored, transfers } } = printed;
    ensure!(ending == "optimal", "the search ended with `{ending}` instead of `optimal`");
    Ok(Answer { seconds, cost: cost.context("the output has no cost")?, explored, transfers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_stops_early_or_finds_nothing_fails_the_case() {
        let parsed = |ending: &str, cost: &str| {
            let statistics = r#"{"explored": 3, "transfers": 1}"#;
            let text =
                format!(r#"{{"ending": "{ending}", "cost": {cost}, "seconds": 1.5, "statistics": {statistics}}}"#);
            parse(text.as_bytes()).map(|answer| answer.cost).map_err(|error| error.to_string())
        };
        assert_eq!(parsed("optimal", "7"), Ok(7));
        assert!(parsed("time limit", "7").unwrap_err().contains("ended with `time limit`"));
        assert!(parsed("optimal", "null").unwrap_err().contains("no cost"));
        assert!(parse(b"").unwrap_err().to_string().contains("cannot parse"));
    }
}
