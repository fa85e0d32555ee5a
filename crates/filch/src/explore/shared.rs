//! The state that the explorers of one exploration share.

use std::sync::OnceLock;
use std::time::Instant;

use filch_queue::{barrier, Thief};

use super::explored::{Counts, Ending, Explored};
use super::explorer::{Control, Explorer};
use super::idle_list::IdleList;
use super::roots::Roots;
use super::run_loop::{self, Local};
use super::termination::Termination;
use super::Cancel;
use crate::queue::Kind;
use crate::sync::{fence, lock, Mutex, Ordering};
use crate::unwind::{self, Payload};
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
    pub(super) ending: Mutex<Option<Ending>>,
    pub(super) panic: Mutex<Option<Payload>>,
    pub(super) ended: Mutex<Vec<Ended<S>>>,
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
    fn reached(&self, now: impl FnOnce() -> Instant) -> Option<Ending> {
        if self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            return Some(Ending::Cancelled);
        }
        self.deadline.is_some_and(|deadline| now() >= deadline).then_some(Ending::TimedOut)
    }
}

/// The rest of an explorer that has ended. It has a state if it ever had a task.
pub(super) struct Ended<S> {
    index: usize,
    state: Option<S>,
    counts: Counts,
}

impl<S> Ended<S> {
    /// Sorts explorers by number. It is compiled once for each state, not for each kind of queue.
    fn sort(ended: &mut [Self]) {
        ended.sort_unstable_by_key(|explorer| explorer.index);
    }

    /// Ends an explorer. Drops its queue: thieves of some kinds wait for its owner as long as that
    /// exists.
    fn of<Q>(mut local: Local<Q, S>) -> Self {
        local.end_idle_time();
        // First, so that nothing leaks if that panics.
        local.drop_queue();
        let Local { index, state, counts, .. } = local;
        Ended { index, state, counts }
    }
}

impl<T, K: Kind<T>, S, M, F> Shared<T, K, S, M, F> {
    /// Ends the exploration early. The first reason counts.
    #[cold]
    pub(super) fn stop(&self, ending: Ending) {
        lock(&self.ending).get_or_insert(ending);
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
        let ended = Ended::of(local);
        lock(&self.ended).push(ended);
    }

    /// Returns the result, when all explorers have left. Drops the tasks that no explorer took, and
    /// resumes a panic.
    pub(super) fn into_explored(self) -> Explored<S> {
        let Shared { thieves, roots, idle_list, ending, panic, ended, .. } = self;
        let keep = |again| unwind::keep_first(&panic, again);
        let mut ended = std::mem::take(&mut *lock(&ended));
        // The drop of an owner, which may be a user's, and that of a task may panic. Each queue
        // drops its tasks with its last handle, which are these.
        for local in idle_list.into_explorers() {
            unwind::catch(|| Ended::of(local)).map_or_else(keep, |explorer| ended.push(explorer));
        }
        for thief in thieves {
            unwind::catch(|| drop(thief)).unwrap_or_else(keep);
        }
        unwind::catch(|| drop(roots)).unwrap_or_else(keep);
        if let Some(panic) = lock(&panic).take() {
            // One by one: a second panic inside the drop of a `Vec` would abort the process.
            ended.into_iter().for_each(unwind::discard);
            unwind::resume(panic);
        }
        Ended::sort(&mut ended);
        let counts = ended.iter().map(|explorer| explorer.counts).collect();
        let states = ended.into_iter().filter_map(|explorer| explorer.state).collect();
        let ending = lock(&ending).unwrap_or(Ending::Complete);
        Explored { states, counts, ending }
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

    fn stop(&self) {
        self.shared.stop(Ending::Stopped);
    }

    fn is_stopped(&self) -> bool {
        self.shared.check_limits(Instant::now);
        self.shared.termination.is_over()
    }
}
