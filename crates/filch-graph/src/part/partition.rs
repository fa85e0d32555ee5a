//! Which rank has which vertex.

use crate::{Graph, Vertex};

/// Which of several ranks has which vertex of a graph, and at which place.
///
/// | | a rank has | good for |
/// |---|---|---|
/// | [`blocks`](Partition::blocks) | vertices with successive numbers | graphs whose neighbours have near numbers: torus, grid, path, ring. Only the edges at the ends of a block lead to other ranks |
/// | [`hashed`](Partition::hashed) | vertices from everywhere | graphs whose low numbers have most edges, as R-MAT; graphs of unknown numbering, as it does no harm there |
///
/// Both are a formula: no rank holds a table. The hash is a multiplication: vertex `v` of `n` has
/// the place `v · a mod n`. Here `a` is the largest number up to the golden section of `n` that has
/// no divisor in common with `n`. Each place is taken once, so the vertices of a rank have places
/// from 0 without a gap, and the inverse is a multiplication too. Vertices that are near each other
/// are spread evenly over all ranks.
///
/// All ranks have the same number of vertices, except the last ones, which may have fewer.
///
/// ```
/// use filch_graph::part::Partition;
///
/// let partition = Partition::hashed(1000, 4);
/// let (rank, place) = (partition.rank_of(17), partition.place_of(17));
/// assert_eq!(partition.vertex(rank, place), 17);
/// assert!((0..4).all(|rank| partition.own(rank) == 250));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Partition {
    vertices: usize,
    ranks: usize,
    /// The number of vertices of a rank.
    block: usize,
    /// The factor from a vertex to its place, and the factor back.
    hash: Option<(u64, u64)>,
}

impl Partition {
    /// Gives each rank a block of successive vertices.
    ///
    /// # Panics
    ///
    /// If there are no ranks, or more vertices than a [`Graph`] can have.
    pub fn blocks(vertices: usize, ranks: usize) -> Self {
        assert!(ranks > 0, "a partition needs at least one rank");
        assert!(vertices <= Graph::MAX_VERTICES, "{vertices} vertices are too many for a graph");
        Partition { vertices, ranks, block: vertices.div_ceil(ranks).max(1), hash: None }
    }

    /// Gives each rank vertices from everywhere.
    ///
    /// # Panics
    ///
    /// As [`blocks`](Partition::blocks).
    pub fn hashed(vertices: usize, ranks: usize) -> Self {
        let all = vertices as u64;
        Partition { hash: (all > 1).then(|| multiplier(all)), ..Partition::blocks(vertices, ranks) }
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Returns whether ranks have vertices from everywhere.
    pub fn is_hashed(&self) -> bool {
        self.hash.is_some()
    }

    /// Returns the number of vertices of this rank.
    pub fn own(&self, rank: usize) -> usize {
        self.vertices.saturating_sub(rank.saturating_mul(self.block)).min(self.block)
    }

    /// Returns the rank that has this vertex.
    #[inline]
    pub fn rank_of(&self, vertex: Vertex) -> usize {
        self.position(vertex) / self.block
    }

    /// Returns the place of a vertex on the rank that has it, from 0.
    #[inline]
    pub fn place_of(&self, vertex: Vertex) -> usize {
        self.position(vertex) % self.block
    }

    /// Returns the place of a vertex on this rank, if this rank has it.
    #[inline]
    pub fn place_at(&self, rank: usize, vertex: Vertex) -> Option<usize> {
        let place = self.position(vertex).wrapping_sub(rank * self.block);
        (place < self.block).then_some(place)
    }

    /// Returns the vertex at a place of a rank.
    #[inline]
    pub fn vertex(&self, rank: usize, place: usize) -> Vertex {
        let position = rank * self.block + place;
        match self.hash {
            None => position as Vertex,
            Some((_, inverse_factor)) => (position as u64 * inverse_factor % self.vertices as u64) as Vertex,
        }
    }

    /// Returns the place of a vertex among all vertices.
    #[inline]
    fn position(&self, vertex: Vertex) -> usize {
        match self.hash {
            None => vertex as usize,
            // Both factors are below 2³², so the product fits.
            Some((factor, _)) => (u64::from(vertex) * factor % self.vertices as u64) as usize,
        }
    }
}

/// Returns a number coprime to `all`, near its golden section, and its inverse. `all` is more than
/// 1.
fn multiplier(all: u64) -> (u64, u64) {
    let golden = (all as f64 * 0.618_033_988_749_895) as u64;
    // The loop ends: 1 is such a number.
    (1..=golden.max(1))
        .rev()
        .find_map(|factor| inverse(factor, all).map(|inverse_factor| (factor, inverse_factor)))
        .unwrap_or((1, 1))
}

/// Returns the inverse of `number` modulo `all`; none if they have a divisor in common.
fn inverse(number: u64, all: u64) -> Option<u64> {
    let (mut divisor, mut rest) = (i128::from(all), i128::from(number));
    let (mut before, mut now) = (0, 1);
    while rest > 0 {
        let times = divisor / rest;
        (divisor, rest) = (rest, divisor % rest);
        (before, now) = (now, before - times * now);
    }
    (divisor == 1).then(|| before.rem_euclid(i128::from(all)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_vertex_has_one_place_and_each_place_one_vertex() {
        for vertices in (0..50).chain([97, 100, 128, 1000, 1025]) {
            for ranks in [1, 2, 3, 4, 7, 64] {
                for partition in [Partition::blocks(vertices, ranks), Partition::hashed(vertices, ranks)] {
                    let own: usize = (0..ranks).map(|rank| partition.own(rank)).sum();
                    assert_eq!(own, vertices);
                    for vertex in 0..vertices as Vertex {
                        let (rank, place) = (partition.rank_of(vertex), partition.place_of(vertex));
                        assert!(rank < ranks && place < partition.own(rank));
                        assert_eq!(partition.vertex(rank, place), vertex);
                        assert_eq!(partition.place_at(rank, vertex), Some(place));
                        assert!((0..ranks).all(|other| other == rank || partition.place_at(other, vertex).is_none()));
                    }
                }
            }
        }
    }

    #[test]
    fn the_hash_works_for_the_largest_graph() {
        let most = Graph::MAX_VERTICES;
        let partition = Partition::hashed(most, 1000);
        for vertex in [0, 1, 2, 1 << 31, most as Vertex - 1] {
            assert_eq!(partition.vertex(partition.rank_of(vertex), partition.place_of(vertex)), vertex);
        }
    }

    #[test]
    fn vertices_near_each_other_are_spread_evenly_over_all_ranks() {
        let partition = Partition::hashed(1_000_000, 8);
        for first in [0, 4096, 999_000] {
            let mut count = [0; 8];
            (first..first + 1000).for_each(|vertex| count[partition.rank_of(vertex)] += 1);
            assert!(count.iter().all(|count| (110..=140).contains(count)), "{count:?}");
        }
    }
}
