//! The calling thread and its pool.

use crate::global::{global, in_pool};

/// The maximum number of threads of a pool. A larger number is reduced to it.
pub fn max_num_threads() -> usize {
    filch::Pool::MAX_THREADS
}

/// The number of threads of the current or global pool.
#[inline]
pub fn current_num_threads() -> usize {
    if in_pool() {
        filch::current_num_threads()
    } else {
        global().current_num_threads()
    }
}

/// The index of the calling thread in its pool, or `None` outside of all pools.
///
/// ```
/// assert_eq!(rayon_core::current_thread_index(), None);
/// rayon_core::join(|| assert!(rayon_core::current_thread_index().is_some()), || ());
/// ```
#[inline]
pub fn current_thread_index() -> Option<usize> {
    filch::current_thread_index()
}

/// Returns whether the calling thread has pending work of its own. Returns `None` outside of all
/// pools.
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    filch::has_pending()
}

/// The result of [`yield_now`] or [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job ran.
    Executed,
    /// There was nothing to run.
    Idle,
}

impl From<filch::Yield> for Yield {
    fn from(result: filch::Yield) -> Self {
        match result {
            filch::Yield::Executed => Yield::Executed,
            filch::Yield::Idle => Yield::Idle,
        }
    }
}

/// Runs one waiting job of the current pool. Returns `None` outside of all pools.
pub fn yield_now() -> Option<Yield> {
    in_pool().then(filch::yield_now).flatten().map(Yield::from)
}

/// Runs one waiting job of the calling thread itself. Returns `None` outside of all pools.
pub fn yield_local() -> Option<Yield> {
    filch::yield_local().map(Yield::from)
}
