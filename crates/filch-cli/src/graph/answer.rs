//! Computes the result of a task on any queue, and writes it.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use filch::explore::Explore;
use filch::Pool;
use filch_graph::read::Names;
use filch_graph::{
    closure, closure_by_level, components, distances, spanning_forest, spanning_tree, Closure, Components, Distances,
    Effort, Graph, Tree, Vertex,
};

use super::arguments::Task;
use super::Arguments;
use crate::queue::{Kind, WithKind};

/// The result of a task.
pub(super) enum Answer {
    Closure(Closure),
    Tree(Tree),
    Components(Components),
    Distances(Distances),
}

/// All parameters of a computation except the queue.
struct Computation<'a> {
    task: Task,
    graph: &'a Graph,
    roots: &'a [Vertex],
    pool: &'a Pool,
    time_limit: Option<Duration>,
    by_level: bool,
}

impl WithKind for Computation<'_> {
    type Output = Answer;

    fn with<K: Kind<Vertex> + Clone + Send>(self, kind: K) -> Answer {
        let Computation { task, graph, roots, pool, time_limit, by_level } = self;
        let mut explore = Explore::at_least_once().queue(kind).pool(pool);
        if let Some(limit) = time_limit {
            explore = explore.time_limit(limit);
        }
        match (task, roots) {
            (Task::Closure, _) if by_level => Answer::Closure(closure_by_level(graph, roots.iter().copied(), explore)),
            (Task::Closure, _) => Answer::Closure(closure(graph, roots.iter().copied(), explore)),
            (Task::SpanningTree, [root, ..]) => Answer::Tree(spanning_tree(graph, *root, explore)),
            (Task::SpanningTree, []) => Answer::Tree(spanning_forest(graph, explore)),
            (Task::Components, _) => Answer::Components(components(graph, explore)),
            (Task::Bfs, _) => Answer::Distances(distances(graph, roots.iter().copied(), explore)),
        }
    }
}

impl Answer {
    /// Computes the result. Without roots, a spanning tree is a forest of the whole graph.
    pub(super) fn compute(arguments: &Arguments, graph: &Graph, roots: &[Vertex], pool: &Pool) -> Result<Answer> {
        let Arguments { task, time_limit, by_level, .. } = *arguments;
        Ok(arguments.queue.with(Computation { task, graph, roots, pool, time_limit, by_level })?)
    }

    /// The effort of the computation.
    pub(super) fn effort(&self) -> &Effort {
        match self {
            Answer::Closure(closure) => closure.effort(),
            Answer::Tree(tree) => tree.effort(),
            Answer::Components(components) => components.effort(),
            Answer::Distances(distances) => distances.effort(),
        }
    }

    /// The bytes that it holds besides the graph.
    pub(super) fn memory(&self) -> usize {
        match self {
            Answer::Closure(closure) => closure.memory(),
            Answer::Tree(tree) => tree.memory(),
            Answer::Components(components) => components.memory(),
            Answer::Distances(distances) => distances.memory(),
        }
    }

    /// Writes a line for each vertex that has a result. The line has the vertex's id, if it has
    /// one.
    pub(super) fn write(&self, vertices: usize, names: Option<&Names>, file: &mut dyn Write) -> Result<()> {
        let id = |vertex: Vertex| names.map_or(u64::from(vertex), |names| names.id(vertex));
        for vertex in 0..vertices as Vertex {
            let own_id = id(vertex);
            match self {
                Answer::Closure(closure) if closure.contains(vertex) => writeln!(file, "{own_id}")?,
                Answer::Tree(tree) if tree.contains(vertex) => {
                    writeln!(file, "{own_id} {}", id(tree.parent(vertex).unwrap_or(vertex)))?;
                }
                Answer::Components(components) => writeln!(file, "{own_id} {}", components.of(vertex))?,
                Answer::Distances(distances) => {
                    if let Some(distance) = distances.of(vertex) {
                        writeln!(file, "{own_id} {distance}")?;
                    }
                }
                Answer::Closure(_) | Answer::Tree(_) => {}
            }
        }
        Ok(())
    }
}
