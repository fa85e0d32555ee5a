//! The pool that is used outside of any other: filch's own, so that a program that uses both has one.

use filch::Pool;

use crate::builder::ThreadPoolBuilder;

/// Whether the calling thread belongs to a pool.
#[inline(always)]
pub(crate) fn in_pool() -> bool {
    filch::index().is_some()
}

/// The global pool, started now if it was not yet.
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
        // If it is initialized already, then by another thread a moment ago.
        _ => Pool::global(),
    }
}
