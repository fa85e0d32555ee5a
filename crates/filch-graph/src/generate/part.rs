//! One rank's part of a generated graph, made on that rank alone.
//!
//! It has the same lists of neighbours, in the same order, as the whole graph.
//!
//! - **Graphs of a fixed form** (torus, grid, star, path, ring): the neighbours of a vertex follow
//!   from its number.
//! - **Random graphs**: every rank draws all edges, from the same streams, and keeps those that
//!   touch its vertices. So it needs memory for its part alone, and drawing is what a processor
//!   does fastest. For `random`, repeats are drawn again until there are enough edges. In each
//!   round the ranks exchange how many they have, one number each.
//! - **Not in parts**: points in the plane, joined components and shuffled numbers need the whole
//!   graph.

use super::edges::{purpose, reserve};
use super::stream::{self, Stream};
use super::{random, rmat, GenerateError, Recipe, Shape};
use crate::part::{Part, Partition};
use crate::{Graph, Vertex};

impl Recipe {
    /// Returns the number of vertices of the graph.
    ///
    /// # Errors
    ///
    /// If there are none or more than 32 bits can number.
    pub fn vertices(&self) -> Result<usize, GenerateError> {
        super::edges::check_vertices(match self.shape {
            Shape::Torus { width, height } | Shape::Grid { width, height } => width as u128 * height as u128,
            Shape::Rmat { scale, .. } => 1u128.checked_shl(scale).unwrap_or(u128::MAX),
            Shape::KgraphRing { vertices, .. }
            | Shape::KgraphPlane { vertices, .. }
            | Shape::Random { vertices, .. }
            | Shape::Star { vertices }
            | Shape::Path { vertices } => vertices as u128,
        })
    }

    /// Returns the best partition of its vertices among `ranks` ranks.
    ///
    /// In blocks if neighbours have near numbers, and hashed otherwise.
    ///
    /// # Errors
    ///
    /// As [`vertices`](Recipe::vertices).
    pub fn partition(&self, ranks: usize) -> Result<Partition, GenerateError> {
        let vertices = self.vertices()?;
        Ok(match self.shape {
            Shape::Random { .. } | Shape::Rmat { .. } => Partition::hashed(vertices, ranks),
            _ => Partition::blocks(vertices, ranks),
        })
    }

    /// Makes one rank's part of the graph, without the rest of it.
    ///
    /// All ranks together have exactly the graph that [`build`](Recipe::build) makes. All ranks
    /// call it, each with its number. `sum` adds up a number of each rank, and returns the sum on
    /// all ranks. It is called equally often on all ranks, and only for `random`. The work runs on
    /// the pool of the calling thread or the global one.
    ///
    /// # Errors
    ///
    /// As [`build`](Recipe::build); those of `sum`; and if such a graph cannot be made in parts.
    /// That is `kgraph-plane`, any `shuffled` recipe, and any `connected` one whose form is not
    /// connected by itself.
    ///
    /// # Panics
    ///
    /// If the partition is of another number of vertices, or has no such rank.
    pub fn part<E: From<GenerateError>>(
        &self,
        partition: Partition,
        rank: usize,
        mut sum: impl FnMut(u64) -> Result<u64, E>,
    ) -> Result<Part, E> {
        self.check_parts()?;
        assert_eq!(
            partition.vertices(),
            self.vertices()?,
            "the partition has another number of vertices than the graph"
        );
        assert!(rank < partition.ranks(), "rank {rank} does not exist: the partition has {} ranks", partition.ranks());
        let own = OwnVertices { partition, rank };
        let rows = match self.shape {
            Shape::Torus { width, height } => lattice(own, width, height, width > 2, height > 2)?,
            Shape::Grid { width, height } => lattice(own, width, height, false, false)?,
            Shape::Path { vertices } => lattice(own, vertices, 1, false, false)?,
            Shape::Star { vertices } => star(own, vertices)?,
            Shape::KgraphRing { vertices, neighbours } => ring_rows(own, vertices, neighbours)?,
            Shape::Random { vertices, edges } => random_rows(own, vertices, edges, self.seed, &mut sum)?,
            Shape::Rmat { scale, edges } => rmat_rows(own, scale, edges, self.seed)?,
            Shape::KgraphPlane { .. } => unreachable!("`check_parts` refuses it"),
        };
        Ok(Part::new(partition, rank, rows))
    }

    /// Checks that the graph can be made, and in parts.
    ///
    /// The result is the same on all ranks. Call it before any of them starts.
    ///
    /// # Errors
    ///
    /// All of [`part`](Recipe::part), except that there is no memory or that a sum failed.
    pub fn check_parts(&self) -> Result<(), GenerateError> {
        self.vertices()?;
        if let Shape::KgraphRing { vertices, neighbours } = self.shape {
            super::ring::check(vertices, neighbours)?;
        }
        if let Shape::Random { vertices, edges } = self.shape {
            random::check(vertices, edges)?;
        }
        let is_connected = match self.shape {
            Shape::Torus { .. } | Shape::Grid { .. } | Shape::Star { .. } | Shape::Path { .. } => true,
            Shape::KgraphRing { vertices, neighbours } => neighbours > 1 || vertices <= 1 + neighbours,
            _ => false,
        };
        let why = match self {
            Recipe { shape: Shape::KgraphPlane { .. }, .. } => {
                "the neighbours of a point depend on those of all other points"
            }
            Recipe { shuffled: true, .. } => "the new number of a vertex depends on all other vertices",
            Recipe { connected: true, .. } if !is_connected => "the components are known only for the whole graph",
            _ => return Ok(()),
        };
        Err(GenerateError::NotInParts { recipe: *self, why })
    }
}

/// The vertices of this rank.
#[derive(Clone, Copy)]
struct OwnVertices {
    partition: Partition,
    rank: usize,
}

impl OwnVertices {
    #[inline]
    fn place(&self, vertex: Vertex) -> Option<Vertex> {
        self.partition.place_at(self.rank, vertex).map(|place| place as Vertex)
    }

    /// Builds rows of neighbours that follow from the number of a vertex. `list` adds them to an
    /// empty list.
    fn by_rule(&self, list: impl Fn(usize, &mut Vec<Vertex>) + Sync) -> Result<Graph, GenerateError> {
        let rows = self.partition.own(self.rank);
        let row = |place: Vertex, list_of: &mut Vec<Vertex>| {
            list_of.clear();
            list(self.partition.vertex(self.rank, place as usize) as usize, list_of);
        };
        let mut degrees = reserve(rows as u128)?;
        degrees.resize(rows, 0u32);
        stream::split(&mut degrees, 0, 1 << 14, &|first, degrees: &mut [u32]| {
            let mut scratch = Vec::new();
            for (at, degree) in degrees.iter_mut().enumerate() {
                row((first + at) as Vertex, &mut scratch);
                *degree = scratch.len() as u32;
            }
        });
        let fill = |place: Vertex, into: &mut [Vertex]| {
            let mut scratch = Vec::with_capacity(into.len());
            row(place, &mut scratch);
            into.copy_from_slice(&scratch);
        };
        let columns = self.partition.vertices();
        Ok(Graph::from_rows(rows, columns, |place| degrees[place as usize] as usize, fill)?)
    }

    /// Builds rows of the edges that touch own vertices, in the order of the edges.
    fn by_edges(&self, pairs: &[u64]) -> Result<Graph, GenerateError> {
        let mut arcs = reserve(2 * pairs.len() as u128)?;
        for &pair in pairs {
            let (a, b) = ends(pair);
            arcs.extend(self.place(a).map(|place| (place, b)));
            arcs.extend(self.place(b).map(|place| (place, a)));
        }
        Ok(Graph::rows_of_arcs(self.partition.own(self.rank), &arcs)?)
    }

    /// Draws `count` edges and returns those that touch own vertices, sorted and each once. All
    /// ranks draw the same edges.
    fn draw(
        &self,
        count: usize,
        seed: u64,
        purpose: u64,
        draw: impl Fn(&mut Stream) -> u64 + Sync,
    ) -> Result<Vec<u64>, GenerateError> {
        let mut runs = vec![Vec::new(); stream::runs(count)];
        stream::split(&mut runs, 0, 4, &|first, runs: &mut [Vec<u64>]| {
            for (at, kept) in runs.iter_mut().enumerate() {
                let run = first + at;
                let mut stream = Stream::new(seed, purpose, run);
                let drawn = (0..stream::length_of_run(count, run)).map(|_| draw(&mut stream));
                kept.extend(drawn.filter(|&pair| self.touches(pair)));
            }
        });
        let mut all = reserve(runs.iter().map(|run| run.len() as u128).sum())?;
        for run in runs {
            all.extend(run);
        }
        stream::sort(&mut all);
        all.dedup();
        Ok(all)
    }

    #[inline]
    fn touches(&self, pair: u64) -> bool {
        let (a, b) = ends(pair);
        self.place(a).is_some() || self.place(b).is_some()
    }
}

/// Returns the two vertices of a word, the smaller one first.
#[inline]
fn ends(pair: u64) -> (Vertex, Vertex) {
    ((pair >> 32) as Vertex, pair as Vertex)
}

/// Builds the rows of a torus or grid, in the order of the edges. First come the edges of the
/// vertices above and to the left, then the vertex's own, then those that wrap around.
fn lattice(own: OwnVertices, width: usize, height: usize, wrap_x: bool, wrap_y: bool) -> Result<Graph, GenerateError> {
    own.by_rule(|vertex, list| {
        let (x, y) = (vertex % width, vertex / width);
        let neighbours = [
            (y > 0).then(|| vertex - width),
            (x > 0).then(|| vertex - 1),
            if x + 1 < width { Some(vertex + 1) } else { wrap_x.then(|| vertex - x) },
            if y + 1 < height { Some(vertex + width) } else { wrap_y.then_some(x) },
            (x == 0 && wrap_x).then(|| vertex + width - 1),
            (y == 0 && wrap_y).then(|| (height - 1) * width + x),
        ];
        list.extend(neighbours.into_iter().flatten().map(|next| next as Vertex));
    })
}

fn star(own: OwnVertices, vertices: usize) -> Result<Graph, GenerateError> {
    own.by_rule(|vertex, list| match vertex {
        0 => list.extend(1..vertices as Vertex),
        _ => list.push(0),
    })
}

fn ring_rows(own: OwnVertices, vertices: usize, neighbours: usize) -> Result<Graph, GenerateError> {
    let (half, far) = (neighbours / 2, neighbours / 2 + 1);
    // Whether a vertex is joined to the one at distance `far` ahead.
    let reaches = |vertex: usize| neighbours % 2 == 1 && vertex % (2 * far) < far && vertex + far < vertices;
    own.by_rule(|vertex, list| {
        // Each edge, ordered by the vertex that it is counted at, and then by its length.
        let behind = |far: usize| (vertex + vertices - far) % vertices;
        let mut edges: Vec<(usize, usize, usize)> = (1..=half)
            .flat_map(|far| [(behind(far), far, behind(far)), (vertex, far, (vertex + far) % vertices)])
            .collect();
        edges.extend(reaches(vertex).then_some((vertex, far, vertex + far)));
        edges.extend(vertex.checked_sub(far).filter(|&from| reaches(from)).map(|from| (from, far, from)));
        edges.sort_unstable();
        list.extend(edges.into_iter().map(|(_, _, next)| next as Vertex));
    })
}

fn rmat_rows(own: OwnVertices, scale: u32, edges: usize, seed: u64) -> Result<Graph, GenerateError> {
    let mut pairs = own.draw(edges, seed, purpose::RMAT, |stream| rmat::draw(stream, scale))?;
    pairs.retain(|&pair| {
        let (a, b) = ends(pair);
        a != b
    });
    own.by_edges(&pairs)
}

fn random_rows<E: From<GenerateError>>(
    own: OwnVertices,
    vertices: usize,
    edges: usize,
    seed: u64,
    sum: &mut impl FnMut(u64) -> Result<u64, E>,
) -> Result<Graph, E> {
    let most = random::check(vertices, edges)?;
    if edges as u128 <= most / 2 {
        let pairs = random_pairs(own, vertices, edges, seed, sum)?;
        return Ok(own.by_edges(&pairs)?);
    }
    // The pairs that are not edges were drawn.
    let missing = random_pairs(own, vertices, (most - edges as u128) as usize, seed, sum)?;
    Ok(own.by_rule(|vertex, list| {
        let vertex = vertex as Vertex;
        let others = (0..vertices as Vertex).filter(|&other| other != vertex);
        list.extend(others.filter(|&other| missing.binary_search(&random::pair(vertex, other)).is_err()));
    })?)
}

/// Returns those of `count` different pairs that touch own vertices. As [`random::pairs`], with the
/// repeats of all ranks counted together.
fn random_pairs<E: From<GenerateError>>(
    own: OwnVertices,
    vertices: usize,
    count: usize,
    seed: u64,
    sum: &mut impl FnMut(u64) -> Result<u64, E>,
) -> Result<Vec<u64>, E> {
    let mut found: Vec<u64> = Vec::new();
    let mut all = 0;
    for round in 0.. {
        let missing = count - all;
        if missing == 0 {
            break;
        }
        let purpose = purpose::PAIRS | round << 8;
        let drawn = own.draw(missing, seed, purpose, |stream| random::draw(stream, vertices as u64))?;
        found = if found.is_empty() { drawn } else { random::merge(found, drawn)? };
        // Each pair counts on the rank of its smaller end.
        let mine = found.iter().filter(|&&pair| own.place(ends(pair).0).is_some()).count();
        all = sum(mine as u64)? as usize;
    }
    Ok(found)
}
