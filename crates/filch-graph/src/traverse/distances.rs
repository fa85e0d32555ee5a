//! Breadth-first distances, level by level in one exploration.
//!
//! The vertices at one distance are a level. A task is the number of a piece of the current level.
//! The worker that finishes the last piece makes the next level from the vertices found, and pushes
//! its pieces. It processes a level that is too small to share itself, and so the levels after it
//! for a while. A path of a million vertices is a million levels, and none of them is worth a push.
//!
//! **Each distance is right.** No piece of a level starts before all pieces of the level before are
//! finished. So a vertex without a distance, found from a vertex at distance `d`, is at `d + 1`.
//! All workers that find it write that number, so a load and a store are enough. At worst the
//! vertex is in the next level once for each worker, and is processed as often.
//!
//! **Repeats do no harm**, although levels are counted. A task claims its piece by an exchange
//! before it starts. If the piece is claimed already, or belongs to a level that is over, the task
//! ends at once.
//!
//! The alternative lowers distances as shorter paths are found, and needs no levels. But a worker
//! that takes the youngest task goes deep first, and on a torus nearly every distance is then
//! corrected many times.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};

use filch::explore::{AtLeast, Explore};
use filch::queue::Kind;

use super::{check_roots, Effort};
use crate::sync::{lock, unpoisoned};
use crate::{Graph, Vertex};

/// No distance.
pub(crate) const NONE: u32 = u32::MAX;

/// The number of vertices of a level per task.
const PIECE: usize = 512;

/// How many vertices of small levels a worker processes at once. Then the exploration checks
/// whether to stop.
const SMALL_LEVELS_LIMIT: usize = 8 * PIECE;

/// The distance of each vertex from the nearest root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    distances: Box<[u32]>,
    effort: Effort,
}

impl Distances {
    pub(crate) fn new(distances: Box<[u32]>, effort: Effort) -> Distances {
        Distances { distances, effort }
    }

    /// Returns the length of the shortest path to this vertex, in arcs. `None` if there is no path.
    pub fn of(&self, vertex: Vertex) -> Option<u32> {
        self.distances.get(vertex as usize).copied().filter(|&distance| distance != NONE)
    }

    /// Returns the number of reachable vertices.
    pub fn reached(&self) -> usize {
        self.distances.iter().filter(|&&distance| distance != NONE).count()
    }

    /// Returns the first of the farthest vertices and its distance.
    ///
    /// `None` if there were no roots.
    pub fn farthest(&self) -> Option<(Vertex, u32)> {
        let reached =
            (0..self.distances.len() as Vertex).filter_map(|vertex| self.of(vertex).map(|distance| (vertex, distance)));
        reached.reduce(|far, next| if next.1 > far.1 { next } else { far })
    }

    /// Returns the effort of the traversal.
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Returns the bytes held beside the graph: four per vertex.
    ///
    /// During the traversal, the current level and the next took four bytes more for each of their
    /// vertices.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.distances)
    }
}

/// Computes the distance of each vertex from the nearest of these roots, in arcs.
///
/// If it was stopped early, the distances in the result are right, and others are missing; see
/// [`Effort::ending`].
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::{distances, generate};
///
/// let graph = generate::torus(100, 100)?;
/// let distances = distances(&graph, [0], Explore::at_least_once());
/// assert_eq!(distances.of(5), Some(5));
/// assert_eq!(distances.farthest(), Some((50 * 100 + 50, 100)));
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// # Panics
///
/// If a root is not a vertex of the graph.
pub fn distances<K: Kind<Vertex>>(
    graph: &Graph,
    roots: impl IntoIterator<Item = Vertex>,
    explore: Explore<'_, AtLeast, K>,
) -> Distances {
    let mut roots: Vec<Vertex> = roots.into_iter().collect();
    check_roots(graph, &roots);
    let distances: Box<[AtomicU32]> = (0..graph.vertices()).map(|_| AtomicU32::new(NONE)).collect();
    roots.retain(|&root| distances[root as usize].swap(0, Ordering::Relaxed) == NONE);
    let level = Level::new(0, 0, roots);
    let tasks = level.claims.len();
    let search = Search {
        graph,
        distances: &distances,
        unfinished: AtomicUsize::new(tasks),
        level: RwLock::new(level),
        found: Mutex::new(Vec::new()),
    };
    let explored = explore.run(0..tasks as u32, |task, worker| match search.run(task) {
        Step::Done => {}
        Step::Repeat => worker.count_redundant(),
        Step::NextLevel(tasks) => worker.push_all(tasks),
    });
    let repeats = explored.counts().iter().map(|counts| counts.redundant).sum::<u64>();
    let tasks = explored.counts().iter().map(|counts| counts.tasks).sum::<u64>();
    let distances = distances.into_vec().into_iter().map(AtomicU32::into_inner).collect();
    Distances::new(distances, Effort::of(&explored, || tasks - repeats))
}

/// The vertices at one distance, cut into pieces.
struct Level {
    distance: u32,
    vertices: Vec<Vertex>,
    /// The task of its first piece. Tasks are numbered through all levels.
    first: u32,
    /// Whether each piece has been claimed.
    claims: Vec<AtomicBool>,
}

impl Level {
    fn new(distance: u32, first: u32, vertices: Vec<Vertex>) -> Level {
        let claims = (0..vertices.len().div_ceil(PIECE)).map(|_| AtomicBool::new(false)).collect();
        Level { distance, vertices, first, claims }
    }

    fn tasks(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.claims.len() as u32
    }

    /// Returns the piece of a task to the first worker that claims it.
    fn claim(&self, task: u32) -> Option<&[Vertex]> {
        // A task of a level that is over has a smaller number.
        let piece = task.checked_sub(self.first)? as usize;
        // Relaxed: only one worker wins the swap, and nothing else is ordered by it.
        let claimed = self.claims[piece].swap(true, Ordering::Relaxed);
        (!claimed).then(|| &self.vertices[piece * PIECE..self.vertices.len().min((piece + 1) * PIECE)])
    }
}

/// The result of a task.
enum Step {
    Done,
    /// The piece was claimed by another run of the task.
    Repeat,
    /// The last piece of its level. Has the tasks of the next level, if there are any.
    NextLevel(std::ops::Range<u32>),
}

struct Search<'a> {
    graph: &'a Graph,
    distances: &'a [AtomicU32],
    /// Locked for reading during a piece, and for writing between two levels.
    level: RwLock<Level>,
    /// The number of unfinished pieces of the level.
    unfinished: AtomicUsize,
    /// The vertices that the finished pieces have found.
    found: Mutex<Vec<Vec<Vertex>>>,
}

impl Search<'_> {
    fn run(&self, task: u32) -> Step {
        let level = unpoisoned(self.level.read());
        let Some(piece) = level.claim(task) else {
            return Step::Repeat;
        };
        let mut found = Vec::new();
        self.visit(piece, level.distance + 1, &mut found);
        drop(level);
        if !found.is_empty() {
            lock(&self.found).push(found);
        }
        // Acquire and release: the last worker to finish sees the distances that the others have
        // written.
        match self.unfinished.fetch_sub(1, Ordering::AcqRel) {
            1 => Step::NextLevel(self.advance()),
            _ => Step::Done,
        }
    }

    /// Sets this distance for all neighbours that have none.
    fn visit(&self, vertices: &[Vertex], distance: u32, found: &mut Vec<Vertex>) {
        for &vertex in vertices {
            for &next in self.graph.neighbours(vertex) {
                let entry = &self.distances[next as usize];
                // Relaxed: all workers that write it in this level write the same value, and
                // `unfinished` orders the levels.
                if entry.load(Ordering::Relaxed) == NONE {
                    entry.store(distance, Ordering::Relaxed);
                    found.push(next);
                }
            }
        }
    }

    /// Makes the next level that is worth sharing, or the next after the limit. No worker has a
    /// piece of the current level any more.
    fn advance(&self) -> std::ops::Range<u32> {
        let mut level = unpoisoned(self.level.write());
        let (mut distance, first) = (level.distance + 1, level.tasks().end);
        let mut vertices = std::mem::take(&mut *lock(&self.found)).concat();
        let (mut done, mut found) = (0, std::mem::take(&mut level.vertices));
        while !vertices.is_empty() && vertices.len() < 2 * PIECE && done < SMALL_LEVELS_LIMIT {
            found.clear();
            distance += 1;
            self.visit(&vertices, distance, &mut found);
            done += vertices.len();
            std::mem::swap(&mut vertices, &mut found);
        }
        *level = Level::new(distance, first, vertices);
        // Relaxed: a worker that decrements it has a task that is pushed after this store.
        self.unfinished.store(level.claims.len(), Ordering::Relaxed);
        level.tasks()
    }
}
