//! Compiles one routine: its statements, with called routines inlined and settings applied.

mod value;

use std::cell::Cell;

use super::code::{Instruction, Operation, Value};
use super::compile::{declared_twice, too_many_registers, Names, Result, MAX_FIELDS, MAX_OPERATIONS, MAX_REGISTERS};
use super::live::Registers;
use super::syntax::{Action, Expression, Repeat, Statement};
use super::SyntaxError;

/// A call that is being inlined. Holds the register of its result, and the jumps to its end.
struct Call {
    name: String,
    result: u8,
    exits: Vec<usize>,
}

/// A loop that is being compiled: its start, and the jumps out of it.
struct Loop {
    start: usize,
    exits: Vec<usize>,
}

/// The code of a routine that is being compiled.
pub(super) struct Body<'n, 'a> {
    names: &'n Names<'a>,
    pub(super) code: Vec<Instruction>,
    line: usize,
    /// The owning routine and the name of each register.
    pub(super) registers: Vec<(String, String)>,
    /// The registers that the code names: a bit for each.
    pub(super) named: Cell<Registers>,
    calls: Vec<Call>,
    loops: Vec<Loop>,
    /// Names with a fixed number. First is the thread's number, then parameters and copies of the
    /// current routine.
    fixed: Vec<(String, i16)>,
    /// The number of copies of blocks so far.
    copies: usize,
    /// The number of registers that the current statement uses for loaded values.
    temporaries: usize,
    /// Whether both sides of `&&` and `||` are always evaluated.
    pub(super) strict: bool,
}

impl<'n, 'a> Body<'n, 'a> {
    pub(super) fn new(names: &'n Names<'a>, number: i16, line: usize) -> Self {
        // The locals come first in every routine, so that a local has the same number everywhere.
        let registers = names.locals.iter().map(|(name, _)| (String::new(), name.clone())).collect();
        Body {
            names,
            code: Vec::new(),
            line,
            registers,
            named: Cell::new(0),
            calls: Vec::new(),
            loops: Vec::new(),
            fixed: vec![("ME".to_owned(), number)],
            copies: 0,
            temporaries: 0,
            strict: false,
        }
    }

    fn error<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(SyntaxError::new(self.line, reason))
    }

    pub(super) fn emit(&mut self, operation: Operation) -> usize {
        self.code.push(Instruction { operation, line: self.line, observed: false });
        self.code.len() - 1
    }

    fn check_length(&self) -> Result<()> {
        if self.code.len() > MAX_OPERATIONS || self.copies > MAX_OPERATIONS {
            return self.error(format!("a thread has more than {MAX_OPERATIONS} operations"));
        }
        Ok(())
    }

    /// Makes jumps end here.
    fn set_targets(&mut self, jumps: &[usize]) {
        let here = self.code.len() as u16;
        for jump in jumps {
            match &mut self.code[*jump].operation {
                Operation::Jump { target } | Operation::JumpUnless { target, .. } => *target = here,
                other => unreachable!("{other:?} does not jump"),
            }
        }
    }

    pub(super) fn block(&mut self, statements: &'a [Statement]) -> Result<()> {
        for statement in statements {
            self.line = statement.line;
            let temporaries = self.temporaries;
            self.statement(&statement.action)?;
            self.temporaries = temporaries;
            self.check_length()?;
        }
        Ok(())
    }

    fn statement(&mut self, action: &'a Action) -> Result<()> {
        match action {
            Action::Assign(names, value) => self.assign(names, value)?,
            Action::Store(target, value) => {
                let mut at = self.place(target)?;
                self.preserve_place(&mut at, [value])?;
                let value = self.value(value)?;
                self.emit(Operation::Store { at, value });
            }
            Action::If(condition, then, otherwise) => self.conditional(condition, then, otherwise)?,
            Action::While(condition, body) => self.compile_loop(Some(condition), body)?,
            Action::Loop(body) => self.compile_loop(None, body)?,
            Action::Repeat(repeat) => self.repeat(repeat)?,
            Action::Break => {
                let jump = self.emit(Operation::Jump { target: 0 });
                match self.loops.last_mut() {
                    Some(enclosing) => enclosing.exits.push(jump),
                    None => return self.error("`break` outside of a loop"),
                }
            }
            Action::Continue => match self.loops.last() {
                Some(enclosing) => {
                    let target = enclosing.start as u16;
                    self.emit(Operation::Jump { target });
                }
                None => return self.error("`continue` outside of a loop"),
            },
            Action::Return(value) => self.compile_return(value.as_ref())?,
            Action::Acquire(target) => {
                let at = self.place(target)?;
                self.emit(Operation::Acquire { at });
            }
            Action::Await(condition) => self.wait(condition)?,
            Action::Took(task) => {
                let task = self.value(task)?;
                self.emit(Operation::Took { task });
            }
            Action::Assert(value) => {
                let value = self.value(value)?;
                self.emit(Operation::Assert { value });
            }
            Action::Fence => drop(self.emit(Operation::Fence)),
            Action::Lock => drop(self.emit(Operation::Lock)),
            Action::Unlock => drop(self.emit(Operation::Unlock)),
            Action::Barrier => {
                self.emit(Operation::Barrier);
                self.emit(Operation::BarrierDone);
            }
            Action::Call(call) => drop(self.value(call)?),
        }
        Ok(())
    }

    fn assign(&mut self, names: &[String], value: &'a Expression) -> Result<()> {
        if let ([name], Expression::Name(word)) = (names, value) {
            // The load goes directly into the register, so that a trace shows no more steps than
            // the text has.
            if let (Some(row), None) = (self.names.rows.get(word), self.names.ghosts.get(name)) {
                self.check_assignable(name)?;
                let at = self.row_place(word, *row, None)?;
                let to = self.register(name)?;
                self.emit(Operation::Load { to, at });
                return Ok(());
            }
        }
        let value = self.value(value)?;
        if let [name] = names {
            return self.set(name, value);
        }
        if names.len() > MAX_FIELDS {
            return self.error(format!("a packed word has at most {MAX_FIELDS} fields"));
        }
        let is_set = |register| names.iter().any(|name| self.known_register(name) == Some(register));
        let whole = match value {
            Value::Register(register) if !is_set(register) => register,
            value => self.copy_to_temporary(value)?,
        };
        for (field, name) in names.iter().enumerate() {
            self.set(name, Value::Field(field as u8, Box::new(Value::Register(whole))))?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: Value) -> Result<()> {
        if let Some(ghost) = self.names.ghosts.get(name) {
            self.emit(Operation::SetGhost { to: *ghost, value });
            return Ok(());
        }
        self.check_assignable(name)?;
        let to = self.register(name)?;
        self.emit(Operation::Assign { to, value });
        Ok(())
    }

    fn check_assignable(&self, name: &str) -> Result<()> {
        if self.names.rows.contains_key(name) {
            return self.error(format!("`{name}` is in memory: store to it with `:=`"));
        }
        if self.number(name).is_some() {
            return self.error(format!("`{name}` is a constant and cannot be set"));
        }
        Ok(())
    }

    fn conditional(
        &mut self,
        condition: &'a Expression,
        then: &'a [Statement],
        otherwise: &'a [Statement],
    ) -> Result<()> {
        match self.value(condition)? {
            Value::Constant(0) => self.block(otherwise),
            Value::Constant(_) => self.block(then),
            value => {
                let past = self.emit(Operation::JumpUnless { value, target: 0 });
                self.block(then)?;
                if otherwise.is_empty() {
                    self.set_targets(&[past]);
                    return Ok(());
                }
                let end = self.emit(Operation::Jump { target: 0 });
                self.set_targets(&[past]);
                self.block(otherwise)?;
                self.set_targets(&[end]);
                Ok(())
            }
        }
    }

    fn compile_loop(&mut self, condition: Option<&'a Expression>, body: &'a [Statement]) -> Result<()> {
        let start = self.code.len();
        self.loops.push(Loop { start, exits: Vec::new() });
        if let Some(condition) = condition {
            let value = self.value(condition)?;
            if value != Value::Constant(1) {
                let exit = self.emit(Operation::JumpUnless { value, target: 0 });
                self.loops.last_mut().expect("pushed above").exits.push(exit);
            }
        }
        self.block(body)?;
        self.emit(Operation::Jump { target: start as u16 });
        let enclosing = self.loops.pop().expect("pushed above");
        self.set_targets(&enclosing.exits);
        Ok(())
    }

    fn repeat(&mut self, repeat: &'a Repeat) -> Result<()> {
        let (first, last) = (self.value(&repeat.first)?, self.value(&repeat.last)?);
        let (Value::Constant(first), Value::Constant(last)) = (first, last) else {
            return self.error("the number of copies must be a constant");
        };
        // A `break` would be ambiguous: it could end this copy or all copies.
        let loops = std::mem::take(&mut self.loops);
        if let Some(name) = repeat.name.as_deref().filter(|name| self.names.is_word(name)) {
            return Err(declared_twice(name, self.line));
        }
        for number in first..=last {
            self.copies += 1;
            self.check_length()?;
            if let Some(name) = &repeat.name {
                self.fixed.push((name.clone(), number));
            }
            self.block(&repeat.body)?;
            if repeat.name.is_some() {
                self.fixed.pop();
            }
        }
        self.loops = loops;
        Ok(())
    }

    fn compile_return(&mut self, value: Option<&'a Expression>) -> Result<()> {
        let value = value.map_or(Ok(Value::Constant(0)), |value| self.value(value))?;
        let Some(call) = self.calls.last() else {
            self.emit(Operation::End);
            return Ok(());
        };
        let to = call.result;
        self.emit(Operation::Assign { to, value });
        let exit = self.emit(Operation::Jump { target: 0 });
        self.calls.last_mut().expect("looked at above").exits.push(exit);
        Ok(())
    }

    fn wait(&mut self, condition: &'a Expression) -> Result<()> {
        let start = self.code.len();
        let condition = self.value(condition)?;
        match self.code.pop().map(|instruction| instruction.operation) {
            Some(Operation::Load { to, at }) if self.code.len() == start => {
                self.emit(Operation::Await { to, at, condition });
                Ok(())
            }
            _ => self.error("`await` must load exactly one word of memory"),
        }
    }

    fn number(&self, name: &str) -> Option<i16> {
        let fixed = self.fixed.iter().rev().find(|(known, _)| known == name).map(|(_, number)| *number);
        fixed.or_else(|| self.names.constants.get(name).copied())
    }

    fn known_register(&self, name: &str) -> Option<u8> {
        let scope = self.calls.last().map_or("-", |call| call.name.as_str());
        let index =
            self.registers.iter().position(|(owner, known)| known == name && (owner == scope || owner.is_empty()));
        let index = index?;
        self.named.set(self.named.get() | 1 << index);
        Some(index as u8)
    }

    fn register(&mut self, name: &str) -> Result<u8> {
        if let Some(register) = self.known_register(name) {
            return Ok(register);
        }
        let scope = self.calls.last().map_or("-", |call| call.name.as_str()).to_owned();
        self.registers.push((scope, name.to_owned()));
        if self.registers.len() > MAX_REGISTERS {
            return Err(too_many_registers(self.line));
        }
        Ok((self.registers.len() - 1) as u8)
    }

    /// Returns a register that is free for the rest of the statement.
    fn temporary(&mut self) -> Result<u8> {
        let name = format!("#{}", self.temporaries);
        self.temporaries += 1;
        // All routines share these registers, so that a call inside a statement continues the
        // count.
        if let Some(index) = self.registers.iter().position(|(owner, known)| owner == "#" && *known == name) {
            return Ok(index as u8);
        }
        self.registers.push(("#".to_owned(), name));
        if self.registers.len() > MAX_REGISTERS {
            return Err(too_many_registers(self.line));
        }
        Ok((self.registers.len() - 1) as u8)
    }

    fn copy_to_temporary(&mut self, value: Value) -> Result<u8> {
        let to = self.temporary()?;
        self.emit(Operation::Assign { to, value });
        Ok(to)
    }
}
