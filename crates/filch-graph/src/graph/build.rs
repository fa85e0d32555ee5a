//! From a list of edges to a graph, by counting sort.
//!
//! The array that counts the arcs of each vertex becomes, in place, the array of the offsets. So
//! nothing is held but the given edges and the graph itself. In parallel, each share owns a range
//! of vertices and reads all edges. So there are no atomics, and the neighbours of a vertex are in
//! the order of the edges, for any number of threads.

use std::error::Error;
use std::fmt;
use std::mem;
use std::sync::Mutex;

use super::lists::for_each_list;
use super::offsets::{Index, Offsets};
use super::{Graph, Vertex};

use crate::sync::{lock, unpoisoned};

/// Below this many edges a second thread does not pay.
const WORTH_SHARING: usize = 1 << 16;
/// The most shares: every share reads all edges, so more shares would do little else.
const MAX_SHARES: usize = 16;

type Pair = (Vertex, Vertex);

/// Error from building a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// More than [`Graph::MAX_VERTICES`].
    TooManyVertices {
        /// The number of vertices asked for.
        vertices: usize,
    },
    /// More arcs than the target graph can number. Only graphs of other crates have such a limit.
    TooManyArcs {
        /// The number of arcs.
        arcs: usize,
    },
    /// An arc or edge has an end that is not among the vertices.
    NoSuchVertex {
        /// The vertex where it starts.
        from: Vertex,
        /// The vertex where it ends.
        to: Vertex,
        /// The number of vertices.
        vertices: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BuildError::TooManyVertices { vertices } => write!(
                f,
                "a graph cannot have {vertices} vertices: they are numbered in 32 bits, which is enough for {}",
                Graph::MAX_VERTICES
            ),
            BuildError::TooManyArcs { arcs } => {
                write!(f, "a graph of {arcs} arcs is too large: the target numbers its edges in 32 bits, so there can be at most 4294967295")
            }
            BuildError::NoSuchVertex { from, to, vertices: 0 } => {
                write!(f, "there is an arc from {from} to {to}, but the graph has no vertices")
            }
            BuildError::NoSuchVertex { from, to, vertices } => {
                write!(f, "there is an arc from {from} to {to}, but the vertices are numbered 0 to {}", vertices - 1)
            }
        }
    }
}

impl Error for BuildError {}

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
        P: AsRef<[Pair]> + Sync,
    {
        let pairs: usize = parts.iter().map(|part| part.as_ref().len()).sum();
        let shares = if pairs < WORTH_SHARING { 1 } else { filch::current_num_threads().min(MAX_SHARES) };
        Graph::from_parts_shared(vertices, parts, undirected, shares)
    }

    pub(super) fn from_parts_shared<P>(
        vertices: usize,
        parts: &[P],
        undirected: bool,
        shares: usize,
    ) -> Result<Graph, BuildError>
    where
        P: AsRef<[Pair]> + Sync,
    {
        check_vertices(vertices)?;
        let Survey { pairs, loops, vertex_end } = survey(parts);
        if vertex_end as usize > vertices {
            let outside = |&(from, to): &Pair| from.max(to) as usize >= vertices;
            let (from, to) =
                parts.iter().find_map(|part| part.as_ref().iter().copied().find(outside)).unwrap_or_default();
            return Err(BuildError::NoSuchVertex { from, to, vertices });
        }
        let arcs = if undirected { 2 * pairs - loops } else { pairs };
        Ok(Graph::sorted(vertices, arcs, parts, undirected, shares))
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
    pub(crate) fn rows_of_arcs(rows: usize, arcs: &[Pair]) -> Graph {
        debug_assert!(arcs.iter().all(|&(from, _)| (from as usize) < rows));
        let shares = if arcs.len() < WORTH_SHARING { 1 } else { filch::current_num_threads().min(MAX_SHARES) };
        Graph::sorted(rows, arcs.len(), &[arcs], false, shares)
    }

    fn sorted<P>(vertices: usize, arcs: usize, parts: &[P], undirected: bool, shares: usize) -> Graph
    where
        P: AsRef<[Pair]> + Sync,
    {
        if u32::try_from(arcs).is_ok() {
            let (offsets, targets) = counting_sort(vertices, arcs, parts, undirected, shares);
            Graph { offsets: Offsets::Narrow(offsets), targets }
        } else {
            let (offsets, targets) = counting_sort(vertices, arcs, parts, undirected, shares);
            Graph { offsets: Offsets::Wide(offsets), targets }
        }
    }
}

fn check_vertices(vertices: usize) -> Result<(), BuildError> {
    if vertices > Graph::MAX_VERTICES {
        return Err(BuildError::TooManyVertices { vertices });
    }
    Ok(())
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

fn survey<P: AsRef<[Pair]> + Sync>(parts: &[P]) -> Survey {
    match parts {
        [] => Survey { pairs: 0, loops: 0, vertex_end: 0 },
        [part] => survey_part(part.as_ref()),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            let (left, right) = filch::join(|| survey(left), || survey(right));
            left.and(right)
        }
    }
}

fn survey_part(pairs: &[Pair]) -> Survey {
    if pairs.len() > WORTH_SHARING {
        let (left, right) = pairs.split_at(pairs.len() / 2);
        let (left, right) = filch::join(|| survey_part(left), || survey_part(right));
        return left.and(right);
    }
    let (mut loops, mut vertex_end) = (0, 0);
    for &(from, to) in pairs {
        loops += usize::from(from == to);
        vertex_end = vertex_end.max(u64::from(from.max(to)) + 1);
    }
    Survey { pairs: pairs.len(), loops, vertex_end }
}

fn counting_sort<O: Index, P: AsRef<[Pair]> + Sync>(
    vertices: usize,
    arcs: usize,
    parts: &[P],
    undirected: bool,
    shares: usize,
) -> (Box<[O]>, Box<[Vertex]>) {
    let mut offsets = vec![O::default(); vertices + 1];
    let mut targets = vec![0; arcs].into_boxed_slice();
    count(&mut offsets[..vertices], parts, undirected, shares);
    let mut before = 0;
    for offset in &mut offsets {
        let degree = offset.get();
        *offset = O::of(before);
        before += degree;
    }
    place(&mut offsets[..vertices], &mut targets, parts, undirected, shares);
    // Placing moved the start of each list to its end, which is the start of the next.
    offsets.copy_within(..vertices, 1);
    offsets[0] = O::of(0);
    (offsets.into_boxed_slice(), targets)
}

fn count<O: Index, P: AsRef<[Pair]> + Sync>(counts: &mut [O], parts: &[P], undirected: bool, shares: usize) {
    let share_of = |first: usize, counts: &mut [O]| {
        for_each_arc(parts, undirected, |from, _| {
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
fn place<O: Index, P: AsRef<[Pair]> + Sync>(
    starts: &mut [O],
    targets: &mut [Vertex],
    parts: &[P],
    undirected: bool,
    shares: usize,
) {
    let share_of = |first: usize, base: usize, starts: &mut [O], targets: &mut [Vertex]| {
        for_each_arc(parts, undirected, |from, to| {
            if let Some(start) = starts.get_mut((from as usize).wrapping_sub(first)) {
                targets[start.get() - base] = to;
                *start = O::of(start.get() + 1);
            }
        });
    };
    if shares <= 1 {
        return share_of(0, 0, starts, targets);
    }
    let arcs = targets.len();
    filch::scope(|scope| {
        let (mut starts, mut targets) = (starts, targets);
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
            let share_of = &share_of;
            scope.spawn(move |_| share_of(first, base, own_starts, own_targets));
            (starts, targets) = (rest, other_targets);
            (first, base) = (first + size, end);
        }
    });
}

#[inline]
fn for_each_arc<P: AsRef<[Pair]>>(parts: &[P], undirected: bool, mut visit: impl FnMut(Vertex, Vertex)) {
    for part in parts {
        for &(from, to) in part.as_ref() {
            visit(from, to);
            if undirected && from != to {
                visit(to, from);
            }
        }
    }
}
