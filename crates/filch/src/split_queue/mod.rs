//! A queue for worklists: its tasks are private to the owner until a thief asks.
//!
//! The owner pushes and pops the youngest task by plain stores, without a fence and without a
//! read-modify-write, on any CPU. Thieves take the oldest, several at once. Each task is extracted
//! exactly once. How the two ends meet is in [`split`](crate::split), and what a claim of several
//! tasks means, too: the same as claims of one task with nothing in between.
//!
//! | word | holds | written by |
//! |---|---|---|
//! | `bottom` | the first free position | the owner, at each push and pop |
//! | `limit`, `public` | see [`split`](crate::split) | |
//! | `moved` | how many tasks thieves have moved out of their slots | thieves |
//! | `alarm` | `WANTED`: a thief wants tasks. `PUSH_LOOKS`, `POP_LOOKS`: the client should look. `FENCED`: each push and pop has a fence | both |
//!
//! **Slots.** A position has its slot in a [ring of chunks](crate::ring). A thief reads the slots
//! after its claim, and adds to `moved` when it has read them. A position that was claimed is not
//! used again, so `top` never falls: a pop that finds its task stolen puts `bottom` back, and notes
//! that there is no task below. Each position below `top` was claimed once. So when `moved` equals
//! `top`, no thief reads a slot below `top`, and its chunk can be used for other positions. `moved`
//! is read before `top`: otherwise it could count a claim that `top` does not show.
//!
//! **Demand.** A thief that finds only private tasks sets `WANTED`, raises `limit` above everything,
//! and returns. The owner sees the one at its next push, or the other at its next pop, and publishes
//! the older half of its tasks. A pop that takes the last task leaves `WANTED` to the next push. If
//! the owner does neither for long, a thief raids it.
//!
//! **Alarm.** The client raises the alarm: it sets the first three bits, and then raises `limit`. The
//! owner's next push clears `PUSH_LOOKS` and tells the client to look, and so does its next pop with
//! `POP_LOOKS`. The limit stays raised until then. This serves a client's sleep protocol. A push
//! stores `bottom`, and then loads `alarm`. A worker that is about to sleep raises the alarm, makes
//! the owner pass a barrier, and then looks at `bottom`. So it finds the task, or the push finds the
//! alarm. The bits are cleared by a read-modify-write: what a thread wrote before it raised the
//! alarm is then visible to the owner.
//!
//! **Fenced.** If the kernel provides no barrier, or refuses one later, the alarm stays on. So each
//! push takes the slow path, which has the fence. So does each pop, by the `limit`.

mod shared;
mod thief;

use std::cell::Cell;
use std::fmt;

use filch_queue::handle::Handle;
use filch_queue::{barrier, AtLeastOnce, ExactlyOnce, PushError};

use crate::ring::{Ring, Slot};
use crate::split::{light, Mode};
use crate::sync::Ordering;
use shared::{Settled, Shared, PUSH_IS_SLOW};

pub(crate) use thief::Claimed;
pub use thief::Thief;

/// The most tasks of one steal.
pub(crate) const MAX_SHARE: u32 = 256;

/// Creates an empty queue.
pub(crate) fn new<T>() -> (Owner<T>, Thief<T>) {
    with_mode(if barrier::register() { Mode::Asymmetric } else { Mode::Fenced })
}

/// Creates an empty queue whose barriers are paid for by this side.
pub(crate) fn with_mode<T>(mode: Mode) -> (Owner<T>, Thief<T>) {
    let shared = Handle::new(Shared::new(mode));
    let origin = Cell::new(std::ptr::null_mut());
    let owner = Owner { shared: shared.clone(), bottom: Cell::new(0), base: Cell::new(0), origin };
    (owner, Thief::new(shared))
}

/// The owner's side: pushes and pops.
///
/// Its cells are copies of what only the owner changes. A compiler can hold them in registers: slow
/// paths take the shared part and positions, and never the owner's address.
pub struct Owner<T> {
    shared: Handle<Shared<T>>,
    bottom: Cell<u64>,
    /// No task is below this position.
    base: Cell<u64>,
    /// Where position 0 would be if the current block went on down to there. At a position where no
    /// block begins, the current block is the one of that position.
    origin: Cell<*mut Slot<T>>,
}

// SAFETY: the owner can move between threads, with its tasks. It is not `Sync`.
unsafe impl<T: Send> Send for Owner<T> {}

impl<T> Owner<T> {
    /// Returns the slot of a position in the current block.
    #[inline(always)]
    fn slot(&self, position: u64) -> *mut Slot<T> {
        self.origin.get().wrapping_add(position as usize)
    }
}

impl<T> filch_queue::Owner for Owner<T> {
    type Task = T;

    #[inline]
    fn push(&self, task: T) {
        if let Err(error) = self.try_push(task) {
            crate::explore::push_failed(error);
        }
    }

    #[inline]
    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        self.try_push_and_look(task).map(|_| ())
    }

    #[inline(always)]
    fn try_push_and_look(&self, task: T) -> Result<bool, PushError<T>> {
        let bottom = self.bottom.get();
        if bottom % Ring::<T>::CHUNK == 0 {
            // SAFETY: this is the owner.
            match unsafe { self.shared.block_for(bottom) } {
                Ok(origin) => self.origin.set(origin),
                Err(cause) => return Err(PushError::new(task, cause)),
            }
        }
        // SAFETY: the position is in the current block, and free.
        unsafe { Slot::to_write(self.slot(bottom)).write(task) };
        self.bottom.set(bottom + 1);
        // Release: a raider that reads this `bottom` reads the slots below it.
        self.shared.bottom.store(bottom + 1, Ordering::Release);
        // A thief that raises the alarm issues the heavy barrier before its last look at `bottom`.
        light();
        // Relaxed: behind a barrier, or a hint.
        let is_slow = self.shared.requests.alarm.load(Ordering::Relaxed) & PUSH_IS_SLOW != 0;
        Ok(is_slow && self.shared.answer(bottom + 1))
    }

    #[inline]
    fn pop(&self) -> Option<T> {
        self.pop_and_look().0
    }

    #[inline(always)]
    fn pop_and_look(&self) -> (Option<T>, bool) {
        let bottom = self.bottom.get();
        if bottom % Ring::<T>::CHUNK == 0 {
            if bottom == self.base.get() {
                self.shared.trim(bottom);
                return (None, false);
            }
            // SAFETY: this is the owner.
            self.origin.set(unsafe { self.shared.origin_for(bottom - 1) });
        }
        let position = bottom - 1;
        // Release: as in a push, for the slots below.
        self.shared.bottom.store(position, Ordering::Release);
        // A raider raises `limit`, issues the heavy barrier, and then reads `bottom`.
        light();
        let mut should_look = false;
        if position < self.shared.requests.limit.get() {
            match self.shared.settle(position, self.base.get()) {
                Settled::Owners { look } => should_look = look,
                Settled::Stolen => {
                    // So are all below.
                    self.base.set(bottom);
                    // Release: as above.
                    self.shared.bottom.store(bottom, Ordering::Release);
                    self.shared.trim(bottom);
                    return (None, false);
                }
            }
        }
        self.bottom.set(position);
        // SAFETY: the position is in the current block, was written, and belongs to the owner.
        (Some(unsafe { Slot::to_read(self.slot(position)).read() }), should_look)
    }

    #[inline]
    fn len(&self) -> usize {
        self.shared.len()
    }
}

impl<T> AtLeastOnce for Owner<T> {}
// SAFETY: the owner pops a task, or thieves claim it, and not both: see `split`. Positions that were
// claimed are not used again.
unsafe impl<T> ExactlyOnce for Owner<T> {}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("len", &self.shared.len()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
