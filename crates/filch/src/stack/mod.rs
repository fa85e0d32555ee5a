//! The fork stack: a worker's forked jobs, the older ones public, the younger ones private.
//!
//! The owner pushes and pops at `bottom` by plain stores, without a fence and without a
//! read-modify-write. How thieves take the oldest jobs all the same is in [`split`](crate::split).
//! Here a position is the index of a slot, and `limit` and `bottom` are addresses of slots.
//!
//! | word | holds | written by |
//! |---|---|---|
//! | `bottom` | address of the first free slot | the owner, at each fork and each return |
//! | `alarm` | a fork that goes beyond this address takes the slow path: the end of the stack, or 0 | the owner, which alone switches it off; any worker that wants work |
//! | `demand` | whether another worker wants work | the same |
//!
//! The alarm is the seat's, not only the stack's: a push of a [task](crate::tasks) looks at it too.
//!
//! Beside share, raid and settle there is one more way in which the two ends meet. *Reset*: a
//! stolen job at depth u is done. All jobs below it are stolen too and none stand above it, so top
//! = split = limit = bottom = u. Until then its slot stays untouched.
//!
//! In the fenced mode the alarm stays 0.

mod region;
mod slot;

use std::fmt;

use crossbeam_utils::CachePadded;

pub(crate) use region::{start_of, Region};
pub(crate) use slot::{Execute, Slot, STRIDE};

use crate::split::{self, light, Claim, Limit, Mode, Moves, Public, PublicWord, Split};
use crate::sync::{fence, fence_after_exchange, AtomicBool, AtomicUsize, Mutex, Ordering};

/// What an attempt to steal came to.
#[derive(Debug)]
pub(crate) enum Theft<'a> {
    /// A job. It is the thief's.
    Job(&'a Slot),
    /// Another thief was faster.
    Lost,
    /// Nothing is public.
    Nothing,
}

/// The two words that the owner loads on its fast path and others store to at times, and what stands behind them.
#[derive(Debug)]
struct Signs {
    alarm: AtomicUsize,
    limit: Limit,
    demand: AtomicBool,
}

/// See the module. The slots lie behind it, from `base` to `end`, and one more.
pub(crate) struct Stack {
    bottom: CachePadded<AtomicUsize>,
    signs: CachePadded<Signs>,
    public: CachePadded<PublicWord>,
    moves: CachePadded<Mutex<Moves>>,
    base: usize,
    end: usize,
}

impl Stack {
    /// A stack over `slots` slots that lie in a row from address `base` on, and of which the last is never used up.
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
            signs: CachePadded::new(Signs {
                alarm: AtomicUsize::new(alarm),
                limit: Limit::new(base as u64, mode),
                demand: AtomicBool::new(false),
            }),
            public: CachePadded::new(PublicWord::new()),
            moves: CachePadded::new(Moves::new()),
            base,
            end,
        }
    }

    /// The slow paths.
    fn split(&self) -> Split<'_, impl Fn(u32) -> u64 + '_> {
        Split {
            limit: &self.signs.limit,
            public: &self.public,
            moves: &self.moves,
            mark: |index| self.address(index) as u64,
        }
    }

    fn slot(&self, index: u32) -> &Slot {
        let address = self.base + index as usize * STRIDE;
        debug_assert!(address <= self.end);
        // SAFETY: within the slots, which live as long as `self` and whose provenance is exposed (see `new`).
        unsafe { &*std::ptr::with_exposed_provenance::<Slot>(address) }
    }

    fn index(&self, address: usize) -> u32 {
        ((address - self.base) / STRIDE) as u32
    }

    fn address(&self, index: u32) -> usize {
        self.base + index as usize * STRIDE
    }

    /// Which slot of the stack this is.
    pub(crate) fn index_of(&self, slot: &Slot) -> u32 {
        self.index(std::ptr::from_ref(slot).addr())
    }

    /// The address of the first free slot. Only the owner knows it for certain.
    #[inline(always)]
    pub(crate) fn bottom(&self) -> usize {
        // Relaxed: the owner reads its own store.
        self.bottom.load(Ordering::Relaxed)
    }

    /// Whether nothing stands on the stack, given its `bottom`.
    pub(crate) fn is_empty_at(&self, bottom: usize) -> bool {
        bottom == self.base
    }

    /// Whether `slot`, the first free one, is beyond the end of the stack.
    pub(crate) fn is_full_at(&self, slot: &Slot) -> bool {
        std::ptr::from_ref(slot).addr() >= self.end
    }

    /// The owner forks a job into `slot`, the first free one. Returns whether it has to take the slow path: the stack is full
    /// (then the job does not count as forked), or somebody may want work.
    #[inline(always)]
    pub(crate) fn push(&self, slot: &Slot, data: *const (), execute: Execute) -> bool {
        slot.fill(data, execute);
        let above = std::ptr::from_ref(slot).addr() + STRIDE;
        // Release: a raider that reads this `bottom` reads the slots below it.
        self.bottom.store(above, Ordering::Release);
        // Whoever raises the alarm issues the heavy barrier before it looks at `bottom` for the last time.
        light();
        // Relaxed: only a sign.
        above > self.signs.alarm.load(Ordering::Relaxed)
    }

    /// The owner is back from the first closure. Returns whether the job in `slot` is its own; otherwise it has to [`settle`](Stack::settle).
    #[inline(always)]
    pub(crate) fn pop(&self, slot: &Slot) -> bool {
        let address = std::ptr::from_ref(slot).addr();
        // Release: as in `push`, for the slots below.
        self.bottom.store(address, Ordering::Release);
        // A raider raises `limit`, issues the heavy barrier, and then reads `bottom`.
        light();
        address as u64 >= self.signs.limit.get()
    }

    /// The owner withdraws a fork that found the stack full.
    pub(crate) fn withdraw(&self, slot: &Slot) {
        // Release: as in `pop`.
        self.bottom.store(std::ptr::from_ref(slot).addr(), Ordering::Release);
    }

    /// The owner occupies `slot`, whose job was stolen, and works above it; or, with the slot above, goes on above nothing.
    pub(crate) fn stand_above(&self, slot: &Slot) {
        // Release: as in `push`.
        self.bottom.store(std::ptr::from_ref(slot).addr() + STRIDE, Ordering::Release);
    }

    /// Whether each fork and each return of the owner has a fence. It stays so.
    pub(crate) fn is_fenced(&self) -> bool {
        self.signs.limit.is_fenced()
    }

    /// Asks the owner to fence its forks and returns, because the kernel refuses barriers.
    pub(crate) fn ask_for_fences(&self) {
        self.signs.limit.ask_for_fences();
        // SeqCst: so an owner that does not see the request has switched the alarm off before this
        // worker looks at it, and it is raised again.
        fence(Ordering::SeqCst);
        self.alarm();
    }

    /// Lets the owner switch to the fenced mode where it neither forks nor returns, if a worker has
    /// asked for that.
    pub(crate) fn heed_request(&self) {
        self.split().heed_request();
        self.keep_alarm();
    }

    /// A fenced owner takes the slow path at each fork.
    fn keep_alarm(&self) {
        if self.is_fenced() {
            // Relaxed: from now on only the owner needs it, and it does not change any more.
            self.signs.alarm.store(0, Ordering::Relaxed);
        }
    }

    /// The owner came back to a job below `limit`. Returns whether it is its own; if not, it was stolen.
    #[cold]
    pub(crate) fn settle(&self, slot: &Slot) -> bool {
        let is_mine = self.split().settle(self.index_of(slot));
        self.keep_alarm();
        is_mine
    }

    /// The owner publishes the older half of its private jobs, unless some are public already. Returns how many it published.
    pub(crate) fn share(&self) -> u32 {
        self.publish_half(|has_public| !has_public)
    }

    /// The same, also if some are public already: a worker was woken for one more.
    pub(crate) fn share_more(&self) -> u32 {
        self.publish_half(|_| true)
    }

    #[cold]
    fn publish_half(&self, is_due: impl Fn(bool) -> bool) -> u32 {
        let published = self.split().publish(self.index(self.bottom()), is_due, split::half);
        self.keep_alarm();
        published
    }

    /// A thief takes the oldest public job.
    pub(crate) fn steal(&self) -> Theft<'_> {
        self.steal_if(|_| true)
    }

    /// As [`steal`](Stack::steal), if the depth of that job is wanted.
    pub(crate) fn steal_if(&self, is_wanted: impl FnOnce(u32) -> bool) -> Theft<'_> {
        match self.public.claim_if(is_wanted) {
            Claim::At(index) => Theft::Job(self.slot(index)),
            Claim::Lost => Theft::Lost,
            Claim::Nothing => Theft::Nothing,
        }
    }

    /// Publishes jobs of an owner that does not answer. Returns how many; `None` if the kernel refused
    /// the barrier, and the owner was asked for fences.
    ///
    /// `is_asleep` tells whether the owner sleeps or is about to.
    #[cold]
    pub(crate) fn raid(&self, is_asleep: impl FnOnce() -> bool) -> Option<u32> {
        // Acquire: the slots below.
        let bottom = || self.index(self.bottom.load(Ordering::Acquire).min(self.end));
        let published = self.split().raid(is_asleep, bottom);
        if published.is_none() {
            self.ask_for_fences();
        }
        published
    }

    /// The owner has the result of the stolen job in `slot`.
    pub(crate) fn reset(&self, slot: &Slot) {
        slot.clear();
        let depth = self.index_of(slot);
        debug_assert_eq!(self.public_depths(), (depth + 1, depth + 1));
        // Release: as in `pop`.
        self.split().reset(depth, || self.bottom.store(self.address(depth), Ordering::Release));
        self.keep_alarm();
    }

    /// Somebody wants work: the next fork takes the slow path.
    pub(crate) fn demand(&self) {
        // Relaxed: one who must not miss a fork issues the heavy barrier next. Written only if it changes something: the owner reads this line at each fork.
        if !self.signs.demand.load(Ordering::Relaxed) {
            // Release and the order of the two: an owner that sees the alarm sees the demand, or leaves it for its next fork.
            self.signs.demand.store(true, Ordering::Release);
        }
        self.alarm();
    }

    /// Whether the alarm is on.
    #[inline(always)]
    pub(crate) fn is_alarmed(&self) -> bool {
        // Relaxed: as in `push`.
        self.signs.alarm.load(Ordering::Relaxed) == 0
    }

    /// Whether another worker has asked for work since the owner last answered.
    #[inline(always)]
    pub(crate) fn is_demanded(&self) -> bool {
        // Relaxed: a hint; the next fork looks again.
        self.signs.demand.load(Ordering::Relaxed)
    }

    /// The next fork takes the slow path, for whatever reason.
    pub(crate) fn alarm(&self) {
        // Relaxed: as above.
        if self.signs.alarm.load(Ordering::Relaxed) != 0 {
            self.signs.alarm.store(0, Ordering::Release);
        }
    }

    /// The owner answers the alarm. Returns whether somebody awake wants work.
    ///
    /// The alarm is off before anybody is looked for, so that one who raises it from now on is not overlooked.
    pub(crate) fn answer(&self) -> bool {
        if self.is_fenced() {
            // SeqCst: the fence that `push` lacks.
            fence(Ordering::SeqCst);
        } else {
            // What the owner reads next, it reads after this store.
            self.signs.alarm.swap(self.end, Ordering::SeqCst);
            fence_after_exchange();
        }
        // After the alarm is off, so that a request is not overlooked: see `ask_for_fences`.
        self.heed_request();
        // Relaxed look first: in the fenced mode this runs at each fork.
        self.signs.demand.load(Ordering::Relaxed) && self.signs.demand.swap(false, Ordering::AcqRel)
    }

    /// The slot of the oldest job, for models in which it is stolen.
    #[cfg(all(test, loom))]
    pub(crate) fn oldest(&self) -> &Slot {
        self.slot(0)
    }

    /// Whether a thief would find something now: public jobs.
    pub(crate) fn has_public(&self) -> bool {
        let (top, split) = self.public_depths();
        top < split
    }

    /// Whether there were jobs a moment ago that nobody has taken, public or private. As one look: while a job stands, `bottom` is above it and `top` is not,
    /// whatever moves between them.
    pub(crate) fn has_jobs(&self) -> bool {
        let (top, bottom) = self.depths();
        top < bottom
    }

    /// From which depth to below which there are public jobs.
    pub(crate) fn public_depths(&self) -> (u32, u32) {
        let Public { top, split } = self.public.get();
        (top, split)
    }

    /// From which depth to below which there were jobs a moment ago that no worker has taken. As
    /// [`has_jobs`](Stack::has_jobs): one look.
    pub(crate) fn depths(&self) -> (u32, u32) {
        // Relaxed: a raid reads it again.
        let bottom = self.index(self.bottom.load(Ordering::Relaxed).min(self.end));
        (self.public.get().top, bottom)
    }

    /// Whether there were private jobs a moment ago. After a heavy barrier: whether there are any that were forked before the owner could
    /// see an alarm raised before the barrier.
    pub(crate) fn has_private(&self) -> bool {
        // Relaxed: a raid reads it again.
        self.index(self.bottom.load(Ordering::Relaxed).min(self.end)) > self.public.get().split
    }

    /// Whether jobs can be published by a raid only: some are private, and none is public.
    pub(crate) fn needs_raid(&self) -> bool {
        self.has_private() && !self.has_public()
    }

    /// How many jobs the owner has that nobody else can see, roughly, given its first free slot; and whether nobody wants any.
    #[inline(always)]
    pub(crate) fn is_rich(&self, slot: &Slot, enough: usize) -> bool {
        let address = std::ptr::from_ref(slot).addr();
        let (limit, address) = (self.signs.limit.get(), address as u64);
        // Relaxed: a hint.
        limit <= address && address - limit >= (enough * STRIDE) as u64 && self.signs.alarm.load(Ordering::Relaxed) != 0
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
