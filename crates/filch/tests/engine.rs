//! Fork and join on every exactly-once queue. The tests check results against plain recursion,
//! panics, sleep, and the end of a pool.
#![cfg(not(any(loom, shuttle)))]

mod common;

use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use common::{in_child, message_of, panic_of, panic_with, spin_until, Drops};
use filch::engine::{Asymmetric, ChaseLev, FfCl, FfThe, Pool, Queue, The, Thep, Worker};
use filch::BuildError;
use filch_queue::bound::{Bound, Delta};
use filch_queue::{chase_lev, AtLeastOnce, CapacityError, ExactlyOnce, Owner, PushError, Steal, Thief};

/// Above every known store buffer. It has so many extra stores that thieves are refused only the
/// last two jobs, so that they steal from short queues too.
fn delta() -> Delta {
    Delta::new(Bound::GENEROUS, Delta::MAX_EXTRA_STORES).unwrap()
}

/// A kind of queue, with a name and a constructor.
trait Kind: Queue {
    const NAME: &'static str;
    /// Whether a thief is never refused.
    const ALWAYS_STEALABLE: bool;
    fn kind() -> Self;
}

macro_rules! kinds {
    ($($queue:ty, $stealable:literal, $kind:expr;)*) => {
        $(impl Kind for $queue {
            const NAME: &'static str = stringify!($queue);
            const ALWAYS_STEALABLE: bool = $stealable;
            fn kind() -> $queue {
                $kind
            }
        })*

        /// Calls a function, generic over the kind, for all kinds.
        macro_rules! for_all_kinds {
            ($claim:ident) => {{ $($claim::<$queue>();)* }};
        }
    };
}

kinds! {
    Asymmetric, true, Asymmetric;
    ChaseLev, true, ChaseLev;
    The, true, The;
    // SAFETY: no x86 CPU is known whose store buffer holds as many as 128 stores; on other CPUs the
    // queue has a fence.
    FfThe, false, unsafe { FfThe::trusting(delta()) };
    // SAFETY: as above.
    FfCl, false, unsafe { FfCl::trusting(delta()) };
    // SAFETY: as above.
    Thep, false, unsafe { Thep::trusting(delta()) };
}

/// Fails, and ends the whole test run, if the claim takes absurdly long. A lost wake-up or a lost
/// job would otherwise hang it.
fn without_hanging(claim: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let test = thread::spawn(move || {
        claim();
        let _ = sender.send(());
    });
    if receiver.recv_timeout(Duration::from_secs(600)) == Err(RecvTimeoutError::Timeout) {
        eprintln!("a test of the engine hangs");
        std::process::abort();
    }
    if let Err(panic) = test.join() {
        panic::resume_unwind(panic);
    }
}

fn fib<Q: Queue>(worker: &Worker<Q>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = worker.join(|worker| fib(worker, n - 1), |worker| fib(worker, n - 2));
    a + b
}

fn serial_fib(n: u32) -> u64 {
    match n {
        0 | 1 => n.into(),
        _ => serial_fib(n - 1) + serial_fib(n - 2),
    }
}

/// A node of a random tree: a number that determines its children.
#[derive(Clone, Copy)]
struct Node(u64);

impl Node {
    fn next(self) -> Node {
        // SplitMix64.
        let mut z = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Node(z ^ (z >> 31))
    }

    fn children(self, depth: u32) -> Option<(Node, Node)> {
        // Four of five nodes branch: trees of all shapes, with an end.
        (depth > 0 && self.0 % 5 != 0).then(|| (self.next(), Node(!self.0).next()))
    }

    /// Does a little work, more for some nodes.
    fn value(self) -> u64 {
        (0..self.0 % 64).fold(self.0, |x, _| Node(x).next().0)
    }

    fn serial_sum(self, depth: u32) -> u64 {
        let below = self
            .children(depth)
            .map_or(0, |(left, right)| left.serial_sum(depth - 1).wrapping_add(right.serial_sum(depth - 1)));
        self.value().wrapping_add(below)
    }

    fn sum<Q: Queue>(self, worker: &Worker<Q>, depth: u32) -> u64 {
        let below = self.children(depth).map_or(0, |(left, right)| {
            let (left, right) =
                worker.join(|worker| left.sum(worker, depth - 1), |worker| right.sum(worker, depth - 1));
            left.wrapping_add(right)
        });
        self.value().wrapping_add(below)
    }
}

#[test]
fn fib_is_fib_on_every_queue() {
    fn claim<Q: Kind>() {
        for threads in [1, 2, 3] {
            let pool = Pool::with_queue(threads, Q::kind()).unwrap();
            for n in [0, 1, 2, 10, 23] {
                assert_eq!(pool.install(|worker| fib(worker, n)), serial_fib(n), "{} on {threads}", Q::NAME);
            }
        }
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn random_trees_sum_as_they_do_in_sequence() {
    fn claim<Q: Kind>() {
        for threads in [1, 2, 3] {
            let pool = Pool::with_queue(threads, Q::kind()).unwrap();
            for seed in 0..60 {
                let root = Node(seed).next();
                let sum = pool.install(|worker| root.sum(worker, 14));
                assert_eq!(sum, root.serial_sum(14), "{} on {threads}, seed {seed}", Q::NAME);
            }
        }
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn every_closure_runs_once() {
    fn touch<Q: Queue>(worker: &Worker<Q>, cells: &[AtomicU64]) {
        match cells {
            [] => {}
            [cell] => {
                // Relaxed: read after all joins.
                cell.fetch_add(1, Ordering::Relaxed);
            }
            _ => {
                // Lopsided, so that the queue gets long enough to be stolen from.
                let (left, right) = cells.split_at(cells.len().div_ceil(8));
                worker.join(|worker| touch(worker, right), |worker| touch(worker, left));
            }
        }
    }
    fn claim<Q: Kind>() {
        for threads in [2, 3] {
            let pool = Pool::with_queue(threads, Q::kind()).unwrap();
            for _ in 0..20 {
                let cells: Vec<_> = (0..3000).map(|_| AtomicU64::new(0)).collect();
                pool.install(|worker| touch(worker, &cells));
                assert!(cells.iter().all(|cell| cell.load(Ordering::Relaxed) == 1), "{} on {threads}", Q::NAME);
            }
        }
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn work_is_stolen_on_every_queue() {
    fn claim<Q: Kind>() {
        let pool = Pool::with_queue(2, Q::kind()).unwrap();
        // A queue that refuses thieves its last jobs gives the others away in time.
        while pool.thefts().steals == 0 {
            pool.install(|worker| fib(worker, 20));
        }
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn closures_that_wait_for_each_other_meet_where_jobs_are_always_stealable() {
    fn claim<Q: Kind>() {
        if !Q::ALWAYS_STEALABLE {
            return;
        }
        let pool = Pool::with_queue(3, Q::kind()).unwrap();
        for _ in 0..200 {
            let meeting = Barrier::new(3);
            pool.install(|worker| {
                worker.join(
                    |worker| worker.join(|_| meeting.wait().is_leader(), |_| meeting.wait().is_leader()),
                    |_| meeting.wait().is_leader(),
                )
            });
        }
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn a_sleeping_pool_wakes_for_every_install() {
    fn claim<Q: Kind>() {
        let pool = Pool::with_queue(2, Q::kind()).unwrap();
        for round in 0..300 {
            // Long enough for both workers to fall asleep, at times.
            thread::sleep(Duration::from_micros(round % 7 * 50));
            assert_eq!(pool.install(|worker| worker.join(|_| round, |_| round + 1)), (round, round + 1));
        }
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn many_threads_may_install_at_once() {
    fn claim<Q: Kind>() {
        let pool = Pool::with_queue(2, Q::kind()).unwrap();
        thread::scope(|scope| {
            for n in 10..14 {
                let pool = &pool;
                scope.spawn(move || {
                    for _ in 0..50 {
                        assert_eq!(pool.install(|worker| fib(worker, n)), serial_fib(n));
                    }
                });
            }
        });
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn an_install_from_inside_runs_in_place() {
    fn claim<Q: Kind>() {
        let pool = Pool::with_queue(1, Q::kind()).unwrap();
        let inner = pool.install(|outer| {
            let outer = outer.index();
            pool.install(|inner| (inner.index() == outer, inner.threads(), inner.join(|_| 1, |_| 2)))
        });
        assert_eq!(inner, (true, 1, (1, 2)));
    }
    without_hanging(|| for_all_kinds!(claim));
}

fn payload(run: impl FnOnce()) -> u32 {
    let panic = panic::catch_unwind(AssertUnwindSafe(run)).expect_err("it should have panicked");
    *panic.downcast::<u32>().expect("its own payload")
}

#[test]
fn a_panic_goes_on_with_its_payload_when_both_closures_are_over() {
    fn claim<Q: Kind>() {
        for threads in [1, 2, 3] {
            let pool = Pool::with_queue(threads, Q::kind()).unwrap();
            for (first, second, expected) in [(true, false, 1), (false, true, 2), (true, true, 1)] {
                let over = [AtomicBool::new(false), AtomicBool::new(false)];
                let end = |which: usize, panics: bool| {
                    over[which].store(true, Ordering::SeqCst);
                    if panics {
                        panic::panic_any(which as u32 + 1);
                    }
                };
                let got = payload(|| {
                    pool.install(|worker| {
                        worker.join(
                            |worker| {
                                // Deep enough for the other closure to be stolen, at times.
                                fib(worker, 12);
                                end(0, first);
                            },
                            |_| end(1, second),
                        )
                    });
                });
                assert_eq!(got, expected, "{} on {threads}", Q::NAME);
                assert!(over.iter().all(|over| over.load(Ordering::SeqCst)));
            }
            assert_eq!(pool.install(|worker| fib(worker, 15)), serial_fib(15), "the pool lives on");
        }
    }
    panic::set_hook(Box::new(|info| {
        if !info.payload().is::<u32>() {
            eprintln!("{info}");
        }
    }));
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn panics_anywhere_in_a_tree_come_out_and_leave_the_pool_whole() {
    fn tree<Q: Queue>(worker: &Worker<Q>, depth: u32, node: Node) -> u64 {
        if depth == 0 {
            if node.0 % 97 == 0 {
                panic::panic_any(7_u32);
            }
            return 1;
        }
        let (left, right) = (node.next(), Node(!node.0).next());
        let (a, b) = worker.join(|worker| tree(worker, depth - 1, left), |worker| tree(worker, depth - 1, right));
        a + b
    }
    fn claim<Q: Kind>() {
        let pool = Pool::with_queue(3, Q::kind()).unwrap();
        let mut panicked = 0;
        for seed in 0..100 {
            let run = || pool.install(|worker| tree(worker, 6, Node(seed).next()));
            match panic::catch_unwind(AssertUnwindSafe(run)) {
                Ok(leaves) => assert_eq!(leaves, 64, "{}", Q::NAME),
                Err(panic) => {
                    assert_eq!(*panic.downcast::<u32>().unwrap(), 7);
                    panicked += 1;
                }
            }
        }
        assert!(panicked > 10 && panicked < 90);
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn a_pool_that_is_dropped_has_no_threads_left() {
    fn claim<Q: Kind>() {
        for threads in [1, 2, 3] {
            for round in 0..30 {
                let pool = Pool::with_queue(threads, Q::kind()).unwrap();
                if round % 2 == 0 {
                    pool.install(|worker| fib(worker, 8));
                }
            }
        }
    }
    without_hanging(|| for_all_kinds!(claim));
}

#[test]
fn impossible_numbers_of_threads_are_refused() {
    assert!(matches!(Pool::<Asymmetric>::new(0), Err(BuildError::NoThreads)));
    assert!(matches!(Pool::<The>::new(1 << 20), Err(BuildError::TooManyThreads { asked: 0x10_0000, .. })));
}

#[test]
fn a_worker_has_the_stack_that_was_asked_for() {
    /// Recurses through `frames` frames of 16 KiB.
    fn deep(worker: &Worker<The>, frames: u32) -> u32 {
        let frame = std::hint::black_box([1_u8; 16 << 10]);
        let below = if frames == 0 { 0 } else { worker.join(|worker| deep(worker, frames - 1), |_| 0).0 };
        below + u32::from(std::hint::black_box(&frame)[frames as usize])
    }
    let pool = Pool::with_stacks(1, The, 64 << 20).unwrap();
    // 16 MiB, eight times the usual stack of a thread.
    assert_eq!(pool.install(|worker| deep(worker, 999)), 1_000);
    let refused = Pool::with_stacks(1, The, 1_000);
    assert!(matches!(refused, Err(BuildError::StackTooSmall { asked: 1_000, .. })));
}

/// A result, or the payload of a panic, that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_with("a bomb was dropped");
    }
}

/// What a [`Trapped`] queue does the next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    PanicBeforePush,
    PanicAfterPush,
    RefusePush,
    PanicInPop,
    PanicInSteal,
    PanicInLen,
    PanicInDrop,
}

/// [`ChaseLev`] with a trap, which a test arms and which springs once.
#[derive(Clone, Default)]
struct Trapped(Arc<Traps>);

#[derive(Default)]
struct Traps {
    armed: Mutex<Option<Trap>>,
    sprung: AtomicBool,
}

impl Trapped {
    fn arm(&self, trap: Trap) {
        *self.0.armed.lock().unwrap() = Some(trap);
    }

    fn has_sprung(&self) -> bool {
        self.0.sprung.load(Ordering::SeqCst)
    }

    /// Returns whether this trap is armed, and disarms it.
    fn springs(&self, trap: Trap) -> bool {
        let springs = self.0.armed.lock().unwrap().take_if(|armed| *armed == trap).is_some();
        if springs {
            self.0.sprung.store(true, Ordering::SeqCst);
        }
        springs
    }

    fn panic_at(&self, trap: Trap) {
        assert!(!self.springs(trap), "{trap:?}");
    }
}

impl Queue for Trapped {
    type Owner<T: Send> = TrappedOwner<T>;
    type Thief<T: Send> = TrappedThief<T>;

    fn make<T: Send>(&self) -> (TrappedOwner<T>, TrappedThief<T>) {
        let (owner, thief) = chase_lev::new();
        (TrappedOwner(owner, self.clone()), TrappedThief(thief, self.clone()))
    }
}

struct TrappedOwner<T>(chase_lev::Owner<T>, Trapped);

impl<T: Send> Owner for TrappedOwner<T> {
    type Task = T;

    fn push(&self, task: T) {
        if let Err(error) = self.try_push(task) {
            panic!("{error}");
        }
    }

    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        self.1.panic_at(Trap::PanicBeforePush);
        if self.1.springs(Trap::RefusePush) {
            return Err(PushError::new(task, CapacityError::TooLarge { requested: 8, limit: 7 }));
        }
        self.0.try_push(task)?;
        self.1.panic_at(Trap::PanicAfterPush);
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        self.1.panic_at(Trap::PanicInPop);
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> Drop for TrappedOwner<T> {
    fn drop(&mut self) {
        if self.1.springs(Trap::PanicInDrop) {
            panic_with(Bomb);
        }
    }
}

struct TrappedThief<T>(chase_lev::Thief<T>, Trapped);

impl<T> Clone for TrappedThief<T> {
    fn clone(&self) -> Self {
        TrappedThief(self.0.clone(), self.1.clone())
    }
}

impl<T: Send> Thief for TrappedThief<T> {
    type Task = T;

    fn steal(&self) -> Steal<T> {
        self.1.panic_at(Trap::PanicInSteal);
        self.0.steal()
    }

    fn len(&self) -> usize {
        self.1.panic_at(Trap::PanicInLen);
        self.0.len()
    }
}

impl<T> AtLeastOnce for TrappedOwner<T> {}
impl<T> AtLeastOnce for TrappedThief<T> {}
// SAFETY: the tasks are those of a Chase-Lev queue, and a task that is given back was not pushed.
unsafe impl<T> ExactlyOnce for TrappedOwner<T> {}
// SAFETY: as above.
unsafe impl<T> ExactlyOnce for TrappedThief<T> {}

/// Runs a join whose queue panics, after a first closure that panics or does not.
fn join_on_a_queue_that_panics(trap: Trap, first_panics: bool) {
    let queue = Trapped::default();
    let pool = Pool::with_queue(2, queue.clone()).unwrap();
    let end_first = || {
        if first_panics {
            panic_with(1_u32);
        }
    };
    match trap {
        Trap::PanicBeforePush | Trap::PanicAfterPush => pool.install(|worker| {
            queue.arm(trap);
            worker.join(|_| end_first(), |_| ());
        }),
        Trap::PanicInPop => pool.install(|worker| {
            let arm = |_: &Worker<_>| {
                queue.arm(trap);
                end_first();
            };
            worker.join(arm, |_| ());
        }),
        Trap::PanicInSteal | Trap::PanicInLen => {
            let stolen = AtomicBool::new(false);
            let arm = |_: &Worker<_>| {
                spin_until(|| stolen.load(Ordering::SeqCst));
                queue.arm(trap);
                end_first();
            };
            // The owner waits for this closure, and searches for other work meanwhile.
            let wait = |_: &Worker<_>| {
                stolen.store(true, Ordering::SeqCst);
                spin_until(|| queue.has_sprung());
            };
            pool.install(|worker| worker.join(arm, wait));
        }
        Trap::RefusePush | Trap::PanicInDrop => unreachable!("no panic while the queue may have the job"),
    }
}

#[test]
fn a_queue_that_panics_while_a_join_has_a_job_in_it_ends_the_process() {
    let test = "a_queue_that_panics_while_a_join_has_a_job_in_it_ends_the_process";
    let traps = [Trap::PanicBeforePush, Trap::PanicAfterPush, Trap::PanicInPop, Trap::PanicInSteal, Trap::PanicInLen];
    for (number, trap) in traps.into_iter().enumerate() {
        for first_panics in [false, true] {
            let variables = [("TRAP", &*number.to_string()), ("FIRST_PANICS", &*first_panics.to_string())];
            let child = in_child(test, &variables, || {
                let variable = |name| env::var(name).expect("the parent sets it");
                let trap = traps[variable("TRAP").parse::<usize>().expect("an index")];
                let first_panics = variable("FIRST_PANICS") == "true";
                let _ = panic::catch_unwind(|| join_on_a_queue_that_panics(trap, first_panics));
                println!("still alive");
            });
            let Some(output) = child else { return };
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let sentence = "filch: the queue of a worker panicked while it may have held the job of a join";
            assert!(said.contains(sentence), "{trap:?}, {first_panics}: {said}");
            assert!(!String::from_utf8_lossy(&output.stdout).contains("still alive"), "{trap:?}, {first_panics}");
        }
    }
}

#[test]
fn a_queue_that_refuses_a_job_makes_its_join_panic_and_neither_closure_runs() {
    without_hanging(|| {
        let queue = Trapped::default();
        let pool = Pool::with_queue(2, queue.clone()).unwrap();
        let (ran, drops) = (AtomicBool::new(false), Drops::default());
        let closure = || {
            let (ran, dropped) = (&ran, drops.one());
            move |_: &Worker<Trapped>| {
                ran.store(true, Ordering::SeqCst);
                drop(dropped);
            }
        };
        let (a, b) = (closure(), closure());
        let refused = message_of(|| {
            pool.install(|worker| {
                queue.arm(Trap::RefusePush);
                worker.join(a, b)
            })
        });
        assert_eq!(
            refused,
            "the task was not pushed: a queue for 8 tasks was asked for, but this kind holds at most 7"
        );
        assert!(!ran.load(Ordering::SeqCst));
        assert_eq!(drops.count(), 2);
        assert_eq!(pool.install(|worker| fib(worker, 10)), 55, "the pool lives on");
    });
}

#[test]
fn the_first_panic_goes_on_though_the_other_result_panics_when_dropped() {
    without_hanging(|| {
        let pool = Pool::<ChaseLev>::new(2).unwrap();
        // The second closure is taken back.
        let panicked: u32 = panic_of(|| pool.install(|worker| worker.join(|_| panic_with(1_u32), |_| Bomb)));
        assert_eq!(panicked, 1);
        // The second closure is stolen.
        for first_panics in [true, false] {
            let stolen = Barrier::new(2);
            let end = |panics: bool| {
                stolen.wait();
                if panics {
                    panic_with(1_u32);
                }
                Bomb
            };
            let both = || pool.install(|worker| worker.join(|_| end(first_panics), |_| end(!first_panics)));
            assert_eq!(panic_of::<u32, _>(both), 1);
        }
    });
}

#[test]
fn a_pool_can_be_dropped_though_the_drop_of_a_queue_panics() {
    without_hanging(|| {
        let queue = Trapped::default();
        let pool = Pool::with_queue(2, queue.clone()).unwrap();
        assert_eq!(pool.install(|worker| fib(worker, 10)), 55);
        queue.arm(Trap::PanicInDrop);
        drop(pool);
        assert!(queue.has_sprung());
    });
}
