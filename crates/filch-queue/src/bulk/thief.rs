//! The two steps of a steal: claim the tasks, then fetch them.

use alloc::vec::Vec;
use core::mem;

use super::batch::Batch;
use super::directory::{Directory, Entry};
use super::segment::Run;
use super::words::{Anchor, Words};
use crate::sync::{has_flaw, Ordering};

/// Claimed positions, and the directory that leads to them.
pub(super) struct Claim {
    top: u32,
    count: u32,
    /// The number of the youngest entry when the claim was made.
    last: u32,
    ring: Directory,
}

impl<T> Words<T> {
    /// Claims the oldest tasks, or returns `None` if the queue is empty.
    ///
    /// `share` computes the number of tasks, at least 1, from the length of the queue.
    ///
    /// # Safety
    ///
    /// No other thread steals meanwhile, and the claim is fetched before the next claim.
    #[inline]
    pub(super) unsafe fn claim(&self, share: impl Fn(u32) -> u32) -> Option<Claim> {
        // Acquire: pairs with the owner's release in `pop`. The next load counts all tasks pushed
        // before that pop.
        let mut anchor = Anchor(self.anchor.load(Ordering::Acquire));
        loop {
            // Acquire: pairs with the release in a push. The tasks that it counts are in their
            // slots, and in the directory.
            let length = anchor.length(self.owner.pushed.load(Ordering::Acquire));
            if length == 0 {
                return None;
            }
            // Acquire, in this order: the loaded ring has the entries up to the loaded number.
            let last = self.owner.last.load(Ordering::Acquire);
            let ring = self.owner.ring.load(Ordering::Acquire);
            let count = share(length);
            if has_flaw("bulk: a claim that proves nothing") {
                anchor = Anchor(self.anchor.load(Ordering::Acquire));
            }
            let claimed = anchor.after_steal(count);
            // Relaxed: success proves that the owner has popped no task since the anchor was
            // loaded. The loads above order the thief's later reads, and the thief has written
            // nothing. Acquire, if the owner has popped: as in the first load.
            match self.anchor.compare_exchange(anchor.0, claimed.0, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => {
                    // SAFETY: the word only ever holds rings.
                    let ring = unsafe { Directory::from_ptr(ring) };
                    return Some(Claim { top: anchor.top(), count, last, ring });
                }
                Err(now) => anchor = Anchor(now),
            }
        }
    }

    /// Returns the claimed tasks as a batch, without moving them.
    ///
    /// # Safety
    ///
    /// The claim belongs to this queue and to the calling thief.
    pub(super) unsafe fn fetch(&self, claim: Claim) -> Batch<T> {
        let Claim { top, count, last, ring } = claim;
        // Relaxed: only thieves write it.
        let first = self.thief.first.load(Ordering::Relaxed);
        let youngest = ring.find(first, last, top, count);
        let passed = youngest.wrapping_sub(first);
        let mut older = Vec::with_capacity(passed as usize);
        // SAFETY: this is the entry before the claim, or its first entry.
        let mut entry = unsafe { ring.get::<T>(first) };
        let mut at = top;
        let mut pass = |n: u32| {
            // SAFETY: the entry belongs to the claim.
            let next = unsafe { ring.get::<T>(first.wrapping_add(n)) };
            let Entry { start, base, segment } = mem::replace(&mut entry, next);
            let from = mem::replace(&mut at, entry.start);
            // SAFETY: it is no longer the queue's initial entry, so it has a segment. The tasks up
            // to its end are claimed, and no thief returns to it. So its party passes to the run.
            unsafe { Run::new(segment.unwrap_unchecked(), base + from.wrapping_sub(start), at.wrapping_sub(from)) }
        };
        if passed > 0 {
            // All tasks of the first entry may have been taken before. Then its run is empty and is
            // dropped.
            older.extend(Some(pass(1)).filter(|run| run.len() > 0));
            older.extend((2..=passed).map(pass));
        }
        // SAFETY: the entry holds the last task of the claim, so it has a segment. It stays until a
        // thief passes it, so it is a party while the run joins.
        let run = unsafe {
            let Entry { start, base, segment } = entry;
            let segment = segment.unwrap_unchecked();
            if !has_flaw("bulk: a run that is no party of its segment") {
                segment.join();
            }
            Run::new(segment, base + at.wrapping_sub(start), count - at.wrapping_sub(top))
        };
        self.pass(first, youngest);
        Batch::of_runs(older, run, count as usize)
    }

    /// Returns the claimed task, for a claim of a single task.
    ///
    /// # Safety
    ///
    /// As for [`fetch`](Words::fetch).
    #[inline]
    pub(super) unsafe fn fetch_one(&self, claim: Claim) -> T {
        let Claim { top, last, ring, .. } = claim;
        // Relaxed: only thieves write it.
        let first = self.thief.first.load(Ordering::Relaxed);
        let holder = ring.find(first, last, top, 1);
        // SAFETY: the entry holds the claimed task.
        let task = unsafe {
            let Entry { start, base, segment } = ring.get::<T>(holder);
            (*segment.unwrap_unchecked().slot(base + top.wrapping_sub(start))).take()
        };
        let mut number = first;
        while number != holder {
            // SAFETY: all tasks of the entry were taken, and the thief passes it: its party leaves.
            unsafe { ring.get::<T>(number).segment.map(|segment| segment.leave()) };
            number = number.wrapping_add(1);
        }
        self.pass(first, holder);
        task
    }

    /// Publishes that the entries before `to` are no longer used.
    #[inline]
    fn pass(&self, from: u32, to: u32) {
        if from != to {
            // Release: the thief has read the entries. Pairs with the owner's acquire before it
            // reuses their cells.
            self.thief.first.store(to, Ordering::Release);
        }
    }
}
