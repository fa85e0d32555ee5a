//! Small worlds for loom: an owner and two thieves on every queue.
//!
//! Each world is small enough for an exhaustive search.

// Each of the two test programs uses a part of it.
#![allow(dead_code)]

mod batches;

use std::panic::{RefUnwindSafe, UnwindSafe};

use filch_queue::bound::{Bound, Delta};
use filch_queue::{asymmetric, bulk, chase_lev, ff_cl, ff_the, idempotent, the, thep, Owner, Steal, Thief};
use loom::thread;

/// A task of two words, so that a torn read is detected.
pub(crate) type Task = (usize, usize);

fn task(id: usize) -> Task {
    (id, !id)
}

fn id_of((id, check): Task) -> usize {
    assert_eq!(check, !id, "a torn task");
    id
}

/// A step of the owner while the thieves steal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Push,
    Pop,
}
use Step::{Pop, Push};

/// A world: the initial tasks, the owner's steps, and each thief's number of steals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) name: &'static str,
    pub(crate) start: usize,
    pub(crate) capacity: usize,
    pub(crate) steps: &'static [Step],
    pub(crate) steals: [usize; 2],
    /// Whether the owner is dropped before the thieves are done.
    pub(crate) drops_owner: bool,
}

/// All threads want the last tasks.
const LAST: World =
    World { name: "last", start: 2, capacity: 3, steps: &[Pop, Pop], steals: [1, 1], drops_owner: false };
/// The array is replaced while thieves read it.
const GROW: World =
    World { name: "grow", start: 1, capacity: 1, steps: &[Push, Push, Pop], steals: [1, 1], drops_owner: false };
/// The index of a popped task is reused.
const REUSE: World =
    World { name: "reuse", start: 2, capacity: 3, steps: &[Pop, Push, Pop], steals: [1, 1], drops_owner: false };
/// Slots are reused after a whole round.
const ROUND: World =
    World { name: "round", start: 1, capacity: 1, steps: &[Pop, Push, Pop, Push], steals: [2, 0], drops_owner: false };
/// Slots are reused, while a thief may have seen the tail before several pops.
const DEEP: World =
    World { name: "deep", start: 3, capacity: 3, steps: &[Pop, Pop, Push], steals: [2, 0], drops_owner: false };
/// The owner is dropped and the thieves stay.
const LEAVE: World = World { name: "leave", start: 2, capacity: 3, steps: &[Pop], steals: [1, 1], drops_owner: true };

const WORLDS: [World; 6] = [LAST, GROW, REUSE, ROUND, DEEP, LEAVE];

/// The same worlds, with a single thief in the longer ones.
///
/// For queues whose threads wait for each other in so many ways that two thieves would take
/// minutes.
const WAITING: [World; 6] =
    [LAST, World { steals: [1, 0], ..GROW }, World { steals: [1, 0], ..REUSE }, ROUND, DEEP, LEAVE];

/// Small worlds that detect errors well, for a deliberately broken crate.
///
/// Tasks are passed to a thief, moved into a new array, pushed at a reused index, and so on.
pub(crate) const SHARP: [World; 7] = [
    World { name: "hand over", start: 0, capacity: 3, steps: &[Push, Push], steals: [2, 0], drops_owner: false },
    World { name: "grow for one", start: 1, capacity: 1, steps: &[Push, Push], steals: [1, 0], drops_owner: false },
    World { name: "reuse for one", start: 2, capacity: 3, steps: &[Pop, Push], steals: [2, 0], drops_owner: false },
    DEEP,
    LEAVE,
    ROUND,
    LAST,
];

/// A queue under test: its name, and the function that searches a world on it.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    /// The maximum number of preemptions, so that all orders take seconds.
    ///
    /// It is smaller if threads wait for each other.
    pub(crate) preemptions: usize,
    /// The worlds to search.
    pub(crate) worlds: &'static [World],
    pub(crate) search: fn(World, usize),
    /// Worlds that only this queue supports.
    pub(crate) own_worlds: &'static [OwnWorld],
}

/// A world for a single queue: its name, and the function that searches it.
pub(crate) struct OwnWorld {
    pub(crate) name: &'static str,
    pub(crate) search: fn(usize),
}

/// All queues, each with its guarantee.
pub(crate) const SUBJECTS: [Subject; 13] = [
    Subject {
        name: "chase_lev",
        preemptions: 2,
        worlds: &WORLDS,
        search: |world, bound| exactly(world, bound, |n| chase_lev::with_capacity(n).unwrap()),
        own_worlds: &[],
    },
    Subject {
        name: "the",
        preemptions: 1,
        worlds: &WORLDS,
        search: |world, bound| exactly(world, bound, |n| the::with_capacity(n).unwrap()),
        own_worlds: &[],
    },
    Subject {
        name: "asymmetric",
        preemptions: 2,
        worlds: &WORLDS,
        search: |world, bound| exactly(world, bound, |n| asymmetric::with_capacity(n).unwrap()),
        own_worlds: &[],
    },
    Subject {
        name: "bulk",
        preemptions: 2,
        worlds: &WORLDS,
        search: |world, bound| exactly(world, bound, |_| bulk::new()),
        own_worlds: &batches::WORLDS,
    },
    // Under loom there is no bound to trust, so the trusted queues keep their fence.
    Subject {
        name: "ff_cl",
        preemptions: 2,
        worlds: &WORLDS,
        // SAFETY: the owner has a fence, so any delta is right.
        search: |world, bound| exactly(world, bound, |n| unsafe { ff_cl::with_capacity_trusted(delta(), n).unwrap() }),
        own_worlds: &[],
    },
    Subject {
        name: "ff_the",
        preemptions: 1,
        worlds: &WORLDS,
        // SAFETY: as above.
        search: |world, bound| exactly(world, bound, |n| unsafe { ff_the::with_capacity_trusted(delta(), n).unwrap() }),
        own_worlds: &[],
    },
    Subject {
        name: "thep",
        preemptions: 1,
        worlds: &WAITING,
        // SAFETY: as above.
        search: |world, bound| exactly(world, bound, |n| unsafe { thep::with_capacity_trusted(delta(), n).unwrap() }),
        own_worlds: &[],
    },
    Subject {
        name: "ff_cl-untrusted",
        preemptions: 1,
        worlds: &WORLDS,
        search: |world, bound| at_least(world, bound, |n| ff_cl::with_capacity(delta(), n).unwrap()),
        own_worlds: &[],
    },
    Subject {
        name: "ff_the-untrusted",
        preemptions: 1,
        worlds: &WAITING,
        search: |world, bound| at_least(world, bound, |n| ff_the::with_capacity(delta(), n).unwrap()),
        own_worlds: &[],
    },
    Subject {
        name: "thep-untrusted",
        preemptions: 1,
        worlds: &WAITING,
        search: |world, bound| at_least(world, bound, |n| thep::with_capacity(delta(), n).unwrap()),
        own_worlds: &[],
    },
    Subject {
        name: "idempotent::lifo",
        preemptions: 2,
        worlds: &WORLDS,
        search: |world, bound| at_least(world, bound, |n| idempotent::lifo::with_capacity(n).unwrap()),
        own_worlds: &[],
    },
    Subject {
        name: "idempotent::fifo",
        preemptions: 2,
        worlds: &WORLDS,
        search: |world, bound| at_least(world, bound, |n| idempotent::fifo::with_capacity(n).unwrap()),
        own_worlds: &[],
    },
    Subject {
        name: "idempotent::double_ended",
        preemptions: 2,
        worlds: &WORLDS,
        search: |world, bound| at_least(world, bound, |n| idempotent::double_ended::with_capacity(n).unwrap()),
        own_worlds: &[],
    },
];

/// Returns the smallest delta: a single pop may be hidden.
///
/// With it, thieves abort least often.
fn delta() -> Delta {
    Delta::new(Bound::new(1).unwrap(), 1).unwrap()
}

fn exactly<O, T>(world: World, bound: usize, make: fn(usize) -> (O, T))
where
    O: Owner<Task = Task> + filch_queue::ExactlyOnce + 'static,
    T: Thief<Task = Task> + filch_queue::ExactlyOnce + Send + 'static,
{
    search(bound, move || {
        let (extracted, left) = run(world, make);
        for (id, times) in extracted.into_iter().enumerate() {
            assert_eq!(times, 1, "task {id} was extracted {times} times");
        }
        assert!(world.drops_owner || left == 0, "a pop found the queue empty, but a task was left");
    });
}

fn at_least<O, T>(world: World, bound: usize, make: fn(usize) -> (O, T))
where
    O: Owner<Task = Task> + 'static,
    T: Thief<Task = Task> + Send + 'static,
{
    search(bound, move || {
        for (id, times) in run(world, make).0.into_iter().enumerate() {
            assert!(times > 0, "task {id} was lost");
        }
    });
}

pub(crate) fn search(bound: usize, world: impl Fn() + Sync + Send + UnwindSafe + RefUnwindSafe + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(bound);
    builder.max_branches = 10_000;
    builder.check(world);
}

/// Runs the world once.
///
/// Returns how often each task was extracted. Also returns how many tasks were left after the owner
/// had found the queue empty and the thieves were done.
fn run<O, T>(world: World, make: fn(usize) -> (O, T)) -> (Vec<usize>, usize)
where
    O: Owner<Task = Task> + 'static,
    T: Thief<Task = Task> + Send + 'static,
{
    let (owner, thief) = make(world.capacity);
    let mut pushed = 0;
    let mut push = |owner: &O| {
        owner.push(task(pushed));
        pushed += 1;
    };
    for _ in 0..world.start {
        push(&owner);
    }
    let thieves: Vec<_> = world
        .steals
        .into_iter()
        .filter(|&steals| steals > 0)
        .map(|steals| {
            let thief = thief.clone();
            thread::spawn(move || (0..steals).filter_map(|_| thief.steal().success()).map(id_of).collect::<Vec<_>>())
        })
        .collect();
    let mut extracted = Vec::new();
    for step in world.steps {
        match step {
            Push => push(&owner),
            Pop => extracted.extend(owner.pop().map(id_of)),
        }
    }
    let owner = if world.drops_owner {
        drop(owner);
        None
    } else {
        // A thief of THEP may wait for the owner to pop, so the owner pops until the queue is
        // empty.
        extracted.extend(std::iter::from_fn(|| owner.pop()).map(id_of));
        Some(owner)
    };
    for thief in thieves {
        extracted.extend(thief.join().unwrap());
    }
    let before = extracted.len();
    // A steal that was undone by a pop leaves its task in the queue.
    match owner {
        Some(owner) => extracted.extend(std::iter::from_fn(|| owner.pop()).map(id_of)),
        None => loop {
            match thief.steal() {
                Steal::Success(task) => extracted.push(id_of(task)),
                Steal::Empty => break,
                Steal::Retry | Steal::Abort => panic!("no other thread is left, so the steal must not fail"),
            }
        },
    }
    let left = extracted.len() - before;
    let mut times = vec![0; pushed];
    for id in extracted {
        times[id] += 1;
    }
    (times, left)
}
