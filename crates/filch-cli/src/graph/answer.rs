//! Computes the result of a task on any queue, and writes it.

use std::io::Write;
use std::time::Duration;

use anyhow::{bail, Result};
use filch::explore::Explore;
use filch::Pool;
use filch_graph::{
    closure, closure_by_level, components, distances, shortest_paths, spanning_forest, spanning_tree, BucketWidth,
    Closure, Components, Distances, Effort, ShortestPaths, Tree, Vertex,
};

use super::arguments::Task;
use super::input::{Input, Stored};
use super::Arguments;
use crate::queue::{Kind, WithKind};

/// The result of a task.
pub(super) enum Answer {
    Closure(Closure),
    Tree(Tree),
    Components(Components),
    Distances(Distances),
    ShortestPaths(ShortestPaths),
}

/// All parameters of a computation except the queue.
struct Computation<'a> {
    task: Task,
    stored: &'a Stored,
    roots: &'a [Vertex],
    width: BucketWidth,
    pool: &'a Pool,
    time_limit: Option<Duration>,
    by_level: bool,
}

impl WithKind for Computation<'_> {
    type Output = Result<Answer>;

    fn with<K: Kind<Vertex> + Clone + Send>(self, kind: K) -> Result<Answer> {
        let Computation { task, stored, roots, width, pool, time_limit, by_level } = self;
        let mut explore = Explore::at_least_once().queue(kind).pool(pool);
        if let Some(limit) = time_limit {
            explore = explore.time_limit(limit);
        }
        let graph = stored.graph();
        Ok(match (task, roots) {
            (Task::Closure, _) if by_level => Answer::Closure(closure_by_level(graph, roots.iter().copied(), explore)),
            (Task::Closure, _) => Answer::Closure(closure(graph, roots.iter().copied(), explore)),
            (Task::SpanningTree, [root, ..]) => Answer::Tree(spanning_tree(graph, *root, explore)),
            (Task::SpanningTree, []) => Answer::Tree(spanning_forest(graph, explore)),
            (Task::Components, _) => Answer::Components(components(graph, explore)),
            (Task::Bfs, _) => Answer::Distances(distances(graph, roots.iter().copied(), explore)),
            (Task::ShortestPaths, _) => {
                let Stored::Weighted(graph) = stored else { bail!("shortest-paths needs a graph with weights") };
                Answer::ShortestPaths(shortest_paths(graph, roots.iter().copied(), width, explore))
            }
        })
    }
}

impl Answer {
    /// Computes the result. Without roots, a spanning tree is a forest of the whole graph.
    pub(super) fn compute(arguments: &Arguments, stored: &Stored, roots: &[Vertex], pool: &Pool) -> Result<Answer> {
        let Arguments { task, time_limit, by_level, .. } = *arguments;
        let width = arguments.delta.unwrap_or_default();
        arguments.queue.with(Computation { task, stored, roots, width, pool, time_limit, by_level })?
    }

    /// The effort of the computation.
    pub(super) fn effort(&self) -> &Effort {
        match self {
            Answer::Closure(closure) => closure.effort(),
            Answer::Tree(tree) => tree.effort(),
            Answer::Components(components) => components.effort(),
            Answer::Distances(distances) => distances.effort(),
            Answer::ShortestPaths(paths) => paths.effort(),
        }
    }

    /// The bytes that it holds besides the graph.
    pub(super) fn memory(&self) -> usize {
        match self {
            Answer::Closure(closure) => closure.memory(),
            Answer::Tree(tree) => tree.memory(),
            Answer::Components(components) => components.memory(),
            Answer::Distances(distances) => distances.memory(),
            Answer::ShortestPaths(paths) => paths.memory(),
        }
    }

    /// Writes a line for each vertex that has a result. The line has the vertex's id, if it has
    /// one.
    pub(super) fn write(&self, input: &Input, file: &mut dyn Write) -> Result<()> {
        let id = |vertex: Vertex| input.names.as_ref().map_or(u64::from(vertex), |names| names.id(vertex));
        let tree = match (self, &input.graph) {
            (Answer::ShortestPaths(paths), Stored::Weighted(graph)) => Some(paths.tree(graph)),
            _ => None,
        };
        let before = |vertex: Vertex| id(tree.as_ref().and_then(|tree| tree.parent(vertex)).unwrap_or(vertex));
        for vertex in 0..input.graph.graph().vertices() as Vertex {
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
                Answer::ShortestPaths(paths) => {
                    if let Some(distance) = paths.of(vertex) {
                        writeln!(file, "{own_id} {distance} {}", before(vertex))?;
                    }
                }
                Answer::Closure(_) | Answer::Tree(_) => {}
            }
        }
        Ok(())
    }
}
