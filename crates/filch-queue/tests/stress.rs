//! Every queue on real threads. An owner and one to four thieves run, and every task is counted.
//!
//! `FILCH_STRESS_TASKS` is the number of tasks that each queue carries in `no_task_is_lost…`; the
//! default is ten million. With fewer than a million the races are shorter too.
#![cfg(not(loom))]

mod common;
mod threads;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::hint;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::thread;

use common::{claim, delta, for_every_exact_queue, for_every_relaxed_queue, steal, ExactQueue, Queue, Setup, Shape};
use filch_queue::bound::{Bound, Delta, FENCE_FREE};
use filch_queue::{Owner, Steal, Thief};
use threads::{join, run_alone, tasks_per_queue, until_stolen, Dice, Done};

/// An allocator that overwrites freed memory.
///
/// A thief that still reads a freed array finds no task in it.
struct OverwriteOnFree;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for OverwriteOnFree {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees it. Until it is freed, the block may be written.
        unsafe {
            block.write_bytes(0x5A, layout.size());
            System.dealloc(block, layout);
        }
    }
}

#[global_allocator]
static ALLOCATOR: OverwriteOnFree = OverwriteOnFree;

/// A task of three words that detect a mixture of two tasks.
///
/// They are whole words: reading back a part of a word from the stack, or two words at once, waits
/// for all earlier stores. That would be the fence that the owner does not have.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Task {
    id: u64,
    check: u64,
    mirror: u64,
}

impl Task {
    fn new(id: usize) -> Task {
        let id = id as u64;
        let check = (id ^ 0xA5A5_5A5A_C3C3_3C3C).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        Task { id, check, mirror: !id }
    }

    /// Returns the number of the task, after checking that it is whole.
    fn id(self) -> usize {
        let whole = Task::new(self.id as usize);
        let fields = |task: Task| (task.id, task.check, task.mirror);
        assert_eq!(fields(self), fields(whole), "a task came out torn");
        self.id as usize
    }
}

/// The tasks that a thread has taken.
///
/// Each thread counts for itself, without an atomic instruction, which would be the fence that the
/// owner does not have.
struct TaskCounts {
    times: Vec<u8>,
    taken: usize,
}

impl TaskCounts {
    fn new(tasks: usize) -> TaskCounts {
        TaskCounts { times: vec![0; tasks], taken: 0 }
    }

    fn count(&mut self, task: Task) {
        let times = &mut self.times[task.id()];
        *times = times.saturating_add(1);
        self.taken += 1;
    }

    fn add(&mut self, other: &TaskCounts) {
        self.taken += other.taken;
        for (sum, times) in self.times.iter_mut().zip(&other.times) {
            *sum = sum.saturating_add(*times);
        }
    }

    /// Returns how many tasks came out this often, and the first of them.
    fn tasks(&self, often: impl Fn(u8) -> bool) -> (usize, Option<usize>) {
        let mut ids = (0..self.times.len()).filter(|id| often(self.times[*id]));
        let first = ids.next();
        (usize::from(first.is_some()) + ids.count(), first)
    }
}

/// Pops until the queue is empty.
fn drain<Q: Owner>(owner: &Q, mut take: impl FnMut(Q::Task)) {
    while let Some(task) = owner.pop() {
        take(task);
    }
    expect_empty(owner);
}

/// Checks that the queue stays empty. The owner has found it empty, and no task was pushed since.
fn expect_empty(owner: &impl Owner) {
    for _ in 0..4 {
        assert!(owner.pop().is_none(), "a pop returned no task and the next returned one, without a push in between");
    }
}

/// Stores to memory that is in no cache.
///
/// Later stores wait behind these stores, hidden from the other cores.
fn fill_store_buffer(stores: usize, dice: &mut Dice) {
    const BYTES: usize = 64 << 20;
    static COLD: OnceLock<Vec<AtomicU8>> = OnceLock::new();
    // The memory is written beforehand: a page fault would drain the store buffer.
    let cold = COLD.get_or_init(|| (0..BYTES).map(|_| AtomicU8::new(1)).collect());
    for _ in 0..stores {
        cold[dice.roll(0..BYTES)].store(2, Ordering::Relaxed);
    }
}

/// Pushes the tasks of these numbers in changing rhythms, pops many, and leaves some.
fn push_and_pop<Q: Owner>(
    owner: &Q,
    ids: Range<usize>,
    make: impl Fn(usize) -> Q::Task,
    dice: &mut Dice,
    mut take: impl FnMut(Q::Task),
) {
    let mut next = ids.start;
    let mut push = |count: usize| {
        let end = ids.end.min(next + count);
        (next..end).for_each(|id| owner.push(make(id)));
        next = end;
        next < ids.end
    };
    let mut more = true;
    while more {
        let rhythm = dice.roll(0..100);
        let turns = if rhythm < 45 { dice.roll(1..4000) } else { dice.roll(1..200) };
        for _ in 0..turns {
            match rhythm {
                // The owner and the thieves want the same last task.
                0..=22 => {
                    more = push(dice.roll(1..4));
                    drain(owner, &mut take);
                }
                // The owner's pops stay hidden from the thieves for a while.
                23..=44 => {
                    more = push(dice.roll(1..9));
                    (0..dice.roll(0..30)).for_each(|_| hint::spin_loop());
                    fill_store_buffer(dice.roll(1..9), dice);
                    drain(owner, &mut take);
                }
                // The same, with delta tasks in the queue.
                45..=54 => {
                    more = push(dice.roll(60..80));
                    (0..dice.roll(0..30)).for_each(|_| hint::spin_loop());
                    fill_store_buffer(dice.roll(1..9), dice);
                    drain(owner, &mut take);
                }
                55..=69 => {
                    more = push(dice.roll(1..200));
                    drain(owner, &mut take);
                }
                // The queue is rarely empty.
                70..=89 => {
                    more = push(dice.roll(1..9));
                    (0..dice.roll(1..9)).filter_map(|_| owner.pop()).for_each(&mut take);
                }
                // The thieves have time.
                90..=95 => {
                    more = push(dice.roll(1..100));
                    (0..dice.roll(1..2000)).for_each(|_| hint::spin_loop());
                    drain(owner, &mut take);
                }
                // The array is replaced by a larger array and back, again and again.
                96..=97 => {
                    more = push(dice.roll(1000..5000));
                    drain(owner, &mut take);
                }
                // The array grows far, and shrinks.
                _ => {
                    more = push(dice.roll(10_000..40_000));
                    if dice.roll(0..2) == 0 {
                        (0..dice.roll(1..20_000)).filter_map(|_| owner.pop()).for_each(&mut take);
                    } else {
                        drain(owner, &mut take);
                    }
                    break;
                }
            }
            if !more {
                break;
            }
        }
    }
}

/// Steals until the owner is done and the queue is empty.
fn steal_until_done<S: Shape, Q: Thief>(thief: &Q, done: &AtomicBool, mut take: impl FnMut(Q::Task)) {
    let (mut idle, mut empty) = (0, 0);
    while empty < 3 {
        // Loaded before the steal, so that the steal sees all earlier pushes.
        let over = done.load(Ordering::Acquire);
        match thief.steal() {
            Steal::Success(task) => {
                take(task);
                (idle, empty) = (0, 0);
                if S::SLOW_STEAL && !over {
                    (0..200).for_each(|_| hint::spin_loop());
                }
            }
            Steal::Retry => hint::spin_loop(),
            Steal::Empty | Steal::Abort => {
                empty += usize::from(over);
                idle += 1;
                if idle % 64 == 0 {
                    thread::yield_now();
                }
            }
        }
    }
}

/// Pins the calling thread to a core.
///
/// An owner and a thief on the same core would hardly ever interfere. Only for threads that a test
/// starts, because their child threads inherit the core.
fn pin_to_core(n: usize) {
    #[cfg(target_os = "linux")]
    {
        static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
        let bytes = size_of::<libc::cpu_set_t>();
        let cores = ALLOWED.get_or_init(|| {
            // SAFETY: a set of CPUs is a bitmap, valid as zeroes, and the call writes no more than
            // its size.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::sched_getaffinity(0, bytes, &mut set);
                (0..libc::CPU_SETSIZE as usize).filter(|core| libc::CPU_ISSET(*core, &set)).collect()
            }
        });
        if !cores.is_empty() {
            // SAFETY: as above. The call reads the set. If it fails, the scheduler chooses the
            // core, as it would have without the call.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(cores[n % cores.len()], &mut set);
                libc::sched_setaffinity(0, bytes, &set);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = n;
}

/// Runs tasks through a small queue whose indices wrap on the way.
///
/// Its owner moves from one thread to another in the middle.
fn run_tasks<Q: Queue>(tasks: usize, thieves: usize, delta: Delta) -> TaskCounts {
    until_stolen(tasks, || run_tasks_once::<Q>(tasks, thieves, delta))
}

/// Returns the tasks that came out, and how many of them were stolen.
fn run_tasks_once<Q: Queue>(tasks: usize, thieves: usize, delta: Delta) -> (TaskCounts, usize) {
    let (owner, thief) = Q::make::<Task>(Setup { delta, ..Setup::wrapping_after(tasks / 8) }).unwrap();
    // One or three thieves share a handle by reference. Of two or four thieves, every second has a
    // clone.
    let handles = match thieves % 2 {
        0 => vec![thief.clone(), thief],
        _ => vec![thief],
    };
    let done = AtomicBool::new(false);
    let (sum, popped) = thread::scope(|scope| {
        let mut thief_threads = Vec::new();
        for n in 0..thieves {
            let (handle, done) = (&handles[n % handles.len()], &done);
            thief_threads.push(scope.spawn(move || {
                pin_to_core(n + 1);
                let mut counts = TaskCounts::new(tasks);
                steal_until_done::<Q, _>(handle, done, |task| counts.count(task));
                counts
            }));
        }
        let done = Done(&done);
        let mut mine = (owner, TaskCounts::new(tasks), Dice::new(thieves as u64));
        for half in [0..tasks / 2, tasks / 2..tasks] {
            mine = join(scope.spawn(move || {
                pin_to_core(0);
                let (owner, mut counts, mut dice) = mine;
                push_and_pop(&owner, half, Task::new, &mut dice, |task| counts.count(task));
                (owner, counts, dice)
            }));
        }
        let (owner, mut counts, _) = mine;
        // The remaining tasks are for an even number of thieves. An odd number finds none.
        if thieves % 2 != 0 {
            drain(&owner, |task| counts.count(task));
        }
        drop(owner);
        drop(done);
        let popped = counts.taken;
        thief_threads.into_iter().for_each(|thief_thread| counts.add(&join(thief_thread)));
        (counts, popped)
    });
    let stolen = sum.taken - popped;
    let redundant = 100.0 * sum.taken.saturating_sub(tasks) as f64 / tasks as f64;
    eprintln!("{}, thieves: {thieves}, tasks: {tasks}, stolen: {stolen}, redundant: {redundant:.4} %", Q::NAME);
    (sum, stolen)
}

fn loses_and_doubles_nothing<Q: Queue>() {
    let _alone = run_alone();
    for thieves in 1..=4 {
        let counts = run_tasks::<Q>(tasks_per_queue() / 4, thieves, delta(1));
        assert_eq!(counts.tasks(|times| times == 0), (0, None), "tasks were lost (number, first)");
        assert_eq!(counts.tasks(|times| times > 1), (0, None), "tasks came out twice (number, first)");
    }
}

fn loses_nothing<Q: Queue>() {
    let _alone = run_alone();
    for thieves in 1..=4 {
        let counts = run_tasks::<Q>(tasks_per_queue() / 4, thieves, delta(1));
        assert_eq!(counts.tasks(|times| times == 0), (0, None), "tasks were lost (number, first)");
    }
}

for_every_exact_queue!(no_task_is_lost_doubled_or_torn, loses_and_doubles_nothing);
for_every_relaxed_queue!(no_task_is_lost_or_torn, loses_nothing);

/// Returns a delta that is too small: every CPU hides more pops from a thief.
fn too_small_delta() -> Delta {
    Delta::new(Bound::new(1).unwrap(), 1).unwrap()
}

/// Checks that no task is lost. Tasks may come out twice.
fn loses_nothing_if_delta_is_too_small<Q: Queue>() {
    let _alone = run_alone();
    for thieves in 1..=4 {
        let counts = run_tasks::<Q>(tasks_per_queue() / 4, thieves, too_small_delta());
        assert_eq!(counts.tasks(|times| times == 0), (0, None), "tasks were lost (number, first)");
    }
}

claim!(no_task_is_lost_or_torn_if_delta_is_too_small, loses_nothing_if_delta_is_too_small, ff_cl FfCl, ff_the FfThe,
    thep Thep);

/// A task that exists once, and counts its drop.
struct CountsDrop<'a> {
    id: Box<usize>,
    dropped: &'a [AtomicU8],
}

impl Drop for CountsDrop<'_> {
    fn drop(&mut self) {
        self.dropped[*self.id].fetch_add(1, Ordering::Relaxed);
    }
}

fn drop_counts(tasks: usize) -> Vec<AtomicU8> {
    (0..tasks).map(|_| AtomicU8::new(0)).collect()
}

fn count(drop_counts: &[AtomicU8], times: u8) -> usize {
    drop_counts.iter().filter(|drops| drops.load(Ordering::Relaxed) == times).count()
}

/// Checks drops with thieves that outlive the owner and that come and go.
///
/// The last thief stops early, and some tasks are left for the drop of the queue.
fn drops_each_task_once<Q: ExactQueue>() {
    const TASKS: usize = 200_000;
    const LEFT: usize = 5_000;
    let _alone = run_alone();
    for thieves in 1..=4 {
        let dropped = drop_counts(TASKS + LEFT);
        let new = |id| CountsDrop { id: Box::new(id), dropped: &dropped };
        let (owner, thief) = Q::make_exact(Setup::wrapping_after(TASKS / 2)).unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let mut thief_threads = Vec::new();
            for n in 0..thieves {
                let (mut own, thief, done) = (thief.clone(), &thief, &done);
                thief_threads.push(scope.spawn(move || {
                    let mut stolen = 0;
                    while !done.load(Ordering::Acquire) {
                        stolen += usize::from(steal(&own).is_success());
                        if stolen % (100 * (n + 1)) == 0 {
                            own = thief.clone();
                        }
                        if stolen % 64 == 0 {
                            thread::yield_now();
                        }
                    }
                }));
            }
            let end = Done(&done);
            push_and_pop(&owner, 0..TASKS, new, &mut Dice::new(thieves as u64), drop);
            (TASKS..TASKS + LEFT).for_each(|id| owner.push(new(id)));
            drop(owner);
            drop(end);
            thief_threads.into_iter().for_each(join);
        });
        // The owner is dropped, and the last thief takes half of the remaining tasks.
        let left = thief.len();
        for _ in 0..left / 2 {
            assert!(steal(&thief).is_success());
        }
        assert_eq!(count(&dropped, 0), left - left / 2, "the tasks in the queue are not dropped yet");
        drop(thief);
        assert_eq!(count(&dropped, 1), TASKS + LEFT, "every task is dropped once");
    }
}

for_every_exact_queue!(every_task_is_dropped_once, drops_each_task_once);

/// The outcome of a race.
struct Race {
    pushed: usize,
    popped: usize,
    stolen: usize,
    /// The sum of the pushed numbers minus the sum of the extracted numbers.
    ///
    /// It is not 0 if a task is missing or came out twice.
    difference: usize,
}

/// Runs rounds in which the owner pushes a few tasks and pops them all.
///
/// It pushes slightly more tasks than thieves must leave to it. The rounds end when enough tasks
/// were stolen, or when it is clear that the thief has no core. No thread counts each task, so that
/// a pop makes no stores but its own.
fn race<Q: Queue>(delta: Delta) -> Race {
    let rounds = tasks_per_queue().min(1_000_000);
    // A system call takes longer than the owner would otherwise wait before it pops.
    let (enough, max_spins) = if Q::SLOW_STEAL { (10_000, 500) } else { (100_000, 30) };
    let _alone = run_alone();
    let (owner, thief) = Q::make::<usize>(Setup { delta, ..Setup::small() }).unwrap();
    let (done, stolen) = (AtomicBool::new(false), AtomicUsize::new(0));
    let race = thread::scope(|scope| {
        let thief_thread = scope.spawn(|| {
            pin_to_core(1);
            let mut sum = 0_usize;
            while !done.load(Ordering::Acquire) {
                if let Steal::Success(task) = thief.steal() {
                    sum = sum.wrapping_add(task);
                    // Relaxed: only this thread writes it, and the owner needs only a rough number.
                    stolen.store(stolen.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                }
            }
            sum
        });
        let (done, stolen) = (&done, &stolen);
        let winner = scope.spawn(move || {
            pin_to_core(0);
            let _done = Done(done);
            let mut dice = Dice::new(1);
            let (mut pushed, mut popped, mut difference) = (0_usize, 0_usize, 0_usize);
            for _ in 0..rounds {
                // As many as a thief must leave to the owner, and a few more; or fewer, which it
                // must leave alone.
                let most = Q::DOUBT.reach(delta) + dice.roll(1..5);
                let tasks = if dice.roll(0..2) == 0 { most } else { dice.roll(1..most + 1) };
                for _ in 0..tasks {
                    owner.push(pushed);
                    difference = difference.wrapping_add(pushed);
                    pushed += 1;
                }
                (0..dice.roll(0..max_spins)).for_each(|_| hint::spin_loop());
                if dice.roll(0..2) == 0 {
                    fill_store_buffer(4, &mut dice);
                }
                while let Some(task) = owner.pop() {
                    difference = difference.wrapping_sub(task);
                    popped += 1;
                }
                expect_empty(&owner);
                if stolen.load(Ordering::Relaxed) >= enough {
                    break;
                }
            }
            Race { pushed, popped, stolen: 0, difference }
        });
        let race = join(winner);
        let difference = race.difference.wrapping_sub(join(thief_thread));
        Race { stolen: stolen.load(Ordering::Relaxed), difference, ..race }
    });
    eprintln!("{}, delta {}: {race}", Q::NAME, delta.get());
    race
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Race { pushed, popped, stolen, .. } = self;
        let redundant = 100.0 * (popped + stolen).saturating_sub(*pushed) as f64 / *pushed as f64;
        write!(f, "{pushed} pushed, {popped} popped, {stolen} stolen, {redundant:.4} % redundant")
    }
}

fn returns_each_task_once<Q: Queue>() {
    let race = race::<Q>(delta(1));
    assert_eq!((race.popped + race.stolen, race.difference), (race.pushed, 0), "each task must come out once");
}

for_every_exact_queue!(a_thief_never_returns_a_task_that_the_owner_popped, returns_each_task_once);

fn stays_empty<Q: Queue>() {
    let race = race::<Q>(delta(1));
    assert!(race.popped + race.stolen >= race.pushed, "fewer tasks came out than went in");
}

for_every_relaxed_queue!(a_queue_stays_empty_until_the_next_push, stays_empty);

/// Shows that a delta that is too small has an effect.
///
/// If tasks never came out twice here, the two claims above would prove nothing about the
/// fence-free queues.
fn may_double_a_task_if_delta_is_too_small<Q: Queue>() {
    let race = race::<Q>(too_small_delta());
    assert!(race.popped + race.stolen >= race.pushed, "fewer tasks came out than went in");
    if FENCE_FREE && race.popped + race.stolen == race.pushed {
        eprintln!("{}: no task came out twice, although delta is too small; is there only one core?", Q::NAME);
    }
}

claim!(a_delta_that_is_too_small_doubles_tasks_and_loses_none, may_double_a_task_if_delta_is_too_small, ff_cl FfCl,
    ff_the FfThe, thep Thep);

/// Checks that no thief reports a queue with a single task as empty.
///
/// The task is always there, too near to the tail for any thief.
fn is_not_reported_empty<Q: Queue>() {
    let steals = tasks_per_queue().min(1_000_000);
    if !FENCE_FREE {
        return;
    }
    let _alone = run_alone();
    let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
    owner.push(1);
    let empty = AtomicUsize::new(0);
    thread::scope(|scope| {
        let thief_threads = [0, 1].map(|n| {
            let (thief, empty) = (&thief, &empty);
            scope.spawn(move || {
                pin_to_core(n);
                for _ in 0..steals {
                    match steal(thief) {
                        Steal::Abort => {}
                        Steal::Empty => drop(empty.fetch_add(1, Ordering::Relaxed)),
                        other => panic!("the thief must abort, but returned {other:?}"),
                    }
                }
            })
        });
        thief_threads.into_iter().for_each(join);
    });
    assert_eq!(empty.into_inner(), 0, "a thief reported a queue with a task as empty (number)");
    assert_eq!(owner.pop(), Some(1));
}

claim!(a_queue_with_a_task_near_the_tail_is_not_reported_empty, is_not_reported_empty, ff_cl FfCl, ff_the FfThe,
    ff_cl_trusted FfClTrusted, ff_the_trusted FfTheTrusted);

/// Checks that no thief reports the queue as empty while a task is in it.
///
/// The task stays there until the owner is dropped, and thieves wait for it.
fn is_not_reported_empty_while_thieves_wait<Q: Queue>() {
    const ROUNDS: usize = 300;
    if !FENCE_FREE {
        return;
    }
    let _alone = run_alone();
    for _ in 0..ROUNDS {
        let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
        owner.push(1);
        let (begun, gone) = (AtomicUsize::new(0), AtomicBool::new(false));
        let outcomes = thread::scope(|scope| {
            let waiting = [(); 2].map(|()| {
                scope.spawn(|| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    let outcome = steal(&thief);
                    (outcome, gone.load(Ordering::Acquire))
                })
            });
            // Both thieves are about to steal and get some time slices for it. More slices would
            // take minutes beside other programs.
            while begun.load(Ordering::Relaxed) < 2 {
                thread::yield_now();
            }
            (0..10).for_each(|_| thread::yield_now());
            gone.store(true, Ordering::Release);
            drop(owner);
            waiting.map(join)
        });
        let mut stolen = 0;
        for (outcome, gone) in outcomes {
            stolen += usize::from(outcome.is_success());
            assert!(gone || !outcome.is_empty(), "a thief reported a queue with a task as empty");
        }
        assert_eq!(stolen, 1);
    }
}

claim!(a_queue_with_a_task_that_a_thief_waits_for_is_not_reported_empty, is_not_reported_empty_while_thieves_wait, thep Thep,
    thep_trusted ThepTrusted);
