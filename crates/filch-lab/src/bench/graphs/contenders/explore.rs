//! filch's exploration, on any queue.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use crossbeam_deque::Worker;
use filch::explore::{Explore, Explored};
use filch::queue::Kind;
use filch::Pool;
use filch_graph::Vertex;

use super::{Input, Sample};
use crate::bench::crossbeam::{self, CrossbeamOwner, CrossbeamThief};
use crate::bench::graphs::problems::Problem;

/// Explores from the roots, on queues of this kind.
pub(crate) fn explore_on<P, K>(kind: K, input: &Input, problem: &P, threads: usize) -> Result<Sample>
where
    P: Problem,
    K: Kind<Vertex> + Clone + Send,
{
    explored_in_pool(threads, &mut || {
        let explore = Explore::at_least_once().queue(kind.clone());
        explore.run(input.roots.iter().copied(), |vertex, worker| {
            problem.visit(&input.graph, vertex, |next| worker.push(next));
        })
    })
}

/// `levels`: explores from the roots level by level, without queues.
pub(crate) fn levels<P: Problem>(input: &Input, problem: &P, threads: usize) -> Result<Sample> {
    explored_in_pool(threads, &mut || {
        Explore::exactly_once().run_by_level(input.roots.iter().copied(), |vertex, worker| {
            problem.visit(&input.graph, vertex, |next| worker.push(next));
        })
    })
}

/// `levels-prefetch`: the same, and fetches the neighbours of the next vertices.
pub(crate) fn levels_prefetch<P: Problem>(input: &Input, problem: &P, threads: usize) -> Result<Sample> {
    explored_in_pool(threads, &mut || {
        let prefetch = |&vertex: &Vertex, ahead| input.graph.prefetch(vertex, ahead);
        let roots = input.roots.iter().copied();
        Explore::exactly_once().run_by_level_with_prefetch(roots, prefetch, |vertex, worker| {
            problem.visit(&input.graph, vertex, |next| worker.push(next));
        })
    })
}

/// Explores in a new pool, whose threads have started, and times that.
///
/// It is compiled once for all queues and computations.
pub(crate) fn explored_in_pool(threads: usize, run: &mut (dyn FnMut() -> Explored<()> + Send)) -> Result<Sample> {
    let mut explored = None;
    let elapsed = in_pool(threads, &mut || explored = Some(run()))?;
    let counts = explored.as_ref().map_or(&[][..], Explored::counts);
    Ok(Sample {
        elapsed,
        tasks: Some(counts.iter().map(|counts| counts.tasks).sum()),
        stolen: Some(counts.iter().map(|counts| counts.steals).sum()),
    })
}

/// Runs in a new pool, whose threads have started, and times that.
pub(crate) fn in_pool(threads: usize, run: &mut (dyn FnMut() + Send)) -> Result<Duration> {
    let pool = Pool::builder()
        .threads(threads)
        .build()
        .with_context(|| format!("a filch pool of {threads} threads could not be started"))?;
    pool.broadcast(|_| ());
    Ok(pool.install(|| {
        let start = Instant::now();
        run();
        start.elapsed()
    }))
}

/// `crossbeam-lifo`: crossbeam's deque in filch's exploration, so that only the queue differs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CrossbeamLifo;

impl<T: Send> Kind<T> for CrossbeamLifo {
    type Owner = CrossbeamOwner<T>;
    type Thief = CrossbeamThief<T>;

    fn make(&self) -> (CrossbeamOwner<T>, CrossbeamThief<T>) {
        crossbeam::sides(Worker::new_lifo())
    }
}
