//! R-MAT: graphs with a few vertices that have very many neighbours.

use super::edges::{check_vertices, purpose, reserve, Edges};
use super::stream::{self, Stream};
use super::GenerateError;
use crate::{Graph, Vertex};

/// The shares of the quarters of the matrix, of 2¹⁶. They are 0.57, 0.19, 0.19 and the rest.
const QUARTERS: [u64; 3] = [37_356, 12_452, 12_452];

/// An R-MAT graph with 2^`scale` vertices.
///
/// Each edge falls into a quarter of the adjacency matrix with the usual probabilities (0.57, 0.19,
/// 0.19, 0.05), into a quarter of that, and so on. `edges` edges are drawn. Loops and repeats are
/// dropped, as is usual, so the graph has fewer. Low numbers have the most neighbours: vertices are
/// not renumbered, unless a [`Recipe`](super::Recipe) says `shuffled`.
///
/// # Errors
///
/// If the vertices are more than 32 bits can number, or there is no memory for the edges.
pub fn rmat(scale: u32, edges: usize, seed: u64) -> Result<Graph, GenerateError> {
    rmat_edges(scale, edges, seed)?.build()
}

pub(super) fn rmat_edges(scale: u32, edges: usize, seed: u64) -> Result<Edges, GenerateError> {
    let vertices = check_vertices(1u128.checked_shl(scale).unwrap_or(u128::MAX))?;
    let mut drawn = reserve(edges as u128)?;
    drawn.resize(edges, 0u64);
    stream::in_runs(&mut drawn, &|run, _, drawn| {
        let mut stream = Stream::new(seed, purpose::RMAT, run);
        drawn.iter_mut().for_each(|drawn| *drawn = draw(&mut stream, scale));
    });
    stream::sort(&mut drawn);
    drawn.dedup();
    let ends = drawn.into_iter().map(|edge| ((edge >> 32) as Vertex, edge as Vertex));
    Ok(Edges { vertices, list: ends.filter(|(a, b)| a != b).collect() })
}

pub(super) fn draw(stream: &mut Stream, scale: u32) -> u64 {
    let (mut row, mut column) = (0, 0);
    let mut bits = 0;
    for level in 0..scale {
        if level % 4 == 0 {
            bits = stream.next();
        }
        let chance = bits & 0xFFFF;
        bits >>= 16;
        let [a, b, c] = QUARTERS;
        let (lower, right) = match chance {
            chance if chance < a => (0, 0),
            chance if chance < a + b => (0, 1),
            chance if chance < a + b + c => (1, 0),
            _ => (1, 1),
        };
        (row, column) = (row << 1 | lower, column << 1 | right);
    }
    u64::min(row, column) << 32 | u64::max(row, column)
}
