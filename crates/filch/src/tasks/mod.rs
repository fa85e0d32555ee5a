//! Task deques, which hold the tasks that a worker has spawned.
//!
//! The owner pushes tasks at `bottom` and takes the youngest from there, by plain stores, without a
//! fence, a read-modify-write or an allocation. Thieves take the oldest. How the two ends meet is
//! in [`split`](crate::split): the older tasks are public, the younger ones private.
//!
//! | word | holds | written by |
//! |---|---|---|
//! | `bottom` | the first free position | the owner, at each push and pop |
//! | `limit`, `public` | see [`split`](crate::split) | |
//! | `moved` | how many tasks thieves have moved out of their slots | thieves |
//! | `own_moved` | how many the owner has taken from the thieves' end | the owner |
//! | `free` | below which position all tasks were moved out when the owner last looked | the owner |
//!
//! Unlike a fork, a task does not stay where it is until it is done: a thief moves it out. So a
//! position that was claimed is not used again, and `top` never falls. A pop that finds its task
//! stolen puts `bottom` back. Each position below `top` was claimed exactly once, so when `moved`
//! and `own_moved` together equal `top`, all claimed tasks have been moved out. `moved` is read
//! before `top`: otherwise it could count a claim that `top` does not show, in the place of one
//! that it does.
//!
//! **Slots.** A position has its slot in a [ring of chunks](crate::ring). The chunk of a block of
//! positions is used for another block only when all positions of the block are below `free`. So
//! what a thief reads after its claim is what the owner wrote. Chunks are freed only when the deque
//! has no tasks, and all claimed ones have been moved out.
//!
//! **Scopes** count their tasks with this. A task in a worker's segment of its scope is not
//! counted. A thief adds 1 to the scope's *balance* before it adds to `moved`, and takes it back
//! when the task is over. See [`scope`](crate::scope) for why that is exact.
//!
//! A deque is a stack of [segments](segments). A worker has these deques:
//!
//! - one for the tasks of scopes, which it takes youngest first
//! - one for each open scope whose tasks it takes oldest first ([`Lanes`])
//! - some for tasks of scopes of which it has no segment ([`Strays`]), which are counted when they
//!   are pushed
//! - one for spawned jobs
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/runtime/tasks.tso`.

mod lanes;
mod list;
mod look;
mod segments;
mod strays;

use std::cell::Cell;
use std::fmt;

use crossbeam_utils::CachePadded;

pub(crate) use lanes::Lanes;
pub(crate) use strays::Strays;

use crate::defect::{defect, Defect};
use crate::job::Job;
use crate::lineage::Lineage;
use crate::ring::Ring;
use crate::split::{self, light, near, Claim, Guarded, Limit, Mode, PublicWord, Split};
use crate::sync::{AtomicU32, AtomicU64, Mutex, Ordering};
use crate::unwind::NoUnwind;
use segments::Segments;

/// The most tasks at one time. Positions are compared by 32 bits.
const MAX_TASKS: u64 = 1 << 30;

/// The result of an attempt to steal.
#[derive(Debug)]
pub(crate) enum Theft {
    /// A task, moved out of its slot.
    Task(Job),
    /// Another thief was faster.
    Lost,
    /// No wanted task is public.
    Nothing,
}

/// The result of a pop by the owner.
#[derive(Debug)]
pub(crate) enum Pop {
    /// Its youngest task, in its slot.
    Task(*const Job),
    /// No task, and thieves have taken none of those above the base.
    Empty,
    /// No task: some above the base were taken from the other end.
    Stolen,
}

/// The words that thieves write.
#[derive(Debug)]
struct Taken {
    public: PublicWord,
    moved: AtomicU32,
}

/// The words that the owner writes.
#[derive(Debug)]
struct Owned {
    bottom: AtomicU64,
    /// The number of tasks that the owner has claimed from the thieves' end.
    own_moved: Cell<u32>,
    free: Cell<u64>,
}

/// When the tasks of a deque are added to the balance of their scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// By the thief that takes a task.
    WhenStolen,
    /// By the worker that pushes a task. Or the tasks are not of a scope.
    WhenPushed,
}

/// A task deque; see the module.
pub(crate) struct Deque {
    owned: CachePadded<Owned>,
    limit: CachePadded<Limit>,
    taken: CachePadded<Taken>,
    guarded: CachePadded<Mutex<Guarded>>,
    ring: Ring<Job>,
    segments: Segments,
    counted: Counted,
}

// SAFETY: the functions that use cells are unsafe, and only the owner calls them.
unsafe impl Sync for Deque {}

impl Deque {
    /// Creates an empty deque, with room for `segments` segments.
    pub(crate) fn new(mode: Mode, segments: usize, counted: Counted) -> Deque {
        Deque {
            owned: CachePadded::new(Owned { bottom: AtomicU64::new(0), own_moved: Cell::new(0), free: Cell::new(0) }),
            limit: CachePadded::new(Limit::new(0, mode)),
            taken: CachePadded::new(Taken { public: PublicWord::new(), moved: AtomicU32::new(0) }),
            guarded: CachePadded::new(Guarded::new()),
            ring: Ring::new(),
            segments: Segments::new(segments),
            counted,
        }
    }

    /// Returns the words of the slow paths.
    fn split(&self) -> Split<'_, impl Fn(u32) -> u64 + '_> {
        Split {
            limit: &self.limit,
            public: &self.taken.public,
            guarded: &self.guarded,
            // Relaxed: any position close by would do.
            mark: |position| near(self.owned.bottom.load(Ordering::Relaxed), position),
        }
    }

    /// Pushes the task that `write` writes to its slot. The owner has to look at its alarm after
    /// this.
    ///
    /// # Safety
    ///
    /// Called by the owner. `write` writes a job.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, write: impl FnOnce(*mut Job)) {
        // Relaxed: the owner reads its own store.
        let bottom = self.owned.bottom.load(Ordering::Relaxed);
        // SAFETY: this is the owner.
        write(unsafe { self.ring.to_write(bottom).unwrap_or_else(|| self.enter_block(bottom)) });
        // Release: a raider that reads this `bottom` reads the slots below it.
        self.owned.bottom.store(bottom + 1, Ordering::Release);
        // A worker that raises the alarm issues the heavy barrier before it looks at `bottom` for
        // the last time.
        light();
    }

    /// Returns the slot for the task at `bottom`, in another block than the last one.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[cold]
    #[inline(never)]
    unsafe fn enter_block(&self, bottom: u64) -> *mut Job {
        // SAFETY: this is the owner.
        if !unsafe { self.ring.has_room(bottom) } {
            // SAFETY: as above.
            unsafe { self.make_room(bottom) };
        }
        // SAFETY: as above; the position has a slot.
        unsafe { self.ring.enter_to_write(bottom) }
    }

    /// Makes sure that the position `bottom` has a slot.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    unsafe fn make_room(&self, bottom: u64) {
        let (top, _) = self.positions();
        if bottom - top > MAX_TASKS {
            drop(NoUnwind("a worker has more than 2^30 tasks"));
        }
        // SAFETY: this is the owner.
        if let Some(top) = unsafe { self.top_if_all_moved() } {
            // This stays true: a position that was claimed is not used again. If thieves are under
            // way now, the owner goes on with what it knew before.
            self.owned.free.set(near(bottom, top));
        }
        let free = if defect(Defect::ReusesSlotsEarly) { top } else { self.owned.free.get() };
        // SAFETY: as above. Below `free` each task was claimed, and moved out of its slot.
        if let Err(error) = unsafe { self.ring.make_room(bottom, free) } {
            error.abort::<Job>();
        }
    }

    /// Takes the youngest task, if there is one above `base`.
    ///
    /// The caller takes the task out of the slot before it pushes another one. If there is none,
    /// the result says whether any of these tasks were taken from the other end.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, base: u64) -> Pop {
        // Relaxed: the owner reads its own store.
        let bottom = self.owned.bottom.load(Ordering::Relaxed);
        if bottom == base {
            // What is claimed is not used again, so `bottom` could not be here otherwise.
            return Pop::Empty;
        }
        let position = bottom - 1;
        // Release: as in `push`, for the slots below.
        self.owned.bottom.store(position, Ordering::Release);
        // A raider raises `limit`, issues the heavy barrier, and then reads `bottom`.
        light();
        if position >= self.limit.get() || self.split().settle(position as u32) {
            // SAFETY: this is the owner.
            return Pop::Task(unsafe { self.ring.to_read(position) });
        }
        // Stolen, and so are all below.
        if !defect(Defect::LeavesBottomBelowTop) {
            // Release: as above.
            self.owned.bottom.store(bottom, Ordering::Release);
        }
        Pop::Stolen
    }

    /// Takes the youngest task of the last segment out of its slot.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn take_youngest(&self) -> Option<Job> {
        // SAFETY: this is the owner.
        match unsafe { self.pop(self.segments.base()?) } {
            // SAFETY: popped, so it belongs to the owner.
            Pop::Task(job) => Some(unsafe { job.read() }),
            Pop::Empty | Pop::Stolen => None,
        }
    }

    /// Takes the oldest task out of its slot, whatever segment it is in.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn take_oldest(&self) -> Option<Job> {
        loop {
            match self.taken.public.claim_if(|_| true) {
                Claim::At(position) => {
                    // SAFETY: claimed, so written, and not used again before it counts as moved.
                    let job = unsafe { self.claimed(position).read() };
                    self.owned.own_moved.set(self.owned.own_moved.get().wrapping_add(1));
                    return Some(job);
                }
                Claim::Lost => {}
                Claim::Nothing => {
                    // Relaxed: the owner reads its own store.
                    let bottom = self.owned.bottom.load(Ordering::Relaxed) as u32;
                    let published = self.split().publish(bottom, |_| true, split::all);
                    // Nothing was private; but a raid may have published tasks just before.
                    if published == 0 && (!self.has_public() || defect(Defect::TakeOldestIgnoresPublic)) {
                        return None;
                    }
                }
            }
        }
    }

    /// Returns the task at a position that the caller has claimed.
    fn claimed(&self, position: u32) -> *const Job {
        // The ring looks at the low bits only.
        self.ring.claimed(position.into())
    }

    /// Returns when the tasks of the deque are counted.
    pub(crate) fn counted(&self) -> Counted {
        self.counted
    }

    /// Steals the oldest public task, if its position is wanted. `count` gets the lineage of the
    /// task before the task counts as moved.
    pub(crate) fn steal_if(&self, is_wanted: impl FnOnce(u64) -> bool, count: impl FnOnce(Lineage)) -> Theft {
        // Relaxed: any position close by would do.
        let mark = |position| near(self.owned.bottom.load(Ordering::Relaxed), position);
        match self.taken.public.claim_if(|position| is_wanted(mark(position))) {
            Claim::At(position) => {
                // SAFETY: claimed, so written, and not used again before it counts as moved.
                let job = unsafe { self.claimed(position).read() };
                if !defect(Defect::CountsAfterMoved) {
                    count(job.lineage);
                    // Release: an owner that sees it may use the slot again, and sees what was
                    // counted.
                    self.taken.moved.fetch_add(1, Ordering::Release);
                } else {
                    self.taken.moved.fetch_add(1, Ordering::Release);
                    count(job.lineage);
                }
                Theft::Task(job)
            }
            Claim::Lost => Theft::Lost,
            Claim::Nothing => Theft::Nothing,
        }
    }

    /// Returns whether all claimed tasks have been moved out of their slots, and counted.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn all_moved(&self) -> bool {
        // SAFETY: this is the owner.
        unsafe { self.top_if_all_moved() }.is_some()
    }

    /// Returns `top`, if all claimed tasks have been moved out of their slots, and counted. These
    /// are all tasks below `top`.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    unsafe fn top_if_all_moved(&self) -> Option<u32> {
        // Acquire, and first: see the module.
        let moved = self.taken.moved.load(Ordering::Acquire).wrapping_add(self.owned.own_moved.get());
        let top = self.taken.public.get().top;
        (moved == top).then_some(top)
    }

    /// Publishes the older half of the private tasks, unless some are public already. With `more`,
    /// it does so in any case. Returns the number of tasks published. The owner calls this.
    pub(crate) fn share(&self, more: bool) -> u32 {
        // Relaxed: the owner reads its own store.
        let bottom = self.owned.bottom.load(Ordering::Relaxed) as u32;
        self.split().publish(bottom, |has_public| more || !has_public, split::half)
    }

    /// Publishes tasks of an owner that does not respond. Returns false if the kernel refused the
    /// barrier; then the caller must ask the owner for fences.
    pub(crate) fn raid(&self, is_asleep: impl FnOnce() -> bool) -> bool {
        // Acquire: the slots below.
        let bottom = || self.owned.bottom.load(Ordering::Acquire) as u32;
        self.split().raid(is_asleep, bottom).is_some()
    }

    /// Returns whether each push and pop has a fence, or the owner never pops. Once true, it stays
    /// true.
    pub(crate) fn is_fenced(&self) -> bool {
        self.limit.is_fenced()
    }

    /// Asks the owner to fence. The caller raises the owner's alarm after this.
    pub(crate) fn request_fences(&self) {
        self.limit.request_fences();
    }

    /// Returns whether the last segment is for this lineage.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn is_open_for(&self, lineage: Lineage) -> bool {
        // SAFETY: this is the owner.
        let last = unsafe { self.lineage() };
        last == Some(lineage)
    }

    /// Returns the lineage of the last segment.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn lineage(&self) -> Option<Lineage> {
        // SAFETY: this is the owner.
        unsafe { self.segments.last() }
    }

    /// Switches the owner to the fenced mode, if a worker has asked for it. The owner calls this.
    pub(crate) fn handle_fence_request(&self) {
        self.split().handle_fence_request();
    }

    /// Opens a segment for the tasks of this lineage, if there is room for one. Returns the
    /// position where it begins.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline]
    pub(crate) unsafe fn open(&self, lineage: Lineage) -> Option<u64> {
        // Relaxed: the owner reads its own store.
        let base = self.owned.bottom.load(Ordering::Relaxed);
        // SAFETY: this is the owner.
        unsafe { self.segments.open(base, lineage) }.then_some(base)
    }

    /// Closes the last segment, whose tasks were all taken.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline]
    pub(crate) unsafe fn close(&self) {
        // SAFETY: this is the owner.
        unsafe { self.segments.close() };
    }

    /// Returns whether a segment is open.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn is_open(&self) -> bool {
        // SAFETY: this is the owner.
        unsafe { self.segments.base() }.is_some()
    }

    /// Returns whether the deque has more memory than a deque without tasks needs.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn has_spare_memory(&self) -> bool {
        // SAFETY: this is the owner.
        unsafe { self.ring.has_many() }
    }

    /// Frees memory that tasks have taken, if there are no tasks. Frees what was not needed since
    /// the last call, or, if `all`, nearly all of it.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn trim(&self, all: bool) {
        // Relaxed: the owner reads its own store.
        let bottom = self.owned.bottom.load(Ordering::Relaxed);
        // SAFETY: this is the owner.
        if unsafe { self.top_if_all_moved() } == Some(bottom as u32) {
            // SAFETY: as above. All positions were claimed and moved, or popped.
            unsafe { self.ring.trim(bottom, all) };
        }
    }
}

impl fmt::Debug for Deque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (top, bottom) = self.positions();
        f.debug_struct("Deque").field("top", &top).field("bottom", &bottom).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
