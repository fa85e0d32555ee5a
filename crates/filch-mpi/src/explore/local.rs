//! The thread that explores on this rank, on the workers of a pool.
//!
//! It starts a new round whenever tasks arrive after it has run out of them.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

use filch::explore::queue::Kind;
use filch::explore::{Ending, Explore, Promise};

use super::explorer::{Away, Explorer};
use super::traffic::Traffic;
use super::RankCounts;

/// The result of the exploration on this rank.
pub(super) struct Local {
    /// The counts of tasks; the other fields stay 0.
    pub(super) counts: RankCounts,
    /// How it ended, unless other ranks ended it.
    pub(super) ending: Ending,
    /// A panic of a task.
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

impl Local {
    fn panicked(panic: Box<dyn Any + Send>) -> Self {
        Local { counts: RankCounts::default(), ending: Ending::Stopped, panic: Some(panic) }
    }
}

/// Takes in the roots. If that panics, all ranks stop, and the result is returned.
pub(super) fn begin<T>(traffic: &Traffic<T>, roots: impl FnOnce() -> Vec<T>) -> Option<Local> {
    match panic::catch_unwind(AssertUnwindSafe(roots)) {
        Ok(roots) => {
            traffic.deliver(roots);
            None
        }
        Err(panic) => {
            traffic.stop();
            Some(Local::panicked(panic))
        }
    }
}

/// Runs `work`. If it panics outside of a task, for example while a task is dropped, all ranks
/// stop.
pub(super) fn guarded<T>(traffic: &Traffic<T>, work: impl FnOnce() -> Local) -> Local {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        traffic.stop();
        traffic.end_round();
        Local::panicked(panic)
    })
}

/// Explores until no more tasks can come, or the exploration is stopped.
pub(super) fn work<T, P, K, F>(
    traffic: &Traffic<T>,
    explore: &Explore<'_, P, K>,
    away: &dyn Away<T>,
    visit: &F,
    round_ended: impl Fn(),
) -> Local
where
    T: Send,
    P: Promise<T, K> + Clone,
    K: Kind<T> + Clone,
    F: Fn(T, &mut Explorer<'_, '_, K::Owner>) + Sync,
{
    let mut local = Local { counts: RankCounts::default(), ending: Ending::Complete, panic: None };
    loop {
        let idle_since = Instant::now();
        let Some(roots) = traffic.await_tasks() else {
            local.counts.idle += idle_since.elapsed();
            return local;
        };
        local.counts.idle += idle_since.elapsed();
        local.counts.rounds += 1;
        let explored = panic::catch_unwind(AssertUnwindSafe(|| {
            explore.clone().run(roots, |task, worker: &mut filch::explore::Explorer<'_, K::Owner>| {
                if traffic.is_stopped() {
                    return worker.stop();
                }
                if traffic.is_fresh() {
                    worker.push_all(traffic.take_in());
                }
                visit(task, &mut Explorer { local: worker, away });
            })
        }));
        match explored {
            Ok(explored) => {
                let total = explored.total();
                local.counts.tasks += total.tasks;
                local.counts.redundant += total.redundant;
                local.counts.steals += total.steals;
                if explored.ending() != Ending::Complete && !traffic.is_stopped() {
                    local.ending = explored.ending();
                    traffic.stop();
                }
            }
            Err(panic) => {
                local.ending = Ending::Stopped;
                local.panic = Some(panic);
                traffic.stop();
            }
        }
        round_ended();
        traffic.end_round();
    }
}
