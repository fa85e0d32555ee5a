//! The boundary between the private tasks of an owner and its public tasks.
//!
//! The older tasks of a stack or a deque are public, and thieves may take them. The younger ones
//! are private.
//!
//! The owner pushes and pops at `bottom` by plain stores, without a fence and without a
//! read-modify-write. The words here still let thieves take the oldest tasks. The fork stack, the
//! task deques and the [split queue](crate::split_queue) use them.
//!
//! | word | holds | written by |
//! |---|---|---|
//! | `bottom` | the first free position; kept by the stack or deque itself | the owner, at each push and pop |
//! | `limit` | a pop below this position takes the slow path | the holder of the lock |
//! | `public` | `top` and `split`: what is in between can be taken by a CAS of `top` | thieves move `top`, and owners that take their oldest; the holder of the lock moves `split` |
//!
//! **Invariant.** What the owner pops without a look at `public` is at or above `limit`, and
//! `split` never exceeds a `limit` that the owner might not have seen. To raise `split`, first
//! `limit` rises. Then every thread passes a full barrier. A running owner does so by no act of its
//! own (see [`barrier::heavy`]); a sleeping owner does so when it wakes. Then `bottom` is read, and
//! `split` rises to at most that. When both come down, `split` does first.
//!
//! The two ends meet in these ways:
//!
//! - *share*: the owner itself raises `split` and `limit`. It is its own barrier.
//! - *raid*: a thief raises them, for an owner that does not respond. The lock is not held across
//!   the barrier; `epoch` tells the raider whether another thread lowered `limit` meanwhile. If so,
//!   the raid is called off. Of several raids at once the first to come back counts.
//! - *settle*: the owner pops something below `limit`. Under the lock it is either private after
//!   all, or public and taken back by lowering `split` to or below it, or stolen. The owner takes
//!   back half of what is public, so that the next pops are private again.
//!
//! A thief reads the slot after its CAS, never before. A slot that was claimed stays untouched
//! until the thief is done with it. So there is nothing to validate, and no tag that could wrap: an
//! old `public` that comes back is the same offer as before.
//!
//! Positions are 32 bits and wrap. They are compared by their distance, which is below 2^31.
//!
//! **Fenced.** If the kernel provides no barrier, `limit` stays above every position. So every pop
//! takes the slow path, which has the fence and looks at the true limit. Every push does too, by
//! the alarm of the [fork stack](crate::stack). The fast path is the same code. A deque whose owner
//! never pops is in this mode from the start: a raid of it needs no barrier.
//!
//! **Refused.** The kernel may refuse a barrier later, for example after the program has installed
//! a seccomp filter. The raid then publishes nothing, leaves `limit` at the top and the alarm on,
//! and asks the owner for fences. The owner's next push or pop takes the slow path for one of the
//! two. There, in a strict wait, before it runs something that came from elsewhere, or when a method
//! of its own pool runs a closure, the owner switches to the fenced mode, permanently, under the
//! lock and with a new epoch. So every raid runs in one mode from its beginning to its end. Until
//! the owner has switched, or until it sleeps, its private tasks cannot be taken: a thief cannot
//! know whether the owner has popped them.
//!
//! Model-checked on bounded TSO: `stack.tso` and `tasks.tso` in
//! `crates/filch-model/src/models/runtime`, without the switch from one mode to the other. The
//! switch is checked by loom.

use filch_queue::barrier;

use crate::defect::{defect, Defect};
use crate::sync::{fence, lock, AtomicBool, AtomicU64, Mutex, Ordering};

/// A limit above every position: every pop takes the slow path.
pub(crate) const EVERYTHING: u64 = u64::MAX;

/// The owner's half of the barrier. Under loom it is a fence, which would hide a missing release.
#[inline(always)]
pub(crate) fn light() {
    if !(defect(Defect::NoLightBarrier) || defect(Defect::ShareWithoutRelease) || Defect::refuses_barriers()) {
        barrier::light();
    }
}

/// Makes every other running thread of the process pass a full barrier. Returns false if the kernel
/// refuses.
pub(crate) fn heavy_barrier() -> bool {
    if defect(Defect::NoBarrier) {
        return true;
    }
    !Defect::refuses_barriers() && barrier::heavy().is_ok()
}

/// The side that pays for the order of a store and a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The thief, by a barrier of the kernel.
    #[default]
    Asymmetric,
    /// The owner, by a fence.
    Fenced,
}

/// Returns the number of positions from `from` to below `to`; 0 if `to` is behind.
pub(crate) fn distance(from: u32, to: u32) -> u32 {
    let distance = to.wrapping_sub(from);
    if distance > i32::MAX as u32 {
        0
    } else {
        distance
    }
}

/// Returns the 64-bit position that is close to `bottom` and has these low bits.
pub(crate) fn near(bottom: u64, position: u32) -> u64 {
    let ahead = position.wrapping_sub(bottom as u32) as i32;
    bottom.wrapping_add_signed(ahead.into())
}

/// The positions `top` and `split`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Public {
    pub(crate) top: u32,
    pub(crate) split: u32,
}

impl Public {
    fn unpack(word: u64) -> Public {
        Public { top: word as u32, split: (word >> 32) as u32 }
    }

    fn pack(self) -> u64 {
        u64::from(self.split) << 32 | u64::from(self.top)
    }

    /// Returns the number of public tasks.
    pub(crate) fn len(self) -> u32 {
        distance(self.top, self.split)
    }
}

/// The positions `top` and `split`, packed into one atomic word.
#[derive(Debug)]
pub(crate) struct PublicWord(AtomicU64);

impl PublicWord {
    pub(crate) fn new() -> PublicWord {
        PublicWord(AtomicU64::new(0))
    }

    pub(crate) fn get(&self) -> Public {
        // Acquire: a thread that sees a split sees the slots below it.
        Public::unpack(self.0.load(Ordering::Acquire))
    }

    /// Sets both back to `position`. Only for an owner whose tasks are all claimed.
    pub(crate) fn reset(&self, position: u32) {
        // AcqRel: a thief that finds a task here later finds the slot cleared.
        self.0.swap(Public { top: position, split: position }.pack(), Ordering::AcqRel);
    }

    /// Claims the oldest public task for a thief, if its position is wanted.
    pub(crate) fn claim_if(&self, is_wanted: impl FnOnce(u32) -> bool) -> Claim {
        self.claim(|now| u32::from(is_wanted(now.top)))
    }

    /// Claims the oldest public tasks for a thief. `share` returns how many of them.
    ///
    /// To claim several is to claim one after the other with nothing in between.
    pub(crate) fn claim(&self, share: impl FnOnce(Public) -> u32) -> Claim {
        let now = self.get();
        if now.len() == 0 {
            return Claim::Nothing;
        }
        let share = share(now);
        debug_assert!(share <= now.len());
        if share == 0 {
            return Claim::Nothing;
        }
        let next = Public { top: now.top.wrapping_add(share), ..now };
        // Acquire: the slot as its owner filled it. Release: an owner that finds its task stolen
        // has seen what came before the theft.
        match self.0.compare_exchange(now.pack(), next.pack(), Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Claim::At(now.top),
            Err(_) => Claim::Lost,
        }
    }
}

/// The result of an attempt to claim the oldest public task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The thief has claimed the task at this position, or several from there.
    At(u32),
    /// Another thief was faster.
    Lost,
    /// No wanted task is public.
    Nothing,
}

/// The `limit` word, and the state behind it. The owner loads the word on its fast path, and other
/// threads store to it at times.
#[derive(Debug)]
pub(crate) struct Limit {
    limit: AtomicU64,
    /// The true limit of a fenced owner.
    fenced_limit: AtomicU64,
    /// Whether the owner fences. Only the owner changes it, once, and holds the lock.
    fenced: AtomicBool,
    /// Whether the kernel has refused a barrier of the process.
    fences_requested: AtomicBool,
}

impl Limit {
    pub(crate) fn new(base: u64, mode: Mode) -> Limit {
        let is_fenced = mode == Mode::Fenced;
        Limit {
            limit: AtomicU64::new(if is_fenced { EVERYTHING } else { base }),
            fenced_limit: AtomicU64::new(base),
            fenced: AtomicBool::new(is_fenced),
            fences_requested: AtomicBool::new(false),
        }
    }

    /// Returns the position below which a pop takes the slow path.
    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        // Relaxed: what is at or above the limit was never offered to other workers.
        self.limit.load(Ordering::Relaxed)
    }

    fn set(&self, mark: u64) {
        let limit = if self.is_fenced() { &self.fenced_limit } else { &self.limit };
        // Relaxed: the owner wrote it itself, or is behind a barrier, or takes the lock.
        limit.store(mark, Ordering::Relaxed);
    }

    /// Returns whether each push and pop has a fence, or there are no pops. Once true, it stays
    /// true.
    pub(crate) fn is_fenced(&self) -> bool {
        // Acquire: a worker that relies on the fences of later pushes sees the earlier pushes.
        self.fenced.load(Ordering::Acquire)
    }

    /// Asks the owner to fence its pushes and pops. The caller raises the owner's alarm after this.
    pub(crate) fn request_fences(&self) {
        // Relaxed: the owner switches the alarm off, has a fence, and then looks at this.
        self.fences_requested.store(true, Ordering::Relaxed);
    }

    /// Returns whether the owner has been asked for fences, by itself or another worker, and has not
    /// switched to them.
    pub(crate) fn has_fence_request(&self) -> bool {
        // Relaxed: a raider writes it under the lock; for other writers see `request_fences`.
        self.fences_requested.load(Ordering::Relaxed) && !self.is_fenced()
    }
}

/// State that is guarded by the lock.
#[derive(Debug)]
pub(crate) struct Guarded {
    /// The number of writes of `limit`. Does not count those of raids that begin, which raise it
    /// above everything.
    epoch: u64,
    /// Whether a thread has asked for a look of the owner's next pop. Then `limit` stays above
    /// everything until a pop has settled that returns a task.
    is_asked: bool,
}

impl Guarded {
    pub(crate) fn new() -> Mutex<Guarded> {
        Mutex::new(Guarded { epoch: 0, is_asked: false })
    }
}

/// The state at the begin of a raid.
#[derive(Debug)]
pub(crate) struct Raid {
    epoch: u64,
    fenced: bool,
}

/// The slow paths, for the stack or deque that has these words. `mark` converts a position to a
/// value of `limit`.
pub(crate) struct Split<'a, M> {
    pub(crate) limit: &'a Limit,
    pub(crate) public: &'a PublicWord,
    pub(crate) guarded: &'a Mutex<Guarded>,
    pub(crate) mark: M,
}

impl<M: Fn(u32) -> u64> Split<'_, M> {
    fn set_limit(&self, guarded: &mut Guarded, mark: u64) {
        let is_kept = guarded.is_asked && !defect(Defect::LowersLimitOfAlarm);
        self.limit.set(if is_kept { EVERYTHING } else { mark });
    }

    /// Switches the owner to the fenced mode, if a worker has asked for it. The owner calls this.
    pub(crate) fn handle_fence_request(&self) {
        if self.limit.has_fence_request() {
            self.grant_fences(&mut lock(self.guarded));
        }
    }

    fn grant_fences(&self, guarded: &mut Guarded) {
        if !self.limit.has_fence_request() {
            return;
        }
        // Raids that began in the other mode are called off.
        if !defect(Defect::SwitchKeepsRaids) {
            guarded.epoch += 1;
        }
        // Relaxed: raids read it under the lock, and the owner itself reads it without. Only the split
        // queue is asked, and sets the limit again after this.
        self.limit.fenced_limit.store((self.mark)(self.public.get().split), Ordering::Relaxed);
        // Release: see `is_fenced`.
        self.limit.fenced.store(true, Ordering::Release);
        // Relaxed: from now on only the owner needs it, and it does not change any more.
        self.limit.limit.store(EVERYTHING, Ordering::Relaxed);
    }

    /// Moves `split`; `top` may move meanwhile. `target` returns the new `split` for the present
    /// state.
    fn move_split(&self, _lock: &mut Guarded, mut target: impl FnMut(Public) -> Option<u32>) -> Public {
        let mut now = self.public.get();
        loop {
            let Some(split) = target(now) else { return now };
            // AcqRel: publishes the slots below the split; a failed CAS has seen a thief.
            let next = Public { split, ..now };
            let ordering = if defect(Defect::ShareWithoutRelease) { Ordering::Relaxed } else { Ordering::AcqRel };
            match self.public.0.compare_exchange(now.pack(), next.pack(), ordering, Ordering::Acquire) {
                Ok(_) => return next,
                Err(seen) => now = Public::unpack(seen),
            }
        }
    }

    /// Settles a pop of the owner at `position`, below `limit`. Returns whether the task is the
    /// owner's; if not, it was stolen.
    #[cold]
    pub(crate) fn settle(&self, position: u32) -> bool {
        if self.limit.is_fenced() {
            // The fast path of a pop has no fence.
            fence(Ordering::SeqCst);
            // Relaxed: as in `Limit::get`.
            if (self.mark)(position) >= self.limit.fenced_limit.load(Ordering::Relaxed) {
                return true;
            }
        }
        let mut guarded = lock(self.guarded);
        self.grant_fences(&mut guarded);
        guarded.epoch += 1;
        let mut mine = true;
        let after = self.move_split(&mut guarded, |now| {
            // At or above `top`.
            mine = distance(position, now.top) == 0;
            let above = distance(now.top, position);
            (mine && above < now.len()).then(|| now.top.wrapping_add(above / 2))
        });
        // A pop that finds its task stolen answers nothing.
        guarded.is_asked &= !mine;
        self.set_limit(&mut guarded, (self.mark)(after.split));
        mine
    }

    /// Publishes the oldest private tasks of the owner, if it is due.
    ///
    /// `is_due` gets whether some tasks are public already. `share` gets the number of private
    /// tasks and returns how many of them to publish. Returns the number of tasks published. The
    /// owner calls this.
    #[cold]
    pub(crate) fn publish(&self, bottom: u32, is_due: impl Fn(bool) -> bool, share: impl Fn(u32) -> u32) -> u32 {
        let mut guarded = lock(self.guarded);
        self.grant_fences(&mut guarded);
        guarded.epoch += 1;
        let mut published = 0;
        let after = self.move_split(&mut guarded, |now| {
            published = 0;
            let private = distance(now.split, bottom);
            if !is_due(now.len() > 0) || private == 0 {
                return None;
            }
            published = share(private);
            Some(now.split.wrapping_add(published))
        });
        self.set_limit(&mut guarded, (self.mark)(after.split));
        published
    }

    /// Publishes tasks of an owner that does not respond. The owner has tasks up to `bottom`.
    ///
    /// Returns the number of tasks published, or `None` if the kernel refused the barrier. Then the
    /// owner was asked for fences, and the caller must raise its alarm.
    ///
    /// `is_asleep` returns whether the owner sleeps or is about to. Such an owner pushes and pops
    /// only after it has woken, with a fence. So it needs no barrier.
    #[cold]
    pub(crate) fn raid(&self, is_asleep: impl FnOnce() -> bool, bottom: impl FnOnce() -> u32) -> Option<u32> {
        let raid = self.begin_raid();
        if !defect(Defect::NoBarrier) && !defect(Defect::RaidsWithoutFence) {
            // SeqCst: pairs with the fence of a fenced owner, or of an owner that wakes.
            fence(Ordering::SeqCst);
        }
        let passed = raid.fenced || is_asleep() || heavy_barrier();
        self.end_raid(raid, passed, bottom)
    }

    /// Makes the owner's next pop take the slow path, whatever shares and raids come before it. A
    /// thief calls this.
    pub(crate) fn ask(&self) {
        let mut guarded = lock(self.guarded);
        guarded.is_asked = true;
        self.set_limit(&mut guarded, EVERYTHING);
    }

    fn begin_raid(&self) -> Raid {
        let mut guarded = lock(self.guarded);
        self.set_limit(&mut guarded, EVERYTHING);
        Raid { epoch: guarded.epoch, fenced: self.limit.is_fenced() }
    }

    fn end_raid(&self, raid: Raid, passed: bool, bottom: impl FnOnce() -> u32) -> Option<u32> {
        let mut guarded = lock(self.guarded);
        if !passed && !defect(Defect::RefusalIgnored) {
            if self.limit.is_fenced() {
                return Some(0);
            }
            // The owner's next pop takes the slow path, and by the alarm its next push.
            self.set_limit(&mut guarded, EVERYTHING);
            self.limit.request_fences();
            return None;
        }
        if guarded.epoch != raid.epoch && !defect(Defect::RaidAfterSettle) {
            return Some(0);
        }
        // Only now: raids that begin while others are under way must not call those off, or two
        // raiders could do so forever.
        guarded.epoch += 1;
        let mut published = 0;
        let bottom = bottom();
        let after = self.move_split(&mut guarded, |now| {
            published = distance(now.split, bottom).div_ceil(2);
            (published > 0).then(|| now.split.wrapping_add(published))
        });
        self.set_limit(&mut guarded, (self.mark)(after.split));
        Some(published)
    }

    /// Sets everything back to `position`. The owner calls this when all tasks are claimed, and
    /// done with.
    ///
    /// `lower_bottom` does the same with `bottom`, under the lock: a raid in between would publish
    /// again what is done.
    pub(crate) fn reset(&self, position: u32, lower_bottom: impl FnOnce()) {
        let mut guarded = lock(self.guarded);
        self.grant_fences(&mut guarded);
        guarded.epoch += 1;
        self.public.reset(position);
        self.set_limit(&mut guarded, (self.mark)(position));
        lower_bottom();
    }
}

/// Returns `private`: a `share` that publishes all.
pub(crate) fn all(private: u32) -> u32 {
    private
}

/// Returns the larger half of `private`.
pub(crate) fn half(private: u32) -> u32 {
    private.div_ceil(2)
}
