//! The jobs event counter: the producer of a job pays, and a sleeper compares a counter.
//!
//! This is the protocol of the Blitz paper and of rayon's published notes on sleep. One
//! [word](counters::Counters) counts sleeping workers, idle workers and *events*. The event counter
//! is even if a worker has become sleepy after the last job, and odd otherwise.
//!
//! - **Becoming sleepy.** After 32 rounds of searching, a worker makes the counter even if it is
//!   odd, and remembers its value. It passes a fence and searches once more.
//! - **Going to sleep.** If no queue has a job, one exchange on the word compares the event counter
//!   with the remembered value and counts the worker as sleeping. If the counter has changed, the
//!   worker stays awake and becomes sleepy again.
//! - **A new job.** Its producer pushes it, passes a fence, and reads the word. If the event counter
//!   is even, the producer makes it odd. If workers sleep, and no idle worker is awake or older jobs
//!   are in the same queue, the producer wakes one.
//! - **A worker that stops searching** takes itself off the idle workers, and wakes two sleepers. A
//!   producer may have relied on it.
//! - **A worker that was woken** searches from the first round on.
//!
//! # Why no wake-up is lost
//!
//! The invariant: a job that is posted after a worker became sleepy changes the event counter, so
//! that the worker's exchange fails.
//!
//! Take a job, and the value of the word that its producer ends with, *v*. Its event counter is odd.
//! Consider a worker that falls asleep while the job is queued. Its exchange is before or after *v*
//! in the order of changes of the word.
//!
//! 1. *After v.* The exchange found the event counter even and as remembered. So the counter has
//!    changed since *v*, and the worker remembered it after that change. So the producer read the
//!    word before the worker did. The producer's fence is between its push and its read. The
//!    worker's fence is between its read and its last search. So the producer's fence is the first,
//!    and the last search sees the job. The worker does not sleep.
//! 2. *Before v.* The worker is counted as sleeping in *v*, or was woken before. If no idle worker is
//!    awake in *v*, the producer wakes a sleeper. If it finds no sleeper, others have woken all of
//!    them since *v*. So an idle worker is awake, in *v* or later. It does not sleep while the job is
//!    queued (1), and if it stops, it wakes others after *v*.
//!
//! A worker that was woken needs no fence. It may overlook the job in its first rounds, but it
//! becomes sleepy, with a fence, before it sleeps again.
//!
//! The fences are the only order between jobs and sleepers: all accesses to the word are relaxed. On
//! x86 the exchange of a sleepy worker is a fence already, but a worker that finds the counter even
//! only reads it.
//!
//! # Differences from the sources
//!
//! - **A fork has a fence.** rayon has one only for jobs from outside, and accepts that a forked job
//!   is overlooked by a worker that falls asleep. Here two closures of a join may wait for each
//!   other, so that would be a deadlock.
//! - **The last search is exact.** A steal that fails because it has lost a race returns nothing. So
//!   a worker does not sleep as long as a queue has jobs.
//! - **No look after the exchange.** rayon looks at the injector again, in case the event counter has
//!   gone around. The counter has 32 bits here; its word says how long that takes.
//!
//! The search before sleep is that of the sources, 32 rounds with a yield each. [`HeavyBarrier`]
//! learns how long to search.
//!
//! [`HeavyBarrier`]: super::HeavyBarrier

mod counters;

use self::counters::{Counters, Snapshot};
use super::Protocol;
use crate::defect::{defect, Defect};
use crate::engine::pool::Shared;
use crate::engine::Queue;
use crate::sleep::Parker;
use crate::sync::{fence, lock, thread, Mutex, Ordering};

/// The idle protocol with a counter of job events. Each fork has a fence.
#[derive(Debug)]
pub enum EventCounter {}

/// The state that all workers share.
pub struct Pool(Counters);

/// Where a worker sleeps.
#[derive(Default)]
pub struct Seat {
    /// Whether the worker sleeps and was not woken. A worker that falls asleep holds the lock until
    /// it has written this, so a thread that saw it counted as sleeping finds it asleep.
    asleep: Mutex<bool>,
    parker: Parker,
}

/// A search for work.
pub enum Search {
    /// The number of rounds that found nothing.
    Rounds(u32),
    /// The worker has announced that it is about to sleep, at this value of the event counter.
    Sleepy(Snapshot),
}

/// The number of rounds before a worker becomes sleepy, in the sources. A model has none: after a
/// yield, loom shows a thread no old values.
const ROUNDS_UNTIL_SLEEPY: u32 = if cfg!(loom) { 0 } else { 32 };

/// The number of sleepers that a worker wakes when it stops searching, in rayon.
const WAKES_ON_STOP: usize = 2;

impl Protocol for EventCounter {
    type Pool = Pool;
    type Seat = Seat;
    type Local = ();
    type Search = Search;

    fn pool() -> Pool {
        Pool(Counters::new())
    }

    fn seat() -> Seat {
        Seat::default()
    }

    fn local(_: &Pool) {}

    #[inline(always)]
    fn forked<Q: Queue<Self>>((): (), shared: &Shared<Q, Self>, len: impl FnOnce() -> usize) {
        fence_after_push();
        let counts = shared.idle.0.load();
        if counts.is_sleepy() || counts.sleeping() != 0 {
            post(shared, len());
        }
    }

    fn injected<Q: Queue<Self>>(shared: &Shared<Q, Self>, len: usize) {
        fence_after_push();
        post(shared, len);
    }

    fn start<Q: Queue<Self>>(shared: &Shared<Q, Self>, _: usize) -> Search {
        shared.idle.0.start();
        Search::Rounds(0)
    }

    fn rest<Q: Queue<Self>>(
        search: &mut Search,
        shared: &Shared<Q, Self>,
        index: usize,
        is_done: &dyn Fn() -> bool,
        request_wake: &dyn Fn() -> bool,
    ) {
        *search = match *search {
            Search::Rounds(rounds) if rounds != ROUNDS_UNTIL_SLEEPY => Search::Rounds(rounds + 1),
            Search::Rounds(_) => Search::Sleepy(become_sleepy(shared)),
            // A steal may have failed although there is a job. As if the counter had changed.
            Search::Sleepy(_) if shared.has_work() => Search::Rounds(ROUNDS_UNTIL_SLEEPY),
            Search::Sleepy(snapshot) => {
                *search = sleep(snapshot, shared, index, is_done, request_wake);
                return;
            }
        };
        if !cfg!(loom) {
            thread::yield_now();
        }
    }

    fn stop<Q: Queue<Self>>(_: Search, shared: &Shared<Q, Self>, _: usize) {
        let sleeping = shared.idle.0.stop().sleeping();
        if sleeping != 0 && !defect(Defect::StopWakesNobody) {
            wake(shared, sleeping.min(WAKES_ON_STOP));
        }
    }

    fn notify<Q: Queue<Self>>(shared: &Shared<Q, Self>, index: usize) {
        wake_worker(shared, index);
    }
}

/// Orders a job before the producer's look at the counters.
#[inline(always)]
fn fence_after_push() {
    if !defect(Defect::EventWithoutFence) {
        // SeqCst: pairs with the fence of `become_sleepy`.
        fence(Ordering::SeqCst);
    }
}

/// Counts the event of a job in a queue of `len` jobs, if it is the first since a worker became
/// sleepy. Wakes a worker for it, unless an idle worker is awake and the job is alone.
#[cold]
#[inline(never)]
fn post<Q: Queue<EventCounter>>(shared: &Shared<Q, EventCounter>, len: usize) {
    if defect(Defect::PostDoesNotLook) {
        return;
    }
    let counts = shared.idle.0.post();
    if counts.sleeping() != 0 && (counts.searching() == 0 || len > 1) {
        wake(shared, 1);
    }
}

fn become_sleepy<Q: Queue<EventCounter>>(shared: &Shared<Q, EventCounter>) -> Snapshot {
    let snapshot = shared.idle.0.become_sleepy();
    if !defect(Defect::SleepyWithoutFence) {
        // SeqCst: before the last search; pairs with the fence after a push.
        fence(Ordering::SeqCst);
    }
    snapshot
}

/// Puts a worker to sleep that has found nothing since it became sleepy, unless there was a job or
/// its wait is over. Returns how its search goes on.
fn sleep<Q: Queue<EventCounter>>(
    snapshot: Snapshot,
    shared: &Shared<Q, EventCounter>,
    index: usize,
    is_done: &dyn Fn() -> bool,
    request_wake: &dyn Fn() -> bool,
) -> Search {
    let seat = &shared.seats[index].idle;
    let mut asleep = lock(&seat.asleep);
    // Under the lock: the thread that notifies this worker takes it after this, and finds the
    // worker asleep.
    if is_done() || !request_wake() {
        return Search::Sleepy(snapshot);
    }
    if !shared.idle.0.fall_asleep(snapshot, defect(Defect::SleepIgnoresEvents)) {
        return Search::Rounds(ROUNDS_UNTIL_SLEEPY);
    }
    *asleep = true;
    drop(asleep);
    loop {
        seat.parker.park();
        // The token may be that of an earlier sleep.
        if !*lock(&seat.asleep) {
            break;
        }
    }
    Search::Rounds(0)
}

/// Wakes sleeping workers, at most `most`.
#[cold]
fn wake<Q: Queue<EventCounter>>(shared: &Shared<Q, EventCounter>, most: usize) {
    let woken = (0..shared.seats.len()).filter(|&index| wake_worker(shared, index));
    woken.take(most).for_each(drop);
}

/// Wakes a worker if it sleeps. Returns whether this call woke it.
fn wake_worker<Q: Queue<EventCounter>>(shared: &Shared<Q, EventCounter>, index: usize) -> bool {
    let seat = &shared.seats[index].idle;
    let mut asleep = lock(&seat.asleep);
    if !*asleep {
        return false;
    }
    *asleep = false;
    // Under the lock: the worker is counted as awake before it stops searching or sleeps again.
    shared.idle.0.wake();
    drop(asleep);
    seat.parker.unpark();
    true
}
