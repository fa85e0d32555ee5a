//! Where calls from outside of a pool run.

use std::env;

use crate::error::BuildError;

/// The variable that sets where calls run if the builder does not.
const VARIABLE: &str = "FILCH_CALLERS";

/// Where a call from outside of a pool runs.
///
/// Such calls are [`Pool::install`](crate::Pool::install), [`join`](crate::join()),
/// [`scope`](crate::scope()) and the like, on a thread that is no worker. See
/// [`Builder::callers`](crate::Builder::callers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callers {
    /// On the calling thread, if a worker of the pool sleeps. Otherwise on a worker.
    ///
    /// The caller takes the place of the sleeping worker until the call is over. No thread is woken
    /// to start the call, and a short call costs less than a microsecond. Other workers steal what
    /// the call forks as usual.
    ///
    /// The closures of the call see the caller's thread: its thread-local variables, its name, its
    /// stack, its priority, the async runtime that it is inside of. In its waits the caller runs
    /// only what its own call needs, whatever the pool's [`Waiting`](crate::Waiting), and its parts
    /// of [broadcasts](crate::broadcast()), if one of them was called inside a pool. So if two
    /// pools are taken up by callers in place, and install into each other, they wait for each
    /// other forever.
    InPlace,
    /// On a worker. The caller sleeps until the call is over.
    Shipped,
}

impl Callers {
    /// Returns the value of the environment variable `FILCH_CALLERS`: `in-place` or `shipped`.
    /// Returns `None` if it is not set.
    ///
    /// # Errors
    ///
    /// If the variable has another value.
    pub fn from_environment() -> Result<Option<Callers>, BuildError> {
        let Some(value) = env::var_os(VARIABLE) else { return Ok(None) };
        match value.to_str().map(str::trim) {
            Some("in-place") => Ok(Some(Callers::InPlace)),
            Some("shipped") => Ok(Some(Callers::Shipped)),
            _ => Err(BuildError::Callers { name: VARIABLE, value }),
        }
    }
}
