//! Records real searches.

use std::path::Path;
use std::time::Duration;

use anyhow::{anyhow, ensure, Result};
use filch_dd::problems::{independent_set, Instance};
use filch_dd::{Dominance, Solver};
use filch_mpi::simulate::Recording;

use super::arguments::Record;
use crate::problem::{Kind, Loaded, Visit};
use crate::{figures, input_file};

/// How often a random instance is recorded.
const ROUNDS: usize = 3;

/// Solves a problem with one thread and records the cost of its nodes.
pub(super) fn record(wanted: &Record<'_>) -> Result<Recording> {
    figures::check_writable(wanted.out)?;
    let problem = Loaded::read(wanted.problem, wanted.file)?;
    let file = wanted.file.file_name().unwrap_or(wanted.file.as_os_str()).to_string_lossy();
    let recording = search(problem, &format!("{} {file}", wanted.problem.name()), wanted.time)?;
    let bytes = recording.to_bytes();
    figures::write_file(wanted.out, |file| Ok(file.write_all(&bytes)?))?;
    Ok(recording)
}

/// Reads a recording.
pub(super) fn read(path: &Path) -> Result<Recording> {
    let bytes = input_file::read(path)?;
    Recording::from_bytes(&bytes).map_err(|error| anyhow!("{}: {error}", input_file::name(path)))
}

/// Records a random instance, if the user has none.
///
/// The search runs to the end. If it were stopped, all but the youngest nodes near the root would
/// be missing, and a tree with few nodes there is hard to divide.
pub(super) fn record_generated(quick: bool) -> Result<Recording> {
    let vertices = if quick { 120 } else { 140 };
    let name = format!("{}, a random graph of {vertices} vertices", Kind::Misp.name());
    let graph = independent_set::random(vertices, 250, 1, 1);
    let mut recording = search(Loaded::Misp(graph.clone()), &name, None)?;
    // Other programs disturb each round at different moments.
    for _ in 1..ROUNDS {
        recording.calm(&search(Loaded::Misp(graph.clone()), &name, None)?);
    }
    Ok(recording)
}

fn search(problem: Loaded, name: &str, limit: Option<Duration>) -> Result<Recording> {
    let mut recording = Recording::new(name);
    problem.visit(Search { recording: &mut recording, limit })?;
    recording.finish();
    ensure!(!recording.nodes().is_empty(), "{name}: the search ended before it explored a node");
    Ok(recording)
}

struct Search<'a> {
    recording: &'a mut Recording,
    limit: Option<Duration>,
}

impl Visit for Search<'_> {
    type Output = Result<()>;

    fn plain<P: Instance>(self, problem: &P) -> Result<()> {
        self.run(Solver::new(problem))
    }

    fn dominated<P: Instance + Dominance>(self, problem: &P) -> Result<()> {
        self.run(Solver::new(problem).dominance())
    }
}

impl<'a> Search<'a> {
    fn run<P: Instance>(self, mut solver: Solver<'a, P>) -> Result<()> {
        if let Some(limit) = self.limit {
            solver = solver.time_limit(limit);
        }
        let recording = self.recording;
        solver.on_explored(move |node| recording.add(node.took, node.left_open)).solve()?;
        Ok(())
    }
}
