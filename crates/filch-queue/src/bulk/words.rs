//! The shared words of the two sides, and the drop of a queue.

use core::cell::UnsafeCell;
use core::marker::PhantomData;

use crossbeam_utils::CachePadded;

use super::directory::{Directory, Entry};
use super::owner::OwnerState;
use super::segment::Run;
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use crate::CapacityError;

/// The numbers of stolen tasks (lower half) and of popped tasks (upper half).
///
/// Both wrap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor(pub(super) u64);

impl Anchor {
    /// Returns the position of the oldest task.
    #[inline(always)]
    pub(super) fn top(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    fn popped(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns the position of the next pushed task, given the number of pushed tasks.
    #[inline(always)]
    pub(super) fn bottom(self, pushed: u64) -> u32 {
        (pushed as u32).wrapping_sub(self.popped())
    }

    /// Returns the number of tasks in the queue, given the number of pushed tasks.
    #[inline(always)]
    pub(super) fn length(self, pushed: u64) -> u32 {
        self.bottom(pushed).wrapping_sub(self.top())
    }

    /// Returns the anchor after a pop.
    #[inline(always)]
    pub(super) fn after_pop(self) -> Self {
        Anchor(self.0.wrapping_add(1 << 32))
    }

    /// Returns the anchor after a steal of `count` tasks.
    #[inline(always)]
    pub(super) fn after_steal(self, count: u32) -> Self {
        Anchor(self.0 & (u64::from(u32::MAX) << 32) | u64::from(self.top().wrapping_add(count)))
    }
}

/// The shared words; see the module [`bulk`](super).
pub(super) struct Words<T> {
    pub(super) anchor: CachePadded<AtomicU64>,
    pub(super) owner: CachePadded<OwnerWords>,
    /// The number of an entry that held the youngest stolen task, or the first number.
    ///
    /// Thieves write it, and start their search there. Any value is safe.
    pub(super) hint: CachePadded<AtomicU32>,
    /// Accessed only by the owner, and by the drop of the queue.
    pub(super) owner_state: CachePadded<UnsafeCell<OwnerState<T>>>,
    tasks: PhantomData<T>,
}

/// Words that only the owner writes.
pub(super) struct OwnerWords {
    /// The number of tasks pushed so far. Its lower half counts towards positions.
    ///
    /// It has 64 bits so that a thief can tell how many tasks were pushed while it was suspended.
    pub(super) pushed: AtomicU64,
    /// The number of the youngest entry.
    pub(super) last: AtomicU32,
    /// The directory.
    pub(super) ring: AtomicPtr<()>,
}

impl<T> Words<T> {
    /// Creates the words of an empty queue.
    ///
    /// `stolen` and `popped` tasks were already taken from it. Its first entry has the number
    /// `stolen`.
    pub(super) fn new(stolen: u32, popped: u32) -> Result<Self, CapacityError> {
        let ring = Directory::new(stolen)?;
        ring.set(stolen, Entry::<T> { start: stolen, base: 0, segment: None });
        Ok(Words {
            anchor: CachePadded::new(AtomicU64::new(u64::from(popped) << 32 | u64::from(stolen))),
            owner: CachePadded::new(OwnerWords {
                pushed: AtomicU64::new(u64::from(stolen.wrapping_add(popped))),
                last: AtomicU32::new(stolen),
                ring: AtomicPtr::new(ring.as_ptr()),
            }),
            hint: CachePadded::new(AtomicU32::new(stolen)),
            owner_state: CachePadded::new(UnsafeCell::new(OwnerState::new(ring, stolen, stolen))),
            tasks: PhantomData,
        })
    }

    /// Returns the number of tasks a moment ago, for callers other than the owner.
    pub(super) fn len(&self) -> usize {
        // Acquire: the count of pushed tasks is not older than the anchor, so the length is never
        // negative.
        let mut anchor = Anchor(self.anchor.load(Ordering::Acquire));
        // Tasks that the owner pushes and pops between the two loads would all be counted. This
        // rarely happens twice.
        for _ in 0..4 {
            // Acquire: the anchor is not older than the count.
            let length = anchor.length(self.owner.pushed.load(Ordering::Acquire));
            let now = Anchor(self.anchor.load(Ordering::Acquire));
            if now == anchor {
                return length as usize;
            }
            anchor = now;
        }
        // Relaxed: a hint.
        anchor.length(self.owner.pushed.load(Ordering::Relaxed)) as usize
    }
}

impl<T> Drop for Words<T> {
    fn drop(&mut self) {
        // Relaxed: no other handle is left.
        let anchor = Anchor(self.anchor.load(Ordering::Relaxed));
        let bottom = anchor.bottom(self.owner.pushed.load(Ordering::Relaxed));
        let state = self.owner_state.get_mut();
        state.drop_spare();
        RemainingTasks::<T> {
            ring: state.ring,
            next: Some(state.first),
            last: state.last,
            held: state.held,
            from: anchor.top(),
            bottom,
            tasks: PhantomData,
        }
        .drop_all();
    }
}

/// The entries that are left, and their tasks.
struct RemainingTasks<T> {
    ring: Directory,
    next: Option<u32>,
    last: u32,
    /// The number of slots of the youngest entry.
    held: u32,
    /// The position of the next task to drop.
    from: u32,
    bottom: u32,
    tasks: PhantomData<T>,
}

impl<T> RemainingTasks<T> {
    fn drop_all(&mut self) {
        while let Some(number) = self.next {
            // SAFETY: no other handle is left.
            let Entry { start, base, segment } = unsafe { self.ring.get::<T>(number) };
            self.next = (number != self.last).then(|| number.wrapping_add(1));
            let end = self.next.map_or(self.bottom, |next| self.ring.start(next));
            // All tasks of an entry before the top were stolen, and maybe of the one with the top.
            let count = if is_before(end, self.from) { 0 } else { end.wrapping_sub(self.from) };
            let skipped = self.from.wrapping_sub(start);
            let held = if self.next.is_none() { self.held - skipped } else { count };
            self.from = self.from.wrapping_add(count);
            // SAFETY: the tasks from the top to the bottom, and the slots with them and after the
            // youngest, belong to the entries.
            drop(segment.map(|segment| unsafe { Run::new(segment, base.wrapping_add(skipped), count, held) }));
        }
    }
}

/// Returns whether a position comes before another one.
///
/// They are less than 2^31 apart.
#[inline(always)]
pub(super) fn is_before(position: u32, other: u32) -> bool {
    (position.wrapping_sub(other) as i32) < 0
}

impl<T> Drop for RemainingTasks<T> {
    /// Continues after a panic.
    fn drop(&mut self) {
        struct Ring(Directory);

        impl Drop for Ring {
            fn drop(&mut self) {
                // SAFETY: no other handle is left, and no entry is read any more.
                unsafe { self.0.free() };
            }
        }

        let _ring = Ring(self.ring);
        self.drop_all();
    }
}
