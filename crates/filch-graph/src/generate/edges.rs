//! The list of undirected edges that all generators make first.

use super::stream::{self, Stream};
use super::GenerateError;
use crate::{Graph, Vertex};

/// An undirected edge.
pub(super) type Edge = (Vertex, Vertex);

/// The vertices and edges of a graph to be built, each edge once.
#[derive(Debug)]
pub(super) struct Edges {
    pub(super) vertices: usize,
    pub(super) list: Vec<Edge>,
}

impl Edges {
    /// Collects the edges of `work` for ranges of vertices, in vertex order. `expected` is about
    /// the total number.
    pub(super) fn by_vertex(
        vertices: usize,
        expected: u128,
        work: impl Fn(std::ops::Range<usize>, &mut Vec<Edge>) + Sync,
    ) -> Result<Edges, GenerateError> {
        let list = collect_by_vertex(vertices, expected, work)?;
        Ok(Edges { vertices, list })
    }

    pub(super) fn build(self) -> Result<Graph, GenerateError> {
        Ok(Graph::undirected(self.vertices, &self.list)?)
    }

    /// Renumbers the vertices at random.
    pub(super) fn shuffle(&mut self, seed: u64) {
        let mut numbers: Vec<Vertex> = (0..self.vertices as Vertex).collect();
        Stream::new(seed, purpose::SHUFFLE, 0).shuffle(&mut numbers);
        stream::in_runs(&mut self.list, &|_, _, edges| {
            for (a, b) in edges {
                (*a, *b) = (numbers[*a as usize], numbers[*b as usize]);
            }
        });
    }
}

/// Collects the items of `work` for ranges of vertices, in vertex order. `expected` is about the
/// total number.
pub(super) fn collect_by_vertex<T: Copy + Send>(
    vertices: usize,
    expected: u128,
    work: impl Fn(std::ops::Range<usize>, &mut Vec<T>) + Sync,
) -> Result<Vec<T>, GenerateError> {
    /// Enough vertices that the overhead of a list per piece is negligible.
    const PIECE: usize = 1 << 14;
    // The pieces and the list exist at the same time.
    drop(reserve::<T>(2 * expected).map_err(|_| GenerateError::NoMemory { edges: expected })?);
    let mut list = reserve(expected)?;
    let mut pieces = vec![Vec::new(); vertices.div_ceil(PIECE)];
    stream::split(&mut pieces, 0, 1, &|first, pieces: &mut [Vec<T>]| {
        for (at, piece) in pieces.iter_mut().enumerate() {
            let start = (first + at) * PIECE;
            work(start..(start + PIECE).min(vertices), piece);
        }
    });
    for piece in pieces {
        list.extend_from_slice(&piece);
    }
    Ok(list)
}

/// The purposes of streams. They give each use of one seed different numbers.
pub(super) mod purpose {
    pub(in super::super) const POINTS: u64 = 1;
    pub(in super::super) const PAIRS: u64 = 2;
    pub(in super::super) const RMAT: u64 = 3;
    pub(in super::super) const CONNECT: u64 = 4;
    pub(in super::super) const SHUFFLE: u64 = 5;
    pub(in super::super) const WEIGHTS: u64 = 6;
}

/// Returns an empty list with room for `items`, or `NoMemory`.
pub(super) fn reserve<T>(items: u128) -> Result<Vec<T>, GenerateError> {
    let mut list = Vec::new();
    let room = usize::try_from(items).ok().and_then(|items| list.try_reserve_exact(items).ok());
    room.map(|()| list).ok_or(GenerateError::NoMemory { edges: items })
}

/// Checks that there is at least one vertex, and that each has a number.
pub(super) fn check_vertices(vertices: u128) -> Result<usize, GenerateError> {
    match vertices {
        0 => Err(GenerateError::NoVertices),
        asked if asked > Graph::MAX_VERTICES as u128 => Err(GenerateError::TooManyVertices { asked }),
        vertices => Ok(vertices as usize),
    }
}
