//! Operations on each list of neighbours by itself, in parallel.

use std::mem;
use std::ops::Range;

use super::offsets::{Index, Offsets};
use super::{Graph, Vertex};
use crate::generate::stream::Stream;

/// The number of arcs and vertices that one job processes.
const GRAIN: usize = 1 << 14;

/// Calls `work` with each vertex and its list of neighbours.
pub(super) fn for_each_list<F>(offsets: &Offsets, targets: &mut [Vertex], work: &F)
where
    F: Fn(Vertex, &mut [Vertex]) + Sync,
{
    for_each_list_of(offsets, 0..offsets.len() - 1, targets, work);
}

fn for_each_list_of<F>(offsets: &Offsets, vertices: Range<usize>, targets: &mut [Vertex], work: &F)
where
    F: Fn(Vertex, &mut [Vertex]) + Sync,
{
    if vertices.len() <= 1 || vertices.len() + targets.len() <= GRAIN {
        let mut rest = targets;
        for vertex in vertices {
            let (list, after) = mem::take(&mut rest).split_at_mut(offsets.range(vertex as Vertex).len());
            work(vertex as Vertex, list);
            rest = after;
        }
        return;
    }
    let middle = offsets.middle(&vertices);
    let (left, right) = targets.split_at_mut(offsets.get(middle) - offsets.get(vertices.start));
    filch::join(
        || for_each_list_of(offsets, vertices.start..middle, left, work),
        || for_each_list_of(offsets, middle..vertices.end, right, work),
    );
}

impl Graph {
    /// Sorts the neighbours of each vertex, smallest first.
    pub fn sort_neighbours(&mut self) {
        for_each_list(&self.offsets, &mut self.targets, &|_, list: &mut [Vertex]| list.sort_unstable());
    }

    /// Shuffles the neighbours of each vertex.
    ///
    /// The result depends only on the seed and the order before.
    pub fn shuffle_neighbours(&mut self, seed: u64) {
        let seed = Stream::from_seed(seed).next();
        // Each vertex has its own stream, so that the result does not depend on the order of the
        // threads.
        for_each_list(&self.offsets, &mut self.targets, &|vertex, list: &mut [Vertex]| {
            Stream::from_seed(seed ^ u64::from(vertex)).shuffle(list);
        });
    }

    /// Returns the same graph with each arc once, and the neighbours of each vertex sorted.
    ///
    /// ```
    /// use filch_graph::Graph;
    ///
    /// let graph = Graph::undirected(3, &[(0, 2), (2, 0), (0, 1)])?;
    /// assert_eq!(graph.neighbours(0), [2, 2, 1]);
    /// assert_eq!(graph.without_repeats().neighbours(0), [1, 2]);
    /// # Ok::<(), filch_graph::BuildError>(())
    /// ```
    pub fn without_repeats(mut self) -> Graph {
        self.sort_neighbours();
        let mut targets = self.targets.into_vec();
        match &mut self.offsets {
            Offsets::Narrow(offsets) => remove_repeats(offsets, &mut targets),
            Offsets::Wide(offsets) => remove_repeats(offsets, &mut targets),
        }
        let offsets = match self.offsets {
            // A graph of fewer arcs than this has narrow offsets, wherever it comes from.
            Offsets::Wide(offsets) if u32::try_from(targets.len()).is_ok() => {
                Offsets::Narrow(offsets.iter().map(|offset| u32::of(offset.get())).collect())
            }
            offsets => offsets,
        };
        Graph { offsets, targets: targets.into_boxed_slice() }
    }
}

/// Moves the kept entries of each sorted list to the left, in place.
fn remove_repeats<O: Index>(offsets: &mut [O], targets: &mut Vec<Vertex>) {
    let (mut kept, mut start) = (0, 0);
    for offset in &mut offsets[1..] {
        let end = offset.get();
        let first = kept;
        for arc in start..end {
            let target = targets[arc];
            if kept == first || targets[kept - 1] != target {
                targets[kept] = target;
                kept += 1;
            }
        }
        start = end;
        *offset = O::of(kept);
    }
    targets.truncate(kept);
}
