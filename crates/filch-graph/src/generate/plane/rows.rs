//! Neighbours of which no vertex has more than a given number, and exchanges of edges that keep it.

use std::collections::HashSet;

use crate::generate::edges::{reserve, Edges};
use crate::generate::GenerateError;
use crate::traverse::Unions;
use crate::Vertex;

/// The neighbours of each vertex, each edge in the rows of both its ends.
#[derive(Debug)]
pub(super) struct Rows {
    /// The length of a row.
    degree: usize,
    /// Row after row. The beginning of each is in use.
    neighbours: Vec<Vertex>,
    /// How much of each row is in use.
    used: Vec<u32>,
}

impl Rows {
    pub(super) fn new(vertices: usize, degree: usize) -> Result<Rows, GenerateError> {
        let mut neighbours = reserve(vertices as u128 * degree as u128)?;
        neighbours.resize(vertices * degree, 0);
        let mut used = reserve(vertices as u128)?;
        used.resize(vertices, 0);
        Ok(Rows { degree, neighbours, used })
    }

    /// Returns the number of neighbours that each vertex is to have.
    pub(super) fn degree(&self) -> usize {
        self.degree
    }

    /// Returns how many neighbours the vertex lacks.
    #[inline]
    pub(super) fn lacks(&self, vertex: Vertex) -> usize {
        self.degree - self.used[vertex as usize] as usize
    }

    #[inline]
    fn of(&self, vertex: Vertex) -> &[Vertex] {
        &self.neighbours[vertex as usize * self.degree..][..self.used[vertex as usize] as usize]
    }

    #[inline]
    pub(super) fn are_joined(&self, a: Vertex, b: Vertex) -> bool {
        self.of(a).contains(&b)
    }

    /// Joins two vertices that lack a neighbour and are not joined.
    pub(super) fn join(&mut self, a: Vertex, b: Vertex) {
        for (vertex, other) in [(a, b), (b, a)] {
            let used = &mut self.used[vertex as usize];
            self.neighbours[vertex as usize * self.degree + *used as usize] = other;
            *used += 1;
        }
    }

    /// Removes an edge.
    fn separate(&mut self, a: Vertex, b: Vertex) {
        for (vertex, other) in [(a, b), (b, a)] {
            let used = &mut self.used[vertex as usize];
            let row = &mut self.neighbours[vertex as usize * self.degree..][..*used as usize];
            let place = row.iter().position(|&next| next == other).expect("an edge is in the rows of both ends");
            row[place..].rotate_left(1);
            *used -= 1;
        }
    }

    /// Gives neighbours to the vertices that lack some, which must all be joined to each other. If
    /// the sum of what they lack is odd, the last of them keeps lacking one.
    ///
    /// An edge is removed, and its ends are joined to a vertex that lacks two neighbours, or to two
    /// that lack one. There always is such an edge:
    ///
    /// - Let `u` lack two. It has at most k − 2 neighbours, and the vertices not joined to it all
    ///   have k. So each of these has a neighbour that is not joined to `u` either.
    /// - Let `u` and `w` lack one. Some `c` is not joined to `u`, and has k neighbours. `w` has
    ///   k − 1, one of them is `u`, which is no neighbour of `c`. So at least two of the k
    ///   neighbours of `c` are not joined to `w`, and at least one of these is not `w` itself.
    pub(super) fn complete(&mut self, lacking: &[Vertex]) {
        let mut last: Option<Vertex> = None;
        for &vertex in lacking {
            while self.lacks(vertex) >= 2 {
                self.insert(vertex, vertex);
            }
            if self.lacks(vertex) == 1 {
                match last.take() {
                    Some(other) => self.insert(other, vertex),
                    None => last = Some(vertex),
                }
            }
        }
    }

    /// Replaces an edge by one from an end to `u` and one from the other end to `w`. Takes the
    /// edge whose end has the number nearest above that of `u`.
    fn insert(&mut self, u: Vertex, w: Vertex) {
        let vertices = self.used.len() as u64;
        let others = (1..vertices).map(|far| ((u64::from(u) + far) % vertices) as Vertex);
        let free_of_u = others.filter(|&c| !self.are_joined(u, c));
        let edge = free_of_u
            .flat_map(|c| self.of(c).iter().map(move |&d| (c, d)))
            .find(|&(_, d)| d != w && !self.are_joined(w, d));
        let (c, d) = edge.expect("vertices without such an edge have all their neighbours");
        self.separate(c, d);
        self.join(u, c);
        self.join(w, d);
    }

    /// Connects the components, if each vertex has at least two neighbours.
    ///
    /// The smallest vertex of each component but the first has a vertex with the number before,
    /// which is in a component with a smaller vertex, so it is connected to the first by then. An
    /// edge on a cycle of the component and an edge of that other vertex are exchanged for two
    /// edges between them. Without the edge on the cycle, the component still is connected. So each
    /// end of the other edge is connected to it, and so to the other end.
    pub(super) fn connect(&mut self) {
        let unions = Unions::new(self.used.len());
        for vertex in 0..self.used.len() as Vertex {
            self.of(vertex).iter().for_each(|&next| unions.unite(vertex, next));
        }
        for smallest in (1..self.used.len() as Vertex).filter(|&vertex| unions.is_smallest(vertex)) {
            let (a, b) = self.edge_on_a_cycle(smallest);
            let before = smallest - 1;
            let other = self.of(before)[0];
            self.separate(a, b);
            self.separate(before, other);
            self.join(a, before);
            self.join(b, other);
        }
    }

    /// Walks from a vertex, never back along the edge that it came by, until it meets a vertex
    /// again. The last edge is on a cycle.
    fn edge_on_a_cycle(&self, start: Vertex) -> (Vertex, Vertex) {
        let mut met = HashSet::from([start]);
        let (mut before, mut at) = (start, self.of(start)[0]);
        while met.insert(at) {
            let next = self.of(at).iter().copied().find(|&next| next != before);
            (before, at) = (at, next.expect("each vertex has at least two neighbours"));
        }
        (before, at)
    }

    /// Returns the edges, by their smaller end.
    pub(super) fn into_edges(self) -> Result<Edges, GenerateError> {
        Edges::by_vertex(self.used.len(), self.neighbours.len() as u128 / 2, |range, edges| {
            for vertex in range.start as Vertex..range.end as Vertex {
                edges.extend(self.of(vertex).iter().filter(|&&next| vertex < next).map(|&next| (vertex, next)));
            }
        })
    }
}
