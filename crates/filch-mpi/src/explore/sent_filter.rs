//! The vertices of other ranks that this rank has pushed, as far as it remembers.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use filch_graph::Vertex;

/// The minimum number of vertices to remember, if not all are.
const FEWEST_PLACES: usize = 1 << 16;
/// How many times more memory a vertex number takes than one bit.
const BITS_PER_VERTEX: usize = 32;

/// The memory of pushed vertices; see the module.
///
/// Relaxed throughout: a worker that does not see another's push pushes the vertex again.
pub(super) enum SentFilter {
    /// A bit for each vertex of the graph. Used if that takes no more than a number for each own
    /// vertex.
    Bitmap(Box<[AtomicU64]>),
    /// The last vertex pushed of those that share a place. On each rank it takes as much memory as
    /// the rank's part of the graph, for any number of ranks.
    Latest(Box<[AtomicU32]>),
}

impl SentFilter {
    /// Returns an empty memory for a rank with `own` of `all` vertices.
    pub(super) fn new(own: usize, all: usize) -> SentFilter {
        if all / BITS_PER_VERTEX <= own.max(FEWEST_PLACES) {
            return SentFilter::Bitmap((0..all.div_ceil(64)).map(|_| AtomicU64::new(0)).collect());
        }
        let places = own.max(FEWEST_PLACES).next_power_of_two();
        SentFilter::Latest((0..places).map(|_| AtomicU32::new(Vertex::MAX)).collect())
    }

    /// Remembers the vertex as pushed. Returns whether it was not remembered before; then the
    /// caller pushes it.
    #[inline]
    pub(super) fn insert(&self, vertex: Vertex) -> bool {
        match self {
            SentFilter::Bitmap(bits) => {
                let (bits, bit) = (&bits[vertex as usize / 64], 1 << (vertex % 64));
                bits.load(Ordering::Relaxed) & bit == 0 && bits.fetch_or(bit, Ordering::Relaxed) & bit == 0
            }
            SentFilter::Latest(places) => {
                // The number of places is a power of two.
                let place = &places[vertex as usize & (places.len() - 1)];
                let is_new = place.load(Ordering::Relaxed) != vertex;
                if is_new {
                    place.store(vertex, Ordering::Relaxed);
                }
                is_new
            }
        }
    }

    /// Returns the bytes it holds.
    pub(super) fn memory(&self) -> usize {
        match self {
            SentFilter::Bitmap(bits) => size_of_val(&**bits),
            SentFilter::Latest(places) => size_of_val(&**places),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_ranks_remember_all_vertices_and_many_ranks_only_some() {
        let all = SentFilter::new(1000, 4000);
        assert!((0..4000).all(|vertex| all.insert(vertex)));
        assert!((0..4000).all(|vertex| !all.insert(vertex)));
        let vertices = 100 << 20;
        let some = SentFilter::new(1 << 20, vertices);
        assert_eq!(some.memory(), 4 << 20);
        assert!(some.insert(7) && !some.insert(7));
        // Another vertex that shares the place.
        assert!(some.insert(7 + (1 << 20)) && some.insert(7));
        assert!(some.insert(vertices as Vertex - 1));
    }
}
