//! What the two sides share: the words, and the slow paths of the owner.

use std::cell::Cell;

use crossbeam_utils::CachePadded;
use filch_queue::{CapacityError, Steal};

use super::thief::Claimed;
use crate::defect::{defect, Defect};
use crate::ring::{OutOfMemory, Ring, Slot};
use crate::split::{self, distance, near, Claim, Guarded, Limit, Mode, PublicWord, Split};
use crate::sync::{fence, AtomicU32, AtomicU64, Mutex, Ordering};

/// The most tasks at one time. Positions are compared by 32 bits.
const MAX_TASKS: u64 = 1 << 30;

/// A bit of the alarm: a thief wants tasks.
const WANTED: u32 = 1;
/// A bit of the alarm: the client should look after the owner's next push.
const PUSH_LOOKS: u32 = 2;
/// A bit of the alarm: the client should look after the owner's next pop.
const POP_LOOKS: u32 = 4;
/// A bit of the alarm, which stays: each push and pop has a fence.
const FENCED: u32 = 8;

/// The bits that a raised alarm has.
const RAISED: u32 = WANTED | PUSH_LOOKS | POP_LOOKS;
/// The bits that send a push onto the slow path.
pub(super) const PUSH_IS_SLOW: u32 = WANTED | PUSH_LOOKS | FENCED;

/// The words that thieves write.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) public: PublicWord,
    pub(super) moved: AtomicU32,
}

/// The words that the owner reads at each push or pop, and others seldom write.
#[derive(Debug)]
pub(super) struct Requests {
    pub(super) alarm: AtomicU32,
    pub(super) limit: Limit,
}

/// What the two sides share.
pub(super) struct Shared<T> {
    pub(super) bottom: CachePadded<AtomicU64>,
    pub(super) requests: CachePadded<Requests>,
    pub(super) taken: CachePadded<Taken>,
    guarded: CachePadded<Mutex<Guarded>>,
    /// Below this position all tasks were moved out when the owner last looked. Only the owner uses
    /// it.
    free: Cell<u64>,
    pub(super) ring: Ring<T>,
}

// SAFETY: tasks move between threads. Only the owner, which is unique, uses the cell and the parts
// of the ring that are not atomic.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The result of a pop below `limit`.
pub(super) enum Settled {
    /// The task is the owner's. Whether its client should look.
    Owners { look: bool },
    /// The task was stolen.
    Stolen,
}

impl<T> Shared<T> {
    pub(super) fn new(mode: Mode) -> Shared<T> {
        // The first push looks at what happened before.
        let alarm = WANTED | PUSH_LOOKS | if mode == Mode::Fenced { FENCED } else { 0 };
        Shared {
            bottom: CachePadded::new(AtomicU64::new(0)),
            requests: CachePadded::new(Requests { alarm: AtomicU32::new(alarm), limit: Limit::new(0, mode) }),
            taken: CachePadded::new(Taken { public: PublicWord::new(), moved: AtomicU32::new(0) }),
            guarded: CachePadded::new(Guarded::new()),
            free: Cell::new(0),
            ring: Ring::new(),
        }
    }

    /// Returns the words of the slow paths.
    pub(super) fn split(&self) -> Split<'_, impl Fn(u32) -> u64 + '_> {
        Split {
            limit: &self.requests.limit,
            public: &self.taken.public,
            guarded: &self.guarded,
            // Relaxed: any position close by would do.
            mark: |position| near(self.bottom.load(Ordering::Relaxed), position),
        }
    }

    /// Returns the number of tasks a moment ago.
    pub(super) fn len(&self) -> usize {
        // Relaxed: a hint; a thief that needs the truth is behind a barrier.
        let bottom = self.bottom.load(Ordering::Relaxed) as u32;
        distance(self.taken.public.get().top, bottom) as usize
    }

    /// Returns whether there were private tasks a moment ago.
    pub(super) fn has_private(&self) -> bool {
        // Relaxed: as in `len`.
        let bottom = self.bottom.load(Ordering::Relaxed) as u32;
        distance(self.taken.public.get().split, bottom) > 0
    }

    pub(super) fn raise_alarm(&self) {
        self.ask_for(RAISED);
    }

    /// Asks the owner for tasks. A thief asks again and again, so it does not write what is there.
    pub(super) fn ask(&self) {
        // Relaxed: a hint.
        if self.requests.alarm.load(Ordering::Relaxed) & WANTED == 0 {
            self.ask_for(WANTED);
        }
    }

    fn ask_for(&self, bits: u32) {
        // AcqRel, also if they are set already: an owner that clears them later sees what was
        // written before this.
        self.requests.alarm.fetch_or(bits, Ordering::AcqRel);
        // After it, so that the pop that meets the limit sees the bits.
        self.split().ask();
    }

    pub(super) fn claim(&self, most: u32) -> Steal<Claimed<'_, T>> {
        let mut count = 0;
        let claim = self.taken.public.claim(|public| {
            count = public.len().div_ceil(2).min(most);
            count
        });
        match claim {
            Claim::At(next) => Steal::Success(Claimed::new(self, next, count)),
            Claim::Lost => Steal::Retry,
            Claim::Nothing => Steal::Empty,
        }
    }

    /// Publishes tasks of an owner that does not respond. Returns false if the kernel refuses the
    /// barrier. Then the owner has been asked for fences.
    #[cold]
    pub(super) fn raid(&self) -> bool {
        // Acquire: the slots below.
        let bottom = || self.bottom.load(Ordering::Acquire) as u32;
        let published = self.split().raid(|| false, bottom).is_some();
        if !published {
            self.ask_for(WANTED);
        }
        published
    }

    /// Answers what the alarm asks for, after a push. Returns whether the client should look. The
    /// owner calls this.
    #[cold]
    #[inline(never)]
    pub(super) fn answer(&self, bottom: u64) -> bool {
        if self.requests.limit.is_fenced() {
            // SeqCst: a thief raises the alarm, has a fence, and looks at `bottom`.
            fence(Ordering::SeqCst);
        }
        self.clear_alarm(WANTED | PUSH_LOOKS, bottom) & PUSH_LOOKS != 0
    }

    /// Clears bits of the alarm. If one of them was set, publishes the older half of the private
    /// tasks, unless some are public. Returns the alarm as it was. The owner calls this.
    fn clear_alarm(&self, bits: u32, bottom: u64) -> u32 {
        // Acquire: what a thread wrote before it set the bits. Release: thieves see what the owner
        // did before.
        let alarm = self.requests.alarm.fetch_and(!bits, Ordering::AcqRel);
        if alarm & bits != 0 {
            // This also switches to fences, if a thief has asked for them.
            self.split().publish(bottom as u32, |has_public| !has_public, split::half);
            self.keep_fenced();
        }
        alarm
    }

    /// Leaves the alarm on if the owner fences.
    fn keep_fenced(&self) {
        if self.requests.limit.is_fenced() {
            // Relaxed: the owner itself reads it.
            self.requests.alarm.fetch_or(FENCED, Ordering::Relaxed);
        }
    }

    /// Settles a pop below `limit`, and answers the alarm. No task is below `base`, and `limit` is
    /// never below that.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&self, position: u64, base: u64) -> Settled {
        if position < base {
            return Settled::Stolen;
        }
        let is_owners = self.split().settle(position as u32);
        self.keep_fenced();
        if !is_owners {
            return Settled::Stolen;
        }
        // Without other tasks, the next push answers a thief that wants some.
        let wanted = if self.len() == 0 { 0 } else { WANTED };
        // Relaxed: the bits that came before the limit was raised are visible by the lock.
        if self.requests.alarm.load(Ordering::Relaxed) & (wanted | POP_LOOKS) == 0 {
            return Settled::Owners { look: false };
        }
        Settled::Owners { look: self.clear_alarm(wanted | POP_LOOKS, position) & POP_LOOKS != 0 }
    }

    /// Returns `top`, if all claimed tasks have been moved out of their slots. These are all tasks
    /// below `top`.
    pub(super) fn top_if_all_moved(&self) -> Option<u32> {
        // Acquire, and first: see the module.
        let moved = self.taken.moved.load(Ordering::Acquire);
        let top = self.taken.public.get().top;
        (moved == top).then_some(top)
    }

    /// Makes the block of a position the owner's. Returns where position 0 would be in it. If the
    /// task of the position was stolen, the block may be gone, and its slots must not be used.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn origin_for(&self, position: u64) -> *mut Slot<T> {
        // SAFETY: this is the owner.
        unsafe { self.ring.enter(position) }.wrapping_sub(position as usize)
    }

    /// Makes the block that begins at `bottom` the owner's, like [`origin_for`](Shared::origin_for).
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn block_for(&self, bottom: u64) -> Result<*mut Slot<T>, CapacityError> {
        // SAFETY: this is the owner.
        if !unsafe { self.ring.has_room(bottom) } {
            let top = self.taken.public.get().top;
            let tasks = u64::from(distance(top, bottom as u32));
            if tasks >= MAX_TASKS {
                let (requested, limit) = (tasks as usize + 1, MAX_TASKS as usize);
                return Err(CapacityError::TooLarge { requested, limit });
            }
            if let Some(top) = self.top_if_all_moved() {
                // This stays true: a position that was claimed is not used again.
                self.free.set(near(bottom, top));
            }
            let free = if defect(Defect::ReusesSlotsEarly) { near(bottom, top) } else { self.free.get() };
            // SAFETY: as above. Below `free` each task was claimed, and moved out of its slot.
            unsafe { self.ring.make_room(bottom, free) }
                .map_err(|OutOfMemory| CapacityError::OutOfMemory { requested: tasks as usize + 1 })?;
        }
        // SAFETY: as above.
        Ok(unsafe { self.origin_for(bottom) })
    }

    /// Frees memory of a queue that has no tasks and whose next position is `bottom`. The owner
    /// calls this.
    ///
    /// The ring keeps the block of `bottom`, unless a block begins there.
    #[cold]
    #[inline(never)]
    pub(super) fn trim(&self, bottom: u64) {
        // SAFETY: this is the owner.
        if unsafe { self.ring.has_many() } && self.top_if_all_moved() == Some(bottom as u32) {
            // SAFETY: as above. All positions were claimed and moved, or popped.
            unsafe { self.ring.trim(bottom, false) };
        }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Shuttle drops what a failed execution has left when its atomics cannot be used any more.
        if cfg!(shuttle) {
            return;
        }
        // Relaxed: this is the last handle.
        let bottom = self.bottom.load(Ordering::Relaxed) as u32;
        let next = self.taken.public.get().top;
        let left = distance(next, bottom);
        // What is left is claimed now, and dropped.
        drop(Claimed::new(self, next, left));
    }
}
