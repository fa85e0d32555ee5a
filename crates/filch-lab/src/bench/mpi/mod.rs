//! The `mpi` suite: a search on threads and on ranks, and the cost of checkpoints.
//!
//! The search runs on one thread, on two threads of one process, and on two ranks of one thread
//! each.
//!
//! Every run is `filch solve` in its own process, with `mpirun` in front if it has ranks. Only the
//! search is timed, not the start of the processes. This program has the same command, hidden.

mod claims;
mod launch;

use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use clap::Args;
use filch_dd::problems::independent_set;
use filch_dd::Cost;
use tempfile::TempDir;

use super::rounds::{interleave, Effort, Runner};
use super::{Options, Suite, Threads, SERIAL_PAIR};
use crate::figures::Series;
use launch::{Answer, Launch};

pub(crate) use claims::verdicts;

/// The suite's name.
pub(crate) const SUITE: &str = "mpi";

/// The name of one process without MPI.
const FILCH: &str = "filch";
/// The name of one process with ten checkpoints a second.
const CHECKPOINTS: &str = "filch-checkpoints";
/// The name of one rank.
const ONE_RANK: &str = "mpi-1-rank";
/// The name of two ranks of one thread each.
const TWO_RANKS: &str = "mpi-2-ranks";

/// The unit of the time to prove an optimum.
const MILLISECONDS: &str = "ms";
/// The unit of the number of explored nodes.
const NODES: &str = "nodes";
/// The unit of the number of transfers.
///
/// A transfer sends open nodes from rank to rank or writes them to a checkpoint.
const TRANSFERS: &str = "transfers";

/// The interval of checkpoints in seconds. Even a search of half a second writes several.
const EVERY_SECONDS: f64 = 0.1;

/// The suite.
#[derive(Args, Debug)]
pub(crate) struct Mpi {
    /// Also measure the published instance misp/brock200_4.clq of this folder.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,

    /// The folder of generated instances and of checkpoints.
    #[arg(skip)]
    folder: Option<TempDir>,
}

/// A case to solve.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    name: String,
    source: Source,
    /// The optimum, if the suite knows it.
    optimum: Option<Cost>,
}

#[derive(Clone, Debug)]
enum Source {
    /// A random graph. `per_thousand` in a thousand pairs of vertices are neighbours.
    Graph { vertices: usize, per_thousand: u32, seed: u64 },
    /// A published instance.
    File(PathBuf),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Suite for Mpi {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &[FILCH];
    type Case = Case;

    /// A quick run has only a small case.
    fn cases(&self, options: &Options) -> Result<Vec<Case>> {
        // ddo has proven the same optima.
        let (vertices, optimum) = options.choose((100, 19), (130, 21));
        let mut cases = vec![Case {
            name: format!("misp/random-{vertices}-20%"),
            source: Source::Graph { vertices, per_thousand: 200, seed: 1 },
            optimum: Some(optimum),
        }];
        if let (Some(data), false) = (&self.data, options.quick) {
            ensure!(data.is_dir(), "{} is not a folder", data.display());
            let file = data.join("misp").join("brock200_4.clq");
            ensure!(file.is_file(), "{} does not exist", file.display());
            cases.insert(0, Case { name: "misp/brock200_4".to_owned(), source: Source::File(file), optimum: None });
        }
        Ok(cases)
    }

    fn effort(&self, _: &Case, options: &Options) -> Effort {
        options.choose(
            Effort { rounds: 3, at_least: 1, time: Duration::from_secs(15) },
            Effort { rounds: 15, at_least: 6, time: Duration::from_secs(240) },
        )
    }

    fn check(&self, options: &Options) -> Result<()> {
        ensure!(options.threads == Threads::default(), "this suite always has 1 and 2 threads; leave out --threads");
        launch::check()
    }

    fn prepare(&mut self, _: &[Case], _: &Options) -> Result<()> {
        self.folder = Some(tempfile::tempdir().context("cannot create a folder for instances and checkpoints")?);
        Ok(())
    }

    fn measure(&mut self, case: &Case, _: &Options, effort: Effort) -> Result<Vec<Series>> {
        measure(case, effort, self.folder.as_ref().context("there is no folder for instances")?.path())
    }

    fn introduction(&self, options: &Options) -> String {
        let left_out = if self.data.is_none() && !options.quick {
            "\nbrock200_4 is left out: give the folder that has misp/brock200_4.clq with --data."
        } else {
            ""
        };
        format!("a proof of the optimum by one process or by ranks of one thread each, and the same with ten checkpoints a second.{left_out}")
    }

    fn description(&self, case: &Case) -> String {
        match &case.source {
            Source::Graph { vertices, .. } => format!("the largest independent set of {vertices} vertices"),
            Source::File(file) => format!("the largest independent set of {}", file.display()),
        }
    }
}

fn measure(case: &Case, effort: Effort, folder: &Path) -> Result<Vec<Series>> {
    let file = match &case.source {
        Source::File(file) => file.clone(),
        Source::Graph { vertices, per_thousand, seed } => {
            let file = folder.join("instance");
            let text = independent_set::random(*vertices, *per_thousand, 1, *seed).text();
            std::fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
            file
        }
    };
    let optimum = Cell::new(case.optimum);
    let runner = |name: &'static str, ranks: usize, threads: usize, checkpoint: bool| {
        let checkpoint = checkpoint.then(|| (folder.join("checkpoint"), EVERY_SECONDS));
        let launch = Launch { file: file.clone(), ranks, threads, checkpoint };
        let optimum = &optimum;
        let measure = move || {
            let Answer { seconds, cost, explored, transfers } =
                if name == SERIAL_PAIR { launch.run_twice()? } else { launch.run()? };
            agree(optimum, cost)?;
            Ok(vec![1e3 * seconds, explored, transfers])
        };
        let all = if name == SERIAL_PAIR { 2 } else { ranks.max(1) * threads };
        Runner { name, threads: all, measure: Box::new(measure) }
    };
    let runners = [
        runner(FILCH, 0, 1, false),
        runner(FILCH, 0, 2, false),
        runner(SERIAL_PAIR, 0, 1, false),
        runner(CHECKPOINTS, 0, 2, true),
        runner(ONE_RANK, 1, 1, false),
        runner(ONE_RANK, 1, 2, false),
        runner(TWO_RANKS, 2, 1, false),
    ];
    interleave(&case.name, &[MILLISECONDS, NODES, TRANSFERS], &runners, effort)
}

/// Checks that a run has proven the same optimum as the runs before.
fn agree(optimum: &Cell<Option<Cost>>, cost: Cost) -> Result<()> {
    let known = optimum.replace(Some(cost)).unwrap_or(cost);
    ensure!(known == cost, "the run proved {cost}, but {known} was proven before");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_optimum_fails_the_case() {
        let optimum = Cell::new(None);
        agree(&optimum, 7).unwrap();
        agree(&optimum, 7).unwrap();
        assert!(agree(&Cell::new(Some(19)), 18).is_err());
        let error = agree(&optimum, 6).unwrap_err().to_string();
        assert_eq!(error, "the run proved 6, but 7 was proven before");
    }
}
