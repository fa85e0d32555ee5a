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

use std::cell::Cell;
use std::fmt;
use std::mem::forget;

use crossbeam_utils::CachePadded;
use filch_queue::handle::Handle;
use filch_queue::{barrier, AtLeastOnce, CapacityError, ExactlyOnce, PushError, Steal};

use crate::defect::{defect, Defect};
use crate::ring::{OutOfMemory, Ring, Slot};
use crate::split::{self, distance, light, near, Claim, Guarded, Limit, Mode, PublicWord, Split};
use crate::sync::{fence, AtomicU32, AtomicU64, Mutex, Ordering};

/// The most tasks at one time. Positions are compared by 32 bits.
const MAX_TASKS: u64 = 1 << 30;

/// The most tasks of one steal.
pub(crate) const MAX_SHARE: u32 = 256;

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
const PUSH_IS_SLOW: u32 = WANTED | PUSH_LOOKS | FENCED;

/// The words that thieves write.
#[derive(Debug)]
struct Taken {
    public: PublicWord,
    moved: AtomicU32,
}

/// The words that the owner reads at each push or pop, and others seldom write.
#[derive(Debug)]
struct Requests {
    alarm: AtomicU32,
    limit: Limit,
}

/// What the two sides share.
struct Shared<T> {
    bottom: CachePadded<AtomicU64>,
    requests: CachePadded<Requests>,
    taken: CachePadded<Taken>,
    guarded: CachePadded<Mutex<Guarded>>,
    /// Below this position all tasks were moved out when the owner last looked. Only the owner uses
    /// it.
    free: Cell<u64>,
    ring: Ring<T>,
}

// SAFETY: tasks move between threads. Only the owner, which is unique, uses the cell and the parts
// of the ring that are not atomic.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The result of a pop below `limit`.
enum Settled {
    /// The task is the owner's. Whether its client should look.
    Owners { look: bool },
    /// The task was stolen.
    Stolen,
}

/// Creates an empty queue.
pub(crate) fn new<T>() -> (Owner<T>, Thief<T>) {
    with_mode(if barrier::register() { Mode::Asymmetric } else { Mode::Fenced })
}

/// Creates an empty queue whose barriers are paid for by this side.
pub(crate) fn with_mode<T>(mode: Mode) -> (Owner<T>, Thief<T>) {
    // The first push looks at what happened before.
    let alarm = WANTED | PUSH_LOOKS | if mode == Mode::Fenced { FENCED } else { 0 };
    let shared = Handle::new(Shared {
        bottom: CachePadded::new(AtomicU64::new(0)),
        requests: CachePadded::new(Requests { alarm: AtomicU32::new(alarm), limit: Limit::new(0, mode) }),
        taken: CachePadded::new(Taken { public: PublicWord::new(), moved: AtomicU32::new(0) }),
        guarded: CachePadded::new(Guarded::new()),
        free: Cell::new(0),
        ring: Ring::new(),
    });
    let origin = Cell::new(std::ptr::null_mut());
    let owner = Owner { shared: shared.clone(), bottom: Cell::new(0), base: Cell::new(0), origin };
    (owner, Thief { shared })
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
                    if !defect(Defect::LeavesBottomBelowTop) {
                        // Release: as above.
                        self.shared.bottom.store(bottom, Ordering::Release);
                        // All below were stolen, too.
                        self.base.set(bottom);
                        self.shared.trim(bottom);
                    }
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

/// A thief's side: steals, and raids owners that do not respond.
pub struct Thief<T> {
    shared: Handle<Shared<T>>,
}

impl<T> Thief<T> {
    /// Claims up to `most` of the oldest tasks, at most half of those that are public. If all tasks
    /// are private, asks the owner for some, and aborts.
    pub(crate) fn claim(&self, most: u32) -> Steal<Claimed<'_, T>> {
        match self.shared.claim(most) {
            Steal::Empty if self.shared.has_private() => {
                self.shared.ask();
                Steal::Abort
            }
            result => result,
        }
    }

    /// Like [`claim`](Thief::claim), but publishes tasks of an owner that has only private ones.
    /// Aborts only if the kernel refuses a barrier.
    pub(crate) fn claim_or_raid(&self, most: u32) -> Steal<Claimed<'_, T>> {
        match self.shared.claim(most) {
            Steal::Empty if self.shared.has_private() => {
                // So that a pop that calls the raid off publishes something.
                self.shared.ask();
                if self.shared.raid() {
                    self.shared.claim(most).or_retry_if(|| self.shared.has_private())
                } else {
                    Steal::Abort
                }
            }
            result => result,
        }
    }
}

#[cfg(all(loom, test))]
impl<T> Thief<T> {
    pub(crate) fn raid(&self) -> bool {
        self.shared.raid()
    }

    pub(crate) fn has_public(&self) -> bool {
        self.shared.taken.public.get().len() > 0
    }
}

/// Retries a steal that found nothing public.
trait OrRetry {
    fn or_retry_if(self, has_private: impl FnOnce() -> bool) -> Self;
}

impl<C> OrRetry for Steal<C> {
    fn or_retry_if(self, has_private: impl FnOnce() -> bool) -> Self {
        match self {
            Steal::Empty if has_private() => Steal::Retry,
            result => result,
        }
    }
}

fn one<T>(claimed: Steal<Claimed<'_, T>>) -> Steal<T> {
    match claimed {
        Steal::Success(mut claimed) => claimed.next().map_or(Steal::Retry, Steal::Success),
        Steal::Empty => Steal::Empty,
        Steal::Retry => Steal::Retry,
        Steal::Abort => Steal::Abort,
    }
}

impl<T> filch_queue::Thief for Thief<T> {
    type Task = T;

    fn steal(&self) -> Steal<T> {
        one(self.claim_or_raid(1))
    }

    fn steal_or_abort(&self) -> Steal<T> {
        one(self.claim(1))
    }

    fn raise_alarm(&self) {
        self.shared.raise_alarm();
    }

    fn len(&self) -> usize {
        self.shared.len()
    }
}

impl<T> Clone for Thief<T> {
    fn clone(&self) -> Self {
        Thief { shared: self.shared.clone() }
    }
}

/// Tasks that a thief has claimed. The tasks that are left are dropped with it.
pub(crate) struct Claimed<'a, T> {
    shared: &'a Shared<T>,
    next: u32,
    left: u32,
    count: u32,
}

impl<T> Iterator for Claimed<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let position = self.next;
        self.next = position.wrapping_add(1);
        // The ring looks at the low bits only.
        // SAFETY: claimed, so written, and not used again before it counts as moved.
        Some(unsafe { self.shared.ring.claimed(position.into()).read() })
    }
}

impl<T> Drop for Claimed<'_, T> {
    fn drop(&mut self) {
        /// Counts the tasks as moved, also if the drop of one panics.
        struct Count<'a>(&'a AtomicU32, u32);
        impl Drop for Count<'_> {
            fn drop(&mut self) {
                // Release: an owner that sees it may use the slots again.
                self.0.fetch_add(self.1, Ordering::Release);
            }
        }
        let _count = Count(&self.shared.taken.moved, self.count);
        drop_all(self);
    }
}

/// Drops all tasks, also if the drop of one panics.
fn drop_all<T>(tasks: &mut dyn Iterator<Item = T>) {
    struct Rest<'a, T>(&'a mut dyn Iterator<Item = T>);
    impl<T> Drop for Rest<'_, T> {
        fn drop(&mut self) {
            self.0.for_each(drop);
        }
    }
    while let Some(task) = tasks.next() {
        let rest = Rest(tasks);
        drop(task);
        forget(rest);
    }
}

impl<T> Shared<T> {
    /// Returns the words of the slow paths.
    fn split(&self) -> Split<'_, impl Fn(u32) -> u64 + '_> {
        Split {
            limit: &self.requests.limit,
            public: &self.taken.public,
            guarded: &self.guarded,
            // Relaxed: any position close by would do.
            mark: |position| near(self.bottom.load(Ordering::Relaxed), position),
        }
    }

    /// Returns the number of tasks a moment ago.
    fn len(&self) -> usize {
        // Relaxed: a hint; a thief that needs the truth is behind a barrier.
        let bottom = self.bottom.load(Ordering::Relaxed) as u32;
        distance(self.taken.public.get().top, bottom) as usize
    }

    /// Returns whether there were private tasks a moment ago.
    fn has_private(&self) -> bool {
        // Relaxed: as in `len`.
        let bottom = self.bottom.load(Ordering::Relaxed) as u32;
        distance(self.taken.public.get().split, bottom) > 0
    }

    fn raise_alarm(&self) {
        self.ask_for(RAISED);
    }

    /// Asks the owner for tasks. A thief asks again and again, so it does not write what is there.
    fn ask(&self) {
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

    fn claim(&self, most: u32) -> Steal<Claimed<'_, T>> {
        let mut count = 0;
        let claim = self.taken.public.claim(|public| {
            count = public.len().div_ceil(2).min(most);
            count
        });
        match claim {
            Claim::At(next) => Steal::Success(Claimed { shared: self, next, left: count, count }),
            Claim::Lost => Steal::Retry,
            Claim::Nothing => Steal::Empty,
        }
    }

    /// Publishes tasks of an owner that does not respond. Returns false if the kernel refuses the
    /// barrier. Then the owner has been asked for fences.
    #[cold]
    fn raid(&self) -> bool {
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
    fn answer(&self, bottom: u64) -> bool {
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
    fn settle(&self, position: u64, base: u64) -> Settled {
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
    fn top_if_all_moved(&self) -> Option<u32> {
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
    unsafe fn origin_for(&self, position: u64) -> *mut Slot<T> {
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
    unsafe fn block_for(&self, bottom: u64) -> Result<*mut Slot<T>, CapacityError> {
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
    fn trim(&self, bottom: u64) {
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
        drop(Claimed { shared: self, next, left, count: left });
    }
}

impl<T> AtLeastOnce for Owner<T> {}
impl<T> AtLeastOnce for Thief<T> {}
// SAFETY: the owner pops a task, or thieves claim it, and not both: see `split`. Positions that were
// claimed are not used again.
unsafe impl<T> ExactlyOnce for Owner<T> {}
// SAFETY: as above.
unsafe impl<T> ExactlyOnce for Thief<T> {}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("len", &self.shared.len()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Thief<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thief").field("len", &self.shared.len()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
