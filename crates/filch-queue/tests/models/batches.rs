//! Worlds for the bulk queue: batches, shares, and the edges of blocks and directory.
//!
//! Both are small under loom: blocks of 2 slots and then 4, and a first ring of 2 entries.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use filch_queue::bulk::{self, Batch, Owner, Thief};
use loom::thread;

use super::{search, Own};

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
enum Do {
    Push,
    Batch(usize),
    /// Two batches of two tasks each, appended.
    Joined,
    Pop,
}
use Do::{Batch as Several, Joined, Pop, Push};

/// A step of the thief.
#[derive(Clone, Copy)]
enum Take {
    One,
    Share(f64),
}
use Take::{One, Share};

const HALF: Take = Share(0.5);
const ALL: Take = Share(1.0);

/// A world: the initial steps, the steps of owner and thief, and the end.
///
/// The owner makes `steps` while the thief makes `takes`.
struct World {
    before: &'static [Do],
    steps: &'static [Do],
    takes: &'static [Take],
    rest: Rest,
}

#[derive(Clone, Copy, PartialEq)]
enum Rest {
    /// The owner pops until the queue is empty.
    Popped,
    /// Owner and thief are dropped at the same time. The last of them drops the tasks that are
    /// left.
    Dropped,
    /// The thief moves its stolen tasks into its own queue. It pops them there. The owner pops the
    /// rest.
    Moved,
}
use Rest::{Dropped, Moved, Popped};

pub(super) const WORLDS: [Own; 14] = [
    own("half of a batch", |bound| {
        run(bound, World { before: &[Several(4)], steps: &[Pop, Pop], takes: &[HALF], rest: Popped })
    }),
    own("one after the other", |bound| {
        run(bound, World { before: &[Several(2), Push], steps: &[Pop], takes: &[One, One], rest: Popped })
    }),
    own("all, and what comes after", |bound| {
        run(bound, World { before: &[Several(3)], steps: &[Pop, Push], takes: &[ALL, ALL], rest: Popped })
    }),
    own("hand over", |bound| {
        run(bound, World { before: &[], steps: &[Push, Several(2), Push], takes: &[HALF, ALL], rest: Popped })
    }),
    own("an entry replaced in place", |bound| {
        run(bound, World { before: &[Several(2)], steps: &[Pop, Pop, Several(2)], takes: &[ALL, ALL], rest: Popped })
    }),
    own("a larger ring", |bound| {
        run(bound, World { before: &[Several(2)], steps: &[Several(2), Several(2)], takes: &[HALF, ALL], rest: Popped })
    }),
    // The thief may know of the pop that leaves the second entry, and look for that entry in the
    // ring made after it. This takes three preemptions.
    own("a larger ring after an entry was left", |bound| {
        let before = &[Several(2), Several(2), Pop, Pop];
        run(bound + 1, World { before, steps: &[Pop, Joined], takes: &[ALL], rest: Dropped })
    }),
    own("cells of the ring used again", |bound| {
        let steps = &[Several(2), Several(2), Several(2)];
        run(bound, World { before: &[Several(2), Several(2)], steps, takes: &[HALF, ALL], rest: Dropped })
    }),
    own("the edge of a block", |bound| {
        run(bound, World { before: &[Push, Push, Push], steps: &[Pop, Pop, Push, Push], takes: &[HALF], rest: Popped })
    }),
    // The owner steps back into its second block, which has slots left, and past the start of the
    // entry behind it.
    own("an entry left and another made", |bound| {
        let before = &[Push, Push, Push, Push, Several(2), Pop, Pop, Pop, Push, Push];
        run(bound, World { before, steps: &[Push, Several(2)], takes: &[ALL], rest: Popped })
    }),
    own("empty and refilled", |bound| {
        run(bound, World { before: &[Push], steps: &[Pop, Push, Pop, Push], takes: &[One, HALF], rest: Popped })
    }),
    own("both go with tasks left", |bound| {
        run(bound, World { before: &[Several(3), Push], steps: &[Pop], takes: &[HALF, One], rest: Dropped })
    }),
    own("two runs of a segment end", two_parties),
    own("moved on", |bound| {
        run(bound, World { before: &[Several(4)], steps: &[Pop, Pop], takes: &[HALF, HALF], rest: Moved })
    }),
];

const fn own(name: &'static str, search: fn(usize)) -> Own {
    Own { name, search }
}

fn run(bound: usize, world: World) {
    search(bound, move || live(&world));
}

/// The tasks that one side has taken.
#[derive(Default)]
struct Got(Vec<usize>);

impl Got {
    fn take(&mut self, task: Task) {
        self.0.push(*task.id);
    }
}

fn steal(thief: &mut Thief<Task>, takes: &[Take], rest: Rest) -> Got {
    let mut got = Got::default();
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
        if rest == Moved {
            let (own, _) = bulk::new();
            own.push_batch(batch);
            std::iter::from_fn(|| own.pop()).for_each(|task| got.take(task));
        } else {
            batch.into_iter().for_each(|task| got.take(task));
        }
    }
    got
}

fn act(owner: &Owner<Task>, steps: &[Do], next: &mut usize, dropped: &Arc<AtomicUsize>, got: &mut Got) {
    let mut task = || {
        *next += 1;
        Task { id: Box::new(*next - 1), dropped: Arc::clone(dropped) }
    };
    for step in steps {
        match step {
            Push => owner.push(task()),
            Several(count) => {
                let mut batch = Batch::with_capacity(*count);
                (0..*count).for_each(|_| batch.push(task()));
                owner.push_batch(batch);
            }
            Joined => {
                let mut batch = Batch::from(vec![task(), task()]);
                batch.append(Batch::from(vec![task(), task()]));
                owner.push_batch(batch);
            }
            Pop => owner.pop().into_iter().for_each(|task| got.take(task)),
        }
    }
}

fn live(world: &World) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let (owner, mut thief) = bulk::new();
    let (mut next, mut got) = (0, Got::default());
    act(&owner, world.before, &mut next, &dropped, &mut got);
    let (takes, rest) = (world.takes, world.rest);
    let robber = thread::spawn(move || steal(&mut thief, takes, rest));
    act(&owner, world.steps, &mut next, &dropped, &mut got);
    if rest != Dropped {
        std::iter::from_fn(|| owner.pop()).for_each(|task| got.take(task));
    }
    drop(owner);
    got.0.extend(robber.join().unwrap().0);
    if rest != Dropped {
        got.0.sort_unstable();
        assert!(got.0.iter().copied().eq(0..next), "not each task once: {:?}", got.0);
    }
    let each_once = (0..next).map(|id| 1 << (3 * id)).sum::<usize>();
    assert_eq!(dropped.load(Ordering::Relaxed), each_once, "not each task was dropped once (octal digits)");
}

/// Drops two batches that were stolen from the same segment on two threads.
///
/// The later drop frees the segment.
fn two_parties(bound: usize) {
    search(bound, || {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (owner, mut thief) = bulk::new();
        act(&owner, &[Several(4)], &mut 0, &dropped, &mut Got::default());
        let (older, younger) = (thief.steal(0.5).unwrap(), thief.steal(1.0).unwrap());
        drop((owner, thief));
        let other = thread::spawn(move || drop(older));
        drop(younger);
        other.join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 0o1111, "not each task was dropped once (octal digits)");
    });
}
