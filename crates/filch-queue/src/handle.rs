//! Shared ownership of a queue's two sides, through a pointer that fits in a register.
//!
//! An owner that is a local variable of a loop is fastest if it stays in registers. A single call
//! that takes its address puts it into memory, and then every operation waits for the store of the
//! previous operation. So handles, and the slow paths of owners, pass their parts by value.

use core::ops::Deref;
use core::ptr::NonNull;

use crate::sync::Arc;

/// An [`Arc`] whose count is changed out of line and by value.
#[derive(Debug)]
pub struct Handle<S> {
    shared: NonNull<S>,
}

impl<S> Handle<S> {
    /// Creates the first handle.
    pub fn new(shared: S) -> Self {
        let shared = Arc::into_raw(Arc::new(shared)).cast_mut();
        // SAFETY: the pointer of an `Arc` is never null.
        Handle { shared: unsafe { NonNull::new_unchecked(shared) } }
    }
}

impl<S> Deref for Handle<S> {
    type Target = S;

    #[inline(always)]
    fn deref(&self) -> &S {
        // SAFETY: the handle holds a count of the `Arc`.
        unsafe { self.shared.as_ref() }
    }
}

impl<S> Clone for Handle<S> {
    #[inline]
    fn clone(&self) -> Self {
        count_up(self.shared);
        Handle { shared: self.shared }
    }
}

impl<S> Drop for Handle<S> {
    #[inline]
    fn drop(&mut self) {
        count_down(self.shared);
    }
}

#[inline(never)]
fn count_up<S>(shared: NonNull<S>) {
    // SAFETY: the pointer is from `Arc::into_raw`, and the caller holds a count.
    unsafe { Arc::increment_strong_count(shared.as_ptr()) };
}

#[inline(never)]
fn count_down<S>(shared: NonNull<S>) {
    // SAFETY: the pointer is from `Arc::into_raw`, and the caller gives up its count.
    unsafe { Arc::decrement_strong_count(shared.as_ptr()) };
}

// SAFETY: as for `Arc`.
unsafe impl<S: Send + Sync> Send for Handle<S> {}
// SAFETY: as for `Arc`.
unsafe impl<S: Send + Sync> Sync for Handle<S> {}
