//! Finds the registers that may still be read.

use super::code::{Instruction, Operation, Place, Value};

/// A bit for each register.
pub(crate) type Registers = u128;

/// For each instruction, a bit for each register that is live there. A register is live if it is
/// read there, or later before it is set again.
pub(super) fn live(code: &[Instruction]) -> Vec<Registers> {
    let mut live = vec![0; code.len()];
    loop {
        let mut changed = false;
        for at in (0..code.len()).rev() {
            let (read, written) = effect(&code[at].operation);
            let after = match code[at].operation {
                Operation::End => 0,
                Operation::Jump { target } => live[usize::from(target)],
                Operation::JumpUnless { target, .. } => live[usize::from(target)] | live[at + 1],
                _ => live[at + 1],
            };
            let before = read | (after & !written);
            changed |= before != live[at];
            live[at] = before;
        }
        if !changed {
            return live;
        }
    }
}

/// Returns the registers that an operation reads, and those that it certainly writes.
fn effect(operation: &Operation) -> (Registers, Registers) {
    let bit = |register: &u8| 1 << register;
    match operation {
        Operation::Assign { to, value } => (in_value(value), bit(to)),
        Operation::SetGhost { value, .. } | Operation::JumpUnless { value, .. } | Operation::Assert { value } => {
            (in_value(value), 0)
        }
        Operation::Took { task } => (in_value(task), 0),
        Operation::Load { to, at } => (in_place(at), bit(to)),
        Operation::Store { at, value } => (in_place(at) | in_value(value), 0),
        Operation::Cas { to, at, old, new } => (in_place(at) | in_value(old) | in_value(new), bit(to)),
        Operation::Swap { to, at, value } | Operation::Add { to, at, value } => {
            (in_place(at) | in_value(value), bit(to))
        }
        Operation::Acquire { at } => (in_place(at), 0),
        // The condition reads the register that the load wrote.
        Operation::Await { to, at, condition } => (in_place(at) | (in_value(condition) & !bit(to)), bit(to)),
        Operation::Jump { .. }
        | Operation::Fence
        | Operation::Lock
        | Operation::Unlock
        | Operation::Barrier
        | Operation::BarrierDone
        | Operation::End => (0, 0),
    }
}

fn in_place(place: &Place) -> Registers {
    place.index.as_ref().map_or(0, in_value)
}

/// A bit for each register that a value depends on.
pub(super) fn in_value(value: &Value) -> Registers {
    match value {
        Value::Constant(_) | Value::Ghost(_) => 0,
        Value::Register(register) => 1 << register,
        Value::Not(value) | Value::Field(_, value) => in_value(value),
        Value::Binary(_, sides) => in_value(&sides.0) | in_value(&sides.1),
        Value::Pack(fields) => fields.iter().map(in_value).fold(0, |a, b| a | b),
    }
}
