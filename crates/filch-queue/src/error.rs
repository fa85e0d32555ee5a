//! What can go wrong, as values.

use core::fmt;

/// Why a queue could not be given the room that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CapacityError {
    /// More tasks than the queue's index fields or the address space can count.
    TooLarge {
        /// How many tasks were to fit.
        requested: usize,
        /// How many fit at most.
        limit: usize,
    },
    /// The allocator refused.
    OutOfMemory {
        /// How many tasks were to fit.
        requested: usize,
    },
}

impl fmt::Display for CapacityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CapacityError::TooLarge { requested, limit } => {
                write!(f, "a queue for {requested} tasks was asked for, but this kind holds at most {limit}")
            }
            CapacityError::OutOfMemory { requested } => {
                write!(f, "there is no memory for a queue of {requested} tasks")
            }
        }
    }
}

impl core::error::Error for CapacityError {}

/// A task that could not be pushed, and why. The queue is as it was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PushError<T> {
    task: T,
    cause: CapacityError,
}

impl<T> PushError<T> {
    /// A refusal of `task`, for queues of other crates.
    #[cold]
    pub fn new(task: T, cause: CapacityError) -> Self {
        PushError { task, cause }
    }

    /// The task, back again.
    pub fn into_task(self) -> T {
        self.task
    }

    /// Why it was refused.
    pub fn cause(&self) -> CapacityError {
        self.cause
    }
}

/// What a push does that cannot give its task back.
#[cold]
#[inline(never)]
pub(crate) fn refuse<T>(error: PushError<T>) -> ! {
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

/// Why a bound S or a delta was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundError {
    /// A load always overtakes at least one store on a machine with a store buffer.
    ZeroBound,
    /// Consecutive stores to one word may be merged without limit, so that no delta is safe.
    NoExtraStore,
    /// More extra stores than a pop is willing to make.
    TooManyExtraStores {
        /// How many were asked for.
        requested: usize,
        /// How many a pop makes at most.
        limit: usize,
    },
}

impl fmt::Display for BoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundError::ZeroBound => f.write_str(
                "a bound of 0 stores would mean a CPU without a store buffer; give the buffer's entries plus one",
            ),
            BoundError::NoExtraStore => f.write_str(
                "with no extra store between pops the CPU may merge them and no delta is safe; give at least 1",
            ),
            BoundError::TooManyExtraStores { requested, limit } => {
                write!(f, "{requested} extra stores a pop were asked for; a pop makes at most {limit}")
            }
        }
    }
}

impl core::error::Error for BoundError {}
