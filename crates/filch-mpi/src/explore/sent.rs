//! Which vertices of other ranks this one has pushed, as far as it remembers.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use filch_graph::Vertex;

/// How many vertices are remembered at least, where not all are.
const FEWEST: usize = 1 << 16;
/// How much more than one bit a vertex it takes to remember a vertex by its number.
const DEARER: usize = 32;

/// See the module. Relaxed throughout: who has not seen that another pushed a vertex pushes it again.
pub(super) enum Sent {
    /// A bit for each vertex of the graph: while that is no more than a number for each own vertex.
    All(Box<[AtomicU64]>),
    /// The last one pushed of those that share a place. It takes as much on each rank as its part of the graph, however many ranks there are.
    Some(Box<[AtomicU32]>),
}

impl Sent {
    /// Nothing yet, on a rank that has so many of so many vertices.
    pub(super) fn new(own: usize, all: usize) -> Sent {
        if all / DEARER <= own.max(FEWEST) {
            return Sent::All((0..all.div_ceil(64)).map(|_| AtomicU64::new(0)).collect());
        }
        let places = own.max(FEWEST).next_power_of_two();
        Sent::Some((0..places).map(|_| AtomicU32::new(Vertex::MAX)).collect())
    }

    /// Whether it was not pushed yet, as far as is remembered. Then the caller pushes it, and that is remembered.
    #[inline]
    pub(super) fn is_first(&self, vertex: Vertex) -> bool {
        match self {
            Sent::All(bits) => {
                let (bits, bit) = (&bits[vertex as usize / 64], 1 << (vertex % 64));
                bits.load(Ordering::Relaxed) & bit == 0 && bits.fetch_or(bit, Ordering::Relaxed) & bit == 0
            }
            Sent::Some(places) => {
                // A power of two of them.
                let place = &places[vertex as usize & (places.len() - 1)];
                let is_first = place.load(Ordering::Relaxed) != vertex;
                if is_first {
                    place.store(vertex, Ordering::Relaxed);
                }
                is_first
            }
        }
    }

    /// The bytes it holds.
    pub(super) fn memory(&self) -> usize {
        match self {
            Sent::All(bits) => size_of_val(&**bits),
            Sent::Some(places) => size_of_val(&**places),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_ranks_remember_all_and_many_ranks_some() {
        let all = Sent::new(1000, 4000);
        assert!((0..4000).all(|vertex| all.is_first(vertex)));
        assert!((0..4000).all(|vertex| !all.is_first(vertex)));
        let vertices = 100 << 20;
        let some = Sent::new(1 << 20, vertices);
        assert_eq!(some.memory(), 4 << 20);
        assert!(some.is_first(7) && !some.is_first(7));
        // Another that shares the place with it.
        assert!(some.is_first(7 + (1 << 20)) && some.is_first(7));
        assert!(some.is_first(vertices as Vertex - 1));
    }
}
