//! The fork stack: a worker's forked jobs, the older ones public, the younger ones private.
//!
//! The owner pushes and pops at `bottom` by plain stores, without a fence and without a read-modify-write. The rest is there so that
//! others can take the oldest jobs all the same.
//!
//! | word | holds | written by |
//! |---|---|---|
//! | `bottom` | address of the first free slot | the owner, at each fork and each return |
//! | `alarm` | a fork that goes beyond this address takes the slow path: the end of the stack, or 0 | the owner, who alone switches it off; whoever wants work |
//! | `demand` | whether somebody wants work | the same |
//! | `limit` | a return below this address takes the slow path | who holds the lock |
//! | `public` | `top` and `split`: the jobs in between are to be had by a CAS of `top` | thieves move `top`; who holds the lock moves `split` |
//!
//! **Invariant.** A job that the owner pops without looking at `public` is at or above `limit`, and
//! `split` never exceeds a `limit` that the owner might not have seen. To raise `split`, first `limit`
//! rises. Then every thread passes a full barrier: the owner by no act of its own (see
//! [`barrier::heavy`]), or when it gets up, if it sleeps. Then `bottom` is read, and `split` rises
//! to at most that. When both come down, `split` does first.
//!
//! So the four ways in which the two ends meet are these:
//!
//! - *share*: the owner itself raises `split` and `limit`. It is its own barrier.
//! - *raid*: a thief does, for an owner that does not answer. The lock is not held across the barrier; `epoch` tells the raider whether
//!   anybody else lowered `limit` meanwhile, in which case the raid is off. Of several raids at once the first to come back counts.
//! - *settle*: the owner returns to a job below `limit`. Under the lock it is either private after all, or public and taken back
//!   by lowering `split` to or below it, or stolen. It takes back half of what is public, so that the next returns are private again.
//! - *reset*: a stolen job at depth u is done. All jobs below it are stolen too and none stand above it, so top = split = limit = bottom = u.
//!
//! A thief reads the slot after its CAS, never before: the slot of a stolen job stays untouched until the job is done, so
//! there is nothing to validate and no tag that could wrap. An old `public` that comes back is the same offer as before.
//!
//! **Fenced.** Where the kernel makes no barrier for us, `alarm` stays 0 and `limit` at the top of the
//! address space: every fork and every return takes the slow path, which has the fence and looks at
//! the true words. The fast path is the same code.
//!
//! **Refused.** The kernel may refuse a barrier later, for example after the program has installed a
//! seccomp filter. The raid then publishes nothing, leaves `limit` at the top and the alarm on, and
//! asks the owner for fences. The owner's next fork or return takes the slow path for one of the
//! two. There, or in a wait, the owner switches the stack to the fenced mode, for good, under the lock
//! and with a new epoch. So every raid runs in one mode from its beginning to its end. Until then, or
//! until it sleeps, the owner's private jobs cannot be taken: it cannot be known whether the owner
//! has popped them.
//!
//! Model-checked on bounded TSO: `crates/filch-model/src/models/runtime/stack.tso`.

mod region;
mod slot;

use std::fmt;

use crossbeam_utils::CachePadded;
use filch_queue::barrier;

pub(crate) use region::{start_of, Region};
pub(crate) use slot::{Execute, Slot, STRIDE};

use crate::defect::{defect, Defect};
use crate::sync::{fence, fence_after_exchange, lock, AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering};

/// The owner's half of the barrier. In loom's world it is a fence, which would hide a missing release.
#[inline(always)]
fn light() {
    if !(defect(Defect::LightIsNothing) || defect(Defect::ShareWithoutRelease) || Defect::refuses_barriers()) {
        barrier::light();
    }
}

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

/// Which side pays for the order of a store and a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The thief, by a barrier that the kernel makes.
    #[default]
    Asymmetric,
    /// The owner.
    Fenced,
}

/// Guarded by the lock.
#[derive(Debug)]
struct Moves {
    /// How often `limit` was written, but for raids that begin: those raise it above everything.
    epoch: u64,
}

/// `top` and `split`, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Public {
    top: u32,
    split: u32,
}

impl Public {
    fn unpack(word: u64) -> Public {
        Public { top: word as u32, split: (word >> 32) as u32 }
    }

    fn pack(self) -> u64 {
        u64::from(self.split) << 32 | u64::from(self.top)
    }
}

/// The two words that the owner loads on its fast path and others store to at times, and what stands behind them.
#[derive(Debug)]
struct Signs {
    alarm: AtomicUsize,
    limit: AtomicUsize,
    demand: AtomicBool,
    /// The true limit of a fenced stack.
    fenced_limit: AtomicUsize,
    /// Whether the stack is fenced. Only the owner changes it, once, and holds the lock.
    fenced: AtomicBool,
    /// Whether the kernel has refused a barrier to another worker.
    fences_wanted: AtomicBool,
}

/// See the module. The slots lie behind it, from `base` to `end`, and one more.
pub(crate) struct Stack {
    bottom: CachePadded<AtomicUsize>,
    signs: CachePadded<Signs>,
    public: CachePadded<AtomicU64>,
    moves: CachePadded<Mutex<Moves>>,
    base: usize,
    end: usize,
}

/// Makes every other running thread of the process pass a full barrier. Returns false if the kernel
/// refuses.
pub(crate) fn heavy_barrier() -> bool {
    if defect(Defect::NoBarrier) {
        return true;
    }
    !Defect::refuses_barriers() && barrier::heavy().is_ok()
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
        let (alarm, limit) = match mode {
            Mode::Asymmetric => (end, base),
            Mode::Fenced => (0, usize::MAX),
        };
        Stack {
            bottom: CachePadded::new(AtomicUsize::new(base)),
            signs: CachePadded::new(Signs {
                alarm: AtomicUsize::new(alarm),
                limit: AtomicUsize::new(limit),
                demand: AtomicBool::new(false),
                fenced_limit: AtomicUsize::new(base),
                fenced: AtomicBool::new(mode == Mode::Fenced),
                fences_wanted: AtomicBool::new(false),
            }),
            public: CachePadded::new(AtomicU64::new(0)),
            moves: CachePadded::new(Mutex::new(Moves { epoch: 0 })),
            base,
            end,
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
        // Relaxed: what is at or above the limit was never offered to anybody.
        address >= self.signs.limit.load(Ordering::Relaxed)
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

    fn set_limit(&self, _lock: &mut Moves, address: usize) {
        let limit = if self.is_fenced() { &self.signs.fenced_limit } else { &self.signs.limit };
        // Relaxed: the owner either wrote it itself, or is behind a barrier, or takes the lock.
        limit.store(address, Ordering::Relaxed);
    }

    /// Whether each fork and each return of the owner has a fence. It stays so.
    pub(crate) fn is_fenced(&self) -> bool {
        // Acquire: a worker that relies on the fences of later forks sees the earlier forks.
        self.signs.fenced.load(Ordering::Acquire)
    }

    /// Asks the owner to fence its forks and returns, because the kernel refuses barriers.
    pub(crate) fn ask_for_fences(&self) {
        // Relaxed: the owner switches the alarm off, has a fence, and then looks at this.
        self.signs.fences_wanted.store(true, Ordering::Relaxed);
        // SeqCst: so an owner that does not see the request has switched the alarm off before this
        // worker looks at it, and it is raised again.
        fence(Ordering::SeqCst);
        self.alarm();
    }

    /// Lets the owner switch to the fenced mode where it neither forks nor returns, if a worker has
    /// asked for that.
    pub(crate) fn heed_request(&self) {
        // Relaxed: as in `grant_fences`.
        if self.signs.fences_wanted.load(Ordering::Relaxed) && !self.is_fenced() {
            self.grant_fences(&mut lock(&self.moves));
        }
    }

    /// Switches the stack to the fenced mode, if a worker has asked for that. Called by the owner.
    fn grant_fences(&self, moves: &mut Moves) {
        // Relaxed: a raider writes it under the lock; for other askers see `ask_for_fences`.
        if !self.signs.fences_wanted.load(Ordering::Relaxed) || self.is_fenced() {
            return;
        }
        // Raids that began in the other mode are off.
        moves.epoch += 1;
        // Relaxed: raids read it under the lock, the owner itself without.
        self.signs.fenced_limit.store(self.address(self.public().split), Ordering::Relaxed);
        // Release: see `is_fenced`.
        self.signs.fenced.store(true, Ordering::Release);
        // Relaxed: from now on only the owner needs them, and they do not change any more.
        self.signs.limit.store(usize::MAX, Ordering::Relaxed);
        self.signs.alarm.store(0, Ordering::Relaxed);
    }

    fn public(&self) -> Public {
        // Acquire: who sees a split sees the slots below it.
        Public::unpack(self.public.load(Ordering::Acquire))
    }

    /// Moves `split`; `top` may move meanwhile. `target` says where to, given what is there now.
    fn move_split(&self, _lock: &mut Moves, mut target: impl FnMut(Public) -> Option<u32>) -> Public {
        let mut now = self.public();
        loop {
            let Some(split) = target(now) else { return now };
            // AcqRel: publishes the slots below the split; a failed CAS has seen a thief.
            let next = Public { split, ..now };
            let ordering = if defect(Defect::ShareWithoutRelease) { Ordering::Relaxed } else { Ordering::AcqRel };
            match self.public.compare_exchange(now.pack(), next.pack(), ordering, Ordering::Acquire) {
                Ok(_) => return next,
                Err(seen) => now = Public::unpack(seen),
            }
        }
    }

    /// The owner came back to a job below `limit`. Returns whether it is its own; if not, it was stolen.
    #[cold]
    pub(crate) fn settle(&self, slot: &Slot) -> bool {
        if self.is_fenced() {
            // The fence that `pop` lacks.
            fence(Ordering::SeqCst);
            // Relaxed: as in `pop`.
            if std::ptr::from_ref(slot).addr() >= self.signs.fenced_limit.load(Ordering::Relaxed) {
                return true;
            }
        }
        let depth = self.index_of(slot);
        let mut moves = lock(&self.moves);
        self.grant_fences(&mut moves);
        moves.epoch += 1;
        let mut mine = true;
        let after = self.move_split(&mut moves, |Public { top, split }| {
            mine = depth >= top;
            (mine && depth < split).then(|| top + (depth - top) / 2)
        });
        self.set_limit(&mut moves, self.address(after.split));
        mine
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
        let bottom = self.index(self.bottom());
        let mut moves = lock(&self.moves);
        self.grant_fences(&mut moves);
        moves.epoch += 1;
        let mut published = 0;
        let after = self.move_split(&mut moves, |Public { top, split }| {
            published = 0;
            if !is_due(top < split) || split >= bottom {
                return None;
            }
            published = (bottom - split).div_ceil(2);
            Some(split + published)
        });
        self.set_limit(&mut moves, self.address(after.split));
        published
    }

    /// A thief takes the oldest public job.
    pub(crate) fn steal(&self) -> Theft<'_> {
        self.steal_if(|_| true)
    }

    /// As [`steal`](Stack::steal), if the depth of that job is wanted.
    pub(crate) fn steal_if(&self, is_wanted: impl FnOnce(u32) -> bool) -> Theft<'_> {
        let now = self.public();
        if now.top >= now.split || !is_wanted(now.top) {
            return Theft::Nothing;
        }
        let next = Public { top: now.top + 1, ..now };
        // Acquire: the slot as its owner filled it. Release: the owner that finds its job stolen has seen who did it and what came before.
        match self.public.compare_exchange(now.pack(), next.pack(), Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Theft::Job(self.slot(now.top)),
            Err(_) => Theft::Lost,
        }
    }

    /// Publishes jobs of an owner that does not answer. Returns how many; `None` if the kernel refused
    /// the barrier, and the owner was asked for fences.
    ///
    /// `is_asleep` tells whether the owner sleeps or is about to. It forks and returns only after it
    /// has got up, with a fence. So such an owner needs no barrier.
    #[cold]
    pub(crate) fn raid(&self, is_asleep: impl FnOnce() -> bool) -> Option<u32> {
        let (epoch, fenced) = {
            let mut moves = lock(&self.moves);
            self.set_limit(&mut moves, usize::MAX);
            (moves.epoch, self.is_fenced())
        };
        if !defect(Defect::NoBarrier) && !defect(Defect::RaidsWithoutFence) {
            // SeqCst: the fence of a fenced owner, or of one that gets up, is on the other side.
            fence(Ordering::SeqCst);
        }
        let passed = fenced || is_asleep() || heavy_barrier();
        let mut moves = lock(&self.moves);
        if !passed && !defect(Defect::RefusalIgnored) {
            if self.is_fenced() {
                return Some(0);
            }
            // The owner's next return takes the slow path, and by the alarm its next fork.
            self.set_limit(&mut moves, usize::MAX);
            self.ask_for_fences();
            return None;
        }
        if moves.epoch != epoch && !defect(Defect::RaidAfterSettle) {
            return Some(0);
        }
        // Only now: raids that begin while others are under way must not call those off, or two raiders could do so for ever.
        moves.epoch += 1;
        let mut published = 0;
        // Acquire: the slots below.
        let bottom = self.index(self.bottom.load(Ordering::Acquire).min(self.end));
        let after = self.move_split(&mut moves, |Public { split, .. }| {
            published = bottom.saturating_sub(split).div_ceil(2);
            (published > 0).then_some(split + published)
        });
        self.set_limit(&mut moves, self.address(after.split));
        Some(published)
    }

    /// The owner has the result of the stolen job in `slot`.
    pub(crate) fn reset(&self, slot: &Slot) {
        slot.clear();
        let depth = self.index_of(slot);
        let mut moves = lock(&self.moves);
        self.grant_fences(&mut moves);
        moves.epoch += 1;
        debug_assert_eq!(self.public(), Public { top: depth + 1, split: depth + 1 });
        // AcqRel: a thief that finds a job here later finds the slot cleared.
        self.public.swap(Public { top: depth, split: depth }.pack(), Ordering::AcqRel);
        self.set_limit(&mut moves, self.address(depth));
        // Release: as in `pop`.
        self.bottom.store(self.address(depth), Ordering::Release);
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

    /// Whether another worker has asked for work since the owner last answered.
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
        let Public { top, split } = self.public();
        (top, split)
    }

    /// From which depth to below which there were jobs a moment ago that no worker has taken. As
    /// [`has_jobs`](Stack::has_jobs): one look.
    pub(crate) fn depths(&self) -> (u32, u32) {
        // Relaxed: a raid reads it again.
        let bottom = self.index(self.bottom.load(Ordering::Relaxed).min(self.end));
        (self.public().top, bottom)
    }

    /// Whether there were private jobs a moment ago. After a heavy barrier: whether there are any that were forked before the owner could
    /// see an alarm raised before the barrier.
    pub(crate) fn has_private(&self) -> bool {
        // Relaxed: a raid reads it again.
        self.index(self.bottom.load(Ordering::Relaxed).min(self.end)) > self.public().split
    }

    /// How many jobs the owner has that nobody else can see, roughly, given its first free slot; and whether nobody wants any.
    #[inline(always)]
    pub(crate) fn is_rich(&self, slot: &Slot, enough: usize) -> bool {
        let address = std::ptr::from_ref(slot).addr();
        // Relaxed: a hint.
        let limit = self.signs.limit.load(Ordering::Relaxed);
        limit <= address && address - limit >= enough * STRIDE && self.signs.alarm.load(Ordering::Relaxed) != 0
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Public { top, split } = self.public();
        f.debug_struct("Stack")
            .field("top", &top)
            .field("split", &split)
            .field("bottom", &self.index(self.bottom()))
            .finish_non_exhaustive()
    }
}
