//! The thief's side: claims, and what becomes of the claimed tasks.

use std::fmt;
use std::mem::forget;

use filch_queue::handle::Handle;
use filch_queue::{AtLeastOnce, ExactlyOnce, Steal};

use super::shared::Shared;
use crate::sync::{AtomicU32, Ordering};

/// A thief's side: steals, and raids owners that do not respond.
pub struct Thief<T> {
    pub(super) shared: Handle<Shared<T>>,
}

impl<T> Thief<T> {
    pub(super) fn new(shared: Handle<Shared<T>>) -> Thief<T> {
        Thief { shared }
    }

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
                if !self.shared.raid() {
                    return Steal::Abort;
                }
                match self.shared.claim(most) {
                    Steal::Empty if self.shared.has_private() => Steal::Retry,
                    result => result,
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

impl<T> filch_queue::Thief for Thief<T> {
    type Task = T;

    fn steal(&self) -> Steal<T> {
        self.claim_or_raid(1).map(Claimed::into_first)
    }

    fn steal_or_abort(&self) -> Steal<T> {
        self.claim(1).map(Claimed::into_first)
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

impl<'a, T> Claimed<'a, T> {
    /// Returns the tasks at these positions, which the caller has claimed.
    pub(super) fn new(shared: &'a Shared<T>, first: u32, count: u32) -> Claimed<'a, T> {
        Claimed { shared, next: first, left: count, count }
    }

    /// Returns the oldest task of a claim.
    pub(crate) fn first(&mut self) -> T {
        self.next().expect("a claim has a task")
    }

    fn into_first(mut self) -> T {
        self.first()
    }
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

impl<T> AtLeastOnce for Thief<T> {}
// SAFETY: thieves claim a task, or the owner pops it, and not both: see `split`. Positions that were
// claimed are not used again.
unsafe impl<T> ExactlyOnce for Thief<T> {}

impl<T> fmt::Debug for Thief<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thief").field("len", &self.shared.len()).finish_non_exhaustive()
    }
}
