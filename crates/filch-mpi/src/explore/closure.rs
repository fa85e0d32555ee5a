//! Reachability in a graph of which each rank has a part: a vertex is visited, and remembered, where it lives.
//!
//! A task is a vertex, and its home is the rank that has it; so has the set of visited vertices a part on each rank, a byte for each of its vertices. Of its own vertices a rank pushes those that have no mark, and marks them; those of others
//! it pushes without knowing, but not again: it remembers what it pushed, by a bit for each vertex of the graph with up to about thirty ranks, and beyond that the latest ones only, so that it never takes more than a number for each own vertex. A vertex that arrives may have been visited before, and is then dropped.
//!
//! **Repeats do no harm**, as on [one machine](mod@filch_graph::traverse): what is run again finds nothing to push. So the queue may be one that is at least once.

use std::iter;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU8, Ordering};

use filch::explore::queue::Kind;
use filch::explore::{Explore, Promise};
use filch_graph::part::Part;
use filch_graph::Vertex;

use super::sent::Sent;
use super::{by_home, Explored, Garbled, Ranks};

/// Nobody has seen it.
const UNSEEN: u8 = 0;
/// It was pushed here.
const PUSHED: u8 = 1;
/// It was run, or is being run.
const VISITED: u8 = 2;

/// Which of a rank's vertices can be reached, and how many are on all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closure {
    /// Of the own vertices, by place.
    marks: Box<[u8]>,
    own: u64,
    reached: u64,
    memory: usize,
    explored: Explored,
}

impl Closure {
    /// How many vertices can be reached, on all ranks together.
    pub fn reached(&self) -> u64 {
        self.reached
    }

    /// How many of this rank's own vertices can be.
    pub fn reached_here(&self) -> u64 {
        self.own
    }

    /// Whether the own vertex at this place can be.
    pub fn contains(&self, place: usize) -> bool {
        self.marks.get(place).is_some_and(|&mark| mark != UNSEEN)
    }

    /// What it took.
    pub fn explored(&self) -> &Explored {
        &self.explored
    }

    /// The bytes it took on this rank: one for each own vertex, and what it took to remember those of others.
    pub fn memory(&self) -> usize {
        self.memory
    }
}

/// Which vertices can be reached from these roots, of a graph of which each rank has a part.
///
/// All ranks call it, with the same roots. If it was stopped early, what it contains can be reached, and more may be; [`Closure::explored`] says so.
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
///     // Each rank builds its part. Of the recipes, only `random` takes a word with the others for it.
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
) -> Result<Closure, Garbled>
where
    P: Promise<Vertex, K> + Clone + Sync,
    K: Kind<Vertex> + Clone,
{
    let partition = part.partition();
    // Checked with the roots, when all ranks are together and the others hear of it.
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
    let sent = Sent::new(part.own(), if ranks.ranks() > 1 { partition.vertices() } else { 0 });
    // Relaxed throughout: a mark says nothing about other memory. Who has not seen one yet repeats a visit; the end of the exploration makes all of them visible.
    let find = || {
        by_home(
            &mut *ranks,
            explore,
            roots,
            |&vertex| partition.rank_of(vertex),
            |vertex, worker| {
                let place = part.place(vertex).expect("a vertex is visited where it lives");
                let mark = &marks[place];
                if mark.load(Ordering::Relaxed) == VISITED {
                    return worker.found_done();
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
                            if sent.is_first(next) {
                                worker.push(next);
                            }
                        }
                    }
                }
            },
        )
    };
    // The others count whatever this rank has to say: they would wait for it for ever.
    let explored = panic::catch_unwind(AssertUnwindSafe(find));
    let marks: Box<[u8]> = marks.into_vec().into_iter().map(AtomicU8::into_inner).collect();
    let own = marks.iter().filter(|&&mark| mark != UNSEEN).count() as u64;
    let reached = ranks.sum(own);
    let explored = explored.unwrap_or_else(|panic| panic::resume_unwind(panic))?;
    Ok(Closure { reached: reached?, own, memory: marks.len() + sent.memory(), marks, explored })
}
