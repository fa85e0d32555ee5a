//! What a thief does once it knows how many tasks it wants: it claims them, and then fetches them.

use alloc::vec::Vec;
use core::mem;

use super::batch::Batch;
use super::directory::{Directory, Stretch};
use super::segment::Run;
use super::words::{Anchor, Words};
use crate::sync::{has_flaw, Ordering};

/// Positions that are the thief's, and where to look for them.
pub(super) struct Claim {
    top: u32,
    count: u32,
    /// The youngest entry when the claim was made.
    last: u32,
    ring: Directory,
}

impl<T> Words<T> {
    /// Claims as many of the oldest tasks as `share` says, given how many there are: one or more. None if there are none.
    ///
    /// # Safety
    ///
    /// Nobody else steals meanwhile, and the claim is fetched before the next.
    #[inline]
    pub(super) unsafe fn claim(&self, share: impl Fn(u32) -> u32) -> Option<Claim> {
        // Acquire: pairs with the owner's release in `pop`; all that was pushed before that pop is counted in what is loaded next.
        let mut anchor = Anchor(self.anchor.load(Ordering::Acquire));
        loop {
            // Acquire: pairs with the release in a push; what it counts is in its slots, and in the directory.
            let length = anchor.length(self.young.pushed.load(Ordering::Acquire));
            if length == 0 {
                return None;
            }
            // Acquire, in this order: a ring that is found has the entries up to the number that was found.
            let last = self.young.last.load(Ordering::Acquire);
            let ring = self.young.ring.load(Ordering::Acquire);
            let count = share(length);
            if has_flaw("bulk: a claim that proves nothing") {
                anchor = Anchor(self.anchor.load(Ordering::Acquire));
            }
            let claimed = anchor.after_steal(count);
            // Relaxed: it proves that the owner has popped nothing since the anchor was loaded. What the thief reads afterwards it knows by the loads above, and it has written nothing.
            // Acquire, if the owner has popped: as the first load.
            match self.anchor.compare_exchange(anchor.0, claimed.0, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => {
                    // SAFETY: rings are only stored from rings.
                    let ring = unsafe { Directory::from_ptr(ring) };
                    return Some(Claim { top: anchor.top(), count, last, ring });
                }
                Err(now) => anchor = Anchor(now),
            }
        }
    }

    /// The claimed tasks as a batch, where they lie.
    ///
    /// # Safety
    ///
    /// The claim is this queue's, and the thief's.
    pub(super) unsafe fn fetch(&self, claim: Claim) -> Batch<T> {
        let Claim { top, count, last, ring } = claim;
        // Relaxed: only thieves write it.
        let first = self.old.first.load(Ordering::Relaxed);
        let youngest = ring.find(first, last, top, count);
        let passed = youngest.wrapping_sub(first);
        let mut older = Vec::with_capacity(passed as usize);
        // SAFETY: the entry before the claim, or its first.
        let mut stretch = unsafe { ring.get::<T>(first) };
        let mut at = top;
        let mut pass = |n: u32| {
            // SAFETY: an entry of the claim.
            let next = unsafe { ring.get::<T>(first.wrapping_add(n)) };
            let Stretch { start, base, segment } = mem::replace(&mut stretch, next);
            let from = mem::replace(&mut at, stretch.start);
            // SAFETY: it is not the queue's very first entry any more, so it has a segment. The tasks up to its end are claimed, and it is passed for good, so its party is the run's now.
            unsafe { Run::new(segment.unwrap_unchecked(), base + from.wrapping_sub(start), at.wrapping_sub(from)) }
        };
        if passed > 0 {
            // All of it may have been taken before, and then it goes.
            older.extend(Some(pass(1)).filter(|run| run.len() > 0));
            older.extend((2..=passed).map(pass));
        }
        // SAFETY: the entry holds the last task of the claim, so it has a segment, and stays until a thief passes it: a party that lets the run join.
        let run = unsafe {
            let Stretch { start, base, segment } = stretch;
            let segment = segment.unwrap_unchecked();
            if !has_flaw("bulk: a run that is no party of its segment") {
                segment.join();
            }
            Run::new(segment, base + at.wrapping_sub(start), count - at.wrapping_sub(top))
        };
        self.pass(first, youngest);
        Batch::of_runs(older, run, count as usize)
    }

    /// The one task that was claimed.
    ///
    /// # Safety
    ///
    /// As [`fetch`](Words::fetch).
    #[inline]
    pub(super) unsafe fn fetch_one(&self, claim: Claim) -> T {
        let Claim { top, last, ring, .. } = claim;
        // Relaxed: only thieves write it.
        let first = self.old.first.load(Ordering::Relaxed);
        let holder = ring.find(first, last, top, 1);
        // SAFETY: the entry holds the claimed task.
        let task = unsafe {
            let Stretch { start, base, segment } = ring.get::<T>(holder);
            (*segment.unwrap_unchecked().slot(base + top.wrapping_sub(start))).take()
        };
        let mut number = first;
        while number != holder {
            // SAFETY: an entry from which all was taken, and which is passed: its party leaves.
            unsafe { ring.get::<T>(number).segment.map(|segment| segment.leave()) };
            number = number.wrapping_add(1);
        }
        self.pass(first, holder);
        task
    }

    /// Tells the owner that the entries before `to` are done with.
    #[inline]
    fn pass(&self, from: u32, to: u32) {
        if from != to {
            // Release: they were read before. Pairs with the owner's acquire before it uses their cells again.
            self.old.first.store(to, Ordering::Release);
        }
    }
}
