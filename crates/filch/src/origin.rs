//! Which wait a job descends from, across pools.
//!
//! A worker that installs into another pool waits, and may meanwhile run only what descends from that wait: a job that comes back to its own pool from there, at any
//! distance. So the wait is a [`Frame`] in the waiter's stack, every job that the installed closure gives rise to knows that frame, and frames know
//! the one that they descend from themselves. A frame outlives all that descends from it, because somebody waits for each of those.
//!
//! Nothing of this is paid for by a program with one pool: there, every origin is null.

use std::ptr;

use crate::pool::Shared;
use crate::seat::Seat;
use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// A wait for another pool, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin(*const Frame);

// SAFETY: a pointer to a frame that is only read, and outlives what descends from it.
unsafe impl Send for Origin {}

/// A wait of one worker for another pool, or for all the workers of its own.
// The alignment: a sleep state holds the address and a few bits.
#[derive(Debug)]
#[repr(align(8))]
pub(crate) struct Frame {
    /// Where the waiting worker's own work comes from.
    parent: Origin,
    pub(crate) pool: *const Shared,
    pub(crate) worker: usize,
    away: bool,
    /// The number of the scope whose end is waited for, or 0.
    scope: usize,
}

impl Frame {
    /// A wait of the worker of `seat` for something in `target`.
    pub(crate) fn new(seat: &Seat, target: &Shared) -> Frame {
        let pool = seat.pool();
        Frame { parent: seat.origin(), pool, worker: seat.index, away: !ptr::eq(pool, target), scope: 0 }
    }

    /// The wait of whoever waits for a scope of this pool and origin; of its worker, if it is one of the pool's.
    pub(crate) fn of_scope(number: usize, pool: &Shared, origin: Origin, owner: Option<&Seat>) -> Frame {
        // No worker has an index like that.
        let worker = owner.map_or(usize::MAX, |owner| owner.index);
        Frame { parent: origin, pool, worker, away: false, scope: number }
    }

    /// The number of the scope whose end is waited for, or 0.
    pub(crate) fn scope(&self) -> usize {
        self.scope
    }

    /// Tells the wait apart from others that last as long.
    pub(crate) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Whether the wait is for another pool than the worker's own.
    pub(crate) fn is_away(&self) -> bool {
        self.away
    }
}

impl Origin {
    pub(crate) const NONE: Origin = Origin(ptr::null());

    pub(crate) fn new(frame: &Frame) -> Origin {
        Origin(frame)
    }

    pub(crate) fn is_none(self) -> bool {
        self.0.is_null()
    }

    /// The frame and those that it descends from, nearest first.
    pub(crate) fn frames<'a>(self) -> impl Iterator<Item = &'a Frame> {
        // SAFETY: a frame outlives what descends from it, and whoever asks holds a job that does.
        let get = |origin: Origin| unsafe { origin.0.as_ref() };
        std::iter::successors(get(self), move |frame| get(frame.parent))
    }

    /// Whether this descends from a wait of a worker of `pool`.
    pub(crate) fn descends_from_worker_of(self, pool: &Shared) -> bool {
        // A scope that no worker waits for has an index beyond all.
        self.frames().any(|frame| ptr::eq(frame.pool, pool) && frame.worker < pool.seats.len())
    }

    /// Whether this is `frame`, or descends from it.
    pub(crate) fn descends_from(self, frame: &Frame) -> bool {
        self.frames().any(|ancestor| ptr::eq(ancestor, frame))
    }
}

/// The origins of what stands on a fork stack: from which depth on, which.
#[derive(Debug)]
pub(crate) struct Origins {
    /// Whether there are any; so that nobody locks for nothing.
    count: AtomicUsize,
    entries: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    /// The address of the first slot that it is about.
    from: usize,
    origin: Origin,
    /// The addresses of the frames, taken while they were certainly there: an entry may outlive what it is about by a moment.
    frames: Vec<usize>,
}

impl Origins {
    pub(crate) fn new() -> Origins {
        Origins { count: AtomicUsize::new(0), entries: Mutex::new(Vec::new()) }
    }

    /// Whether nothing that runs here has an origin: a hint.
    pub(crate) fn are_none(&self) -> bool {
        // Relaxed: a hint; the last searcher asks after its fence.
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Whether something that runs here may descend from `frame`: a hint.
    pub(crate) fn include(&self, frame: &Frame) -> bool {
        self.include_address(frame.address())
    }

    /// The same, by the address of the frame, which may be gone.
    pub(crate) fn include_address(&self, address: usize) -> bool {
        // Relaxed: a hint.
        self.count.load(Ordering::Relaxed) != 0
            && lock(&self.entries).iter().any(|entry| entry.frames.contains(&address))
    }

    /// The origin of a job at an address of the stack. Stable for a stolen job until it is done: its owner cannot leave that depth before.
    pub(crate) fn at(&self, address: usize) -> Origin {
        // Acquire: who has stolen a job has seen the entry that was made before it was forked.
        if self.count.load(Ordering::Acquire) == 0 {
            return Origin::NONE;
        }
        let entries = lock(&self.entries);
        entries.iter().rev().find(|entry| entry.from <= address).map_or(Origin::NONE, |entry| entry.origin)
    }

    /// What the worker runs from now on, at `bottom` and above, has this origin. Returns whether [`leave`](Origins::leave) is due.
    pub(crate) fn enter(&self, bottom: usize, origin: Origin) -> bool {
        // Relaxed: only the worker itself changes it.
        if origin.is_none() && self.count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let frames = origin.frames().map(Frame::address).collect();
        lock(&self.entries).push(Entry { from: bottom, origin, frames });
        self.count.fetch_add(1, Ordering::Release);
        true
    }

    /// Back to what it was.
    pub(crate) fn leave(&self) {
        lock(&self.entries).pop();
        self.count.fetch_sub(1, Ordering::Release);
    }
}
