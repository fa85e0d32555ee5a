//! Compiles one routine: its statements, with called routines inlined and settings applied.

use super::code::{Binary, Instruction, Operation, Place, Value, FIELD_BITS};
use super::compile::{
    declared_twice, is_built_in, too_many_registers, Names, Result, Row, MAX_FIELDS, MAX_OPERATIONS, MAX_REGISTERS,
};
use super::live::in_value as reads;
use super::syntax::{Action, Expression, Repeat, Statement, Target};
use super::SyntaxError;

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

fn has_ghost(value: &Value) -> bool {
    match value {
        Value::Ghost(_) => true,
        Value::Constant(_) | Value::Register(_) => false,
        Value::Not(value) | Value::Field(_, value) => has_ghost(value),
        Value::Binary(_, sides) => has_ghost(&sides.0) || has_ghost(&sides.1),
        Value::Pack(fields) => fields.iter().any(has_ghost),
    }
}

/// Returns whether a value calls a routine of the text.
fn calls_routine(expression: &Expression) -> bool {
    match expression {
        Expression::Number(_) | Expression::Name(_) => false,
        Expression::Index(_, value) | Expression::Not(value) => calls_routine(value),
        Expression::Call(name, arguments) => !is_built_in(name) || arguments.iter().any(calls_routine),
        Expression::Binary(_, sides) => calls_routine(&sides.0) || calls_routine(&sides.1),
        Expression::Tuple(fields) => fields.iter().any(calls_routine),
    }
}

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

    fn place(&mut self, target: &'a Target) -> Result<Place> {
        let Some(row) = self.names.rows.get(&target.name).copied() else {
            return self.error(format!("`{}` is not a word of memory", target.name));
        };
        self.row_place(&target.name, row, target.index.as_ref())
    }

    fn row_place(&mut self, name: &str, row: Row, index: Option<&'a Expression>) -> Result<Place> {
        let index = index.map(|index| self.value(index)).transpose()?;
        if row.indexed && index.is_none() {
            return self.error(format!("`{name}` is a row: give an index, `{name}[…]`"));
        }
        if !row.indexed && index.is_some() {
            return self.error(format!("`{name}` is one word and has no index"));
        }
        Ok(Place { base: row.base, length: row.length, index })
    }

    /// The first argument of a locked instruction.
    fn operand_place(&mut self, operand: Option<&'a Expression>) -> Result<Place> {
        let (name, index) = match operand {
            Some(Expression::Name(name)) => (name, None),
            Some(Expression::Index(name, index)) => (name, Some(&**index)),
            _ => return self.error("the first operand of a locked instruction must be a word of memory"),
        };
        match self.names.rows.get(name).copied() {
            Some(row) => self.row_place(name, row, index),
            None => self.error(format!("`{name}` is not a word of memory")),
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
        index.map(|index| index as u8)
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

    /// Returns a value that later computations cannot change. Copies the value if a later call
    /// could set a local or a ghost that it depends on.
    fn preserved<'e>(&mut self, value: Value, later: impl IntoIterator<Item = &'e Expression>) -> Result<Value> {
        let locals = u64::MAX.checked_shr(64 - self.names.locals.len() as u32).unwrap_or(0);
        if (reads(&value) & locals == 0 && !has_ghost(&value)) || !later.into_iter().any(calls_routine) {
            return Ok(value);
        }
        Ok(Value::Register(self.copy_to_temporary(value)?))
    }

    fn preserve_place<'e>(&mut self, at: &mut Place, later: impl IntoIterator<Item = &'e Expression>) -> Result<()> {
        at.index = match at.index.take() {
            Some(index) => Some(self.preserved(index, later)?),
            None => None,
        };
        Ok(())
    }

    /// Compiles values in order.
    fn values(&mut self, expressions: &'a [Expression]) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for (index, expression) in expressions.iter().enumerate() {
            let value = self.value(expression)?;
            values.push(self.preserved(value, &expressions[index + 1..])?);
        }
        Ok(values)
    }

    /// Returns whether a value takes a step or a call.
    fn takes_steps(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Number(_) => false,
            Expression::Name(name) => self.number(name).is_none() && self.names.rows.contains_key(name),
            Expression::Index(..) | Expression::Call(..) => true,
            Expression::Not(value) => self.takes_steps(value),
            Expression::Binary(_, sides) => self.takes_steps(&sides.0) || self.takes_steps(&sides.1),
            Expression::Tuple(fields) => fields.iter().any(|field| self.takes_steps(field)),
        }
    }

    pub(super) fn value(&mut self, expression: &'a Expression) -> Result<Value> {
        match expression {
            Expression::Number(number) => Ok(Value::Constant(*number)),
            Expression::Name(name) => self.named(name),
            Expression::Index(name, index) => {
                let Some(row) = self.names.rows.get(name).copied() else {
                    return self.error(format!("`{name}` is not a row of memory"));
                };
                let at = self.row_place(name, row, Some(index))?;
                self.load(at)
            }
            Expression::Call(name, arguments) => self.call(name, arguments),
            Expression::Not(value) => Ok(match self.value(value)? {
                Value::Constant(number) => Value::Constant(i16::from(number == 0)),
                value => Value::Not(Box::new(value)),
            }),
            Expression::Tuple(fields) => {
                if fields.len() > MAX_FIELDS {
                    return self.error(format!("a packed word has at most {MAX_FIELDS} fields"));
                }
                let fields = self.values(fields)?;
                self.pack(fields)
            }
            Expression::Binary(operator, sides) => self.binary(*operator, &sides.0, &sides.1),
        }
    }

    fn pack(&mut self, fields: Vec<Value>) -> Result<Value> {
        let (mut packed, mut known) = (0, true);
        for (place, field) in fields.iter().enumerate() {
            match field {
                Value::Constant(number) if (0..1 << FIELD_BITS).contains(number) => {
                    packed |= number << (FIELD_BITS * place as u32);
                }
                Value::Constant(_) => {
                    return self.error(format!("a field is a number from 0 to {}", (1 << FIELD_BITS) - 1));
                }
                _ => known = false,
            }
        }
        Ok(if known { Value::Constant(packed) } else { Value::Pack(fields) })
    }

    fn named(&mut self, name: &str) -> Result<Value> {
        if let Some(number) = self.number(name) {
            return Ok(Value::Constant(number));
        }
        if let Some(ghost) = self.names.ghosts.get(name) {
            return Ok(Value::Ghost(*ghost));
        }
        if let Some(row) = self.names.rows.get(name).copied() {
            let at = self.row_place(name, row, None)?;
            return self.load(at);
        }
        match self.known_register(name) {
            Some(register) => Ok(Value::Register(register)),
            None => self.error(format!("`{name}` is not declared here")),
        }
    }

    fn load(&mut self, at: Place) -> Result<Value> {
        let to = self.temporary()?;
        self.emit(Operation::Load { to, at });
        Ok(Value::Register(to))
    }

    fn binary(&mut self, operator: Binary, left: &'a Expression, right: &'a Expression) -> Result<Value> {
        let left = self.value(left)?;
        if !self.strict {
            match (operator, &left) {
                (Binary::And, Value::Constant(0)) => return Ok(Value::Constant(0)),
                (Binary::Or, Value::Constant(number)) if *number != 0 => return Ok(Value::Constant(1)),
                _ => {}
            }
        }
        let lazy = matches!(operator, Binary::And | Binary::Or) && !self.strict;
        if lazy && self.takes_steps(right) && !matches!(left, Value::Constant(_)) {
            // The right side takes steps, so the code evaluates it only if it is needed.
            let to = self.copy_to_temporary(left)?;
            let needed = Value::Register(to);
            let needed = if operator == Binary::And { needed } else { Value::Not(Box::new(needed)) };
            let past = self.emit(Operation::JumpUnless { value: needed, target: 0 });
            let value = self.value(right)?;
            self.emit(Operation::Assign { to, value });
            self.set_targets(&[past]);
            return Ok(Value::Register(to));
        }
        let left = self.preserved(left, [right])?;
        let value = self.value(right)?;
        if let (Value::Constant(a), Value::Constant(b)) = (&left, &value) {
            return match operator.apply(*a, *b) {
                Some(number) => Ok(Value::Constant(number)),
                None => self.error("this value is out of range"),
            };
        }
        Ok(Value::Binary(operator, Box::new((left, value))))
    }

    fn takes<T>(&self, name: &str, count: usize) -> Result<T> {
        self.error(format!("`{name}` takes {count} value{}", if count == 1 { "" } else { "s" }))
    }

    fn locked(&mut self, name: &str, arguments: &'a [Expression]) -> Result<Value> {
        let count = if name == "cas" { 3 } else { 2 };
        if arguments.len() != count {
            return self.takes(name, count);
        }
        let mut at = self.operand_place(arguments.first())?;
        self.preserve_place(&mut at, &arguments[1..])?;
        let mut values = self.values(&arguments[1..])?.into_iter();
        let mut value = || values.next().expect("they were counted");
        let to = self.temporary()?;
        self.emit(match name {
            "cas" => Operation::Cas { to, at, old: value(), new: value() },
            "swap" => Operation::Swap { to, at, value: value() },
            _ => Operation::Add { to, at, value: value() },
        });
        Ok(Value::Register(to))
    }

    fn call(&mut self, name: &str, arguments: &'a [Expression]) -> Result<Value> {
        if let "cas" | "swap" | "add" = name {
            return self.locked(name, arguments);
        }
        let Some((parameters, body)) = self.names.functions.get(name).copied() else {
            return self.error(format!("there is no routine `{name}`"));
        };
        if parameters.len() != arguments.len() {
            return self.takes(name, parameters.len());
        }
        if self.calls.iter().any(|call| call.name == name) {
            return self.error(format!("`{name}` calls itself"));
        }
        let arguments = self.values(arguments)?;
        let result = self.temporary()?;
        let (line, loops) = (self.line, std::mem::take(&mut self.loops));
        let outside = self.fixed.split_off(1.min(self.fixed.len()));
        self.calls.push(Call { name: name.to_owned(), result, exits: Vec::new() });
        for (parameter, argument) in parameters.iter().zip(arguments) {
            // A number stays a number, so that conditions on it alone are decided at compile time.
            if let Value::Constant(number) = argument {
                self.fixed.push((parameter.clone(), number));
            } else {
                let to = self.register(parameter)?;
                self.emit(Operation::Assign { to, value: argument });
            }
        }
        self.block(body)?;
        self.line = line;
        self.emit(Operation::Assign { to: result, value: Value::Constant(0) });
        let call = self.calls.pop().expect("pushed above");
        self.fixed.truncate(1);
        self.fixed.extend(outside);
        self.loops = loops;
        self.set_targets(&call.exits);
        Ok(Value::Register(result))
    }
}
