//! The state that the explorers of one exploration share.

use std::sync::OnceLock;
use std::time::Instant;

use filch_queue::barrier;

use super::bench::Bench;
use super::explored::{Counts, Ending, Explored};
use super::explorer::{Explorer, Summon};
use super::life::{self, Member};
use super::muster::Muster;
use super::queue::Kind;
use super::roots::Roots;
use super::Cancel;
use crate::sync::{fence, lock, Mutex, Ordering};
use crate::unwind::{self, Payload};
use crate::Scope;

/// The state that the explorers of one exploration share.
pub(super) struct Crew<T, K: Kind<T>, S, M, F> {
    pub(super) kind: K,
    /// The thieves' sides of the explorers' queues. An explorer creates its queue when it first
    /// runs.
    pub(super) thieves: Vec<OnceLock<K::Thief>>,
    pub(super) roots: Roots<T>,
    pub(super) muster: Muster,
    pub(super) bench: Bench<Member<K::Owner, S>>,
    /// Whether a push has a fence. It has if the kernel provides no barrier for explorers that go
    /// to the bench.
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
    /// Ends an explorer. Drops its queue: thieves of some kinds wait for its owner as long as that
    /// exists.
    fn of<Q>(mut member: Member<Q, S>) -> Self {
        member.end_idleness();
        // First, so that nothing leaks if that panics.
        member.leave_queue();
        let Member { index, state, counts, .. } = member;
        Ended { index, state, counts }
    }
}

impl<T, K: Kind<T>, S, M, F> Crew<T, K, S, M, F> {
    /// Ends the exploration early. The first reason counts.
    #[cold]
    pub(super) fn stop(&self, why: Ending) {
        lock(&self.ending).get_or_insert(why);
        self.muster.stop();
    }

    /// Stops the exploration if it has reached a limit.
    pub(super) fn mind_limits(&self, now: impl FnOnce() -> Instant) {
        if let Some(why) = self.limits.reached(now) {
            self.stop(why);
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

    /// Records an explorer that has ended, and will not be called again.
    pub(super) fn retire(&self, member: Member<K::Owner, S>) {
        let ended = Ended::of(member);
        lock(&self.ended).push(ended);
    }

    /// Returns the result, when all explorers have left. Drops the tasks that no explorer took, and
    /// resumes a panic.
    pub(super) fn into_explored(self) -> Explored<S> {
        let Crew { thieves, roots, bench, ending, panic, ended, .. } = self;
        let keep = |again| unwind::keep_first(&panic, again);
        let mut ended = std::mem::take(&mut *lock(&ended));
        // The drop of an owner, which may be a user's, and that of a task may panic. Each queue
        // drops its tasks with its last handle, which are these.
        for member in bench.into_sitting() {
            unwind::catch(|| Ended::of(member)).map_or_else(keep, |explorer| ended.push(explorer));
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
        ended.sort_unstable_by_key(|explorer| explorer.index);
        let counts = ended.iter().map(|explorer| explorer.counts).collect();
        let states = ended.into_iter().filter_map(|explorer| explorer.state).collect();
        let ending = lock(&ending).unwrap_or(Ending::Complete);
        Explored { states, counts, ending }
    }
}

/// The crew, and the scope in which an explorer that is called runs.
pub(super) struct Summoner<'s, 'scope, T, K: Kind<T>, S, M, F> {
    pub(super) crew: &'scope Crew<T, K, S, M, F>,
    pub(super) scope: &'s Scope<'scope>,
}

impl<T, K, S, M, F> Summon for Summoner<'_, '_, T, K, S, M, F>
where
    T: Send,
    K: Kind<T>,
    S: Send,
    M: Fn(usize) -> S + Sync,
    F: Fn(T, &mut Explorer<'_, K::Owner, S>) + Sync,
{
    fn call(&self) {
        if let Some(member) = self.crew.bench.call() {
            let crew = self.crew;
            self.scope.spawn(move |scope| {
                crew.muster.enter();
                life::live(crew, scope, member, true);
            });
        }
    }

    fn stop(&self) {
        self.crew.stop(Ending::Stopped);
    }

    fn is_stopped(&self) -> bool {
        self.crew.mind_limits(Instant::now);
        self.crew.muster.is_over()
    }
}
