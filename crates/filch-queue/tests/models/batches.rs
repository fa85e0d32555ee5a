//! Worlds for the bulk queue: batches, shares, and the edges of blocks and directory.
//!
//! Both are small under loom: blocks of 2 slots and then 4, and a first ring of 2 entries.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use filch_queue::bulk::{self, Batch, Owner, Thief};
use loom::thread;

use super::{search, OwnWorld};

/// A task whose drops are counted.
///
/// A lost task is missing from the count, and a task that is dropped twice is freed twice.
struct Task {
    id: Box<usize>,
    dropped: Arc<AtomicUsize>,
}

impl Drop for Task {
    fn drop(&mut self) {
        // The sum tells which tasks were dropped, as long as none was dropped 8 times.
        self.dropped.fetch_add(1 << (3 * *self.id), Ordering::Relaxed);
    }
}

/// A step of the owner.
#[derive(Clone, Copy)]
enum Step {
    Push,
    PushBatch(usize),
    /// Two batches of two tasks each, appended.
    PushJoined,
    Pop,
}
use Step::{Pop, Push, PushBatch, PushJoined};

/// A step of the thief.
#[derive(Clone, Copy)]
enum Take {
    One,
    Share(f64),
}
use Take::{One, Share};

const HALF: Take = Share(0.5);
const ALL: Take = Share(1.0);

/// A world: the initial steps, the steps of owner and thieves, and the end.
///
/// The owner makes `steps` while a thief makes `takes`, and another one `others`.
struct World {
    before: &'static [Step],
    steps: &'static [Step],
    takes: &'static [Take],
    others: &'static [Take],
    end: End,
}

/// A world without its steps: a batch of two tasks, and one thief.
const PLAIN: World = World { before: &[PushBatch(2)], steps: &[], takes: &[ALL], others: &[], end: Popped };

#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The owner pops until the queue is empty.
    Popped,
    /// Owner and thieves are dropped at the same time. The last of them drops the tasks that are
    /// left.
    Dropped,
    /// A thief moves its stolen tasks into its own queue. It pops them there. The owner pops the
    /// rest.
    Moved,
}
use End::{Dropped, Moved, Popped};

pub(super) const WORLDS: [OwnWorld; 20] = [
    own_world("half of a batch", |bound| {
        run(bound, World { before: &[PushBatch(4)], steps: &[Pop, Pop], takes: &[HALF], ..PLAIN })
    }),
    own_world("one after the other", |bound| {
        run(bound, World { before: &[PushBatch(2), Push], steps: &[Pop], takes: &[One, One], ..PLAIN })
    }),
    own_world("all, and what comes after", |bound| {
        run(bound, World { before: &[PushBatch(3)], steps: &[Pop, Push], takes: &[ALL, ALL], ..PLAIN })
    }),
    own_world("hand over", |bound| {
        run(bound, World { before: &[], steps: &[Push, PushBatch(2), Push], takes: &[HALF, ALL], ..PLAIN })
    }),
    own_world("an entry replaced in place", |bound| {
        run(bound, World { steps: &[Pop, Pop, PushBatch(2)], takes: &[ALL, ALL], ..PLAIN })
    }),
    own_world("a larger ring", |bound| {
        run(bound, World { steps: &[PushBatch(2), PushBatch(2)], takes: &[HALF, ALL], ..PLAIN })
    }),
    // The thief may know of the pop that leaves the second entry, and look for that entry in the
    // ring made after it. This takes three preemptions.
    own_world("a larger ring after an entry was left", |bound| {
        let before = &[PushBatch(2), PushBatch(2), Pop, Pop];
        run(bound + 1, World { before, steps: &[Pop, PushJoined], takes: &[ALL], end: Dropped, ..PLAIN })
    }),
    own_world("cells of the ring used again", |bound| {
        let steps = &[PushBatch(2), PushBatch(2), PushBatch(2)];
        let before = &[PushBatch(2), PushBatch(2)];
        run(bound, World { before, steps, takes: &[HALF, ALL], end: Dropped, ..PLAIN })
    }),
    own_world("cells used again below a look", cells_used_again),
    own_world("the edge of a block", |bound| {
        run(bound, World { before: &[Push, Push, Push], steps: &[Pop, Pop, Push, Push], takes: &[HALF], ..PLAIN })
    }),
    // The owner steps back into its second block, which has slots left, and past the start of the
    // entry behind it.
    own_world("an entry left and another made", |bound| {
        let before = &[Push, Push, Push, Push, PushBatch(2), Pop, Pop, Pop, Push, Push];
        run(bound, World { before, steps: &[Push, PushBatch(2)], takes: &[ALL], ..PLAIN })
    }),
    // The claim of two entries shrinks to one, whose successor has changed.
    own_world("pops and pushes below a look", |bound| {
        let before = &[PushBatch(2), PushBatch(2)];
        run(bound, World { before, steps: &[Pop, Pop, Pop, PushBatch(2)], takes: &[ALL], ..PLAIN })
    }),
    own_world("empty and refilled", |bound| {
        run(bound, World { before: &[Push], steps: &[Pop, Push, Pop, Push], takes: &[One, HALF], ..PLAIN })
    }),
    own_world("both go with tasks left", |bound| {
        run(bound, World { before: &[PushBatch(3), Push], steps: &[Pop], takes: &[HALF, One], end: Dropped, ..PLAIN })
    }),
    own_world("two runs of a segment end", two_runs),
    own_world("moved on", |bound| {
        run(bound, World { before: &[PushBatch(4)], steps: &[Pop, Pop], takes: &[HALF, HALF], end: Moved, ..PLAIN })
    }),
    own_world("two thieves of a batch", |bound| {
        run(bound, World { before: &[PushBatch(4)], steps: &[Pop], takes: &[HALF], others: &[HALF], ..PLAIN })
    }),
    own_world("two thieves, entry by entry", |bound| {
        let before = &[PushBatch(2), PushBatch(2)];
        run(bound, World { before, steps: &[PushBatch(2)], takes: &[HALF], others: &[One], end: Dropped })
    }),
    own_world("two thieves, a larger ring", |bound| {
        let steps = &[PushBatch(2), PushBatch(2)];
        // With two preemptions it takes half a minute.
        run(bound.min(1), World { steps, takes: &[ALL], others: &[One], end: Dropped, ..PLAIN })
    }),
    own_world("two thieves move on", |bound| {
        let before = &[PushBatch(3), Push];
        run(bound, World { before, steps: &[Pop], takes: &[HALF], others: &[HALF], end: Moved })
    }),
];

const fn own_world(name: &'static str, search: fn(usize)) -> OwnWorld {
    OwnWorld { name, search }
}

fn run(bound: usize, world: World) {
    search(bound, move || run_once(&world));
}

/// The tasks that one side has taken.
#[derive(Default)]
struct Taken(Vec<usize>);

impl Taken {
    fn take(&mut self, task: Task) {
        self.0.push(*task.id);
    }
}

fn steal(thief: &Thief<Task>, takes: &[Take], end: End) -> Taken {
    let mut taken = Taken::default();
    let mut youngest = None;
    for take in takes {
        let batch = match take {
            One => thief.steal_one().into_iter().collect(),
            Share(share) => thief.steal(*share).unwrap(),
        };
        for task in batch.iter() {
            assert!(youngest < Some(*task.id), "not the oldest, or not in order");
            youngest = Some(*task.id);
        }
        if end == Moved {
            let (own, _) = bulk::new();
            own.push_batch(batch);
            std::iter::from_fn(|| own.pop()).for_each(|task| taken.take(task));
        } else {
            batch.into_iter().for_each(|task| taken.take(task));
        }
    }
    taken
}

fn run_steps(owner: &Owner<Task>, steps: &[Step], next: &mut usize, dropped: &Arc<AtomicUsize>, taken: &mut Taken) {
    let mut task = || {
        *next += 1;
        Task { id: Box::new(*next - 1), dropped: Arc::clone(dropped) }
    };
    for step in steps {
        match step {
            Push => owner.push(task()),
            PushBatch(count) => {
                let mut batch = Batch::with_capacity(*count);
                (0..*count).for_each(|_| batch.push(task()));
                owner.push_batch(batch);
            }
            PushJoined => {
                let mut batch = Batch::from(vec![task(), task()]);
                batch.append(Batch::from(vec![task(), task()]));
                owner.push_batch(batch);
            }
            Pop => owner.pop().into_iter().for_each(|task| taken.take(task)),
        }
    }
}

fn run_once(world: &World) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let (owner, thief) = bulk::new();
    let (mut next, mut taken) = (0, Taken::default());
    run_steps(&owner, world.before, &mut next, &dropped, &mut taken);
    let thieves: Vec<_> = [world.takes, world.others]
        .into_iter()
        .filter(|takes| !takes.is_empty())
        .map(|takes| {
            let (thief, end) = (thief.clone(), world.end);
            thread::spawn(move || steal(&thief, takes, end))
        })
        .collect();
    drop(thief);
    run_steps(&owner, world.steps, &mut next, &dropped, &mut taken);
    if world.end != Dropped {
        std::iter::from_fn(|| owner.pop()).for_each(|task| taken.take(task));
    }
    drop(owner);
    for thief in thieves {
        taken.0.extend(thief.join().unwrap().0);
    }
    check(taken, next, &dropped, world.end);
}

/// Checks that all tasks were taken or, if the queue was dropped, at least dropped.
fn check(mut taken: Taken, pushed: usize, dropped: &AtomicUsize, end: End) {
    if end != Dropped {
        taken.0.sort_unstable();
        assert!(taken.0.iter().copied().eq(0..pushed), "not each task once: {:?}", taken.0);
    }
    let each_once = (0..pushed).map(|id| 1 << (3 * id)).sum::<usize>();
    assert_eq!(dropped.load(Ordering::Relaxed), each_once, "not each task was dropped once (octal digits)");
}

/// The entries below the top give their cells to new ones while a thief looks for the top.
fn cells_used_again(bound: usize) {
    search(bound, || {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (owner, thief) = bulk::new();
        let (mut next, mut taken) = (0, Taken::default());
        run_steps(&owner, &[PushBatch(2); 4], &mut next, &dropped, &mut taken);
        // The first two of four entries, in a ring for four.
        taken.0.extend(steal(&thief, &[HALF], Popped).0);
        let other = thread::spawn(move || steal(&thief, &[HALF], Popped));
        run_steps(&owner, &[PushBatch(2); 2], &mut next, &dropped, &mut taken);
        std::iter::from_fn(|| owner.pop()).for_each(|task| taken.take(task));
        drop(owner);
        taken.0.extend(other.join().unwrap().0);
        check(taken, next, &dropped, Popped);
    });
}

/// Drops two batches that were stolen from the same segment on two threads.
///
/// The later drop frees the segment.
fn two_runs(bound: usize) {
    search(bound, || {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (owner, thief) = bulk::new();
        run_steps(&owner, &[PushBatch(4)], &mut 0, &dropped, &mut Taken::default());
        let (older, younger) = (thief.steal(0.5).unwrap(), thief.steal(1.0).unwrap());
        drop((owner, thief));
        let other = thread::spawn(move || drop(older));
        drop(younger);
        other.join().unwrap();
        check(Taken::default(), 4, &dropped, Dropped);
    });
}
