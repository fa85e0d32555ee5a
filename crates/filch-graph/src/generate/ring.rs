//! The k-graphs on a ring: each vertex joined to its k nearest by number.
//!
//! The paper calls its k-graphs geometric and k-regular and gives them k = 3. It says neither in
//! what space the vertices lie nor how they are numbered. So there are two families: this one, the
//! simplest, and [the one in the plane](super::plane). The diameter of a ring is proportional to
//! n/k: a traversal advances at two ends only, which bounds how many workers it has work for.
//!
//! In both families neighbours have numbers near each other: on the ring by construction, in the
//! plane because the points are numbered cell by cell, row by row. So a visit finds most of its
//! neighbours in the cache, where the cost of the queue shows most. A
//! [`Recipe`](super::Recipe) with `shuffled` numbers them at random instead.

use super::edges::{check_vertices, Edges};
use super::GenerateError;
use crate::{Graph, Vertex};

/// Vertices on a ring, each joined to its `neighbours` nearest.
///
/// If `neighbours` is even, half of them are on either side. If it is odd, the last neighbour is
/// one of two that are equally far: ahead for half the vertices and behind for the other half, so
/// that each vertex still has the same number. If the length of the ring is no multiple of
/// `neighbours + 1`, fewer than that many vertices at its end have one neighbour less.
///
/// # Errors
///
/// If there are no vertices or more than 32 bits can number, or not more of them than neighbours.
pub fn kgraph_ring(vertices: usize, neighbours: usize) -> Result<Graph, GenerateError> {
    ring_edges(vertices, neighbours)?.build()
}

pub(super) fn ring_edges(vertices: usize, neighbours: usize) -> Result<Edges, GenerateError> {
    let vertices = check(vertices, neighbours)?;
    let half = neighbours / 2;
    let expected = vertices as u128 * neighbours.div_ceil(2) as u128;
    Edges::by_vertex(vertices, expected, |range, edges| {
        for vertex in range {
            let ahead = |far: usize| ((vertex + far) % vertices) as Vertex;
            edges.extend((1..=half).map(|far| (vertex as Vertex, ahead(far))));
            // In each block of twice that distance, the first half is joined to the second.
            let far = half + 1;
            if neighbours % 2 == 1 && vertex % (2 * far) < far && vertex + far < vertices {
                edges.push((vertex as Vertex, ahead(far)));
            }
        }
    })
}

pub(super) fn check(vertices: usize, neighbours: usize) -> Result<usize, GenerateError> {
    let vertices = check_vertices(vertices as u128)?;
    match neighbours < vertices {
        true => Ok(vertices),
        false => Err(GenerateError::TooManyNeighbours { neighbours, vertices }),
    }
}
