//! The small language for programs of the [machine](crate::machine).
//!
//! A program is a text that a reader can compare with the figure of a paper:
//!
//! ```text
//! shared H = 0                          // a word of memory, on a cache line of its own
//! shared tasks[8]                       // a row of them, 0 at first
//! line { shared A, B = 1 }              // words that share a cache line
//! local tail = 0                        // a word of each thread's own; never in memory
//! ghost seen = 0                        // a word of the specification: no thread's code depends on it
//! const W = 8                           // a name for a number; the settings of a run are names too
//!
//! fn pop() {                            // routines are inlined where they are called
//!     t = T - 1                         // every mention of a shared word is one load
//!     T := t                            // a store goes into the thread's store buffer
//!     fence
//!     h = H
//!     if t > h { return tasks[t % W] }
//!     if t < h { T := h; return EMPTY }
//!     T := h + 1
//!     if !cas(H, h, h + 1) { return EMPTY }
//!     return tasks[t % W]
//! }
//!
//! init { push(1) }                      // runs before everything else, as the first thread, straight on memory
//! thread owner { took(pop()) }
//! thread thief * THIEVES { took(steal()) }
//! finally H == 1                        // holds in every state in which all threads have ended
//! ```
//!
//! # Statements
//!
//! | statement | what it does |
//! |---|---|
//! | `name = value` | sets a register of the routine, or a `local`, or a `ghost` |
//! | `(s, h) = value` | unpacks a packed word; `(s, h)` as a value packs one, of two or three fields from 0 to 31 |
//! | `WORD := value`, `ROW[i] := value` | a store, rule 6 |
//! | `fence` | rule 5 |
//! | `lock`, `unlock` | the lock of the memory subsystem, rules 3 and 4 |
//! | `acquire WORD` | waits until the word is 0 and sets it to 1, as one locked instruction; a store of 0 or a `swap` releases the mutex |
//! | `await WORD == value` | waits until the comparison is true: one load of one word, blocked until then |
//! | `barrier` | the process-wide barrier: continues when every other thread's store buffer has been empty |
//! | `took(task)` | tells the specification that a task was extracted; a value that is not a task is a fault |
//! | `assert value` | a fault if it is 0 |
//! | `if`, `else`, `while`, `loop`, `break`, `continue`, `return` | the usual control flow |
//! | `repeat n { … }`, `repeat i in 1..=n { … }` | copies of the block; `i` is a number in each |
//!
//! A fault is a state that no claim allows. Faults are a false `assert`, a `took` of something that
//! is not a task, an index outside a row, a number or a field out of range, and a loop without a
//! step.
//!
//! A declared name has one meaning in the whole text, but a routine and a word may share a name. A
//! routine sees the declarations, its parameters and its own registers, but nothing of its caller.
//! If the argument of a parameter is a number, the parameter is a number too and cannot be set. A
//! register is 0 until it is first set. It keeps its value from one call of the routine to the
//! next.
//!
//! # Values
//!
//! - Numbers, names, calls, comparisons, and `ME` (the number of the thread, from 1; it is 1 in
//!   `init` too).
//! - `+ - * / %`. The remainder is never negative.
//! - `&& || !`, with short-circuit evaluation.
//! - The locked instructions `cas(WORD, old, new)`, which is 1 if it succeeded, and
//!   `swap(WORD, value)` and `add(WORD, value)`, which are the old value.
//!
//! Values are computed from left to right.
//!
//! # Steps
//!
//! A step of a thread is one access to memory, and everything that follows in registers up to the
//! next access. Messages to the specification (`took`, `assert`, ghosts) are part of the step
//! before them. Conditions made of settings alone are decided at compile time. Registers that will
//! not be read again are set to 0, so that they do not distinguish states.

mod body;
mod code;
mod compile;
mod lexer;
mod live;
mod observed;
mod syntax;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

pub(crate) use code::{Binary, Operation, Place, Program, Value, FIELD_BITS};

/// The settings of a run, by name, such as `TASKS` and `DELTA`.
pub type Settings = BTreeMap<String, i16>;

/// Error from compiling a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    line: usize,
    reason: String,
}

impl SyntaxError {
    fn new(line: usize, reason: impl Into<String>) -> Self {
        SyntaxError { line, reason: reason.into() }
    }

    /// Error for a program whose states are too large.
    pub(crate) fn too_large(length: usize, most: usize) -> Self {
        SyntaxError::new(1, format!("a state of this program has {length} numbers, more than {most}"))
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for SyntaxError {}

/// Compiles a text to a program.
///
/// # Errors
///
/// If the text is not a program. The error names the line.
pub(crate) fn compile(text: &str, settings: &Settings) -> Result<Program, SyntaxError> {
    let file = syntax::parse(&lexer::tokens(text)?)?;
    compile::compile(&file, text, settings)
}
