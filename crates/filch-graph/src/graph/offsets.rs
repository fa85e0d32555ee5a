//! The start of each vertex's neighbours, in 32 bits while that is enough.

use std::ops::Range;

use filch::explore::prefetch;

use super::Vertex;

/// An index into the arcs, of 32 or 64 bits.
pub(super) trait Index: Copy + Default + Ord + Send + Sync {
    /// Converts a number that is known to fit.
    fn of(number: usize) -> Self;
    /// Returns the number.
    fn get(self) -> usize;
}

impl Index for u32 {
    #[inline]
    fn of(number: usize) -> Self {
        debug_assert!(u32::try_from(number).is_ok());
        number as u32
    }

    #[inline]
    fn get(self) -> usize {
        self as usize
    }
}

impl Index for u64 {
    #[inline]
    fn of(number: usize) -> Self {
        number as u64
    }

    #[inline]
    fn get(self) -> usize {
        self as usize
    }
}

#[derive(Clone, Debug)]
pub(super) enum Offsets {
    /// For fewer than 2³² arcs.
    Narrow(Box<[u32]>),
    Wide(Box<[u64]>),
}

impl Offsets {
    /// Asks the CPU to fetch the offset of a vertex.
    #[inline]
    pub(super) fn prefetch(&self, vertex: Vertex) {
        match self {
            Offsets::Narrow(offsets) => prefetch(offsets.as_ptr().wrapping_add(vertex as usize)),
            Offsets::Wide(offsets) => prefetch(offsets.as_ptr().wrapping_add(vertex as usize)),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Offsets::Narrow(offsets) => offsets.len(),
            Offsets::Wide(offsets) => offsets.len(),
        }
    }

    /// Returns the offset with this index, of a vertex or of the end.
    #[inline]
    pub(super) fn get(&self, index: usize) -> usize {
        match self {
            Offsets::Narrow(offsets) => offsets[index].get(),
            Offsets::Wide(offsets) => offsets[index].get(),
        }
    }

    /// Returns the range of this vertex's neighbours.
    #[inline]
    pub(super) fn range(&self, vertex: Vertex) -> Range<usize> {
        match self {
            Offsets::Narrow(offsets) => range(offsets, vertex),
            Offsets::Wide(offsets) => range(offsets, vertex),
        }
    }

    pub(super) fn memory(&self) -> usize {
        match self {
            Offsets::Narrow(offsets) => size_of_val(&**offsets),
            Offsets::Wide(offsets) => size_of_val(&**offsets),
        }
    }

    /// Returns where to cut a range of vertices into two of about equal work. The range has at
    /// least two. Work counts arcs and vertices together, so that neither a hub nor a million
    /// vertices without arcs make the cut unbalanced.
    pub(super) fn middle(&self, vertices: &Range<usize>) -> usize {
        let weight = |index: usize| self.get(index) + index;
        let half = weight(vertices.start).midpoint(weight(vertices.end));
        let (mut low, mut high) = (vertices.start + 1, vertices.end - 1);
        while low < high {
            let middle = low.midpoint(high);
            if weight(middle) < half {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// Equal if the offsets are equal, even if their widths differ.
impl PartialEq for Offsets {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Offsets::Narrow(a), Offsets::Narrow(b)) => a == b,
            (Offsets::Wide(a), Offsets::Wide(b)) => a == b,
            _ => self.len() == other.len() && (0..self.len()).all(|index| self.get(index) == other.get(index)),
        }
    }
}

impl Eq for Offsets {}

#[inline]
fn range<O: Index>(offsets: &[O], vertex: Vertex) -> Range<usize> {
    let vertex = vertex as usize;
    // One bounds check for both.
    let pair = &offsets[vertex..vertex + 2];
    pair[0].get()..pair[1].get()
}
