//! The code that a program is compiled to.

use std::ops::Range;

use super::live::Registers;

/// The number of bits of each field of a packed word.
pub(crate) const FIELD_BITS: u32 = 5;

/// A value that a thread computes without access to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Constant(i16),
    Register(u8),
    Ghost(u8),
    Not(Box<Value>),
    Binary(Binary, Box<(Value, Value)>),
    /// Fields of a packed word, lowest first.
    Pack(Vec<Value>),
    Field(u8, Box<Value>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    And,
    Or,
}

impl Binary {
    /// Returns the result, or `None` if the operation has no result.
    #[inline]
    pub(crate) fn apply(self, a: i16, b: i16) -> Option<i16> {
        match self {
            Binary::Add => a.checked_add(b),
            Binary::Subtract => a.checked_sub(b),
            Binary::Multiply => a.checked_mul(b),
            Binary::Divide => a.checked_div(b),
            Binary::Remainder => a.checked_rem_euclid(b),
            Binary::Equal => Some(i16::from(a == b)),
            Binary::Unequal => Some(i16::from(a != b)),
            Binary::Less => Some(i16::from(a < b)),
            Binary::LessOrEqual => Some(i16::from(a <= b)),
            Binary::And => Some(i16::from(a != 0 && b != 0)),
            Binary::Or => Some(i16::from(a != 0 || b != 0)),
        }
    }
}

/// A word of memory, or an element of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The address of the first word.
    pub(crate) base: u8,
    pub(crate) length: u8,
    /// The index in the row. `None` for a single word.
    pub(crate) index: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    // These operations are local to the thread, or tell the specification something.
    Assign {
        to: u8,
        value: Value,
    },
    SetGhost {
        to: u8,
        value: Value,
    },
    JumpUnless {
        value: Value,
        target: u16,
    },
    Jump {
        target: u16,
    },
    Took {
        task: Value,
    },
    Assert {
        value: Value,
    },
    // These operations are steps of the machine.
    Load {
        to: u8,
        at: Place,
    },
    Store {
        at: Place,
        value: Value,
    },
    Cas {
        to: u8,
        at: Place,
        old: Value,
        new: Value,
    },
    Swap {
        to: u8,
        at: Place,
        value: Value,
    },
    Add {
        to: u8,
        at: Place,
        value: Value,
    },
    Acquire {
        at: Place,
    },
    /// Loads into the register, and continues only if the condition is then true.
    Await {
        to: u8,
        at: Place,
        condition: Value,
    },
    Fence,
    Lock,
    Unlock,
    /// Requests a fence from every other thread whose store buffer is not empty.
    Barrier,
    /// Continues when all requested fences have happened.
    BarrierDone,
    End,
}

/// An operation and its source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) operation: Operation,
    /// The line of the text, counted from 1.
    pub(crate) line: usize,
    /// For a store: whether the specification is told something right after it. Then the moment of
    /// the store matters to more than memory.
    pub(crate) observed: bool,
}

/// The code of a thread, or of `init`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Routine {
    pub(crate) name: String,
    pub(crate) code: Vec<Instruction>,
    /// Registers with a value at the start.
    pub(crate) start: Vec<(u8, i16)>,
    pub(crate) registers: usize,
    /// For each instruction, a bit for each register that may be read later.
    pub(crate) live: Vec<Registers>,
    /// Names of the registers, for traces. Registers of the compiler have no name.
    pub(crate) register_names: Vec<String>,
}

/// A compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The first value of every word of memory.
    pub(crate) memory: Vec<i16>,
    /// The cache line of each word.
    pub(crate) lines: Vec<u8>,
    /// The names of the words, and their addresses.
    pub(crate) words: Vec<(String, Range<usize>)>,
    pub(crate) ghosts: Vec<(String, i16)>,
    pub(crate) threads: Vec<Routine>,
    pub(crate) init: Option<Routine>,
    /// The conditions on the last state, over ghosts and, by address, memory.
    pub(crate) finally: Vec<Final>,
    /// The number of tasks. Tasks are numbered from 1.
    pub(crate) tasks: usize,
    /// The lines of the text.
    pub(crate) text: Vec<String>,
}

impl Program {
    /// The program that has `init` as its only thread, if the text has `init`.
    pub(crate) fn preparation(&self) -> Option<Program> {
        let init = self.init.clone()?;
        Some(Program { threads: vec![init], init: None, ..self.clone() })
    }

    /// Returns whether a thread uses the process-wide barrier.
    pub(crate) fn has_barrier(&self) -> bool {
        let mut instructions = self.threads.iter().flat_map(|thread| &thread.code);
        instructions.any(|instruction| instruction.operation == Operation::Barrier)
    }
}

/// A condition on the last state. It loads into registers that no thread has, and then computes a
/// value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Final {
    pub(crate) loads: Vec<(u8, Place)>,
    pub(crate) value: Value,
    pub(crate) line: usize,
}
