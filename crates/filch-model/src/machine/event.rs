//! Events and faults within a step.

/// An event within a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A word was loaded, from the thread's own buffer or from memory.
    Loaded {
        /// The word.
        word: String,
        /// The value.
        value: i16,
        /// Whether the value is the thread's own store, which no other thread sees yet.
        forwarded: bool,
    },
    /// A store went into the buffer, or to memory if there is no buffer.
    Stored {
        /// The word.
        word: String,
        /// The stored value.
        value: i16,
    },
    /// A locked instruction read a value and wrote a value. Both are the same if a comparison
    /// failed.
    Exchanged {
        /// The word.
        word: String,
        /// The old value.
        old: i16,
        /// The new value.
        new: i16,
    },
    /// The thread passed a fence, or changed the lock, or began or ended a barrier.
    Passed(&'static str),
    /// The specification was told of an extracted task.
    Took(i16),
    /// A fault occurred.
    Failed(Fault),
    /// The thread has ended.
    Ended,
}

/// A fault within a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An `assert` was false.
    Assertion,
    /// The extracted value is not a task.
    NoTask,
    /// An index was outside its row.
    OutOfBounds,
    /// A number did not fit, or a field of a packed word.
    Overflow,
    /// A loop ran on without a step.
    Endless,
}

impl Fault {
    const ALL: [Fault; 5] = [Fault::Assertion, Fault::NoTask, Fault::OutOfBounds, Fault::Overflow, Fault::Endless];

    pub(super) fn from_word(word: i16) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| *fault as i16 + 1 == word)
    }

    /// Describes the fault in words.
    pub fn description(self) -> &'static str {
        match self {
            Fault::Assertion => "an assertion is false",
            Fault::NoTask => "the extracted value is not a task",
            Fault::OutOfBounds => "an index is out of range",
            Fault::Overflow => "a number is out of range",
            Fault::Endless => "a loop runs without a step",
        }
    }
}
