//! The traits of the crate, and of the standard library, for the two handles.

use core::fmt;

use super::{Owner, Thief};
use crate::{PushError, Steal};

impl<T> crate::Owner for Owner<T> {
    type Task = T;

    #[inline]
    fn push(&self, task: T) {
        Owner::push(self, task)
    }

    #[inline]
    fn try_push(&self, task: T) -> Result<(), PushError<T>> {
        Owner::try_push(self, task)
    }

    #[inline]
    fn pop(&self) -> Option<T> {
        Owner::pop(self)
    }

    #[inline]
    fn len(&self) -> usize {
        Owner::len(self)
    }
}

impl<T> crate::Thief for Thief<T> {
    type Task = T;

    #[inline]
    fn steal(&self) -> Steal<T> {
        self.words.steal_one()
    }

    #[inline]
    fn len(&self) -> usize {
        Thief::len(self)
    }
}

impl<T> Clone for Thief<T> {
    fn clone(&self) -> Self {
        Thief { words: self.words.clone() }
    }
}

impl<T> crate::AtLeastOnce for Owner<T> {}
impl<T> crate::AtLeastOnce for Thief<T> {}
// SAFETY: see the invariant in the module `bulk`.
unsafe impl<T> crate::ExactlyOnce for Owner<T> {}
// SAFETY: as above.
unsafe impl<T> crate::ExactlyOnce for Thief<T> {}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("bulk::Owner").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Thief<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("bulk::Thief").field("len", &self.len()).finish_non_exhaustive()
    }
}

// SAFETY: tasks move between threads. All other shared data is atomic or belongs to the owner,
// which is unique and not `Sync`.
unsafe impl<T: Send> Send for Owner<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Thief<T> {}
// SAFETY: as above. Thieves on several threads share one as they share clones.
unsafe impl<T: Send> Sync for Thief<T> {}
