//! Graphs in parts: each rank has the arcs of its own vertices only.
//!
//! A [`Partition`] says which rank has which vertex. A [`Part`] is the share of one rank: the
//! neighbours of its own vertices, by their numbers in the whole graph.
//! [`Recipe::part`](crate::generate::Recipe::part) makes it, on each rank by itself.
//!
//! ```
//! use filch_graph::generate::Recipe;
//! use filch_graph::part::Partition;
//!
//! let recipe: Recipe = "torus:10x10".parse()?;
//! let partition = Partition::blocks(recipe.vertices()?, 4);
//! // The second of four ranks. A torus is built without data from the other ranks.
//! let part = recipe.part(partition, 1, |_| -> Result<u64, filch_graph::generate::GenerateError> { unreachable!() })?;
//! assert_eq!((part.own(), part.arcs()), (25, 100));
//! assert_eq!(part.vertex(0), 25);
//! assert_eq!(part.neighbours(0), [15, 24, 26, 35]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod partition;

use std::fmt;

pub use partition::Partition;

use crate::{Graph, Vertex};

/// The part of a graph that one rank has. See [the module](self).
#[derive(Clone, PartialEq, Eq)]
pub struct Part {
    partition: Partition,
    rank: usize,
    /// A row for each own vertex, of numbers in the whole graph.
    rows: Graph,
}

impl Part {
    pub(crate) fn new(partition: Partition, rank: usize, rows: Graph) -> Self {
        debug_assert_eq!(rows.vertices(), partition.own(rank));
        Part { partition, rank, rows }
    }

    /// Returns the partition that this part belongs to.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Returns the rank that has this part.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of vertices of this part.
    pub fn own(&self) -> usize {
        self.rows.vertices()
    }

    /// Returns the number of arcs that leave these vertices.
    pub fn arcs(&self) -> usize {
        self.rows.arcs()
    }

    /// Returns the place of a vertex, if it is in this part.
    ///
    /// Places go from 0 to one less than [`own`](Part::own).
    #[inline]
    pub fn place(&self, vertex: Vertex) -> Option<usize> {
        self.partition.place_at(self.rank, vertex)
    }

    /// Returns the vertex at a place.
    #[inline]
    pub fn vertex(&self, place: usize) -> Vertex {
        self.partition.vertex(self.rank, place)
    }

    /// Returns the neighbours of the vertex at this place.
    ///
    /// # Panics
    ///
    /// If there is no such place.
    #[inline]
    pub fn neighbours(&self, place: usize) -> &[Vertex] {
        self.rows.neighbours(place as Vertex)
    }

    /// Iterates over every own vertex with its neighbours, place by place.
    pub fn iter(&self) -> impl Iterator<Item = (Vertex, &[Vertex])> + '_ {
        (0..self.own()).map(|place| (self.vertex(place), self.neighbours(place)))
    }

    /// Returns the bytes of memory held.
    pub fn memory(&self) -> usize {
        self.rows.memory()
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Part");
        debug.field("rank", &self.rank).field("own", &self.own()).field("arcs", &self.arcs()).finish_non_exhaustive()
    }
}
