//! The k-graphs in the plane: random points, each joined to k points near it.
//!
//! That a point has another among its k nearest does not mean that the other has it: with k = 3,
//! joining each point to its k nearest gives a mean of 4 neighbours and up to 10. The paper's
//! k-graphs are k-regular. So the nearest pairs are joined first, and a point that has k neighbours
//! takes no more:
//!
//! 1. The pairs of a point and one of its 2k nearest are sorted by their distance. In this order,
//!    each pair is joined if both points have fewer than k neighbours.
//! 2. This is repeated among the points that still lack neighbours, until all of those are joined
//!    to each other. A constant share of them is served each time. In the end at most k lack one.
//! 3. For these, an edge is removed and its ends are joined to them.
//! 4. A component that is not connected to the first exchanges an edge on a cycle for two edges
//!    to the rest.
//!
//! So each vertex has exactly k neighbours. If both k and the number of vertices are odd, one has
//! k − 1, and no graph does better. The price is that not all neighbours are among the k nearest:
//! with k = 3, about 79 in 100 are, and 95 in 100 are among the 4k nearest. With k = 2, where a
//! connected graph is one cycle, 58 and 80 in 100 are. The sorting takes n log n time, and the
//! other steps take linear time.

mod cells;
mod rows;

use super::connect::{connect_edges, PreviousVertex};
use super::edges::{collect_by_vertex, reserve, Edges};
use super::{ring, stream, GenerateError};
use crate::{Graph, Vertex};
use cells::{distance, random_points, Cells};
use rows::Rows;

/// Random points in a square, each joined to `neighbours` points near it, and connected.
///
/// Each vertex has exactly `neighbours` neighbours. If both that number and `vertices` are odd, one
/// vertex has one less, as no graph can do better. The nearest pairs are joined first: of three
/// neighbours, about four in five are among the three nearest, and 95 in 100 among the twelve
/// nearest. With no or one neighbour each, the graph would not be connected. Then edges are added,
/// each from a vertex to the one with the number before, which is near.
///
/// At its peak it takes about 160 bytes per vertex for three neighbours and 280 for eight,
/// including the graph. A million vertices with three neighbours take about a second.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number, or not more of them than neighbours.
pub fn kgraph_plane(vertices: usize, neighbours: usize, seed: u64) -> Result<Graph, GenerateError> {
    plane_edges(vertices, neighbours, seed)?.build()
}

pub(super) fn plane_edges(vertices: usize, neighbours: usize, seed: u64) -> Result<Edges, GenerateError> {
    let vertices = ring::check(vertices, neighbours)?;
    let mut rows = Rows::new(vertices, neighbours)?;
    if neighbours > 0 {
        let Cells { points, .. } = Cells::new(&random_points(vertices, seed)?)?;
        let mut lacking: Vec<Vertex> = (0..vertices as Vertex).collect();
        while join_nearest(&mut rows, &points, &lacking)? {
            lacking.retain(|&vertex| rows.lacks(vertex) > 0);
        }
        rows.complete(&lacking);
    }
    if neighbours > 1 {
        rows.connect();
    }
    let mut edges = rows.into_edges()?;
    if neighbours <= 1 {
        connect_edges(&mut edges, PreviousVertex);
    }
    Ok(edges)
}

/// Joins vertices that lack neighbours, the nearest first. Returns whether any were joined.
fn join_nearest(rows: &mut Rows, points: &[cells::Point], lacking: &[Vertex]) -> Result<bool, GenerateError> {
    if lacking.len() < 2 {
        return Ok(false);
    }
    // More than k, so that some of them are not joined to the vertex yet.
    let count = (2 * rows.degree()).min(lacking.len() - 1);
    let of_lacking: Vec<_> = lacking.iter().map(|&vertex| points[vertex as usize]).collect();
    let cells = Cells::new(&of_lacking)?;
    drop(of_lacking);
    let mut nearest = reserve(lacking.len() as u128 * count as u128)?;
    nearest.resize(lacking.len() * count, 0);
    stream::split(&mut nearest, 0, count * 1024, &|first, nearest: &mut [Vertex]| {
        let mut found = Vec::with_capacity(count + 1);
        for (at, nearest) in nearest.chunks_exact_mut(count).enumerate() {
            cells.nearest((first / count + at) as Vertex, count, &mut found);
            nearest.iter_mut().zip(&found).for_each(|(nearest, (_, place))| *nearest = *place);
        }
    });
    let near = |place: Vertex| &nearest[place as usize * count..][..count];
    let vertex = |place: Vertex| lacking[cells.origins[place as usize] as usize];
    let mut pairs = collect_by_vertex(lacking.len(), nearest.len() as u128, |range, pairs| {
        for place in range.start as Vertex..range.end as Vertex {
            // A pair that both found belongs to the smaller one.
            let mine = near(place).iter().filter(|&&other| place < other || !near(other).contains(&place));
            let to_join = mine.filter(|&&other| !rows.are_joined(vertex(place), vertex(other)));
            pairs.extend(to_join.map(|&other| {
                let apart = distance(cells.points[place as usize], cells.points[other as usize]);
                (apart, vertex(place), vertex(other))
            }));
        }
    })?;
    drop(nearest);
    stream::sort(&mut pairs);
    let mut has_joined = false;
    for (_, a, b) in pairs {
        if rows.lacks(a) > 0 && rows.lacks(b) > 0 {
            rows.join(a, b);
            has_joined = true;
        }
    }
    Ok(has_joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_neighbours_are_near() {
        for (vertices, neighbours, share) in [(20_000, 3, 0.75), (20_000, 8, 0.85)] {
            let graph = kgraph_plane(vertices, neighbours, 5).unwrap();
            let cells = Cells::new(&random_points(vertices, 5).unwrap()).unwrap();
            let share_among = |count: usize| {
                let mut found = Vec::new();
                let among = graph.iter().map(|(vertex, others)| {
                    // The vertices are numbered by the places of their points.
                    cells.nearest(vertex, count, &mut found);
                    others.iter().filter(|&&other| found.iter().any(|&(_, near)| near == other)).count()
                });
                among.sum::<usize>() as f64 / graph.arcs() as f64
            };
            let (nearest, near) = (share_among(neighbours), share_among(4 * neighbours));
            assert!(nearest > share && near > 0.95, "k = {neighbours}: {nearest} and {near}");
        }
    }
}
