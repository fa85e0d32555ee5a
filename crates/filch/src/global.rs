//! The global pool, which callers outside of every pool use.

use std::sync::{Mutex, OnceLock};

use crate::error::BuildError;
use crate::pool::{Builder, Pool};
use crate::sync::unpoisoned;
use crate::worker::Worker;

static GLOBAL: OnceLock<Pool> = OnceLock::new();

/// Held while the global pool is built. So no thread starts a second one in vain.
static BUILDING: Mutex<()> = Mutex::new(());

/// Returns the global pool, and starts it if it does not run yet.
///
/// # Panics
///
/// If it cannot be started. [`Builder::build_global`] returns the error instead.
#[cold]
pub(crate) fn pool() -> &'static Pool {
    GLOBAL.get().unwrap_or_else(|| match build(Builder::new()) {
        Ok(pool) | Err((_, Some(pool))) => pool,
        Err((error, None)) => panic!("the global pool could not be started: {}", ErrorChain(&error)),
    })
}

/// Returns the global pool, if it runs.
pub(crate) fn running() -> Option<&'static Pool> {
    GLOBAL.get()
}

/// Builds the global pool.
pub(crate) fn set(builder: Builder<'_>) -> Result<(), BuildError> {
    build(builder).map(|_| ()).map_err(|(error, _)| error)
}

/// Builds the global pool. Returns the error, and with it the pool that runs already, if any.
fn build(builder: Builder<'_>) -> Result<&'static Pool, (BuildError, Option<&'static Pool>)> {
    let _one_at_a_time = unpoisoned(BUILDING.lock());
    if let Some(pool) = GLOBAL.get() {
        return Err((BuildError::GlobalIsRunning, Some(pool)));
    }
    let pool = builder.build().map_err(|error| (error, None))?;
    Ok(GLOBAL.get_or_init(|| pool))
}

/// Runs a closure on a worker and passes it that worker.
///
/// On a worker's thread the closure runs in place, otherwise in the global pool.
///
/// ```
/// let index = filch::with_worker(|worker| worker.index());
/// assert!(index < filch::current_num_threads());
/// ```
pub fn with_worker<F, R>(f: F) -> R
where
    F: FnOnce(&mut Worker) -> R + Send,
    R: Send,
{
    match Worker::current() {
        Some(worker) => f(worker),
        None => pool().with_worker(f),
    }
}

/// Returns the number of workers of the current pool. This is the pool of the calling thread, or
/// else the global one.
#[inline]
pub fn current_num_threads() -> usize {
    match Worker::current() {
        Some(worker) => worker.num_threads(),
        None => pool().current_num_threads(),
    }
}

/// Returns the index of the calling worker in its pool, counted from 0. Returns `None` outside of
/// all pools.
#[inline]
pub fn current_thread_index() -> Option<usize> {
    Worker::current().map(|worker| worker.index())
}

/// An error and its causes in one line.
struct ErrorChain<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
