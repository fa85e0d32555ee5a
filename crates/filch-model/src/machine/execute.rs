//! The effects of one operation of a thread, on its registers, its store buffer and memory.

use super::event::{Event, Fault};
use super::state::{State, ThreadLayout};
use super::{Buffer, Machine};
use crate::language::{Binary, Operation, Place, Value, FIELD_BITS};

pub(super) type Attempt<T> = Result<T, Fault>;

impl Machine {
    pub(super) fn execute(
        &self,
        state: &mut State,
        index: usize,
        operation: &Operation,
        line: usize,
        note: &mut impl FnMut(usize, &dyn Fn() -> Event),
    ) -> Attempt<()> {
        let thread = self.layout.threads[index];
        let value = |state: &State, value: &Value| {
            self.evaluate(state, &state.words[thread.registers..thread.pending_fences], value)
        };
        match operation {
            Operation::Assign { to, value: from } => {
                state.words[thread.registers + usize::from(*to)] = value(state, from)?;
            }
            Operation::SetGhost { to, value: from } => {
                state.words[self.layout.ghosts + usize::from(*to)] = value(state, from)?;
            }
            Operation::JumpUnless { value: condition, target } => {
                if value(state, condition)? == 0 {
                    state.words[thread.counter] = *target as i16;
                }
            }
            Operation::Jump { target } => state.words[thread.counter] = *target as i16,
            Operation::Took { task } => {
                let task = value(state, task)?;
                note(line, &|| Event::Took(task));
                if task < 1 || task as usize > self.program.tasks {
                    return Err(Fault::NoTask);
                }
                let count = &mut state.words[self.layout.extracted + task as usize - 1];
                *count = (*count + 1).min(2);
            }
            Operation::Assert { value: condition } => {
                if value(state, condition)? == 0 {
                    return Err(Fault::Assertion);
                }
            }
            Operation::Await { to, at, condition } => {
                let address = self.locate(state, &thread, at)?;
                let (loaded, forwarded) = self.load(state, &thread, address);
                state.words[thread.registers + usize::from(*to)] = loaded;
                value(state, condition)?;
                let word = || self.word_name(usize::from(address));
                note(line, &|| Event::Loaded { word: word(), value: loaded, forwarded });
            }
            Operation::Load { to, at } => {
                let address = self.locate(state, &thread, at)?;
                let (value, forwarded) = self.load(state, &thread, address);
                state.words[thread.registers + usize::from(*to)] = value;
                note(line, &|| Event::Loaded { word: self.word_name(usize::from(address)), value, forwarded });
            }
            Operation::Store { at, value: from } => {
                let (address, value) = (self.locate(state, &thread, at)?, value(state, from)?);
                note(line, &|| Event::Stored { word: self.word_name(usize::from(address)), value });
                match self.buffer {
                    Buffer::None => state.words[usize::from(address)] = value,
                    _ => append(state, thread.queue, address, value),
                }
            }
            Operation::Cas { to, at, old, new } => {
                let address = self.locate(state, &thread, at)?;
                let (old, new) = (value(state, old)?, value(state, new)?);
                let found = state.words[usize::from(address)];
                let left = if found == old { new } else { found };
                state.words[usize::from(address)] = left;
                state.words[thread.registers + usize::from(*to)] = i16::from(found == old);
                let word = || self.word_name(usize::from(address));
                note(line, &|| Event::Exchanged { word: word(), old: found, new: left });
            }
            Operation::Swap { to, at, value: from } | Operation::Add { to, at, value: from } => {
                let (address, value) = (self.locate(state, &thread, at)?, value(state, from)?);
                let old = state.words[usize::from(address)];
                let new = match operation {
                    Operation::Add { .. } => old.checked_add(value).ok_or(Fault::Overflow)?,
                    _ => value,
                };
                state.words[usize::from(address)] = new;
                state.words[thread.registers + usize::from(*to)] = old;
                note(line, &|| Event::Exchanged { word: self.word_name(usize::from(address)), old, new });
            }
            Operation::Acquire { at } => {
                let address = self.locate(state, &thread, at)?;
                state.words[usize::from(address)] = 1;
                note(line, &|| Event::Exchanged { word: self.word_name(usize::from(address)), old: 0, new: 1 });
            }
            Operation::Fence => note(line, &|| Event::Passed("fence")),
            Operation::Lock => {
                state.words[self.layout.lock] = index as i16 + 1;
                note(line, &|| Event::Passed("lock"));
            }
            Operation::Unlock => {
                state.words[self.layout.lock] = 0;
                note(line, &|| Event::Passed("unlock"));
            }
            Operation::Barrier => {
                let others = (0..self.layout.threads.len()).filter(|other| !self.is_drained(state, *other));
                state.words[thread.pending_fences] =
                    others.fold(0, |pending_fences, other| pending_fences | 1 << other);
                note(line, &|| Event::Passed("barrier begins"));
            }
            Operation::BarrierDone => note(line, &|| Event::Passed("barrier ends")),
            Operation::End => {}
        }
        Ok(())
    }

    /// Rule 2: loads the thread's newest store to the word, or the value in memory. Also returns
    /// whether the value is the thread's own store.
    pub(super) fn load(&self, state: &State, thread: &ThreadLayout, address: u8) -> (i16, bool) {
        let own = |(stored, _): &(u8, i16)| *stored == address;
        match thread.queued(state).rev().find(own).or_else(|| thread.leaving(state).rev().find(own)) {
            Some((_, value)) => (value, true),
            None => (state.words[usize::from(address)], false),
        }
    }

    pub(super) fn locate(&self, state: &State, thread: &ThreadLayout, place: &Place) -> Attempt<u8> {
        match &place.index {
            None => Ok(place.base),
            Some(index) => {
                address(place, self.evaluate(state, &state.words[thread.registers..thread.pending_fences], index)?)
            }
        }
    }

    pub(super) fn evaluate(&self, state: &State, registers: &[i16], value: &Value) -> Attempt<i16> {
        Ok(match value {
            Value::Constant(number) => *number,
            Value::Register(register) => registers[usize::from(*register)],
            Value::Ghost(ghost) => state.words[self.layout.ghosts + usize::from(*ghost)],
            Value::Not(value) => i16::from(self.evaluate(state, registers, value)? == 0),
            Value::Binary(operator, sides) => {
                let left = self.evaluate(state, registers, &sides.0)?;
                // The side that is not needed may have no value.
                match operator {
                    Binary::And if left == 0 => return Ok(0),
                    Binary::Or if left != 0 => return Ok(1),
                    _ => {}
                }
                let right = self.evaluate(state, registers, &sides.1)?;
                operator.apply(left, right).ok_or(Fault::Overflow)?
            }
            Value::Pack(fields) => {
                let mut packed = 0;
                for (place, field) in fields.iter().enumerate() {
                    let field = self.evaluate(state, registers, field)?;
                    if !(0..1 << FIELD_BITS).contains(&field) {
                        return Err(Fault::Overflow);
                    }
                    packed |= field << (FIELD_BITS * place as u32);
                }
                packed
            }
            Value::Field(place, value) => {
                let packed = self.evaluate(state, registers, value)?;
                packed >> (FIELD_BITS * u32::from(*place)) & ((1 << FIELD_BITS) - 1)
            }
        })
    }
}

pub(super) fn address(place: &Place, index: i16) -> Attempt<u8> {
    match u8::try_from(index) {
        Ok(index) if index < place.length => Ok(place.base + index),
        _ => Err(Fault::OutOfBounds),
    }
}

/// Appends a store to a list of stores.
fn append(state: &mut State, list: usize, address: u8, value: i16) {
    let end = list + 1 + 2 * state.words[list] as usize;
    state.words[end] = i16::from(address);
    state.words[end + 1] = value;
    state.words[list] += 1;
}

/// Removes the oldest store from a list of stores.
pub(super) fn take_first(state: &mut State, list: usize) -> (u8, i16) {
    let end = list + 1 + 2 * state.words[list] as usize;
    let first = (state.words[list + 1] as u8, state.words[list + 2]);
    state.words.copy_within(list + 3..end, list + 1);
    state.words[end - 2..end].fill(0);
    state.words[list] -= 1;
    first
}

/// Puts a store into the egress slot. It replaces an older store to the same word.
pub(super) fn coalesce(state: &mut State, slot: usize, address: u8, value: i16) {
    let count = state.words[slot] as usize;
    for entry in 0..count {
        if state.words[slot + 1 + 2 * entry] == i16::from(address) {
            state.words[slot + 2 + 2 * entry] = value;
            return;
        }
    }
    append(state, slot, address, value);
}
