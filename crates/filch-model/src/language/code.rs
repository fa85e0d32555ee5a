//! What a program is compiled to.

use std::ops::Range;

/// A packed word has fields of so many bits.
pub(crate) const FIELD_BITS: u32 = 5;

/// A value that a thread can tell without a look at memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Constant(i16),
    Register(u8),
    Ghost(u8),
    Not(Box<Value>),
    Binary(Binary, Box<(Value, Value)>),
    /// Fields of a packed word, the first one lowest.
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
    /// The result, or nothing where there is none.
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

/// A word of memory, or one of a row of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The address of the first.
    pub(crate) base: u8,
    pub(crate) length: u8,
    /// Which one; the only one if there is none.
    pub(crate) index: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    // These stay within the thread, or tell the specification something.
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
    // These are steps of the machine.
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
    /// Loads into the register, and goes on only if the condition is then true.
    Await {
        to: u8,
        at: Place,
        condition: Value,
    },
    Fence,
    Lock,
    Unlock,
    /// Asks every other thread whose store buffer is not empty for a fence.
    Barrier,
    /// Goes on once they have all had one.
    BarrierDone,
    End,
}

/// An operation and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) operation: Operation,
    /// The line of the text, counted from 1.
    pub(crate) line: usize,
    /// For a store: whether the specification is told something right after it, so that the moment of the store matters to more than memory.
    pub(crate) observed: bool,
}

/// What one thread runs, or `init`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Routine {
    pub(crate) name: String,
    pub(crate) code: Vec<Instruction>,
    /// Registers that hold something at the start.
    pub(crate) start: Vec<(u8, i16)>,
    pub(crate) registers: usize,
    /// For each instruction, a bit for each register whose value may still be read from there on.
    pub(crate) live: Vec<u64>,
    /// Names of the registers, for a reader; those without one are the compiler's.
    pub(crate) register_names: Vec<String>,
}

/// A program for the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// What every word of memory holds at first.
    pub(crate) memory: Vec<i16>,
    /// Which cache line each is on.
    pub(crate) lines: Vec<u8>,
    /// What the words are called, and where they are.
    pub(crate) words: Vec<(String, Range<usize>)>,
    pub(crate) ghosts: Vec<(String, i16)>,
    pub(crate) threads: Vec<Routine>,
    pub(crate) init: Option<Routine>,
    /// What must be true at the end, over ghosts and, by address, memory.
    pub(crate) finally: Vec<Final>,
    /// Tasks are numbered from 1 to this.
    pub(crate) tasks: usize,
    /// The lines of the text.
    pub(crate) text: Vec<String>,
}

impl Program {
    /// The program that has `init` for its only thread, if there is one.
    pub(crate) fn preparation(&self) -> Option<Program> {
        let init = self.init.clone()?;
        Some(Program { threads: vec![init], init: None, ..self.clone() })
    }

    /// Whether a thread has a process-wide barrier.
    pub(crate) fn has_barrier(&self) -> bool {
        let mut instructions = self.threads.iter().flat_map(|thread| &thread.code);
        instructions.any(|instruction| instruction.operation == Operation::Barrier)
    }
}

/// A condition on the last state: loads into registers of nobody's, and then a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Final {
    pub(crate) loads: Vec<(u8, Place)>,
    pub(crate) value: Value,
    pub(crate) line: usize,
}
