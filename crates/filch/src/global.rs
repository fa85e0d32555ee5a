//! The pool that is used outside of any other.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::BuildError;
use crate::pool::{Builder, Pool};
use crate::worker::Worker;

static GLOBAL: OnceLock<Pool> = OnceLock::new();

/// Held by who builds it, so that nobody starts a pool that then is not the global one.
static BUILDING: Mutex<()> = Mutex::new(());

/// The global pool, started now if it was not yet.
///
/// # Panics
///
/// If it cannot be started; [`Builder::build_global`] says why instead.
#[cold]
pub(crate) fn pool() -> &'static Pool {
    GLOBAL.get().unwrap_or_else(|| match build(Builder::new()) {
        Ok(pool) | Err((_, Some(pool))) => pool,
        Err((error, None)) => panic!("the global pool could not be started: {}", Sentence(&error)),
    })
}

/// The global pool, if it runs.
pub(crate) fn running() -> Option<&'static Pool> {
    GLOBAL.get()
}

/// Builds the global pool.
pub(crate) fn set(builder: Builder<'_>) -> Result<(), BuildError> {
    build(builder).map(|_| ()).map_err(|(error, _)| error)
}

/// Builds the global pool, or says what stands in the way, be it the pool that there is.
fn build(builder: Builder<'_>) -> Result<&'static Pool, (BuildError, Option<&'static Pool>)> {
    let _one_at_a_time = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = GLOBAL.get() {
        return Err((BuildError::GlobalIsRunning, Some(pool)));
    }
    let pool = builder.build().map_err(|error| (error, None))?;
    Ok(GLOBAL.get_or_init(|| pool))
}

/// Runs a closure on a worker and hands it that worker: in place on a worker's thread, otherwise in the global pool.
///
/// ```
/// let index = filch::with_worker(|worker| worker.index());
/// assert!(index < filch::threads());
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

/// How many workers the current pool has: that of the calling thread, or else the global one.
#[inline]
pub fn threads() -> usize {
    match Worker::current() {
        Some(worker) => worker.threads(),
        None => pool().threads(),
    }
}

/// Which worker of its pool the calling thread is, counted from 0; `None` outside of all pools.
#[inline]
pub fn index() -> Option<usize> {
    Worker::current().map(|worker| worker.index())
}

/// An error and its causes in one line.
struct Sentence<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Sentence<'_> {
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
