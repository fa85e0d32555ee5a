//! The memory use of a closure of ten million vertices and thirty million edges.

use anyhow::{ensure, Result};
use filch::explore::Explore;
use filch_graph::{closure, generate, Vertex};

use super::cases::SEED;
use crate::bench::memory::{peak, reset_peak};
use crate::figures::{self, Series};
use crate::queue::Queue;

/// The case's name in plots.
pub(crate) const CASE: &str = "memory/random-10m-30m";
/// A description of the case.
pub(crate) const DESCRIPTION: &str = "the memory of a closure; 3 random edges per vertex, one worker";

/// The unit of the graph's bytes per undirected edge.
pub(crate) const BYTES_AN_EDGE: &str = "bytes/edge";
/// The unit of the graph's and the closure's bytes per vertex.
pub(crate) const BYTES_A_VERTEX: &str = "bytes/vertex";
/// The unit of the largest number of queued tasks.
pub(crate) const LARGEST_WORKLIST: &str = "queued-tasks";
/// The unit of the process's peak memory use, counted from when the graph is built.
const PEAK_MEGABYTES: &str = "peak-MB";

/// The bytes of a queued task.
pub(crate) const BYTES_A_TASK: f64 = size_of::<Vertex>() as f64;

pub(crate) const VERTICES: usize = 10_000_000;
const EDGES: usize = 30_000_000;

/// Measures the case once: these figures do not scatter.
pub(crate) fn measure() -> Result<Vec<Series>> {
    let graph = generate::random(VERTICES, EDGES, SEED)?;
    let peak_is_new = reset_peak();
    let closure = closure(&graph, [0], Explore::at_least_once().workers(1));
    ensure!(closure.reached() > VERTICES / 2, "only {} vertices were reached", closure.reached());

    let longest: usize = closure.effort().counts().iter().map(|counts| counts.longest).sum();
    let of_arcs = graph.arcs() * size_of::<Vertex>();
    let of_vertices = graph.memory() - of_arcs + closure.memory();
    let one = |unit, figure: f64, note: Option<&str>| Series {
        case: CASE.to_owned(),
        name: Queue::Split.name(),
        threads: 1,
        unit,
        samples: vec![figure],
        note: note.map(str::to_owned),
    };
    let mut series = vec![
        one(BYTES_AN_EDGE, of_arcs as f64 / EDGES as f64, Some("two arcs")),
        one(BYTES_A_VERTEX, of_vertices as f64 / VERTICES as f64, Some("the start of its arcs, and its mark")),
        one(LARGEST_WORKLIST, longest as f64, Some("as observed; 4 bytes each")),
    ];
    if let Some(bytes) = peak() {
        let note = if peak_is_new { "during the closure" } else { "since the start of the process" };
        series.push(one(PEAK_MEGABYTES, bytes as f64 / 1e6, Some(note)));
    }
    Ok(series)
}

/// The figures as a table, one per line.
pub(crate) fn table(series: &[Series]) -> String {
    let header = ["unit", "figure", ""].map(str::to_owned);
    let line = |series: &Series| {
        vec![series.unit.to_owned(), figures::number(series.median()), series.note.clone().unwrap_or_default()]
    };
    figures::grid(&header, &series.iter().map(line).collect::<Vec<_>>())
}
