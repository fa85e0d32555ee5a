//! The search without workers, one task after the other: what holds when it is stopped, and planted
//! faults.

use std::sync::atomic::{AtomicU64, Ordering};

use super::search::{Fault, Real, Search, Step, NONE};
use crate::generate::stream::Stream;
use crate::{generate, serial, ShortestPaths, Vertex, WeightedGraph};

/// A graph whose weights are all real, so that one reading is enough.
fn graph(seed: u64) -> WeightedGraph {
    let mut random = Stream::from_seed(seed);
    let vertices = 50 + random.below(3000);
    let graph = generate::random(vertices as usize, 3 * vertices as usize, seed).unwrap();
    let weights: Vec<f32> = (0..64).map(|_| 0.1 + random.below(1000) as f32 / 7.0).collect();
    WeightedGraph::from_graph(graph, |from, to| weights[(from ^ to) as usize % 64]).unwrap()
}

/// Runs at most so many tasks of a search from vertex 0, on three workers in turn. Returns the
/// distances that count as settled.
fn distances(graph: &WeightedGraph, width: f64, tasks: usize, fault: Option<Fault>) -> Vec<f64> {
    let distances: Vec<_> = (0..graph.vertices()).map(|_| AtomicU64::new(NONE)).collect();
    distances[0].store(0, Ordering::Relaxed);
    let mut search = Search::<Real>::new(graph, &distances, width, &[0], 3);
    search.fault = fault;
    let mut open: Vec<u32> = search.tasks().collect();
    for run in 0..tasks {
        let Some(task) = open.pop() else { break };
        if let Step::NextPhase(more) = search.run(task, run % 3) {
            open.extend(more);
        }
        assert!(matches!(search.run(task, run % 3), Step::Repeat), "a task ran twice");
    }
    let is_complete = open.is_empty();
    let distance = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed));
    let is_settled = search.settled();
    let found = distances.iter().map(distance);
    found.map(|distance| if is_complete || is_settled(distance) { distance } else { f64::INFINITY }).collect()
}

fn of(expected: &ShortestPaths, vertex: usize) -> f64 {
    expected.of(vertex as Vertex).unwrap_or(f64::INFINITY)
}

/// Returns whether complete searches find the right distances, in many graphs and with many widths.
fn finds_all(fault: Option<Fault>) -> bool {
    (0..20).all(|seed| {
        let graph = graph(seed);
        let expected = serial::shortest_paths(&graph, [0]);
        [0.5, 20.0, 150.0, 1e6].into_iter().all(|width| {
            let found = distances(&graph, width, usize::MAX, fault);
            (0..graph.vertices()).all(|vertex| found[vertex] == of(&expected, vertex))
        })
    })
}

/// Returns whether stopped searches report right distances only.
fn settles_right_ones(fault: Option<Fault>) -> bool {
    let mut settled = 0;
    let right = (0..20).all(|seed| {
        let graph = graph(seed);
        let expected = serial::shortest_paths(&graph, [0]);
        (1..30).all(|tasks| {
            let found = distances(&graph, 60.0, tasks, fault);
            settled += found.iter().filter(|distance| distance.is_finite()).count();
            (0..graph.vertices()).all(|vertex| found[vertex] == f64::INFINITY || found[vertex] == of(&expected, vertex))
        })
    });
    right && settled > 1000
}

#[test]
fn a_complete_search_finds_all_and_a_stopped_one_reports_what_is_final() {
    assert!(finds_all(None));
    assert!(settles_right_ones(None));
}

#[test]
fn planted_faults_are_caught() {
    assert!(!finds_all(Some(Fault::LeavesBucketEarly)));
    assert!(!finds_all(Some(Fault::KeepsFirstDistance)));
    assert!(!settles_right_ones(Some(Fault::SettlesCurrentBucket)));
}
