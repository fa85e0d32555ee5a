//! The cases: a traversal and its graph.

use std::fmt;

use anyhow::Result;
use filch_graph::{generate, Graph};

use super::memory;
use super::problems::{Closure, SpanningTree};
use super::setup::Setup;
use crate::bench::bound::Vouched;
use crate::bench::rounds::Effort;
use crate::bench::Threads;
use crate::figures::Series;

/// The seed of all graphs and roots.
pub(super) const SEED: u64 = 6;

/// A case to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// A traversal of a graph.
    Traversal {
        /// The traversal.
        task: Task,
        /// The graph.
        shape: Shape,
        /// Whether the neighbours of each vertex are in rising order instead of random order.
        sorted: bool,
    },
    /// The memory use of a closure of a large graph.
    Memory,
}

/// A traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// The set of reachable vertices.
    Closure,
    /// A spanning tree.
    SpanningTree,
}

/// A family of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Each vertex is joined to its three nearest on a ring.
    KGraph,
    /// A grid without a border.
    Torus,
    /// Three random edges per vertex.
    Random,
}

/// A graph of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Its name in plots.
    pub(crate) name: &'static str,
    /// The family of the graph.
    pub(crate) family: Family,
    /// The number of vertices.
    pub(crate) vertices: usize,
}

/// All graphs that are traversed.
pub(crate) const SHAPES: [Shape; 9] = [
    Shape { name: "kgraph-250k", family: Family::KGraph, vertices: 250_000 },
    Shape { name: "kgraph-1m", family: Family::KGraph, vertices: 1_000_000 },
    Shape { name: "kgraph-2m", family: Family::KGraph, vertices: 2_000_000 },
    Shape { name: "torus-250k", family: Family::Torus, vertices: 250_000 },
    Shape { name: "torus-1m", family: Family::Torus, vertices: 1_000_000 },
    Shape { name: "torus-4m", family: Family::Torus, vertices: 4_000_000 },
    Shape { name: "random-250k-750k", family: Family::Random, vertices: 250_000 },
    Shape { name: "random-1m-3m", family: Family::Random, vertices: 1_000_000 },
    Shape { name: "random-2m-6m", family: Family::Random, vertices: 2_000_000 },
];

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Task::Closure => "closure",
            Task::SpanningTree => "spanning-tree",
        })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Case::Traversal { task, shape, sorted: true } => write!(f, "{task}/{}", shape.name),
            Case::Traversal { task, shape, sorted: false } => write!(f, "{task}/{}/unsorted", shape.name),
            Case::Memory => f.write_str(memory::CASE),
        }
    }
}

/// All cases, in the order in which they are measured and printed.
pub(crate) fn all() -> Vec<Case> {
    let of_task = |task| {
        let of_shape = move |shape| [true, false].map(move |sorted| Case::Traversal { task, shape, sorted });
        SHAPES.into_iter().flat_map(of_shape)
    };
    [Task::Closure, Task::SpanningTree].into_iter().flat_map(of_task).chain([Case::Memory]).collect()
}

impl Shape {
    fn generate(self, sorted: bool) -> Result<Graph> {
        let side = self.vertices.isqrt();
        let mut graph = match self.family {
            Family::KGraph => generate::kgraph_ring(self.vertices, 3),
            Family::Torus => generate::torus(side, side),
            Family::Random => generate::random(self.vertices, 3 * self.vertices, SEED),
        }?;
        if sorted {
            graph.sort_neighbours();
        } else {
            graph.shuffle_neighbours(SEED);
        }
        Ok(graph)
    }
}

impl Case {
    /// A description of the case.
    pub(crate) fn description(self) -> String {
        let Case::Traversal { task, shape, sorted } = self else {
            return memory::DESCRIPTION.to_owned();
        };
        let task = match task {
            Task::Closure => "the vertices that can be reached from a vertex",
            Task::SpanningTree => "a spanning tree",
        };
        let graph = match shape.family {
            Family::KGraph => "each vertex joined to its 3 nearest on a ring",
            Family::Torus => "a grid without a border",
            Family::Random => "3 random edges per vertex",
        };
        format!("{task}; {graph}, neighbours {}", if sorted { "sorted" } else { "in random order" })
    }

    /// Measures the case, with each number of threads.
    pub(crate) fn measure(self, threads: &Threads, effort: Effort, bound: &Vouched) -> Result<Vec<Series>> {
        match self {
            Case::Traversal { task: Task::Closure, shape, sorted } => {
                Setup::<Closure>::new(shape.generate(sorted)?)?.measure(self, threads, effort, bound)
            }
            Case::Traversal { task: Task::SpanningTree, shape, sorted } => {
                Setup::<SpanningTree>::new(shape.generate(sorted)?)?.measure(self, threads, effort, bound)
            }
            Case::Memory => memory::measure(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn cases_have_the_names_that_plots_know() {
        let names: BTreeSet<String> = all().iter().map(Case::to_string).collect();
        for task in ["closure", "spanning-tree"] {
            for shape in ["kgraph-1m", "kgraph-2m", "torus-1m", "torus-4m", "random-1m-3m", "random-2m-6m"] {
                assert!(names.contains(&format!("{task}/{shape}")));
                assert!(names.contains(&format!("{task}/{shape}/unsorted")));
            }
        }
        assert!(names.contains("memory/random-10m-30m"));
        assert_eq!(names.len(), all().len());
    }
}
