//! Shortest paths by delta stepping, beside Dijkstra's algorithm with a binary heap.
//!
//! Both are the functions of `filch_graph`, and both allocate their memory while the clock runs, as
//! they do for users. A sample is an error if one distance differs from that of Dijkstra's algorithm.

use std::time::Duration;

use anyhow::{bail, ensure, Result};
use filch::explore::Explore;
use filch_graph::generate::uniform_weights;
use filch_graph::{serial, shortest_paths, BucketWidth, Graph, ShortestPaths, Vertex, WeightedGraph};

use super::cases::SEED;
use super::contenders::in_pool;
use super::setup::{NANOS_A_VERTEX, REDUNDANT, SERIAL_PAIR, STOLEN};
use crate::bench::at_once::timed_on_threads;
use crate::bench::random::Random;
use crate::bench::rounds::{interleave, Effort, Runner};
use crate::bench::{Threads, SERIAL};
use crate::figures::Series;
use crate::queue::Queue;

/// The name of the computation in plots.
pub(super) const TASK: &str = "shortest-paths";

/// The smallest and the largest weight of an edge.
const WEIGHTS: (u32, u32) = (1, 100);

/// A description of the computation.
pub(super) fn description() -> String {
    let (least, most) = WEIGHTS;
    format!("the distances from one vertex, with weights from {least} to {most}")
}

/// A graph, a root, and the distances from it.
struct Input {
    graph: WeightedGraph,
    root: Vertex,
    expected: ShortestPaths,
}

impl Input {
    /// Chooses a random root from which most vertices can be reached.
    fn new(graph: Graph) -> Result<Input> {
        let graph = uniform_weights(graph, WEIGHTS.0..=WEIGHTS.1, SEED)?;
        let mut random = Random::new(SEED);
        for _ in 0..100 {
            let root = random.below(graph.vertices() as u64) as Vertex;
            let expected = serial::shortest_paths(&graph, [root]);
            if expected.reached() > graph.vertices() / 2 {
                return Ok(Input { graph, root, expected });
            }
        }
        bail!("no vertex was found from which most of the graph can be reached")
    }

    /// Checks every distance.
    fn check(&self, found: &ShortestPaths) -> Result<()> {
        for vertex in 0..self.graph.vertices() as Vertex {
            let (found, expected) = (found.of(vertex), self.expected.of(vertex));
            ensure!(found == expected, "vertex {vertex} has the distance {found:?} instead of {expected:?}");
        }
        Ok(())
    }

    /// The figures of so many searches that ran at the same time.
    fn figures(&self, elapsed: Duration, found: &[ShortestPaths]) -> Result<Vec<f64>> {
        found.iter().try_for_each(|found| self.check(found))?;
        let share = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
        let sum = |of: fn(&ShortestPaths) -> u64| found.iter().map(of).sum::<u64>();
        let reached = sum(|found| found.reached() as u64);
        let (visits, tasks) = (sum(ShortestPaths::visits), sum(|found| found.effort().tasks()));
        Ok(vec![
            elapsed.as_nanos() as f64 / reached as f64,
            share(visits.saturating_sub(reached), visits),
            share(sum(|found| found.effort().steals()), tasks),
        ])
    }

    /// Dijkstra's algorithm, so many times side by side.
    fn serial(&self, count: usize) -> Result<Vec<f64>> {
        let search = |_| serial::shortest_paths(&self.graph, [self.root]);
        let (elapsed, found) = timed_on_threads("a serial run", 0..count, search)?;
        self.figures(elapsed, &found)
    }

    /// Delta stepping, with the width that the graph suggests.
    fn delta_stepping(&self, threads: usize) -> Result<Vec<f64>> {
        let mut found = None;
        let elapsed = in_pool(threads, &mut || {
            let width = BucketWidth::automatic();
            found = Some(shortest_paths(&self.graph, [self.root], width, Explore::at_least_once()));
        })?;
        self.figures(elapsed, found.as_slice())
    }
}

/// Measures all contenders, with each number of threads.
pub(super) fn measure(case: &str, graph: Graph, threads: &Threads, effort: Effort) -> Result<Vec<Series>> {
    let input = &Input::new(graph)?;
    let serial = |name, count| Runner { name, threads: count, measure: Box::new(move || input.serial(count)) };
    let mut runners = vec![serial(SERIAL, 1)];
    runners.extend(threads.counts().iter().map(|&threads| Runner {
        name: Queue::Split.name(),
        threads,
        measure: Box::new(move || input.delta_stepping(threads)),
    }));
    if threads.have_two() {
        runners.push(serial(SERIAL_PAIR, 2));
    }
    interleave(case, &[NANOS_A_VERTEX, REDUNDANT, STOLEN], &runners, effort)
}

#[cfg(test)]
mod tests {
    use filch_graph::generate;

    use super::*;

    #[test]
    fn all_contenders_find_the_distances() {
        let input = Input::new(generate::torus(40, 30).unwrap()).unwrap();
        for count in 1..=3 {
            assert_eq!(input.serial(count).unwrap()[1], 0.0);
            assert!(input.delta_stepping(count).unwrap()[0] > 0.0);
        }
    }

    #[test]
    fn a_wrong_or_missing_distance_is_an_error() {
        let mut input = Input::new(generate::path(5).unwrap()).unwrap();
        let other = uniform_weights(generate::path(5).unwrap(), 200..=300, SEED).unwrap();
        input.expected = serial::shortest_paths(&other, [input.root]);
        let error = input.delta_stepping(2).unwrap_err().to_string();
        assert!(error.contains("has the distance Some("), "{error}");
        input.expected = serial::shortest_paths(&input.graph, []);
        assert!(input.serial(1).unwrap_err().to_string().ends_with("instead of None"));
    }
}
