//! Finds the stores that the specification observes.

use super::code::{Instruction, Operation, Value};

/// Returns whether the specification observes a store. It does if this store reads a ghost, or if a
/// ghost is read or written between this store and the next step.
pub(super) fn is_observed(code: &[Instruction], at: usize) -> bool {
    let Operation::Store { at: place, value } = &code[at].operation else {
        return false;
    };
    if has_ghost(value) || place.index.as_ref().is_some_and(has_ghost) {
        return true;
    }
    let (mut pending, mut seen) = (vec![at + 1], vec![false; code.len()]);
    while let Some(at) = pending.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        match &code[at].operation {
            Operation::SetGhost { .. } => return true,
            Operation::Assign { value, .. } | Operation::Assert { value } | Operation::Took { task: value } => {
                if has_ghost(value) {
                    return true;
                }
                pending.push(at + 1);
            }
            Operation::JumpUnless { value, target } => {
                if has_ghost(value) {
                    return true;
                }
                pending.extend([at + 1, usize::from(*target)]);
            }
            Operation::Jump { target } => pending.push(usize::from(*target)),
            _ => {}
        }
    }
    false
}

pub(super) fn has_ghost(value: &Value) -> bool {
    match value {
        Value::Ghost(_) => true,
        Value::Constant(_) | Value::Register(_) => false,
        Value::Not(value) | Value::Field(_, value) => has_ghost(value),
        Value::Binary(_, sides) => has_ghost(&sides.0) || has_ghost(&sides.1),
        Value::Pack(fields) => fields.iter().any(has_ghost),
    }
}
