//! All contenders of the `graphs` suite.
//!
//! They are filch's queues and crossbeam's in the same exploration, and the same traversal written
//! without one. Every sample starts threads of its own and ends them. It is timed from inside,
//! after they have started.

mod crossbeam_kind;
mod crossbeam_pool;
mod explore;
mod rayon;
mod serial;

pub(crate) use self::crossbeam_kind::CrossbeamLifo;
pub(crate) use self::crossbeam_pool::crossbeam_pool;
pub(crate) use self::explore::{explore, ExploreRun};
pub(crate) use self::rayon::{rayon_frontier, rayon_spawn};
pub(crate) use self::serial::{serial, serial_pair};

use std::time::Duration;

use filch_graph::{Graph, Vertex};

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

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use filch_graph::generate;

    use super::*;
    use crate::bench::graphs::problems::{Closure, Problem, SpanningTree};
    use crate::queue::Queue;

    fn check_all_contenders<P: Problem + Send>() {
        let input = Input { graph: generate::torus(40, 25).unwrap(), root: 7, reached: 1000 };
        let mut problem = P::new(1000);
        let mut one = |name: &str, run: &dyn Fn(&mut P) -> Result<Sample>| {
            problem.start(input.root);
            let sample = run(&mut problem).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            problem.check(&input.graph, input.reached).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            assert!(sample.tasks.is_none_or(|tasks| tasks >= 1000), "{name}: {sample:?}");
        };
        for threads in 1..=3 {
            for queue in Queue::ALL {
                let run = |problem: &mut P| queue.with(ExploreRun { input: &input, problem, threads })?;
                one(queue.name(), &run);
            }
            one("crossbeam-lifo", &|problem| explore(CrossbeamLifo, &input, problem, threads));
            one("crossbeam-pool", &|problem| crossbeam_pool(&input, problem, threads));
            one("rayon-spawn", &|problem| rayon_spawn(&input, problem, threads));
            one("rayon-frontier", &|problem| rayon_frontier(&input, problem, threads));
        }
        one("serial", &|problem| serial(&input, problem));
        let mut other = P::new(1000);
        other.start(input.root);
        problem.start(input.root);
        serial_pair(&input, &mut problem, &mut other).unwrap();
        problem.check(&input.graph, input.reached).unwrap();
        other.check(&input.graph, input.reached).unwrap();
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
