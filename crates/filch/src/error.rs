//! Why a pool could not be had.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::io;

/// Why a pool could not be built. The threads that had been started by then have ended again; those that a [spawner](crate::Builder::spawner) had started are told to.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A pool of no threads was asked for.
    NoThreads,
    /// More threads were asked for than a pool can have.
    TooManyThreads {
        /// So many.
        asked: usize,
        /// At most so many there can be.
        most: usize,
    },
    /// The environment says something about the number of threads that is no number above 0.
    Variable {
        /// The variable.
        name: &'static str,
        /// What it says.
        value: OsString,
    },
    /// The environment variable about calls from outside has an unknown value.
    Callers {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: OsString,
    },
    /// The stacks would be too small to run anything.
    StackTooSmall {
        /// In bytes.
        asked: usize,
        /// In bytes.
        least: usize,
    },
    /// Address space for the fork stacks could not be reserved.
    Memory(io::Error),
    /// A thread could not be started.
    Thread {
        /// The worker.
        index: usize,
        /// Why.
        error: io::Error,
    },
    /// The calling thread was to be a worker of the pool, and is one of some pool already.
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
                write!(f, "the thread of worker {index} could not be started; those before it end again")
            }
            BuildError::ThreadIsAWorker => {
                write!(f, "this thread is already a worker of a pool, and cannot be one of another")
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
