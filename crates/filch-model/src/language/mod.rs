//! The small language that programs for the [machine](crate::machine) are written in.
//!
//! A program is a text that can be laid beside the figure of a paper:
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
//! | `(s, h) = value` | takes a packed word apart; `(s, h)` as a value packs one, of two or three fields from 0 to 31 |
//! | `WORD := value`, `ROW[i] := value` | a store, rule 6 |
//! | `fence` | rule 5 |
//! | `lock`, `unlock` | the lock of the memory subsystem, rules 3 and 4 |
//! | `acquire WORD` | waits until the word is 0 and makes it 1, as one locked instruction; a mutex is released by a store of 0, or a `swap` |
//! | `await WORD == value` | waits until the comparison is true: one load of one word, blocked until then |
//! | `barrier` | the process-wide barrier: goes on once every other thread's store buffer has been empty |
//! | `took(task)` | the specification is told that a task was extracted; what is not a task is a fault |
//! | `assert value` | a fault if it is 0 |
//! | `if`, `else`, `while`, `loop`, `break`, `continue`, `return` | as one thinks |
//! | `repeat n { … }`, `repeat i in 1..=n { … }` | copies of the block, `i` being a number in each |
//!
//! A fault (a false `assert`, a strange task, an index outside a row, a number or a field out of range, a loop without a step) is a state that no claim allows.
//!
//! A name that is declared means one thing in the whole text, but a routine may be called like a word. A routine sees what is declared, its parameters and its own registers, nothing of its caller's; a parameter whose argument is a number is
//! a number too and cannot be set. A register is 0 until it is first set, and keeps its value from one call of the routine to the next.
//!
//! # Values
//!
//! Numbers, names, `ME` (the number of the thread, from 1; `init` is 1 too), `+ - * / %` (the remainder is never negative), comparisons, `&& || !` (only as far as needed), calls, and the locked instructions
//! `cas(WORD, old, new)`, which is 1 if it succeeded, `swap(WORD, value)` and `add(WORD, value)`, which are the old value. What stands first is computed first.
//!
//! # Steps
//!
//! One step of a thread is one access to memory and all that follows of it in registers, up to the next access. What is said to the specification (`took`,
//! `assert`, ghosts) is part of the step before it. Conditions made of settings alone are decided when the program is compiled, and registers whose
//! values nobody will read again are 0, so that they do not tell states apart.

mod body;
mod code;
mod compile;
mod lexer;
mod live;
mod syntax;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

pub(crate) use code::{Binary, Operation, Place, Program, Value, FIELD_BITS};

/// The settings of a run, by name: `TASKS`, `DELTA` and the like.
pub type Settings = BTreeMap<String, i16>;

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    line: usize,
    reason: String,
}

impl SyntaxError {
    fn new(line: usize, reason: impl Into<String>) -> Self {
        SyntaxError { line, reason: reason.into() }
    }

    /// A program whose states do not fit.
    pub(crate) fn too_large(length: usize, most: usize) -> Self {
        SyntaxError::new(1, format!("a state of this program is {length} numbers, more than {most}"))
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for SyntaxError {}

/// Makes a program of its text.
///
/// # Errors
///
/// If the text is not one, with the line.
pub(crate) fn compile(text: &str, settings: &Settings) -> Result<Program, SyntaxError> {
    let file = syntax::parse(&lexer::tokens(text)?)?;
    compile::compile(&file, text, settings)
}
