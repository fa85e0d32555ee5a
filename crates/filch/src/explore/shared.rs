//! The state that the explorers of one exploration share.

use std::sync::OnceLock;
use std::time::Instant;

use filch_queue::{barrier, Thief};

use super::explored::{Ending, Explored};
use super::explorer::{Control, Explorer, Stop};
use super::idle_list::IdleList;
use super::results::{Ended, Results};
use super::roots::Roots;
use super::run_loop::{self, Local};
use super::termination::Termination;
use super::Cancel;
use crate::queue::Kind;
use crate::sync::{fence, Ordering};
use crate::unwind;
use crate::Scope;

/// The state that the explorers of one exploration share.
pub(super) struct Shared<T, K: Kind<T>, S, M, F> {
    pub(super) kind: K,
    /// The thieves' sides of the explorers' queues. An explorer creates its queue when it first
    /// runs.
    pub(super) thieves: Vec<OnceLock<K::Thief>>,
    pub(super) roots: Roots<T>,
    pub(super) termination: Termination,
    pub(super) idle_list: IdleList<Local<K::Owner, S>>,
    /// Whether a push has a fence. It has if the kernel provides no barrier for explorers that
    /// become idle.
    pub(super) fenced: bool,
    pub(super) limits: Limits,
    pub(super) results: Results<S>,
    pub(super) state: M,
    pub(super) visit: F,
}

/// The limits that can stop an exploration from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    pub(super) cancel: Option<Cancel>,
    pub(super) deadline: Option<Instant>,
}

impl Limits {
    pub(super) fn are_none(&self) -> bool {
        self.cancel.is_none() && self.deadline.is_none()
    }

    /// Returns how the exploration ends if it ends now. Asks for the time only if there is a
    /// deadline.
    pub(super) fn reached(&self, now: impl FnOnce() -> Instant) -> Option<Ending> {
        if self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            return Some(Ending::Cancelled);
        }
        self.deadline.is_some_and(|deadline| now() >= deadline).then_some(Ending::TimedOut)
    }
}

/// Ends an explorer. Drops its queue: thieves of some kinds wait for its owner as long as that
/// exists.
fn end<Q, S>(mut local: Local<Q, S>) -> Ended<S> {
    local.end_idle_time();
    // First, so that nothing leaks if that panics.
    local.drop_queue();
    let Local { index, state, counts, .. } = local;
    Ended { index, state, counts }
}

impl<T, K: Kind<T>, S, M, F> Shared<T, K, S, M, F> {
    /// Ends the exploration early. The first reason counts.
    #[cold]
    pub(super) fn stop(&self, ending: Ending) {
        self.results.end(ending);
        self.termination.stop();
        self.raise_alarms();
    }

    /// Makes all explorers look, after their next push or task, at what has changed.
    ///
    /// The owner of a queue that is made later looks at its first push, and before its first task.
    pub(super) fn raise_alarms(&self) {
        // SeqCst: pairs with the fence of an explorer that makes its queue. Either its alarm is
        // raised here, or it finds what has changed.
        fence(Ordering::SeqCst);
        self.thieves.iter().filter_map(OnceLock::get).for_each(Thief::raise_alarm);
    }

    /// Stops the exploration if it has reached a limit.
    pub(super) fn check_limits(&self, now: impl FnOnce() -> Instant) {
        if let Some(ending) = self.limits.reached(now) {
            self.stop(ending);
        }
    }

    /// Makes every explorer pass a full barrier. Returns false if the kernel refuses.
    pub(super) fn barrier(&self) -> bool {
        if self.fenced {
            // SeqCst: pairs with the fence in every push.
            fence(Ordering::SeqCst);
            return true;
        }
        barrier::heavy().is_ok()
    }

    /// Returns whether the kernel has refused no barrier yet, or none is needed.
    pub(super) fn has_barrier(&self) -> bool {
        self.fenced || barrier::register()
    }

    /// Records an explorer that has ended, and will not be woken again.
    pub(super) fn retire(&self, local: Local<K::Owner, S>) {
        self.results.add(end(local));
    }

    /// Returns the result, when all explorers have left. Drops the tasks that no explorer took, and
    /// resumes a panic.
    pub(super) fn into_explored(self) -> Explored<S> {
        let Shared { thieves, roots, idle_list, results, .. } = self;
        let keep = |panic| results.keep_panic(panic);
        // The drop of an owner, which may be a user's, and that of a task may panic. Each queue
        // drops its tasks with its last handle, which are these.
        for local in idle_list.into_explorers() {
            unwind::catch(|| end(local)).map_or_else(keep, |explorer| results.add(explorer));
        }
        for thief in thieves {
            unwind::catch(|| drop(thief)).unwrap_or_else(keep);
        }
        unwind::catch(|| drop(roots)).unwrap_or_else(keep);
        results.into_explored()
    }
}

/// The shared state, and the scope in which an explorer that is woken runs.
pub(super) struct Controller<'s, 'scope, T, K: Kind<T>, S, M, F> {
    pub(super) shared: &'scope Shared<T, K, S, M, F>,
    pub(super) scope: &'s Scope<'scope>,
}

impl<T, K, S, M, F> Control for Controller<'_, '_, T, K, S, M, F>
where
    T: Send,
    K: Kind<T>,
    S: Send,
    M: Fn(usize) -> S + Sync,
    F: Fn(T, &mut Explorer<'_, K::Owner, S>) + Sync,
{
    fn wake_one(&self) {
        if let Some(local) = self.shared.idle_list.wake_one() {
            let shared = self.shared;
            self.scope.spawn(move |scope| {
                shared.termination.enter();
                run_loop::run(shared, scope, local, true);
            });
        }
    }
}

impl<T, K: Kind<T>, S, M, F> Stop for Controller<'_, '_, T, K, S, M, F> {
    fn stop(&self) {
        self.shared.stop(Ending::Stopped);
    }

    fn is_stopped(&self) -> bool {
        self.shared.check_limits(Instant::now);
        self.shared.termination.is_over()
    }
}
