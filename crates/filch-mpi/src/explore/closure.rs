//! Reachability in a graph of which each rank has a part. A vertex is visited on its own rank.
//!
//! A task is a vertex, and its home is the rank that has it. So each rank has a part of the visited
//! set: one byte for each of its vertices. A rank pushes and marks those of its own vertices that
//! have no mark.
//!
//! A rank does not know the marks of vertices of other ranks, so it pushes them without a check,
//! but remembers them to avoid repeats. With up to about thirty ranks it remembers them by one bit
//! for each vertex of the graph. With more ranks it remembers only the latest ones. So this memory
//! never exceeds one number for each own vertex. A vertex that arrives may have been visited
//! before; then it is dropped.
//!
//! **Repeats do no harm**, as on [one machine](mod@filch_graph::traverse): a repeated task finds
//! nothing to push. So the queue may be an at-least-once queue.

use std::iter;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU8, Ordering};

use filch::explore::{Explore, Promise};
use filch::queue::Kind;
use filch_graph::part::Part;
use filch_graph::Vertex;

use super::sent_filter::SentFilter;
use super::{by_home, ExploredByRanks, MessageError, Ranks};

/// The vertex was not seen.
const UNSEEN: u8 = 0;
/// The vertex was pushed on this rank.
const PUSHED: u8 = 1;
/// The vertex was run, or is being run.
const VISITED: u8 = 2;

/// The reachable vertices of a rank, and their number on all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closure {
    /// The marks of the own vertices, by place.
    marks: Box<[u8]>,
    own: u64,
    reached: u64,
    memory: usize,
    explored: ExploredByRanks,
}

impl Closure {
    /// Returns the number of reachable vertices on all ranks together.
    pub fn reached(&self) -> u64 {
        self.reached
    }

    /// Returns the number of reachable vertices of this rank.
    pub fn reached_here(&self) -> u64 {
        self.own
    }

    /// Returns whether the own vertex at `place` is reachable.
    pub fn contains(&self, place: usize) -> bool {
        self.marks.get(place).is_some_and(|&mark| mark != UNSEEN)
    }

    /// Returns what each rank did.
    pub fn explored(&self) -> &ExploredByRanks {
        &self.explored
    }

    /// Returns the bytes used on this rank.
    ///
    /// One byte for each own vertex, and the memory for pushed vertices of other ranks.
    pub fn memory(&self) -> usize {
        self.memory
    }
}

/// Finds the vertices reachable from `roots` in a graph in parts.
///
/// Each rank has a part of the graph. All ranks call it, with the same roots. If the exploration
/// was stopped early, every vertex in the result is reachable, but some reachable vertices may be
/// missing; [`Closure::explored`] says so.
///
/// ```
/// use filch::explore::Explore;
/// use filch_graph::generate::Recipe;
/// use filch_mpi::explore::{closure, Ranks};
/// use filch_mpi::network::threads::{self, Delays};
///
/// let recipe: Recipe = "rmat:10,5000".parse()?;
/// let whole = filch_graph::serial::closure(&recipe.build()?, [0]);
/// threads::run(3, Delays::NONE, |network| {
///     let mut ranks = Ranks::new(network);
///     // Each rank builds its part. Of the recipes, only `random` needs the sum over all ranks.
///     let partition = recipe.partition(ranks.ranks()).unwrap();
///     let alone = |_| -> Result<u64, Box<dyn std::error::Error>> { unreachable!() };
///     let part = recipe.part(partition, ranks.rank(), alone).unwrap();
///     let closure = closure(&mut ranks, &part, [0], Explore::at_least_once()).unwrap();
///     assert_eq!(closure.reached(), whole.reached() as u64);
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`by_home`].
///
/// # Panics
///
/// If a root is not a vertex of the graph, or the part is not this rank's.
pub fn closure<P, K>(
    ranks: &mut Ranks<'_>,
    part: &Part,
    roots: impl IntoIterator<Item = Vertex>,
    explore: Explore<'_, P, K>,
) -> Result<Closure, MessageError>
where
    P: Promise<Vertex, K> + Clone + Sync,
    K: Kind<Vertex> + Clone,
{
    let partition = part.partition();
    // Checked with the roots, inside `by_home`, so that the other ranks are told about a panic.
    let (here, all) = (ranks.rank(), ranks.ranks());
    let no_root = || {
        assert_eq!((part.rank(), partition.ranks()), (here, all), "this is the part of another rank");
        None
    };
    let roots = iter::once_with(no_root).chain(roots.into_iter().map(Some)).flatten();
    let check = |root: &Vertex| {
        let vertices = partition.vertices();
        assert!((*root as usize) < vertices, "the root {root} is not a vertex of the graph, which has {vertices}");
    };
    let roots = roots.inspect(check).filter(|&root| part.place(root).is_some());
    let marks: Box<[AtomicU8]> = (0..part.own()).map(|_| AtomicU8::new(UNSEEN)).collect();
    let sent = SentFilter::new(part.own(), if ranks.ranks() > 1 { partition.vertices() } else { 0 });
    // Relaxed throughout: a mark says nothing about other memory. A worker that does not see a mark
    // yet repeats a visit. The end of the exploration makes all marks visible.
    let find = || {
        by_home(
            &mut *ranks,
            explore,
            roots,
            |&vertex| partition.rank_of(vertex),
            |vertex, worker| {
                let place = part.place(vertex).expect("a vertex is visited on its own rank");
                let mark = &marks[place];
                if mark.load(Ordering::Relaxed) == VISITED {
                    return worker.count_redundant();
                }
                mark.store(VISITED, Ordering::Relaxed);
                for &next in part.neighbours(place) {
                    match part.place(next) {
                        Some(place) => {
                            let mark = &marks[place];
                            if mark.load(Ordering::Relaxed) == UNSEEN {
                                mark.store(PUSHED, Ordering::Relaxed);
                                worker.push_here(next);
                            }
                        }
                        None => {
                            if sent.insert(next) {
                                worker.push(next);
                            }
                        }
                    }
                }
            },
        )
    };
    // This rank takes part in the sum in any case: the other ranks would wait for it forever.
    let explored = panic::catch_unwind(AssertUnwindSafe(find));
    let marks: Box<[u8]> = marks.into_vec().into_iter().map(AtomicU8::into_inner).collect();
    let own = marks.iter().filter(|&&mark| mark != UNSEEN).count() as u64;
    let reached = ranks.sum(own);
    let explored = explored.unwrap_or_else(|panic| panic::resume_unwind(panic))?;
    Ok(Closure { reached: reached?, own, memory: marks.len() + sent.memory(), marks, explored })
}
