//! Error types of the queues.

use core::fmt;

/// Error from making room for tasks in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CapacityError {
    /// The queue's index fields or the address space cannot count that many tasks.
    TooLarge {
        /// The number of tasks that should fit.
        requested: usize,
        /// The largest number of tasks that fits.
        limit: usize,
    },
    /// The allocation failed.
    OutOfMemory {
        /// The number of tasks that should fit.
        requested: usize,
    },
}

impl fmt::Display for CapacityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CapacityError::TooLarge { requested, limit } => {
                write!(f, "a queue of this kind cannot hold {requested} tasks: its limit is {limit}")
            }
            CapacityError::OutOfMemory { requested } => {
                write!(f, "there is not enough memory for a queue of {requested} tasks")
            }
        }
    }
}

impl core::error::Error for CapacityError {}

/// Error from a push: the task and the cause. The queue is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PushError<T> {
    task: T,
    cause: CapacityError,
}

impl<T> PushError<T> {
    /// Creates an error with the rejected `task`, for queues of other crates.
    #[cold]
    pub fn new(task: T, cause: CapacityError) -> Self {
        PushError { task, cause }
    }

    /// Returns the rejected task.
    pub fn into_task(self) -> T {
        self.task
    }

    /// Returns why the task was rejected.
    pub fn cause(&self) -> CapacityError {
        self.cause
    }
}

/// Panics with `error`, for a push that cannot return its task.
#[cold]
#[inline(never)]
pub(crate) fn panic_with<T>(error: PushError<T>) -> ! {
    panic!("{error}")
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushError").field("cause", &self.cause).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the task was not pushed: {}", self.cause)
    }
}

impl<T> core::error::Error for PushError<T> {}

/// Error from an invalid bound S or delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundError {
    /// The bound is 0. On a machine with a store buffer, a load overtakes at least one store.
    ZeroBound,
    /// A pop makes no extra store.
    ///
    /// The CPU may merge consecutive stores to the same word without limit, so no delta is safe.
    NoExtraStore,
    /// A pop makes at most `limit` extra stores.
    TooManyExtraStores {
        /// The number of extra stores that was requested.
        requested: usize,
        /// The largest number of extra stores a pop makes.
        limit: usize,
    },
}

impl fmt::Display for BoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundError::ZeroBound => {
                f.write_str("the bound must not be 0: give the number of the store buffer's entries plus one")
            }
            BoundError::NoExtraStore => f.write_str(
                "without an extra store in each pop the CPU may merge pops, and no delta is safe: give at least 1",
            ),
            BoundError::TooManyExtraStores { requested, limit } => {
                write!(f, "{requested} extra stores in a pop are too many: give at most {limit}")
            }
        }
    }
}

impl core::error::Error for BoundError {}
