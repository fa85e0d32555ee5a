//! The gate of a level: lets workers in while it is open, and the last one out owns the next level.
//!
//! | word | holds | written by |
//! |---|---|---|
//! | `state` | the number of times that the gate was opened, and the workers inside, 16 bits | the owner opens; workers enter and leave |
//! | `cursor` | the first position of the level that no worker has claimed | workers inside claim; the owner sets it |
//!
//! A worker is *inside* from [`open`](Gate::open) or [`enter`](Gate::enter) to
//! [`leave`](Gate::leave). It leaves only when no position is left to claim and it has run what it
//! has claimed, or when the exploration is over. The gate is *closed* while no worker is inside.
//! The *owner* is the worker that has left last. At the beginning it is the first worker.
//!
//! **Invariant.** While the gate is open, all data of the level is only read, except for the buffers
//! of which each belongs to one worker inside. While it is closed, the owner alone uses all of it. A
//! worker enters only if another is inside, so a gate that is closed stays closed until its owner
//! opens it. So when the last worker leaves, all tasks of the level have been claimed and have
//! ended, unless the exploration is over, and no worker can come back to that level. The order
//! comes from `state`: each entry and each leave is a read-modify-write, so the last worker to leave
//! sees all that the others did, and a worker that enters sees all that the owner did.
//!
//! **Why 48 bits are enough.** A worker compares the number of openings with that of the opening
//! that it was inside of last. An idle worker may keep that number for long. The two are equal by
//! mistake only after 2^48 openings, which at one a microsecond takes nine years.

use crossbeam_utils::CachePadded;

use crate::defect::{defect, Defect};
use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// The part of `state` that counts the workers inside.
const INSIDE: u64 = (1 << 16) - 1;

/// One opening, in `state`.
const OPENING: u64 = INSIDE + 1;

/// The gate of the levels of an exploration; see the module.
#[derive(Debug)]
pub(crate) struct Gate {
    state: CachePadded<AtomicU64>,
    /// On a line of its own: every claim writes it.
    cursor: CachePadded<AtomicUsize>,
}

/// A number of openings of a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opening(u64);

impl Gate {
    /// Creates a closed gate.
    pub(crate) fn new() -> Gate {
        let (state, cursor) = (AtomicU64::new(0), AtomicUsize::new(0));
        Gate { state: CachePadded::new(state), cursor: CachePadded::new(cursor) }
    }

    /// Opens the gate, for a level of which the positions before `first` are done. The owner calls
    /// this, and is inside then.
    pub(crate) fn open(&self, first: usize) -> Opening {
        self.set_cursor(first);
        // Relaxed: no other worker writes it while the gate is closed.
        let opening = (self.state.load(Ordering::Relaxed) & !INSIDE) + OPENING;
        let order = if defect(Defect::OpensWithoutRelease) { Ordering::Relaxed } else { Ordering::Release };
        // Release: a worker that enters sees the level. Pairs with `enter`.
        self.state.store(opening + 1, order);
        Opening(opening)
    }

    /// Enters, if the gate is open and was opened since `seen`.
    pub(crate) fn enter(&self, seen: Opening) -> Option<Opening> {
        let order = if defect(Defect::EntersWithoutAcquire) { Ordering::Relaxed } else { Ordering::Acquire };
        // Relaxed: the exchange decides.
        let mut state = self.state.load(Ordering::Relaxed);
        while is_open_since(state, seen) || defect(Defect::EntersClosedLevels) {
            // Acquire: the level, as in `open`. A read-modify-write keeps the release of the others.
            match self.state.compare_exchange_weak(state, state + 1, order, Ordering::Relaxed) {
                Ok(_) => return Some(Opening(state & !INSIDE)),
                Err(now) => state = now,
            }
        }
        None
    }

    /// Returns whether the gate is open, and was opened since `seen`.
    #[inline]
    pub(crate) fn is_open_since(&self, seen: Opening) -> bool {
        // Relaxed: a worker that enters then acquires.
        is_open_since(self.state.load(Ordering::Relaxed), seen)
    }

    /// Claims this many positions, or what is left of the level. Returns the first. At the end of
    /// the level that is its end, or a position behind it. The worker is inside.
    pub(crate) fn claim(&self, count: usize) -> usize {
        // Relaxed: it orders nothing, and no two workers get the same positions. A worker stops at
        // its first claim behind the end, so the sum does not overflow.
        self.cursor.fetch_add(count, Ordering::Relaxed)
    }

    /// Leaves the level, of which no position is left to claim unless the exploration is over.
    /// Returns whether the gate is closed now, and the caller is the owner.
    #[must_use]
    pub(crate) fn leave(&self) -> bool {
        let order = if defect(Defect::LeavesWithoutRelease) { Ordering::Acquire } else { Ordering::AcqRel };
        // Release: the last worker to leave sees what this one did. Acquire: that is this one.
        self.state.fetch_sub(1, order) & INSIDE == 1
    }

    /// Returns the number of workers inside, as a hint.
    pub(crate) fn inside(&self) -> usize {
        // Relaxed: a hint.
        (self.state.load(Ordering::Relaxed) & INSIDE) as usize
    }

    /// Returns the first position that was not claimed, or one behind the end. For a worker that is
    /// not the owner this is a hint.
    pub(crate) fn cursor(&self) -> usize {
        // Relaxed: for the owner, all that have claimed have left, which is ordered by `state`.
        self.cursor.load(Ordering::Relaxed)
    }

    /// Returns how often the gate was opened.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn openings(&self) -> u64 {
        self.state.load(Ordering::Relaxed) / OPENING
    }

    /// Sets the first position that is not claimed. The owner calls this.
    pub(crate) fn set_cursor(&self, position: usize) {
        // Relaxed: published by `open`.
        self.cursor.store(position, Ordering::Relaxed);
    }
}

fn is_open_since(state: u64, seen: Opening) -> bool {
    state & INSIDE != 0 && state & !INSIDE != seen.0
}
