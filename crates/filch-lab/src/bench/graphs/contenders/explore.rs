//! filch's exploration, on any queue.

use std::time::Instant;

use anyhow::{Context, Result};
use filch::explore::Explore;
use filch::Pool;
use filch_graph::Vertex;

use super::{Input, Sample};
use crate::bench::graphs::problems::Problem;
use crate::queue::{Kind, WithKind};

/// Explores from the root, on queues of this kind.
pub(crate) fn explore<K, P>(kind: K, input: &Input, problem: &P, threads: usize) -> Result<Sample>
where
    K: Kind<Vertex> + Send,
    P: Problem,
{
    let pool = Pool::builder()
        .threads(threads)
        .build()
        .with_context(|| format!("a filch pool of {threads} threads could not be started"))?;
    // After this, all threads have started.
    pool.broadcast(|_| ());
    let (explored, elapsed) = pool.install(|| {
        let start = Instant::now();
        let explored = Explore::at_least_once().queue(kind).run([input.root], |vertex, worker| {
            problem.visit(&input.graph, vertex, |next| worker.push(next));
        });
        (explored, start.elapsed())
    });
    let counts = explored.counts();
    Ok(Sample {
        elapsed,
        tasks: Some(counts.iter().map(|counts| counts.tasks).sum()),
        stolen: Some(counts.iter().map(|counts| counts.steals).sum()),
    })
}

/// An exploration on a queue that is chosen by name.
#[derive(Debug)]
pub(crate) struct ExploreRun<'a, P> {
    /// The graph and its root.
    pub(crate) input: &'a Input,
    /// The computation.
    pub(crate) problem: &'a P,
    /// The number of threads in the pool.
    pub(crate) threads: usize,
}

impl<P: Problem> WithKind for ExploreRun<'_, P> {
    type Output = Result<Sample>;

    fn with<K: Kind<Vertex> + Clone + Send>(self, kind: K) -> Result<Sample> {
        explore(kind, self.input, self.problem, self.threads)
    }
}
