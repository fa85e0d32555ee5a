//! The thread that explores on this rank, on the workers of a pool.
//!
//! It starts a new round whenever tasks arrive after it has run out of them.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

use filch::explore::{Ending, Explore, Promise};
use filch::queue::Kind;

use super::exchange::Exchange;
use super::explorer::{Explorer, Outbound};
use super::RankCounts;

/// The result of the exploration on this rank.
pub(super) struct LocalResult {
    /// The counts of tasks; the other fields stay 0.
    pub(super) counts: RankCounts,
    /// How it ended, unless other ranks ended it.
    pub(super) ending: Ending,
    /// A panic of a task.
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

impl LocalResult {
    fn panicked(panic: Box<dyn Any + Send>) -> Self {
        LocalResult { counts: RankCounts::default(), ending: Ending::Stopped, panic: Some(panic) }
    }
}

/// Takes in the roots. If that panics, all ranks stop, and the result is returned.
pub(super) fn deliver_roots<T>(exchange: &Exchange<T>, roots: impl FnOnce() -> Vec<T>) -> Option<LocalResult> {
    match panic::catch_unwind(AssertUnwindSafe(roots)) {
        Ok(roots) => {
            exchange.deliver(roots);
            None
        }
        Err(panic) => {
            exchange.stop();
            Some(LocalResult::panicked(panic))
        }
    }
}

/// Runs `work`. If it panics outside of a task, for example while a task is dropped, all ranks
/// stop.
pub(super) fn stop_on_panic<T>(exchange: &Exchange<T>, work: impl FnOnce() -> LocalResult) -> LocalResult {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        exchange.stop();
        exchange.end_round();
        LocalResult::panicked(panic)
    })
}

/// Explores until no more tasks can come, or the exploration is stopped.
pub(super) fn explore_rounds<T, P, K, F>(
    exchange: &Exchange<T>,
    explore: &Explore<'_, P, K>,
    outbound: &dyn Outbound<T>,
    visit: &F,
    round_ended: impl Fn(),
) -> LocalResult
where
    T: Send,
    P: Promise<T, K> + Clone,
    K: Kind<T> + Clone,
    F: Fn(T, &mut Explorer<'_, '_, K::Owner>) + Sync,
{
    let mut local = LocalResult { counts: RankCounts::default(), ending: Ending::Complete, panic: None };
    loop {
        let idle_since = Instant::now();
        let Some(roots) = exchange.await_tasks() else {
            local.counts.idle += idle_since.elapsed();
            return local;
        };
        local.counts.idle += idle_since.elapsed();
        local.counts.rounds += 1;
        let explored = panic::catch_unwind(AssertUnwindSafe(|| {
            explore.clone().run(roots, |task, worker: &mut filch::explore::Explorer<'_, K::Owner>| {
                if exchange.is_stopped() {
                    return worker.stop();
                }
                if exchange.has_arrivals() {
                    worker.push_all(exchange.take_arrivals());
                }
                visit(task, &mut Explorer { local: worker, outbound });
            })
        }));
        match explored {
            Ok(explored) => {
                let total = explored.total();
                local.counts.tasks += total.tasks;
                local.counts.redundant += total.redundant;
                local.counts.steals += total.steals;
                if explored.ending() != Ending::Complete && !exchange.is_stopped() {
                    local.ending = explored.ending();
                    exchange.stop();
                }
            }
            Err(panic) => {
                local.ending = Ending::Stopped;
                local.panic = Some(panic);
                exchange.stop();
            }
        }
        round_ended();
        exchange.end_round();
    }
}
