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
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use filch_dd::problems::independent_set;
use filch_dd::Cost;

use super::rounds::{interleave, Effort, Runner};
use super::{select_cases, Measured};
use crate::figures::{self, Series};
use crate::watch;
use launch::{Answer, Launch};

pub(crate) use claims::verdicts;

/// The suite's name.
pub(crate) const SUITE: &str = "mpi";

/// The name of one process without MPI.
const FILCH: &str = "filch";
/// The name of two such processes side by side, each on one thread.
///
/// They are the most that two cores give.
const TWO_SERIAL: &str = "two-serial";
/// The name of one process with a checkpoint every second.
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

/// The interval of checkpoints in seconds.
const EVERY_SECONDS: f64 = 1.0;

/// Options of the suite.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The options that all suites have.
    pub(crate) common: super::Options,
    /// The folder of published instances.
    pub(crate) data: Option<PathBuf>,
}

/// A case to solve.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    source: Source,
    effort: Effort,
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

/// The cases. A quick run has only the small one.
fn cases(quick: bool, data: Option<&Path>) -> Result<Vec<Case>> {
    let effort = Effort { rounds: 15, at_least: 6, time: Duration::from_secs(240) };
    let graph = |name: &str, vertices, per_thousand, seed, effort| Case {
        name: format!("misp/{name}"),
        source: Source::Graph { vertices, per_thousand, seed },
        effort,
    };
    if quick {
        let effort = Effort { rounds: 3, at_least: 1, time: Duration::from_secs(15) };
        return Ok(vec![graph("random-100-20%", 100, 200, 1, effort)]);
    }
    let mut cases = vec![graph("random-130-20%", 130, 200, 1, effort)];
    if let Some(data) = data {
        ensure!(data.is_dir(), "{} is not a folder", data.display());
        let file = data.join("misp").join("brock200_4.clq");
        ensure!(file.is_file(), "{} does not exist", file.display());
        cases.insert(0, Case { name: "misp/brock200_4".to_owned(), source: Source::File(file), effort });
    }
    Ok(cases)
}

/// Runs the suite.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    launch::check()?;
    let super::Options { quick, cases: ref names, limit, .. } = options.common;
    let cases = select_cases(cases(quick, options.data.as_deref())?, names)?;
    let folder = tempfile::tempdir().context("cannot create a folder for instances and checkpoints")?;

    let mut text = String::new();
    let speed = if quick { "quick" } else { "full" };
    writeln!(text, "Suite {SUITE}, {speed}: a proof of the optimum by one process or by ranks of one thread each, and the same with a checkpoint every second.")?;
    if options.data.is_none() && !quick {
        writeln!(text, "brock200_4 is left out: give the folder that has misp/brock200_4.clq with --data.")?;
    }
    let mut all = Vec::new();
    for case in watch::each(&cases) {
        let series = measure(case, case.effort.within(limit), folder.path())?;
        let rounds = series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
        writeln!(text, "\n{case}, {rounds} rounds.")?;
        text.push_str(&figures::tables(&series, &[FILCH]));
        watch::keep(SUITE, &series);
        all.extend(series);
    }
    Ok(Measured { series: all, text })
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
    let optimum: Cell<Option<Cost>> = Cell::new(None);
    let runner = |name: &'static str, ranks: usize, threads: usize, checkpoint: bool| {
        let checkpoint = checkpoint.then(|| (folder.join("checkpoint"), EVERY_SECONDS));
        let launch = Launch { file: file.clone(), ranks, threads, checkpoint };
        let optimum = &optimum;
        let measure = move || {
            let Answer { seconds, cost, explored, transfers } =
                if name == TWO_SERIAL { launch.run_twice()? } else { launch.run()? };
            let known = optimum.replace(Some(cost)).unwrap_or(cost);
            ensure!(known == cost, "the run proved {cost}, but {known} was proven before");
            Ok(vec![1e3 * seconds, explored, transfers])
        };
        let all = if name == TWO_SERIAL { 2 } else { ranks.max(1) * threads };
        Runner { name, threads: all, measure: Box::new(measure) }
    };
    let runners = [
        runner(FILCH, 0, 1, false),
        runner(FILCH, 0, 2, false),
        runner(TWO_SERIAL, 0, 1, false),
        runner(CHECKPOINTS, 0, 2, true),
        runner(ONE_RANK, 1, 1, false),
        runner(ONE_RANK, 1, 2, false),
        runner(TWO_RANKS, 2, 1, false),
    ];
    interleave(&case.name, &[MILLISECONDS, NODES, TRANSFERS], &runners, effort)
}
