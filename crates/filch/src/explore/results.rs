//! What explorers leave behind: how the exploration ended, a panic, states and counts.

use super::explored::{Counts, Ending, Explored};
use crate::sync::{lock, Mutex};
use crate::unwind::{self, Payload};

/// The results of the explorers that have ended, and why the others have to end.
pub(super) struct Results<S> {
    ending: Mutex<Option<Ending>>,
    panic: Mutex<Option<Payload>>,
    ended: Mutex<Vec<Ended<S>>>,
}

/// The rest of an explorer that has ended. It has a state if it ever had a task.
pub(super) struct Ended<S> {
    pub(super) index: usize,
    pub(super) state: Option<S>,
    pub(super) counts: Counts,
}

impl<S> Ended<S> {
    /// Sorts explorers by number. It is compiled once for each state, not for each kind of queue.
    fn sort(ended: &mut [Self]) {
        ended.sort_unstable_by_key(|explorer| explorer.index);
    }
}

impl<S> Results<S> {
    pub(super) fn new(explorers: usize) -> Self {
        let ended = Mutex::new(Vec::with_capacity(explorers));
        Results { ending: Mutex::new(None), panic: Mutex::new(None), ended }
    }

    /// Sets how the exploration ends. The first reason counts.
    pub(super) fn end(&self, ending: Ending) {
        lock(&self.ending).get_or_insert(ending);
    }

    /// Keeps the first of several panics.
    pub(super) fn keep_panic(&self, panic: Payload) {
        unwind::keep_first(&self.panic, panic);
    }

    /// Adds an explorer that has ended.
    pub(super) fn add(&self, explorer: Ended<S>) {
        lock(&self.ended).push(explorer);
    }

    /// Returns the result of the exploration, or resumes a panic.
    pub(super) fn into_explored(self) -> Explored<S> {
        let mut ended = std::mem::take(&mut *lock(&self.ended));
        if let Some(panic) = lock(&self.panic).take() {
            // One by one: a second panic inside the drop of a `Vec` would abort the process.
            ended.into_iter().for_each(unwind::discard);
            unwind::resume(panic);
        }
        Ended::sort(&mut ended);
        let counts = ended.iter().map(|explorer| explorer.counts).collect();
        let states = ended.into_iter().filter_map(|explorer| explorer.state).collect();
        let ending = lock(&self.ending).unwrap_or(Ending::Complete);
        Explored { states, counts, ending }
    }
}
