//! Operations on each list of neighbours by itself, in parallel.

use std::mem;
use std::ops::Range;

use super::offsets::{Index, Offsets};
use super::{Graph, Vertex};
use crate::generate::stream::Stream;

/// The number of arcs and vertices that one job processes.
const GRAIN: usize = 1 << 14;

/// Calls `work` with each vertex and its part of an array that has an entry for each arc.
pub(super) fn for_each_list<T: Send, F>(offsets: &Offsets, entries: &mut [T], work: &F)
where
    F: Fn(Vertex, &mut [T]) + Sync,
{
    let mut nothing = vec![(); entries.len()];
    for_each_two_lists(offsets, entries, &mut nothing, &|vertex, list: &mut [T], _: &mut [()]| work(vertex, list));
}

/// Calls `work` with each vertex and its parts of two such arrays.
fn for_each_two_lists<T: Send, U: Send, F>(offsets: &Offsets, entries: &mut [T], others: &mut [U], work: &F)
where
    F: Fn(Vertex, &mut [T], &mut [U]) + Sync,
{
    for_each_of(offsets, 0..offsets.len() - 1, entries, others, work);
}

fn for_each_of<T: Send, U: Send, F>(
    offsets: &Offsets,
    vertices: Range<usize>,
    entries: &mut [T],
    others: &mut [U],
    work: &F,
) where
    F: Fn(Vertex, &mut [T], &mut [U]) + Sync,
{
    if vertices.len() <= 1 || vertices.len() + entries.len() <= GRAIN {
        let (mut entries, mut others) = (entries, others);
        for vertex in vertices {
            let length = offsets.range(vertex as Vertex).len();
            let (list, entries_after) = mem::take(&mut entries).split_at_mut(length);
            let (other, others_after) = mem::take(&mut others).split_at_mut(length);
            work(vertex as Vertex, list, other);
            (entries, others) = (entries_after, others_after);
        }
        return;
    }
    let middle = offsets.middle(&vertices);
    let cut = offsets.get(middle) - offsets.get(vertices.start);
    let ((left, right), (left_others, right_others)) = (entries.split_at_mut(cut), others.split_at_mut(cut));
    filch::join(
        || for_each_of(offsets, vertices.start..middle, left, left_others, work),
        || for_each_of(offsets, middle..vertices.end, right, right_others, work),
    );
}

impl Graph {
    /// Calls `work` with each vertex, its neighbours, and its part of an array that has an entry
    /// for each arc.
    pub(crate) fn for_each_row<T: Send>(&self, entries: &mut [T], work: impl Fn(Vertex, &[Vertex], &mut [T]) + Sync) {
        for_each_list(&self.offsets, entries, &|vertex, list: &mut [T]| work(vertex, self.neighbours(vertex), list));
    }

    /// Sorts the neighbours of each vertex, and then the data of equal ones, smallest first.
    pub(crate) fn sort_neighbours_with<D: Copy + Ord + Send>(&mut self, data: &mut [D]) {
        for_each_two_lists(&self.offsets, &mut self.targets, data, &|_, list: &mut [Vertex], data: &mut [D]| {
            let mut arcs: Vec<(Vertex, D)> = list.iter().copied().zip(data.iter().copied()).collect();
            arcs.sort_unstable();
            for ((to, datum), arc) in list.iter_mut().zip(data).zip(arcs) {
                (*to, *datum) = arc;
            }
        });
    }

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
        let nothing = vec![(); self.arcs()];
        self.remove_repeats(nothing).0
    }

    /// Keeps the first of equal neighbours and its data, in lists that are sorted.
    pub(crate) fn remove_repeats<D: Copy>(mut self, mut data: Vec<D>) -> (Graph, Vec<D>) {
        let mut targets = self.targets.into_vec();
        match &mut self.offsets {
            Offsets::Narrow(offsets) => remove_repeats(offsets, &mut targets, &mut data),
            Offsets::Wide(offsets) => remove_repeats(offsets, &mut targets, &mut data),
        }
        let offsets = match self.offsets {
            // A graph of fewer arcs than this has narrow offsets, wherever it comes from.
            Offsets::Wide(offsets) if u32::try_from(targets.len()).is_ok() => {
                Offsets::Narrow(offsets.iter().map(|offset| u32::of(offset.get())).collect())
            }
            offsets => offsets,
        };
        (Graph { offsets, targets: targets.into_boxed_slice() }, data)
    }
}

/// Moves the kept entries of each sorted list to the left, in place.
fn remove_repeats<O: Index, D: Copy>(offsets: &mut [O], targets: &mut Vec<Vertex>, data: &mut Vec<D>) {
    let (mut kept, mut start) = (0, 0);
    for offset in &mut offsets[1..] {
        let end = offset.get();
        let first = kept;
        for arc in start..end {
            let target = targets[arc];
            if kept == first || targets[kept - 1] != target {
                targets[kept] = target;
                data[kept] = data[arc];
                kept += 1;
            }
        }
        start = end;
        *offset = O::of(kept);
    }
    targets.truncate(kept);
    data.truncate(kept);
}
