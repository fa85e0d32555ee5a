//! The thief's side for several threads: a lock without waiting.

use core::fmt;

use super::fraction::{Fraction, FractionError};
use super::words::Words;
use super::Batch;
use crate::handle::Handle;
use crate::Steal;

/// A thief's side for any number of threads, of which one at a time steals.
///
/// While a thread steals, a steal on another thread fails at once.
///
/// It comes from [`Thief::share`](super::Thief::share). For generic code it is a
/// [`Thief`](crate::Thief) that takes a single task at a time.
///
/// ```
/// use filch_queue::bulk::{self, StealError};
///
/// let (owner, thief) = bulk::new();
/// let thief = thief.share();
/// owner.push_batch((0..100).collect());
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| match thief.steal(0.25) {
///             Ok(batch) => assert!(batch.len() == 25 || batch.len() == 19),
///             Err(StealError::Busy) => {}
///             Err(error) => panic!("{error}"),
///         });
///     }
/// });
/// ```
pub struct SharedThief<T> {
    words: Handle<Words<T>>,
}

impl<T> SharedThief<T> {
    pub(super) fn new(words: Handle<Words<T>>) -> Self {
        SharedThief { words }
    }

    /// Takes this share of the tasks, the oldest, in a single operation.
    ///
    /// See [`Thief::steal`](super::Thief::steal).
    ///
    /// # Errors
    ///
    /// If another thread is stealing at this moment, or the share is not a number from 0 to 1. No
    /// task is stolen then.
    pub fn steal(&self, fraction: f64) -> Result<Batch<T>, StealError> {
        let fraction = Fraction::new(fraction).map_err(StealError::Fraction)?;
        let _visit = self.words.thief.turnstile.try_enter().ok_or(StealError::Busy)?;
        // SAFETY: no other thread is inside the turnstile, and the thief that was not shared no
        // longer exists.
        Ok(unsafe { super::steal(&self.words, fraction) })
    }

    /// Tries once to take the oldest task.
    #[inline]
    pub fn steal_one(&self) -> Steal<T> {
        let Some(_visit) = self.words.thief.turnstile.try_enter() else {
            return Steal::Retry;
        };
        // SAFETY: as above.
        match unsafe { super::steal_one(&self.words) } {
            Some(task) => Steal::Success(task),
            None => Steal::Empty,
        }
    }

    /// Returns the number of tasks in the queue a moment ago.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns whether the queue was empty a moment ago.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Clone for SharedThief<T> {
    fn clone(&self) -> Self {
        SharedThief { words: self.words.clone() }
    }
}

impl<T> crate::Thief for SharedThief<T> {
    type Task = T;

    #[inline]
    fn steal(&self) -> Steal<T> {
        self.steal_one()
    }

    #[inline]
    fn len(&self) -> usize {
        SharedThief::len(self)
    }
}

impl<T> crate::AtLeastOnce for SharedThief<T> {}
// SAFETY: see the module `bulk`. The turnstile lets one thread at a time steal.
unsafe impl<T> crate::ExactlyOnce for SharedThief<T> {}

impl<T> fmt::Debug for SharedThief<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("bulk::SharedThief").field("len", &self.len()).finish_non_exhaustive()
    }
}

// SAFETY: tasks move between threads. All other data is atomic, or belongs to the thread inside the
// turnstile.
unsafe impl<T: Send> Send for SharedThief<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for SharedThief<T> {}

/// Error from a steal by a shared thief.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StealError {
    /// Another thread is stealing from this queue at this moment.
    Busy,
    /// The share is not a number from 0 to 1.
    Fraction(FractionError),
}

impl fmt::Display for StealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StealError::Busy => f.write_str("another thread is stealing from this queue; try again, or try another"),
            StealError::Fraction(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for StealError {}
