//! The cases: a traversal and its graph.

use std::fmt;

use anyhow::Result;
use filch_graph::{generate, Graph};

use super::memory;
use super::pointers;
use super::problems::{Closure, SpanningTree};
use super::setup::Setup;
use super::shortest_paths;
use crate::bench::bound::Vouched;
use crate::bench::rounds::Effort;
use crate::bench::Threads;
use crate::figures::Series;

/// The seed of all graphs and roots.
pub(super) const SEED: u64 = 6;

/// The number of roots of a traversal.
///
/// The paper starts from a set of roots and does not say how many. Its machine has eight cores.
pub(super) const ROOTS: usize = 8;

/// A case to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// A traversal of a graph.
    Traversal {
        /// The traversal.
        task: Task,
        /// The graph.
        shape: Shape,
        /// How it is stored.
        form: Form,
    },
    /// The distances from one vertex, by weights.
    ShortestPaths {
        /// The graph.
        shape: Shape,
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

/// How a graph is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Rows of neighbours in rising order.
    Sorted,
    /// Rows of neighbours in random order.
    Unsorted,
    /// A record for each vertex, with pointers to the records of its neighbours in rising order.
    Pointers,
}

/// A family of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Points in the plane, each joined to three near it.
    KGraph,
    /// Each vertex is joined to its three nearest on a ring.
    Ring,
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
pub(crate) const SHAPES: [Shape; 12] = [
    Shape { name: "kgraph-250k", family: Family::KGraph, vertices: 250_000 },
    Shape { name: "kgraph-1m", family: Family::KGraph, vertices: 1_000_000 },
    Shape { name: "kgraph-2m", family: Family::KGraph, vertices: 2_000_000 },
    Shape { name: "ring-250k", family: Family::Ring, vertices: 250_000 },
    Shape { name: "ring-1m", family: Family::Ring, vertices: 1_000_000 },
    Shape { name: "ring-2m", family: Family::Ring, vertices: 2_000_000 },
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
        let (task, shape, form) = match self {
            Case::Traversal { task, shape, form } => (task, shape, form),
            Case::ShortestPaths { shape } => return write!(f, "{}/{}", shortest_paths::TASK, shape.name),
            Case::Memory => return f.write_str(memory::CASE),
        };
        let form = match form {
            Form::Sorted => "",
            Form::Unsorted => "/unsorted",
            Form::Pointers => "/pointers",
        };
        write!(f, "{task}/{}{form}", shape.name)
    }
}

/// All cases, in the order in which they are measured and printed.
///
/// The ring is the other reading of "k-graph", for the claims about those. So it has one form.
pub(super) fn all() -> Vec<Case> {
    let of_task = |task| {
        let of_shape = move |shape: Shape| {
            let forms: &[Form] = match (shape.family, task) {
                (Family::Ring, _) => &[Form::Sorted],
                (_, Task::Closure) => &[Form::Sorted, Form::Unsorted, Form::Pointers],
                (_, Task::SpanningTree) => &[Form::Sorted, Form::Unsorted],
            };
            forms.iter().map(move |&form| Case::Traversal { task, shape, form })
        };
        SHAPES.into_iter().flat_map(of_shape)
    };
    let traversals = [Task::Closure, Task::SpanningTree].into_iter().flat_map(of_task);
    let weighted = SHAPES.into_iter().filter(|shape| shape.family != Family::Ring);
    let shortest_paths = weighted.map(|shape| Case::ShortestPaths { shape });
    traversals.chain(shortest_paths).chain([Case::Memory]).collect()
}

impl Shape {
    fn generate(self, form: Form) -> Result<Graph> {
        let side = self.vertices.isqrt();
        let mut graph = match self.family {
            Family::KGraph => generate::kgraph_plane(self.vertices, 3, SEED),
            Family::Ring => generate::kgraph_ring(self.vertices, 3),
            Family::Torus => generate::torus(side, side),
            Family::Random => generate::random(self.vertices, 3 * self.vertices, SEED),
        }?;
        match form {
            Form::Sorted | Form::Pointers => graph.sort_neighbours(),
            Form::Unsorted => graph.shuffle_neighbours(SEED),
        }
        Ok(graph)
    }
}

impl Case {
    /// A description of the case.
    pub(crate) fn description(self) -> String {
        let (task, shape, form) = match self {
            Case::Traversal { task: Task::Closure, shape, form } => {
                (format!("the vertices that can be reached from {ROOTS} vertices"), shape, form)
            }
            Case::Traversal { task: Task::SpanningTree, shape, form } => {
                (format!("a spanning forest of {ROOTS} trees"), shape, form)
            }
            Case::ShortestPaths { shape } => (shortest_paths::description(), shape, Form::Sorted),
            Case::Memory => return memory::DESCRIPTION.to_owned(),
        };
        let graph = match shape.family {
            Family::KGraph => "points in the plane, each joined to 3 near it",
            Family::Ring => "each vertex joined to its 3 nearest on a ring",
            Family::Torus => "a grid without a border",
            Family::Random => "3 random edges per vertex",
        };
        let form = match form {
            Form::Sorted => "neighbours sorted",
            Form::Unsorted => "neighbours in random order",
            Form::Pointers => "pointers to sorted neighbours",
        };
        format!("{task}; {graph}, {form}")
    }

    /// Measures the case, with each number of threads.
    pub(crate) fn measure(self, threads: &Threads, effort: Effort, bound: &Vouched) -> Result<Vec<Series>> {
        let (task, shape, form) = match self {
            Case::Traversal { task, shape, form } => (task, shape, form),
            Case::ShortestPaths { shape } => {
                let graph = shape.generate(Form::Sorted)?;
                return shortest_paths::measure(&self.to_string(), graph, threads, effort);
            }
            Case::Memory => return memory::measure(),
        };
        let graph = shape.generate(form)?;
        match (form, task) {
            (Form::Pointers, _) => pointers::measure(graph, &self.to_string(), threads, effort),
            (_, Task::Closure) => Setup::<Closure>::new(graph)?.measure(self, threads, effort, bound),
            (_, Task::SpanningTree) => Setup::<SpanningTree>::new(graph)?.measure(self, threads, effort, bound),
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
            assert!(names.contains(&format!("{task}/ring-1m")));
        }
        assert!(names.contains("closure/kgraph-1m/pointers"));
        for shape in ["kgraph-1m", "torus-1m", "random-1m-3m"] {
            assert!(names.contains(&format!("shortest-paths/{shape}")));
        }
        assert!(names.contains("memory/random-10m-30m"));
        assert_eq!(names.len(), all().len());
    }
}
