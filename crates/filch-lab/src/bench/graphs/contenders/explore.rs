//! filch's exploration, on any queue.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use crossbeam_deque::Worker;
use filch::explore::Explore;
use filch::queue::Kind;
use filch::Pool;
use filch_graph::Vertex;

use super::{Input, Sample};
use crate::bench::crossbeam::{self, CrossbeamOwner, CrossbeamThief};
use crate::bench::graphs::problems::Problem;

/// Explores from the root, on queues of this kind.
pub(crate) fn explore_on<P, K>(kind: K, input: &Input, problem: &P, threads: usize) -> Result<Sample>
where
    P: Problem,
    K: Kind<Vertex> + Clone + Send,
{
    let mut explored = None;
    let elapsed = timed_in_pool(threads, &mut || {
        let explore = Explore::at_least_once().queue(kind.clone());
        explored = Some(explore.run([input.root], |vertex, worker| {
            problem.visit(&input.graph, vertex, |next| worker.push(next));
        }));
    })?;
    let explored = explored.context("the pool ran nothing")?;
    let counts = explored.counts();
    Ok(Sample {
        elapsed,
        tasks: Some(counts.iter().map(|counts| counts.tasks).sum()),
        stolen: Some(counts.iter().map(|counts| counts.steals).sum()),
    })
}

/// Times a run inside a new pool, whose threads have started.
///
/// It is compiled once for all queues and computations.
fn timed_in_pool(threads: usize, run: &mut (dyn FnMut() + Send)) -> Result<Duration> {
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
