//! The pool that is used outside of any other.

use std::sync::OnceLock;

use crate::error::BuildError;
use crate::pool::{Builder, Pool};
use crate::worker::Worker;

static GLOBAL: OnceLock<Pool> = OnceLock::new();

/// The global pool, started now if it was not yet.
///
/// # Panics
///
/// If it cannot be started; [`Builder::build_global`] says why instead.
#[cold]
pub(crate) fn pool() -> &'static Pool {
    GLOBAL.get_or_init(|| match Pool::new() {
        Ok(pool) => pool,
        Err(error) => panic!("the global pool could not be started: {}", Sentence(&error)),
    })
}

/// Builds the global pool.
pub(crate) fn set(builder: Builder) -> Result<(), BuildError> {
    let mut result = Err(BuildError::GlobalIsRunning);
    if GLOBAL.get().is_none() {
        let pool = builder.build()?;
        result = GLOBAL.set(pool).map_err(|_| BuildError::GlobalIsRunning);
    }
    result
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
pub fn threads() -> usize {
    match Worker::current() {
        Some(worker) => worker.threads(),
        None => pool().threads(),
    }
}

/// Which worker of its pool the calling thread is, counted from 0; `None` outside of all pools.
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
