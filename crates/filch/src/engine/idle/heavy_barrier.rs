//! The worker that goes to sleep pays: it makes all workers pass a barrier, and looks again.
//!
//! A worker announces its sleep, makes every running thread of the process pass a full barrier, and
//! then looks at all queues once more. A fork pushes its job and loads the number of sleepers, with
//! no fence in between. If that load is too early to see the sleeper, the push is before the
//! barrier, and the sleeper sees the job. This is the protocol of [`filch::Pool`](crate::Pool)
//! without raids, waits and lent seats. The README of `sleep/` argues each step.

use filch_queue::barrier;

use super::Protocol;
use crate::backoff::{Backoff, Patience};
use crate::engine::pool::Shared;
use crate::engine::Queue;
use crate::sleep::{Sleep, SleepCell, SleepState};
use crate::sync::{fence, Ordering};

/// The idle protocol whose sleepers make all workers pass a barrier. Forks have no fence.
///
/// Where the kernel provides no such barrier, forks have a fence.
#[derive(Debug)]
pub enum HeavyBarrier {}

/// The state that all workers share.
pub struct Pool {
    sleep: Sleep,
    /// Whether forks have a fence. They have if the kernel provides no barrier for them.
    fenced: bool,
}

/// The part of a worker that other workers see.
pub struct Seat {
    sleep: SleepCell,
    patience: Patience,
}

/// A search for work, and how long it lasts.
pub struct Search(Backoff);

impl Pool {
    /// Makes every worker pass a full barrier. Returns false if the kernel refuses.
    fn barrier(&self) -> bool {
        if self.fenced {
            // SeqCst: pairs with the fence of a fork.
            fence(Ordering::SeqCst);
            return true;
        }
        barrier::heavy().is_ok()
    }
}

impl Protocol for HeavyBarrier {
    type Pool = Pool;
    type Seat = Seat;
    /// Whether forks have a fence.
    type Local = bool;
    type Search = Search;

    fn pool() -> Pool {
        Pool { sleep: Sleep::new(), fenced: !barrier::register() }
    }

    fn seat() -> Seat {
        Seat { sleep: SleepCell::new(), patience: Patience::new() }
    }

    fn local(pool: &Pool) -> bool {
        pool.fenced
    }

    #[inline(always)]
    fn forked<Q: Queue<Self>>(fenced: bool, shared: &Shared<Q, Self>, _: impl FnOnce() -> usize) {
        // A worker that goes to sleep announces it, makes this thread pass a barrier, and looks at
        // the queues again. If the load below is too early to see the sleeper, the push is before
        // that barrier and the sleeper sees it.
        if fenced {
            // SeqCst: the kernel provides no such barrier, so it is here.
            fence(Ordering::SeqCst);
        } else {
            barrier::light();
        }
        if shared.idle.sleep.counts().sleeping() != 0 {
            wake_unless_searching(shared);
        }
    }

    fn injected<Q: Queue<Self>>(shared: &Shared<Q, Self>, _: usize) {
        let counts = shared.idle.sleep.event();
        if counts.searching() == 0 && counts.sleeping() != 0 {
            wake_one(shared);
        }
    }

    fn start<Q: Queue<Self>>(shared: &Shared<Q, Self>, index: usize) -> Search {
        shared.idle.sleep.start_searching();
        Search(Backoff::new(&shared.seats[index].idle.patience))
    }

    fn rest<Q: Queue<Self>>(
        Search(backoff): &mut Search,
        shared: &Shared<Q, Self>,
        index: usize,
        is_done: &dyn Fn() -> bool,
        request_wake: &dyn Fn() -> bool,
    ) {
        if !backoff.snooze() {
            backoff.learn(&shared.seats[index].idle.patience, || sleep(shared, index, is_done, request_wake));
        }
    }

    fn stop<Q: Queue<Self>>(Search(backoff): Search, shared: &Shared<Q, Self>, index: usize) {
        backoff.reward(&shared.seats[index].idle.patience);
        if shared.idle.sleep.stop_searching() {
            wake_for_unclaimed_work(shared);
        }
    }

    fn notify<Q: Queue<Self>>(shared: &Shared<Q, Self>, index: usize) {
        shared.seats[index].idle.sleep.notify();
    }
}

/// Puts a searching worker to sleep, if there is still nothing to do. Returns whether it slept.
fn sleep<Q: Queue<HeavyBarrier>>(
    shared: &Shared<Q, HeavyBarrier>,
    index: usize,
    is_done: &dyn Fn() -> bool,
    request_wake: &dyn Fn() -> bool,
) -> bool {
    let (pool, cell) = (&shared.idle, &shared.seats[index].idle.sleep);
    if shared.has_work() || !request_wake() {
        return false;
    }
    pool.sleep.mark_asleep(cell, SleepState::Idle);
    // A fork that did not see the sleeper is before the barrier. Then it is seen now.
    let certain = pool.barrier();
    let sleeps = !(is_done() || shared.has_work());
    if sleeps {
        if certain {
            cell.park(None);
        } else {
            // The kernel has refused a barrier that it had promised: look again soon.
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    pool.sleep.mark_awake(cell);
    sleeps
}

/// Wakes a sleeping worker, if there is one.
fn wake_one<Q: Queue<HeavyBarrier>>(shared: &Shared<Q, HeavyBarrier>) {
    let wakes = |cell: &SleepCell| cell.is_asleep() && shared.idle.sleep.wake(cell, SleepState::Idle);
    shared.seats.iter().any(|seat| wakes(&seat.idle.sleep));
}

/// Wakes a worker after a fork, unless a worker searches. A searching worker will find the job, or
/// looks for it when it stops.
#[cold]
#[inline(never)]
fn wake_unless_searching<Q: Queue<HeavyBarrier>>(shared: &Shared<Q, HeavyBarrier>) {
    if shared.idle.sleep.counts().searching() == 0 {
        wake_one(shared);
    }
}

/// Wakes a worker for unclaimed work, when the last searcher has stopped while others sleep. A fork
/// may have relied on the searcher: either that fork's push is before the barrier, or the fork sees
/// that no worker searches now.
#[cold]
fn wake_for_unclaimed_work<Q: Queue<HeavyBarrier>>(shared: &Shared<Q, HeavyBarrier>) {
    if shared.has_work() || !shared.idle.barrier() || shared.has_work() {
        wake_one(shared);
    }
}
