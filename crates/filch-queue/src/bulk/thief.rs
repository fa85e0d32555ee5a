//! A steal: look at the oldest tasks, claim them, take them along.

use alloc::vec::Vec;
use core::mem::ManuallyDrop;

use super::batch::Batch;
use super::directory::{Directory, Entry};
use super::segment::Run;
use super::words::{is_before, Anchor, Words};
use crate::sync::{fence, has_flaw, Ordering};
use crate::Steal;

/// The most pushes between a look and a claim.
///
/// No more tasks can be popped and stolen than there were, fewer than 2^31, and those that are
/// pushed. So with so many pushes the counts of the anchor have not wrapped.
const MAX_PUSHES: u64 = 1 << 30;

/// A queue as a thief has seen it, before a claim.
struct Look {
    anchor: Anchor,
    pushed: u64,
    /// The number of the oldest entry that may be read. It must still be the same after the reads.
    oldest: u32,
    last: u32,
    ring: Directory,
    /// The number of the entry with the oldest task.
    first: u32,
}

/// The tasks that a claim needs, as the directory described them.
///
/// Those that are claimed belong to the thief. If the claim shrinks, the runs beyond it may be of
/// entries that have changed.
struct Found<T> {
    /// The runs but the youngest, from the look's first entry on.
    older: Vec<ManuallyDrop<Run<T>>>,
    youngest: ManuallyDrop<Run<T>>,
    count: u32,
}

/// The outcome of a claim.
enum Claim {
    /// The thief has so many tasks.
    Made(u32),
    /// Another thief has claimed tasks since the look.
    Lost,
    /// The owner has popped all tasks that the look has counted, or has pushed very many.
    Outdated,
}

impl<T> Words<T> {
    /// Tries to claim the oldest tasks. Returns them as a batch, without moving them.
    ///
    /// `share` computes the number of tasks, at least 1, from the length of the queue. The attempt
    /// fails only if another thief has succeeded since it began.
    #[inline]
    pub(super) fn steal(&self, share: impl Fn(u32) -> u32) -> Steal<Batch<T>> {
        loop {
            let Some(look) = self.look() else {
                return Steal::Empty;
            };
            let count = share(look.length());
            let Some(mut found) = self.find(&look, count) else {
                continue;
            };
            match self.claim(&look, count, &share) {
                Claim::Made(count) => {
                    if count < found.count {
                        found.shorten(count);
                    }
                    self.leave_hint(look.first.wrapping_add(found.older.len() as u32));
                    return Steal::Success(found.into_batch());
                }
                Claim::Lost => return Steal::Retry,
                Claim::Outdated => {}
            }
        }
    }

    /// Tries to claim and take the oldest task. It fails only if another thief has succeeded.
    #[inline]
    pub(super) fn steal_one(&self) -> Steal<T> {
        loop {
            let Some(look) = self.look() else {
                return Steal::Empty;
            };
            // SAFETY: this is a directory of such tasks.
            let Entry { start, base, segment } = unsafe { look.ring.get::<T>(look.first) };
            if !self.is_current(&look) {
                continue;
            }
            match self.claim(&look, 1, |_| 1) {
                Claim::Made(_) => {
                    self.leave_hint(look.first);
                    let slot = base.wrapping_add(look.top().wrapping_sub(start));
                    // SAFETY: the claim has succeeded, so the entry was right and its segment has
                    // the task, in a slot that belongs to this thief.
                    unsafe {
                        let segment = segment.unwrap_unchecked();
                        let task = (*segment.slot(slot)).take();
                        segment.release(1);
                        return Steal::Success(task);
                    }
                }
                Claim::Lost => return Steal::Retry,
                Claim::Outdated => {}
            }
        }
    }

    /// Looks at the queue. Returns `None` if it is empty.
    #[inline]
    fn look(&self) -> Option<Look> {
        loop {
            // Acquire: pairs with the release in `pop` and in `claim`. The next load counts all
            // tasks pushed before that pop or claim.
            let anchor = Anchor(self.anchor.load(Ordering::Acquire));
            // Acquire: pairs with the release in a push. The tasks that it counts are in their
            // slots, and in the directory.
            let pushed = self.owner.pushed.load(Ordering::Acquire);
            if anchor.length(pushed) == 0 {
                // Relaxed: if 2^32 tasks were pushed, and popped or stolen, between the loads, the
                // queue only seems to be empty.
                if self.anchor.load(Ordering::Relaxed) != anchor.0 {
                    continue;
                }
                return None;
            }
            // Acquire, in this order: the ring has the youngest entry.
            let last = self.owner.last.load(Ordering::Acquire);
            // SAFETY: the word only ever holds rings.
            let ring = unsafe { Directory::from_ptr(self.owner.ring.load(Ordering::Acquire)) };
            // Acquire: pairs with the release in `set_oldest`. If the number is outdated and that
            // matters, the check after the reads finds out.
            let oldest = ring.oldest(Ordering::Acquire);
            let entries = last.wrapping_sub(oldest);
            if entries >= ring.capacity() {
                // The owner has retired the entry that was the youngest.
                continue;
            }
            let top = anchor.top();
            let starts_in_time = |start: u32| !is_before(top, start);
            // Relaxed: a hint. An entry that it names may start too late, or be retired.
            let hint = self.hint.load(Ordering::Relaxed);
            let is_usable = hint.wrapping_sub(oldest) <= entries && starts_in_time(ring.start(hint));
            let from = if is_usable { hint } else { oldest };
            let first = ring.find(from, last, starts_in_time);
            return Some(Look { anchor, pushed, oldest, last, ring, first });
        }
    }

    /// Finds the oldest `count` tasks in the directory.
    ///
    /// Returns `None` if the owner has retired entries meanwhile, so that the look is outdated.
    #[inline]
    fn find(&self, look: &Look, count: u32) -> Option<Found<T>> {
        let (ring, first, top) = (look.ring, look.first, look.top());
        let holder = ring.find(first, look.last, |start| start.wrapping_sub(top) < count);
        let mut older = Vec::new();
        // SAFETY: this is a directory of such tasks.
        let mut entry = unsafe { ring.get::<T>(first) };
        let (mut at, mut left) = (top, count);
        if first != holder {
            older.reserve_exact(holder.wrapping_sub(first) as usize);
        }
        for n in 1..=holder.wrapping_sub(first) {
            // SAFETY: as above.
            let next = unsafe { ring.get::<T>(first.wrapping_add(n)) };
            let len = next.start.wrapping_sub(at);
            older.push(entry.run(at, len));
            (at, left) = (next.start, left.wrapping_sub(len));
            entry = next;
        }
        let youngest = entry.run(at, left);
        self.is_current(look).then_some(Found { older, youngest, count })
    }

    /// Returns whether no entry was retired since the look. Then no cell that was read since has
    /// been reused.
    #[inline(always)]
    fn is_current(&self, look: &Look) -> bool {
        // Acquire: the entries were read before. A thief that has read a reused cell sees the number
        // that the owner has stored before it reused it.
        fence(Ordering::Acquire);
        has_flaw("bulk: a look that is not checked") || look.ring.oldest(Ordering::Relaxed) == look.oldest
    }

    /// Claims the oldest `count` tasks of a look, or fewer if the owner pops meanwhile.
    ///
    /// It loads the anchor and the number of pushes again, right before the CAS. The look may have
    /// waited for several cache lines. An owner that pops and pushes all the time waits for the line
    /// of that number, which this thread has just read, and meanwhile pops no task.
    #[inline]
    fn claim(&self, look: &Look, mut count: u32, share: impl Fn(u32) -> u32) -> Claim {
        loop {
            // Acquire, in this order: as in the look.
            let anchor = Anchor(self.anchor.load(Ordering::Acquire));
            let pushed = self.owner.pushed.load(Ordering::Acquire);
            if anchor.top() != look.top() {
                return Claim::Lost;
            }
            if pushed.wrapping_sub(look.pushed) > MAX_PUSHES {
                return Claim::Outdated;
            }
            if !has_flaw("bulk: a claim that does not shrink") {
                // The tasks that the look has counted, and that were not taken since, are still
                // there. This is also right if the counts have wrapped between the look's loads of
                // anchor and P.
                let left = anchor.length(look.pushed) as i32;
                if left <= 0 {
                    return Claim::Outdated;
                }
                if anchor != look.anchor {
                    // The owner has popped, and perhaps pushed.
                    count = count.min(share(anchor.length(pushed))).min(left as u32);
                }
            }
            let now = if has_flaw("bulk: a claim that proves nothing") {
                Anchor(self.anchor.load(Ordering::Acquire))
            } else {
                anchor
            };
            // Release: a thief that sees the claim sees the pushes that this thief has seen. So it
            // counts at least as many pushed tasks as taken tasks. The loads of the look order this
            // thief's later reads. Relaxed, if the claim fails: the next loads are as above.
            let claimed = now.after_steal(count);
            if self.anchor.compare_exchange(now.0, claimed.0, Ordering::Release, Ordering::Relaxed).is_ok() {
                return Claim::Made(count);
            }
        }
    }

    /// Tells other thieves at which entry to start their search.
    #[inline(always)]
    fn leave_hint(&self, holder: u32) {
        // Relaxed: a hint. A thief that was suspended here may set it back.
        if self.hint.load(Ordering::Relaxed) != holder {
            self.hint.store(holder, Ordering::Relaxed);
        }
    }
}

impl Look {
    /// Returns the position of the oldest task.
    #[inline(always)]
    fn top(&self) -> u32 {
        self.anchor.top()
    }

    /// Returns the number of tasks.
    #[inline(always)]
    fn length(&self) -> u32 {
        self.anchor.length(self.pushed)
    }
}

impl<T> Entry<T> {
    /// Returns the run of `len` tasks from position `at` on, before they are claimed.
    #[inline(always)]
    fn run(&self, at: u32, len: u32) -> ManuallyDrop<Run<T>> {
        let first = self.base.wrapping_add(at.wrapping_sub(self.start));
        // SAFETY: the run is used only after a claim of its tasks has succeeded.
        ManuallyDrop::new(unsafe { Run::unclaimed(self.segment, first, len) })
    }
}

impl<T> Found<T> {
    /// Returns the claimed tasks as a batch.
    #[inline]
    fn into_batch(self) -> Batch<T> {
        // The conversion keeps the allocation.
        let older = self.older.into_iter().map(ManuallyDrop::into_inner).collect();
        Batch::of_runs(older, ManuallyDrop::into_inner(self.youngest), self.count as usize)
    }

    /// Drops the runs beyond the oldest `claimed` tasks.
    ///
    /// The owner may have changed their entries before they were read. All runs with a claimed task
    /// are right up to that task.
    #[cold]
    fn shorten(&mut self, claimed: u32) {
        self.count = claimed;
        let mut left = claimed;
        for n in 0..self.older.len() {
            let len = self.older[n].len();
            if left <= len {
                self.youngest = self.older.swap_remove(n);
                self.older.truncate(n);
                break;
            }
            left -= len;
        }
        self.youngest.shorten_to(left);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec;

    use super::super::{starting_at, Batch};
    use super::{Anchor, Claim};

    #[test]
    fn a_claim_notices_that_the_counts_have_wrapped_since_its_look() {
        const MANY: usize = 1 << 30;
        let (owner, thief) = starting_at::<()>(0, 0).unwrap();
        let push_many = || owner.push_batch(Batch::from(vec![(); MANY]));
        push_many();
        let look = thief.words.look().unwrap();
        assert!(thief.words.find(&look, 1).is_some());
        for _ in 0..4 {
            assert_eq!(thief.steal(1.0).unwrap().len(), MANY);
            push_many();
        }
        assert!(matches!(thief.words.claim(&look, 1, |_| 1), Claim::Outdated));
    }

    #[test]
    fn a_claim_notices_that_the_counts_have_wrapped_between_the_loads_of_its_look() {
        let (owner, thief) = starting_at::<()>(u32::MAX - 2, 0).unwrap();
        owner.push_batch(Batch::from(vec![(); 2]));
        let mut look = thief.words.look().unwrap();
        // The anchor of 2^32 steals ago, which will be back.
        look.anchor = Anchor(0);
        owner.push_batch(Batch::from(vec![(); 100]));
        assert_eq!((0..3).filter_map(|_| thief.steal_one()).count(), 3);
        assert!(matches!(thief.words.claim(&look, 1, |_| 1), Claim::Outdated));
    }
}
