//! Where calls from outside of a pool run.

use std::env;

use crate::error::BuildError;

/// The variable that says where calls run if the builder does not.
const VARIABLE: &str = "FILCH_CALLERS";

/// Where a call from outside of a pool runs: [`Pool::install`](crate::Pool::install),
/// [`join`](crate::join()), [`scope`](crate::scope()) and the like, on a thread that is no worker.
///
/// See [`Builder::callers`](crate::Builder::callers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callers {
    /// On the calling thread, if a worker of the pool sleeps: the caller takes that worker's place
    /// until the call is over. Otherwise on a worker.
    ///
    /// No thread is woken to start the call, and a short call costs less than a microsecond. What
    /// the call forks, other workers steal as usual.
    ///
    /// The closures of the call see the caller's thread: its thread-local variables, its name, its
    /// stack, its priority, the async runtime that it is inside of. In its waits the caller runs only
    /// what its own call needs, whatever the pool's [`Waiting`](crate::Waiting), and its parts of
    /// [broadcasts](crate::broadcast()), if one of them was called inside a pool. So two pools that
    /// callers in place have taken up, and that install into each other, wait for each other for ever.
    InPlace,
    /// On a worker. The caller sleeps until the call is over.
    Shipped,
}

impl Callers {
    /// The value of the environment variable `FILCH_CALLERS`: `in-place` or `shipped`. `None` if it is
    /// not set.
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
