//! All contenders of the `graphs` suite.
//!
//! They are filch's queues and crossbeam's in the same exploration, and the same traversal written
//! without one. Every sample starts threads of its own and ends them. It is timed from inside,
//! after they have started.

mod crossbeam_pool;
mod explore;
mod rayon;
mod serial;

pub(crate) use self::serial::serial;

use std::time::Duration;

use anyhow::Result;
use filch_graph::{Graph, Vertex};

use self::crossbeam_pool::crossbeam_pool;
use self::explore::{CrossbeamLifo, ExploreRun};
use self::rayon::{rayon_frontier, rayon_spawn};
use super::problems::Problem;
use crate::bench::crossbeam::CROSSBEAM_LIFO;
use crate::queue::{Queue, WithKind};

/// A graph and the root of the traversal.
#[derive(Debug)]
pub(crate) struct Input {
    /// The graph.
    pub(crate) graph: Graph,
    /// The first vertex.
    pub(crate) root: Vertex,
    /// The number of vertices that can be reached from the root.
    pub(crate) reached: usize,
}

/// The measurement of a traversal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The time of the traversal.
    pub(crate) elapsed: Duration,
    /// The number of tasks that were run, if counted.
    pub(crate) tasks: Option<u64>,
    /// The number of tasks that were stolen, if counted.
    pub(crate) stolen: Option<u64>,
}

/// A contender that needs a number of threads.
pub(crate) struct Parallel<P> {
    /// Its name in plots.
    pub(crate) name: &'static str,
    /// Traverses with this many threads.
    pub(crate) run: Box<dyn Fn(&Input, &P, usize) -> Result<Sample>>,
}

/// All contenders but the serial loop.
pub(crate) fn parallel<P: Problem + 'static>() -> Vec<Parallel<P>> {
    let explore = |queue: Queue| Parallel {
        name: queue.name(),
        run: Box::new(move |input: &Input, problem: &P, threads| queue.with(ExploreRun { input, problem, threads })?),
    };
    let mut all: Vec<Parallel<P>> = Queue::ALL.into_iter().map(explore).collect();
    all.extend([
        Parallel {
            name: CROSSBEAM_LIFO,
            run: Box::new(|input, problem, threads| ExploreRun { input, problem, threads }.with(CrossbeamLifo)),
        },
        Parallel { name: "crossbeam-pool", run: Box::new(crossbeam_pool) },
        Parallel { name: "rayon-spawn", run: Box::new(rayon_spawn) },
        Parallel { name: "rayon-frontier", run: Box::new(rayon_frontier) },
    ]);
    all
}

#[cfg(test)]
mod tests {
    use filch_graph::generate;

    use super::*;
    use crate::bench::graphs::problems::{Closure, SpanningTree};

    fn check_all_contenders<P: Problem + Send + 'static>() {
        let input = Input { graph: generate::torus(40, 25).unwrap(), root: 7, reached: 1000 };
        let mut problems = [P::new(1000), P::new(1000)];
        let run = |name: &str, problems: &mut [P], run: &dyn Fn(&mut [P]) -> Result<Sample>| {
            problems.iter_mut().for_each(|problem| problem.start(input.root));
            let sample = run(problems).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            for problem in &*problems {
                problem.check(&input.graph, input.reached).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            }
            assert!(sample.tasks.is_none_or(|tasks| tasks >= 1000), "{name}: {sample:?}");
        };
        for threads in 1..=3 {
            for contender in parallel::<P>() {
                let measure = |problems: &mut [P]| (contender.run)(&input, &problems[0], threads);
                run(contender.name, &mut problems[..1], &measure);
            }
        }
        for count in [1, 2] {
            run("serial", &mut problems[..count], &|problems| serial(&input, problems));
        }
    }

    #[test]
    fn all_contenders_reach_every_vertex() {
        check_all_contenders::<Closure>();
    }

    #[test]
    fn all_contenders_find_a_spanning_tree() {
        check_all_contenders::<SpanningTree>();
    }

    #[test]
    fn a_vertex_that_was_missed_is_an_error() {
        let graph = generate::torus(5, 5).unwrap();
        let mut closure = Closure::new(25);
        closure.start(0);
        assert!(closure.check(&graph, 25).unwrap_err().to_string().contains("1 vertices were reached instead of 25"));
        let mut tree = SpanningTree::new(25);
        tree.start(0);
        assert!(tree.check(&graph, 25).unwrap_err().to_string().contains("instead of 25"));
    }
}
