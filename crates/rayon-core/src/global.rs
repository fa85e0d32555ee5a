//! The global pool, which is used outside of all other pools. It is filch's global pool, so that a
//! program that uses both crates has one.

use filch::Pool;

use crate::builder::ThreadPoolBuilder;

/// Returns whether the calling thread belongs to a pool.
#[inline(always)]
pub(crate) fn in_pool() -> bool {
    filch::current_thread_index().is_some()
}

/// Returns the global pool. Starts it if it is not running yet.
#[cold]
#[inline(never)]
pub(crate) fn global() -> &'static Pool {
    if let Some(pool) = Pool::try_global() {
        return pool;
    }
    match ThreadPoolBuilder::new().build_global() {
        Err(error) if !error.is_already_initialized() => {
            panic!("The global thread pool has not been initialized: {error}")
        }
        // If the pool is already initialized, another thread did it a moment ago.
        _ => Pool::global(),
    }
}
