//! The fork stack of a worker. The older forked jobs are public, the younger ones private.
//!
//! The owner pushes and pops at `bottom` by plain stores, without a fence and without a
//! read-modify-write. How thieves can still take the oldest jobs is in [`split`](crate::split).
//! Here a position is the index of a slot, and `limit` and `bottom` are addresses of slots.
//!
//! | word | holds | written by |
//! |---|---|---|
//! | `bottom` | address of the first free slot | the owner, at each fork and each return |
//! | `alarm` | a fork that goes beyond this address takes the slow path: the end of the stack, or 0 | the owner, which alone switches it off; any worker that wants work |
//! | `demand` | whether another worker wants work | the same |
//!
//! The alarm belongs to the seat, not only to the stack: a push of a [task](crate::tasks) looks at
//! it too.
//!
//! Beside share, raid and settle, the two ends meet in one more way. *Reset*: a stolen job at depth
//! u is done. All jobs below it are stolen too and none stand above it, so top = split = limit =
//! bottom = u. Until then its slot stays untouched.
//!
//! In the fenced mode the alarm stays 0.

mod region;
mod slot;

use std::fmt;

use crossbeam_utils::CachePadded;

pub(crate) use region::{start_of, Region};
pub(crate) use slot::{Execute, Slot, STRIDE};

use crate::split::{self, light, Claim, Guarded, Limit, Mode, Public, PublicWord, Split};
use crate::sync::{fence, fence_after_exchange, AtomicBool, AtomicUsize, Mutex, Ordering};

/// The result of an attempt to steal.
#[derive(Debug)]
pub(crate) enum Theft<'a> {
    /// A job, which the thief now owns.
    Job(&'a Slot),
    /// Another thief was faster.
    Lost,
    /// Nothing is public.
    Nothing,
}

/// The `alarm` and `limit` words, and the state behind them. The owner loads them on its fast path,
/// and other workers store to them at times.
#[derive(Debug)]
struct Signals {
    alarm: AtomicUsize,
    limit: Limit,
    demand: AtomicBool,
}

/// The fork stack of a worker; see the module. The slots lie behind it, from `base` to `end`, and
/// one more.
pub(crate) struct Stack {
    bottom: CachePadded<AtomicUsize>,
    signals: CachePadded<Signals>,
    public: CachePadded<PublicWord>,
    guarded: CachePadded<Mutex<Guarded>>,
    base: usize,
    end: usize,
}

impl Stack {
    /// Creates a stack over `slots` slots, which lie in a row from address `base` on. The last slot
    /// is never used up.
    ///
    /// # Safety
    ///
    /// The slots live as long as the stack, and their provenance is exposed.
    pub(crate) unsafe fn new(base: usize, slots: usize, mode: Mode) -> Stack {
        assert!(slots >= 2 && slots <= u32::MAX as usize, "a fork stack of {slots} slots");
        let end = base + (slots - 1) * STRIDE;
        let alarm = match mode {
            Mode::Asymmetric => end,
            Mode::Fenced => 0,
        };
        Stack {
            bottom: CachePadded::new(AtomicUsize::new(base)),
            signals: CachePadded::new(Signals {
                alarm: AtomicUsize::new(alarm),
                limit: Limit::new(base as u64, mode),
                demand: AtomicBool::new(false),
            }),
            public: CachePadded::new(PublicWord::new()),
            guarded: CachePadded::new(Guarded::new()),
            base,
            end,
        }
    }

    /// Returns the words of the slow paths.
    fn split(&self) -> Split<'_, impl Fn(u32) -> u64 + '_> {
        Split {
            limit: &self.signals.limit,
            public: &self.public,
            guarded: &self.guarded,
            mark: |index| self.address(index) as u64,
        }
    }

    fn slot(&self, index: u32) -> &Slot {
        let address = self.base + index as usize * STRIDE;
        debug_assert!(address <= self.end);
        // SAFETY: within the slots, which live as long as `self` and whose provenance is exposed
        // (see `new`).
        unsafe { &*std::ptr::with_exposed_provenance::<Slot>(address) }
    }

    fn index(&self, address: usize) -> u32 {
        ((address - self.base) / STRIDE) as u32
    }

    fn address(&self, index: u32) -> usize {
        self.base + index as usize * STRIDE
    }

    /// Returns the index of `slot` on the stack.
    pub(crate) fn index_of(&self, slot: &Slot) -> u32 {
        self.index(std::ptr::from_ref(slot).addr())
    }

    /// Returns the address of the first free slot. Only the owner knows it for certain.
    #[inline(always)]
    pub(crate) fn bottom(&self) -> usize {
        // Relaxed: the owner reads its own store.
        self.bottom.load(Ordering::Relaxed)
    }

    /// Returns whether nothing stands on the stack, given its `bottom`.
    pub(crate) fn is_empty_at(&self, bottom: usize) -> bool {
        bottom == self.base
    }

    /// Returns whether `slot`, the first free one, is beyond the end of the stack.
    pub(crate) fn is_full_at(&self, slot: &Slot) -> bool {
        std::ptr::from_ref(slot).addr() >= self.end
    }

    /// Forks a job into `slot`, the first free one. The owner calls this.
    ///
    /// Returns whether the owner has to take the slow path: the stack is full (then the job does
    /// not count as forked), or another worker may want work.
    #[inline(always)]
    pub(crate) fn push(&self, slot: &Slot, data: *const (), execute: Execute) -> bool {
        slot.fill(data, execute);
        let above = std::ptr::from_ref(slot).addr() + STRIDE;
        // Release: a raider that reads this `bottom` reads the slots below it.
        self.bottom.store(above, Ordering::Release);
        // A worker that raises the alarm issues the heavy barrier before it looks at `bottom` for
        // the last time.
        light();
        // Relaxed: only a signal.
        above > self.signals.alarm.load(Ordering::Relaxed)
    }

    /// Takes the job in `slot` back. The owner calls this after the first closure. Returns whether
    /// the job is its own; otherwise it has to [`settle`](Stack::settle).
    #[inline(always)]
    pub(crate) fn pop(&self, slot: &Slot) -> bool {
        let address = std::ptr::from_ref(slot).addr();
        // Release: as in `push`, for the slots below.
        self.bottom.store(address, Ordering::Release);
        // A raider raises `limit`, issues the heavy barrier, and then reads `bottom`.
        light();
        address as u64 >= self.signals.limit.get()
    }

    /// Withdraws a fork that found the stack full. The owner calls this.
    pub(crate) fn withdraw(&self, slot: &Slot) {
        // Release: as in `pop`.
        self.bottom.store(std::ptr::from_ref(slot).addr(), Ordering::Release);
    }

    /// Sets `bottom` to the slot above `slot`. The job in `slot` was stolen, and the owner works
    /// above it.
    pub(crate) fn set_bottom_above(&self, slot: &Slot) {
        // Release: as in `push`.
        self.bottom.store(std::ptr::from_ref(slot).addr() + STRIDE, Ordering::Release);
    }

    /// Returns whether each fork and each return of the owner has a fence. Once true, it stays
    /// true.
    pub(crate) fn is_fenced(&self) -> bool {
        self.signals.limit.is_fenced()
    }

    /// Asks the owner to fence its forks and returns, because the kernel refuses barriers.
    pub(crate) fn request_fences(&self) {
        self.signals.limit.request_fences();
        // SeqCst: so an owner that does not see the request has switched the alarm off before this
        // worker looks at it, and it is raised again.
        fence(Ordering::SeqCst);
        self.alarm();
    }

    /// Switches the owner to the fenced mode, if a worker has asked for it. The owner calls this at
    /// a fork, at a return whose pop is settled, or where it neither forks nor returns.
    pub(crate) fn handle_fence_request(&self) {
        self.split().handle_fence_request();
        self.keep_alarm();
    }

    /// Keeps the alarm on for a fenced owner. So it takes the slow path at each fork.
    fn keep_alarm(&self) {
        if self.is_fenced() {
            // Relaxed: from now on only the owner needs it, and it does not change any more.
            self.signals.alarm.store(0, Ordering::Relaxed);
        }
    }

    /// Settles a pop below `limit`. Returns whether the job is the owner's; if not, it was stolen.
    #[cold]
    pub(crate) fn settle(&self, slot: &Slot) -> bool {
        let is_mine = self.split().settle(self.index_of(slot));
        self.keep_alarm();
        is_mine
    }

    /// Publishes the older half of the private jobs, unless some are public already. Returns the
    /// number of jobs published. The owner calls this.
    pub(crate) fn share(&self) -> u32 {
        self.publish_half(|has_public| !has_public)
    }

    /// Does the same as [`share`](Stack::share), also if some jobs are public already. A worker was
    /// woken for one more.
    pub(crate) fn share_more(&self) -> u32 {
        self.publish_half(|_| true)
    }

    #[cold]
    fn publish_half(&self, is_due: impl Fn(bool) -> bool) -> u32 {
        let published = self.split().publish(self.index(self.bottom()), is_due, split::half);
        self.keep_alarm();
        published
    }

    /// Steals the oldest public job.
    pub(crate) fn steal(&self) -> Theft<'_> {
        self.steal_if(|_| true)
    }

    /// Steals the oldest public job, if its depth is wanted.
    pub(crate) fn steal_if(&self, is_wanted: impl FnOnce(u32) -> bool) -> Theft<'_> {
        match self.public.claim_if(is_wanted) {
            Claim::At(index) => Theft::Job(self.slot(index)),
            Claim::Lost => Theft::Lost,
            Claim::Nothing => Theft::Nothing,
        }
    }

    /// Publishes jobs of an owner that does not respond. Returns the number of jobs published, or
    /// `None` if the kernel refused the barrier, and the owner was asked for fences.
    ///
    /// `is_asleep` returns whether the owner sleeps or is about to.
    #[cold]
    pub(crate) fn raid(&self, is_asleep: impl FnOnce() -> bool) -> Option<u32> {
        // Acquire: the slots below.
        let bottom = || self.index(self.bottom.load(Ordering::Acquire).min(self.end));
        let published = self.split().raid(is_asleep, bottom);
        if published.is_none() {
            self.request_fences();
        }
        published
    }

    /// Frees `slot`, when the owner has the result of the stolen job in it.
    pub(crate) fn reset(&self, slot: &Slot) {
        slot.clear();
        let depth = self.index_of(slot);
        debug_assert_eq!(self.public_depths(), (depth + 1, depth + 1));
        // Release: as in `pop`.
        self.split().reset(depth, || self.bottom.store(self.address(depth), Ordering::Release));
        self.keep_alarm();
    }

    /// Asks the owner for work: its next fork takes the slow path.
    pub(crate) fn demand(&self) {
        // Relaxed: a worker that must not miss a fork issues the heavy barrier next. Written only
        // if it changes something: the owner reads this line at each fork.
        if !self.signals.demand.load(Ordering::Relaxed) {
            // Release and the order of the two: an owner that sees the alarm sees the demand, or
            // leaves it for its next fork.
            self.signals.demand.store(true, Ordering::Release);
        }
        self.alarm();
    }

    /// Returns whether the alarm is on.
    #[inline(always)]
    pub(crate) fn is_alarmed(&self) -> bool {
        // Relaxed: as in `push`.
        self.signals.alarm.load(Ordering::Relaxed) == 0
    }

    /// Returns whether another worker has asked for work since the owner last answered.
    #[inline(always)]
    pub(crate) fn is_demanded(&self) -> bool {
        // Relaxed: a hint; the next fork looks again.
        self.signals.demand.load(Ordering::Relaxed)
    }

    /// Raises the alarm: the next fork takes the slow path, for whatever reason.
    pub(crate) fn alarm(&self) {
        // Relaxed: as above.
        if self.signals.alarm.load(Ordering::Relaxed) != 0 {
            self.signals.alarm.store(0, Ordering::Release);
        }
    }

    /// Answers the alarm. Returns whether a worker that is awake wants work. The owner calls this.
    ///
    /// The alarm is off before the owner looks for other workers, so that a worker that raises it
    /// from now on is not overlooked.
    pub(crate) fn answer(&self) -> bool {
        if self.is_fenced() {
            // SeqCst: the fence that `push` does not have.
            fence(Ordering::SeqCst);
        } else {
            // The owner's next loads come after this store.
            self.signals.alarm.swap(self.end, Ordering::SeqCst);
            fence_after_exchange();
        }
        // After the alarm is off, so that a request is not overlooked: see `request_fences`.
        self.handle_fence_request();
        // Relaxed look first: in the fenced mode this runs at each fork.
        self.signals.demand.load(Ordering::Relaxed) && self.signals.demand.swap(false, Ordering::AcqRel)
    }

    /// Returns the slot of the oldest job, for models in which it is stolen.
    #[cfg(all(test, loom))]
    pub(crate) fn oldest(&self) -> &Slot {
        self.slot(0)
    }

    /// Returns whether there are public jobs, which a thief would find now.
    pub(crate) fn has_public(&self) -> bool {
        let (top, split) = self.public_depths();
        top < split
    }

    /// Returns whether there were untaken jobs a moment ago, public or private. It counts as one
    /// look: while a job stands, `bottom` is above it and `top` is not, whatever moves between
    /// them.
    pub(crate) fn has_jobs(&self) -> bool {
        let (top, bottom) = self.depths();
        top < bottom
    }

    /// Returns the range of depths at which there are public jobs.
    pub(crate) fn public_depths(&self) -> (u32, u32) {
        let Public { top, split } = self.public.get();
        (top, split)
    }

    /// Returns the range of depths at which there were untaken jobs a moment ago. Like
    /// [`has_jobs`](Stack::has_jobs), it counts as one look.
    pub(crate) fn depths(&self) -> (u32, u32) {
        // Relaxed: a raid reads it again.
        let bottom = self.index(self.bottom.load(Ordering::Relaxed).min(self.end));
        (self.public.get().top, bottom)
    }

    /// Returns whether there were private jobs a moment ago. After a heavy barrier: whether there
    /// are any that were forked before the owner could see an alarm raised before the barrier.
    pub(crate) fn has_private(&self) -> bool {
        // Relaxed: a raid reads it again.
        self.index(self.bottom.load(Ordering::Relaxed).min(self.end)) > self.public.get().split
    }

    /// Returns whether only a raid can publish jobs: some are private, and none is public.
    pub(crate) fn needs_raid(&self) -> bool {
        self.has_private() && !self.has_public()
    }

    /// Returns whether the owner has about `enough` private jobs, and no worker wants any. `slot`
    /// is its first free slot.
    #[inline(always)]
    pub(crate) fn has_enough_private(&self, slot: &Slot, enough: usize) -> bool {
        let address = std::ptr::from_ref(slot).addr();
        let (limit, address) = (self.signals.limit.get(), address as u64);
        // Relaxed: a hint.
        limit <= address
            && address - limit >= (enough * STRIDE) as u64
            && self.signals.alarm.load(Ordering::Relaxed) != 0
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Public { top, split } = self.public.get();
        f.debug_struct("Stack")
            .field("top", &top)
            .field("split", &split)
            .field("bottom", &self.index(self.bottom()))
            .finish_non_exhaustive()
    }
}
