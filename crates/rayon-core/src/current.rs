//! The calling thread and its pool.

use crate::global::{global, in_pool};

/// The most threads that a pool can have. Who asks for more gets so many.
pub fn max_num_threads() -> usize {
    filch::Pool::MOST_THREADS
}

/// How many threads the current pool has, or the global one.
#[inline]
pub fn current_num_threads() -> usize {
    if in_pool() {
        filch::threads()
    } else {
        global().threads()
    }
}

/// The index of the calling thread in its pool; `None` outside of all pools.
///
/// ```
/// assert_eq!(rayon_core::current_thread_index(), None);
/// rayon_core::join(|| assert!(rayon_core::current_thread_index().is_some()), || ());
/// ```
#[inline]
pub fn current_thread_index() -> Option<usize> {
    filch::index()
}

/// Whether the calling thread has work of its own that waits; `None` outside of all pools.
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    filch::has_pending()
}

/// What [`yield_now`] or [`yield_local`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// It has run something.
    Executed,
    /// There was nothing to run.
    Idle,
}

impl From<filch::Yield> for Yield {
    fn from(did: filch::Yield) -> Self {
        match did {
            filch::Yield::Ran => Yield::Executed,
            filch::Yield::Idle => Yield::Idle,
        }
    }
}

/// Runs one waiting job of the current pool, whatever it is; `None` outside of all pools.
pub fn yield_now() -> Option<Yield> {
    in_pool().then(filch::yield_now).flatten().map(Yield::from)
}

/// Runs one waiting job of this thread's own; `None` outside of all pools.
pub fn yield_local() -> Option<Yield> {
    filch::yield_local().map(Yield::from)
}
