//! Sets of vertices that many threads unite at the same time.
//!
//! Each vertex has a parent with a smaller number, or itself if it is the smallest of its set. To
//! unite two sets, the larger of their two smallest vertices gets the smaller one as its parent.
//! This is a compare-exchange that succeeds only while the larger one is still the smallest of its
//! own set.
//!
//! **Invariant.** The parent of a vertex is never larger than the vertex, so there is no cycle, in
//! any order of the steps. A vertex whose parent is another vertex never becomes a smallest one
//! again, and its parent is only ever replaced by another vertex of the chain from it to the
//! smallest. So a united set stays together, and to unite a set with itself changes nothing: a
//! repeat does no harm.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::Vertex;

#[derive(Debug)]
pub(crate) struct Unions {
    parents: Box<[AtomicU32]>,
}

// Relaxed throughout: the invariant holds for each word alone, and the reader of the result has
// waited for all workers.
impl Unions {
    /// Puts each vertex into a set of its own.
    pub(crate) fn new(vertices: usize) -> Unions {
        Unions { parents: (0..vertices as Vertex).map(AtomicU32::new).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Unites the sets of two vertices.
    #[inline]
    pub(crate) fn unite(&self, a: Vertex, b: Vertex) {
        // Most edges of a large component join vertices that are already united, often with the
        // same parent.
        if self.parent(a) != self.parent(b) {
            self.link(a, b);
        }
    }

    fn link(&self, mut a: Vertex, mut b: Vertex) {
        loop {
            (a, b) = (self.smallest(a), self.smallest(b));
            if a == b {
                return;
            }
            let (small, large) = (a.min(b), a.max(b));
            let link =
                self.parents[large as usize].compare_exchange(large, small, Ordering::Relaxed, Ordering::Relaxed);
            if link.is_ok() {
                return;
            }
        }
    }

    /// Returns the smallest vertex of the set, as far as it is united. On the way, every other
    /// vertex gets a parent further along the chain.
    pub(crate) fn smallest(&self, mut vertex: Vertex) -> Vertex {
        loop {
            let parent = self.parent(vertex);
            let next = self.parent(parent);
            if next == parent {
                return parent;
            }
            // A store is enough: at worst it restores a parent that is less far along the chain.
            self.parents[vertex as usize].store(next, Ordering::Relaxed);
            vertex = next;
        }
    }

    /// Returns whether the vertex is the smallest of its set.
    pub(crate) fn is_smallest(&self, vertex: Vertex) -> bool {
        self.parent(vertex) == vertex
    }

    #[inline]
    fn parent(&self, vertex: Vertex) -> Vertex {
        self.parents[vertex as usize].load(Ordering::Relaxed)
    }

    /// Returns the number of each vertex's set, and the number of sets. Sets are numbered in the
    /// order of their smallest vertices.
    pub(crate) fn number(self) -> (Box<[u32]>, usize) {
        let mut sets: Box<[u32]> = self.parents.into_vec().into_iter().map(AtomicU32::into_inner).collect();
        let mut count = 0;
        for vertex in 0..sets.len() {
            let parent = sets[vertex] as usize;
            // The parent is smaller, so it has its number already.
            sets[vertex] = if parent == vertex { count } else { sets[parent] };
            count += u32::from(parent == vertex);
        }
        (sets, count as usize)
    }
}
