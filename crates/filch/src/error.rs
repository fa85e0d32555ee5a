//! Errors from building a pool.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::io;

/// Errors from building a pool.
///
/// The threads that had been started by then have ended. Threads that a
/// [spawner](crate::Builder::spawner) had started are told to end.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The builder was asked for 0 threads.
    NoThreads,
    /// The builder was asked for more threads than a pool can have.
    TooManyThreads {
        /// The number that was asked for.
        asked: usize,
        /// The largest number of threads of a pool.
        most: usize,
    },
    /// The environment variable for the number of threads is not a number above 0.
    Variable {
        /// The name of the variable.
        name: &'static str,
        /// Its value.
        value: OsString,
    },
    /// The environment variable about calls from outside has an unknown value.
    Callers {
        /// The name of the variable.
        name: &'static str,
        /// Its value.
        value: OsString,
    },
    /// The stacks would be too small to run anything.
    StackTooSmall {
        /// The size that was asked for, in bytes.
        asked: usize,
        /// The smallest size, in bytes.
        least: usize,
    },
    /// Address space for the fork stacks could not be reserved.
    Memory(io::Error),
    /// A thread could not be started.
    Thread {
        /// The index of the worker.
        index: usize,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The calling thread was to become a worker, but already is one. It may be a worker of any
    /// pool.
    ThreadIsAWorker,
    /// The global pool is already running.
    GlobalIsRunning,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoThreads => write!(f, "a pool needs at least one thread; 0 were asked for"),
            BuildError::TooManyThreads { asked, most } => {
                write!(f, "a pool has at most {most} threads; {asked} were asked for")
            }
            BuildError::Variable { name, value } => {
                write!(f, "{name} is {value:?}; it should be a number of threads above 0, or not be set")
            }
            BuildError::Callers { name, value } => {
                write!(f, "{name} is {value:?}; it should be `in-place` or `shipped`, or not be set")
            }
            BuildError::StackTooSmall { asked, least } => {
                write!(f, "a worker's stack needs at least {least} bytes; {asked} were asked for")
            }
            BuildError::Memory(_) => write!(f, "no address space could be reserved for the pool's fork stacks"),
            BuildError::Thread { index, .. } => {
                write!(f, "the thread of worker {index} could not be started; the threads started before it end")
            }
            BuildError::ThreadIsAWorker => {
                write!(f, "this thread is already a worker of a pool and cannot become a worker of another")
            }
            BuildError::GlobalIsRunning => write!(f, "the global pool is already running and cannot be built anew"),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            BuildError::Memory(error) | BuildError::Thread { error, .. } => Some(error),
            _ => None,
        }
    }
}
