//! From a list of edges to a graph, by counting sort.
//!
//! The array that counts the arcs of each vertex becomes, in place, the array of the offsets. So
//! nothing is held but the given edges and the graph itself. In parallel, each share owns a range
//! of vertices and reads all edges. So there are no atomics, and the neighbours of a vertex are in
//! the order of the edges, for any number of threads.
//!
//! The data of an edge, such as its weight, moves with it into a second array, beside the one of
//! the neighbours. Edges without data have `()`, and then that array takes no memory.

use std::mem;
use std::ops::Range;
use std::sync::Mutex;

use super::edge_list::EdgeList;
use super::lists::for_each_list;
use super::offsets::{Index, Offsets};
use super::{BuildError, Graph, Vertex};

use crate::sync::{lock, unpoisoned};

/// Below this many edges a second thread does not pay.
const WORTH_SHARING: usize = 1 << 16;
/// The most shares: every share reads all edges, so more shares would do little else.
const MAX_SHARES: usize = 16;

type Pair = (Vertex, Vertex);

impl Graph {
    /// Builds a graph with these arcs. Each goes from the first vertex to the second.
    ///
    /// The neighbours of a vertex are in the order of its arcs. Needs no memory but the graph's
    /// own.
    ///
    /// ```
    /// use filch_graph::Graph;
    ///
    /// let graph = Graph::directed(3, &[(2, 1), (2, 0)])?;
    /// assert_eq!(graph.neighbours(2), [1, 0]);
    ///
    /// let error = Graph::directed(3, &[(2, 3)]).unwrap_err();
    /// assert_eq!(error.to_string(), "there is an arc from 2 to 3, but the vertices are numbered 0 to 2");
    /// # Ok::<(), filch_graph::BuildError>(())
    /// ```
    pub fn directed(vertices: usize, arcs: &[(Vertex, Vertex)]) -> Result<Graph, BuildError> {
        Graph::from_parts(vertices, &[arcs], false)
    }

    /// Builds a graph with both arcs of each edge. A loop is one arc.
    ///
    /// The neighbours of a vertex are in the order of its edges. Needs no memory but the graph's
    /// own.
    ///
    /// ```
    /// use filch_graph::Graph;
    ///
    /// let graph = Graph::undirected(3, &[(2, 1), (0, 2), (0, 0)])?;
    /// assert_eq!(graph.neighbours(2), [1, 0]);
    /// assert_eq!(graph.neighbours(0), [2, 0]);
    /// # Ok::<(), filch_graph::BuildError>(())
    /// ```
    pub fn undirected(vertices: usize, edges: &[(Vertex, Vertex)]) -> Result<Graph, BuildError> {
        Graph::from_parts(vertices, &[edges], true)
    }

    /// Builds a graph from edges in several slices. Parts of a file need not be concatenated. With
    /// `undirected`, each pair is an edge, else an arc.
    pub(crate) fn from_parts<P>(vertices: usize, parts: &[P], undirected: bool) -> Result<Graph, BuildError>
    where
        P: EdgeList<Data = ()>,
    {
        Graph::with_data(vertices, parts, undirected).map(|(graph, _)| graph)
    }

    /// Builds a graph, and returns it with the data of each arc.
    pub(crate) fn with_data<P: EdgeList>(
        vertices: usize,
        parts: &[P],
        undirected: bool,
    ) -> Result<(Graph, Box<[P::Data]>), BuildError> {
        let pairs: usize = parts.iter().map(P::len).sum();
        let shares = if pairs < WORTH_SHARING { 1 } else { filch::current_num_threads().min(MAX_SHARES) };
        Graph::with_data_shared(vertices, parts, undirected, shares)
    }

    pub(super) fn with_data_shared<P: EdgeList>(
        vertices: usize,
        parts: &[P],
        undirected: bool,
        shares: usize,
    ) -> Result<(Graph, Box<[P::Data]>), BuildError> {
        check_vertices(vertices)?;
        let Survey { pairs, loops, vertex_end } = survey(parts);
        if vertex_end as usize > vertices {
            let outside = |part: &P| {
                let mut ends = part.edges(0..part.len()).map(|(from, to, _)| (from, to));
                ends.find(|&(from, to)| from.max(to) as usize >= vertices)
            };
            let (from, to) = parts.iter().find_map(outside).unwrap_or_default();
            return Err(BuildError::NoSuchVertex { from, to, vertices });
        }
        let arcs = if undirected { 2 * pairs - loops } else { pairs };
        Graph::sorted(vertices, arcs, parts, undirected, shares)
    }

    /// Builds a graph whose lists of neighbours are written in place, in parallel.
    ///
    /// For graphs that follow a rule, which need no list of edges. `degree` returns the length of a
    /// vertex's list, always the same for the same vertex. `fill` writes the list, on any thread
    /// and in any order. Before that the list is all zeros.
    ///
    /// ```
    /// use filch_graph::Graph;
    ///
    /// // A ring of a thousand: each vertex has an arc to the next.
    /// let ring = Graph::from_lists(1000, |_| 1, |vertex, list| list[0] = (vertex + 1) % 1000)?;
    /// assert_eq!(ring.neighbours(999), [0]);
    /// # Ok::<(), filch_graph::BuildError>(())
    /// ```
    pub fn from_lists(
        vertices: usize,
        degree: impl Fn(Vertex) -> usize,
        fill: impl Fn(Vertex, &mut [Vertex]) + Sync,
    ) -> Result<Graph, BuildError> {
        Graph::from_rows(vertices, vertices, degree, fill)
    }

    /// Builds rows for some vertices of a graph. Their lists contain any of its `columns` vertices.
    pub(crate) fn from_rows(
        vertices: usize,
        columns: usize,
        degree: impl Fn(Vertex) -> usize,
        fill: impl Fn(Vertex, &mut [Vertex]) + Sync,
    ) -> Result<Graph, BuildError> {
        check_vertices(columns)?;
        let arcs = (0..vertices).map(|vertex| degree(vertex as Vertex)).sum();
        check_memory::<()>(vertices, arcs)?;
        let offsets = if u32::try_from(arcs).is_ok() {
            Offsets::Narrow(running_sum(vertices, &degree))
        } else {
            Offsets::Wide(running_sum(vertices, &degree))
        };
        let mut targets = vec![0; arcs].into_boxed_slice();
        let outside = Mutex::new(None);
        for_each_list(&offsets, &mut targets, &|from, list: &mut [Vertex]| {
            fill(from, list);
            if let Some(&to) = list.iter().find(|&&to| to as usize >= columns) {
                let mut outside = lock(&outside);
                *outside = outside.min(Some((from, to))).or(Some((from, to)));
            }
        });
        match unpoisoned(outside.into_inner()) {
            Some((from, to)) => Err(BuildError::NoSuchVertex { from, to, vertices: columns }),
            None => Ok(Graph { offsets, targets }),
        }
    }

    /// Builds rows of arcs from some vertices of a graph to any. The sources are renumbered.
    pub(crate) fn rows_of_arcs(rows: usize, arcs: &[Pair]) -> Result<Graph, BuildError> {
        debug_assert!(arcs.iter().all(|&(from, _)| (from as usize) < rows));
        let shares = if arcs.len() < WORTH_SHARING { 1 } else { filch::current_num_threads().min(MAX_SHARES) };
        Graph::sorted(rows, arcs.len(), &[arcs], false, shares).map(|(graph, _)| graph)
    }

    fn sorted<P: EdgeList>(
        vertices: usize,
        arcs: usize,
        parts: &[P],
        undirected: bool,
        shares: usize,
    ) -> Result<(Graph, Box<[P::Data]>), BuildError> {
        check_memory::<P::Data>(vertices, arcs)?;
        Ok(if u32::try_from(arcs).is_ok() {
            let (offsets, targets, data) = counting_sort(vertices, arcs, parts, undirected, shares);
            (Graph { offsets: Offsets::Narrow(offsets), targets }, data)
        } else {
            let (offsets, targets, data) = counting_sort(vertices, arcs, parts, undirected, shares);
            (Graph { offsets: Offsets::Wide(offsets), targets }, data)
        })
    }
}

fn check_vertices(vertices: usize) -> Result<(), BuildError> {
    if vertices > Graph::MAX_VERTICES {
        return Err(BuildError::TooManyVertices { vertices });
    }
    Ok(())
}

/// Checks that there is memory for a graph whose arcs have such data.
fn check_memory<D>(vertices: usize, arcs: usize) -> Result<(), BuildError> {
    let offset = if u32::try_from(arcs).is_ok() { size_of::<u32>() } else { size_of::<u64>() };
    let arc = size_of::<Vertex>() + size_of::<D>();
    match has_memory((vertices as u128 + 1) * offset as u128 + arcs as u128 * arc as u128) {
        true => Ok(()),
        false => Err(BuildError::NoMemory { vertices, arcs }),
    }
}

/// Returns whether there is memory for so many bytes.
///
/// It is asked before allocations that are zeroed, which the library does not offer as fallible. So
/// this allocates as much at once, and frees it before a page of it is touched.
pub(crate) fn has_memory(bytes: u128) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

fn running_sum<O: Index>(vertices: usize, degree: impl Fn(Vertex) -> usize) -> Box<[O]> {
    let mut offsets = Vec::with_capacity(vertices + 1);
    let mut arcs = 0;
    offsets.push(O::of(0));
    offsets.extend((0..vertices).map(|vertex| {
        arcs += degree(vertex as Vertex);
        O::of(arcs)
    }));
    offsets.into_boxed_slice()
}

/// The properties of the edges that must be known before memory is allocated for them.
struct Survey {
    pairs: usize,
    loops: usize,
    /// One more than the largest vertex: the fewest vertices that these edges need.
    vertex_end: u64,
}

impl Survey {
    fn and(self, other: Survey) -> Survey {
        Survey {
            pairs: self.pairs + other.pairs,
            loops: self.loops + other.loops,
            vertex_end: self.vertex_end.max(other.vertex_end),
        }
    }
}

fn survey<P: EdgeList>(parts: &[P]) -> Survey {
    match parts {
        [] => Survey { pairs: 0, loops: 0, vertex_end: 0 },
        [part] => survey_part(part, 0..part.len()),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            let (left, right) = filch::join(|| survey(left), || survey(right));
            left.and(right)
        }
    }
}

fn survey_part<P: EdgeList>(part: &P, range: Range<usize>) -> Survey {
    if range.len() > WORTH_SHARING {
        let middle = range.start.midpoint(range.end);
        let (left, right) =
            filch::join(|| survey_part(part, range.start..middle), || survey_part(part, middle..range.end));
        return left.and(right);
    }
    let pairs = range.len();
    let (mut loops, mut vertex_end) = (0, 0);
    for (from, to, _) in part.edges(range) {
        loops += usize::from(from == to);
        vertex_end = vertex_end.max(u64::from(from.max(to)) + 1);
    }
    Survey { pairs, loops, vertex_end }
}

fn counting_sort<O: Index, P: EdgeList>(
    vertices: usize,
    arcs: usize,
    parts: &[P],
    undirected: bool,
    shares: usize,
) -> (Box<[O]>, Box<[Vertex]>, Box<[P::Data]>) {
    let mut offsets = vec![O::default(); vertices + 1];
    let mut targets = vec![0; arcs].into_boxed_slice();
    let mut data = vec![P::Data::default(); arcs].into_boxed_slice();
    count(&mut offsets[..vertices], parts, undirected, shares);
    let mut before = 0;
    for offset in &mut offsets {
        let degree = offset.get();
        *offset = O::of(before);
        before += degree;
    }
    place(&mut offsets[..vertices], &mut targets, &mut data, parts, undirected, shares);
    // Placing moved the start of each list to its end, which is the start of the next.
    offsets.copy_within(..vertices, 1);
    offsets[0] = O::of(0);
    (offsets.into_boxed_slice(), targets, data)
}

fn count<O: Index, P: EdgeList>(counts: &mut [O], parts: &[P], undirected: bool, shares: usize) {
    let share_of = |first: usize, counts: &mut [O]| {
        for_each_arc(parts, undirected, |from, _, _| {
            // One test for "in this share" and for the bounds.
            if let Some(count) = counts.get_mut((from as usize).wrapping_sub(first)) {
                *count = O::of(count.get() + 1);
            }
        });
    };
    if shares <= 1 {
        return share_of(0, counts);
    }
    let size = counts.len().div_ceil(shares).max(1);
    filch::scope(|scope| {
        for (index, counts) in counts.chunks_mut(size).enumerate() {
            let share_of = &share_of;
            scope.spawn(move |_| share_of(index * size, counts));
        }
    });
}

/// On entry, `starts` are where the lists begin; on return, where they end.
fn place<O: Index, P: EdgeList>(
    starts: &mut [O],
    targets: &mut [Vertex],
    data: &mut [P::Data],
    parts: &[P],
    undirected: bool,
    shares: usize,
) {
    let share_of = |first: usize, base: usize, starts: &mut [O], targets: &mut [Vertex], data: &mut [P::Data]| {
        for_each_arc(parts, undirected, |from, to, datum| {
            if let Some(start) = starts.get_mut((from as usize).wrapping_sub(first)) {
                targets[start.get() - base] = to;
                data[start.get() - base] = datum;
                *start = O::of(start.get() + 1);
            }
        });
    };
    if shares <= 1 {
        return share_of(0, 0, starts, targets, data);
    }
    let arcs = targets.len();
    filch::scope(|scope| {
        let (mut starts, mut targets, mut data) = (starts, targets, data);
        let (mut first, mut base) = (0, 0);
        for share in 1..=shares {
            // Each share has about the same number of arcs, but not of vertices.
            let size = match share == shares {
                true => starts.len(),
                false => starts.partition_point(|start| start.get() < arcs / shares * share),
            };
            let (own_starts, rest) = mem::take(&mut starts).split_at_mut(size);
            let end = rest.first().map_or(arcs, |start| start.get());
            let (own_targets, other_targets) = mem::take(&mut targets).split_at_mut(end - base);
            let (own_data, other_data) = mem::take(&mut data).split_at_mut(end - base);
            let share_of = &share_of;
            scope.spawn(move |_| share_of(first, base, own_starts, own_targets, own_data));
            (starts, targets, data) = (rest, other_targets, other_data);
            (first, base) = (first + size, end);
        }
    });
}

#[inline]
fn for_each_arc<P: EdgeList>(parts: &[P], undirected: bool, mut visit: impl FnMut(Vertex, Vertex, P::Data)) {
    for part in parts {
        for (from, to, datum) in part.edges(0..part.len()) {
            visit(from, to, datum);
            if undirected && from != to {
                visit(to, from, datum);
            }
        }
    }
}
