//! Lineage: what a piece of work descends from.
//!
//! A worker that waits may run the work that its wait needs, and nothing else: what *descends* from
//! what it waits for, wherever that is. To make that known, each worker publishes what it runs.
//!
//! A *run* is something that a worker runs and that did not begin there in place: a stolen job or
//! task, a job from a queue. Several jobs that no worker waits for, one after the other, may be one
//! run. A task that its own worker takes at the end of its scope is part of the run that opened the
//! scope. Each seat has a stack of its [`Runs`], and its first entry is for what is at the bottom.
//! The *node* of a run is the address of what is waited for: the slot of a fork, the record of a
//! scope, a completion. `up` is the run in which the worker waits for it.
//!
//! | work | node | up |
//! |---|---|---|
//! | a fork at depth d of a stack | its slot | the last run there whose floor is at most d |
//! | a fork beyond the end of the stack | a spare slot | the run that forked it |
//! | a task of a scope, a part of a broadcast into it | the scope's record | the run that opened the scope |
//! | a closure for another pool, a part of a broadcast | the completion | the run that waits |
//! | a spawned job, a call from outside | none | none |
//!
//! A fork costs nothing for this: its depth determines its run.
//!
//! A worker that waits for node N in a run of level l may run X if N is X's own node, or the node
//! of X's ancestor of level l + 1.
//!
//! **Invariant.** Work that is not done pins its ancestors: a join, a scope or a call waits for it,
//! so the run of that wait has not ended, so its node is not done, and so on. From the creation of
//! X to its end, the entries of its ancestors do not change. So for a thread that holds X, or that
//! X contains, the climb is exact, and what it finds is not done. The acquire by which it got X
//! covers the whole chain: each ancestor was written before it forked, and stolen before it was
//! written.
//!
//! Entries above X's run change meanwhile. But a floor that was written after X was forked is above
//! X's depth, and a free entry has the floor `u32::MAX`. So "the last floor that is at most d" does
//! not change either.
//!
//! A look before a theft is a hint. Entries may change under it, but their memory stays that of a
//! run forever, and the climb ends because levels must fall.

mod runs;

use std::iter;
use std::ptr;

pub(crate) use runs::{Run, Runs};

use crate::seat::Seat;

/// What a piece of work descends from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lineage {
    node: usize,
    up: *const Run,
}

// SAFETY: runs are atomics, and their memory is never freed.
unsafe impl Send for Lineage {}
// SAFETY: as above.
unsafe impl Sync for Lineage {}

impl Lineage {
    /// The lineage of work that no worker waits for.
    pub(crate) const ROOT: Lineage = Lineage { node: 0, up: ptr::null() };

    /// Returns the lineage of work that is waited for, as `node`, in the run `up`.
    pub(crate) fn new(node: usize, up: &Run) -> Lineage {
        Lineage { node, up }
    }

    /// Creates a lineage from its node and the run in which that is waited for. The run is null if
    /// no worker waits.
    pub(crate) fn from_parts(node: usize, up: *const Run) -> Lineage {
        Lineage { node, up }
    }

    /// Returns the node, and the run in which it is waited for.
    pub(crate) fn into_parts(self) -> (usize, *const Run) {
        (self.node, self.up)
    }

    /// Returns the node that is waited for.
    pub(crate) fn node(self) -> usize {
        self.node
    }

    /// Returns the run in which the work is waited for.
    fn up<'a>(self) -> Option<&'a Run> {
        // SAFETY: the memory of runs is never freed.
        unsafe { self.up.as_ref() }
    }

    /// Returns whether `run` waits for the work, or descends from the run that does. For the thread
    /// that is in the run.
    pub(crate) fn is_waited_for_above(self, run: &Run) -> bool {
        self.up().is_some_and(|up| run.is_within(up))
    }

    /// Returns whether the worker of `seat` waits for the work directly, or will. For a thread that
    /// holds the work.
    pub(crate) fn is_waited_for_by(self, seat: &Seat) -> bool {
        self.up().is_some_and(|up| ptr::eq(up.seat(), seat))
    }

    /// Returns whether no worker waits for the work.
    pub(crate) fn is_root(self) -> bool {
        self.up.is_null()
    }

    /// Returns whether this descends from what is waited for. For a thread that holds the work.
    pub(crate) fn descends_from(self, wait: Wait) -> bool {
        let Some(up) = self.up() else { return false };
        self.node == wait.node || up.is_under(wait)
    }

    /// Returns whether this descends from what is waited for as `node`. For a thread that holds the
    /// work but does not know the waiting run.
    pub(crate) fn descends_from_node(self, node: usize) -> bool {
        self.waits().any(|(_, awaited)| awaited == node)
    }

    /// Returns whether this seems to descend from what is waited for as `node`. This is a hint, for
    /// a thread that does not hold the work.
    pub(crate) fn seems_under_node(self, node: usize) -> bool {
        self.up().is_some_and(|up| self.node == node || up.seems_under_node(node))
    }

    /// Returns the seats of the workers that wait for this, or for what contains it. Each comes
    /// with the node that it waits for, nearest first. For a thread that keeps the work from being
    /// done.
    pub(crate) fn waits<'a>(self) -> impl Iterator<Item = (&'a Seat, usize)> {
        let first = self.up().map(|up| (up, self.node));
        iter::successors(first, |&(run, _)| {
            let above = run.lineage();
            above.up().map(|up| (up, above.node))
        })
        .map(|(run, node)| (run.seat(), node))
    }
}

/// A wait of a worker: the node, and the level of the waiting run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) node: usize,
    level: u32,
}

impl Wait {
    /// Returns the wait for `node` in the run `run`.
    pub(crate) fn new(node: usize, run: &Run) -> Wait {
        Wait { node, level: run.level() }
    }
}

/// Returns the node of what is stored at this address.
pub(crate) fn node_of<T>(awaited: &T) -> usize {
    ptr::from_ref(awaited).addr()
}
