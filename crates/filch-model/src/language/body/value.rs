//! Compiles values, and the places in memory that they are loaded from.
//!
//! Values are computed from left to right. Each load is a step, and a called routine is inlined.

use super::{Body, Call};
use crate::language::code::{Binary, Operation, Place, Value, FIELD_BITS};
use crate::language::compile::{is_built_in, Result, Row, MAX_FIELDS};
use crate::language::live::{in_value as reads, Registers};
use crate::language::observed::has_ghost;
use crate::language::syntax::{Expression, Target};

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

impl<'a> Body<'_, 'a> {
    pub(super) fn place(&mut self, target: &'a Target) -> Result<Place> {
        let Some(row) = self.names.rows.get(&target.name).copied() else {
            return self.error(format!("`{}` is not a word of memory", target.name));
        };
        self.row_place(&target.name, row, target.index.as_ref())
    }

    pub(super) fn row_place(&mut self, name: &str, row: Row, index: Option<&'a Expression>) -> Result<Place> {
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

    /// Returns a value that later computations cannot change. Copies the value if a later call
    /// could set a local or a ghost that it depends on.
    fn preserved<'e>(&mut self, value: Value, later: impl IntoIterator<Item = &'e Expression>) -> Result<Value> {
        let locals = Registers::MAX.checked_shr(Registers::BITS - self.names.locals.len() as u32).unwrap_or(0);
        if (reads(&value) & locals == 0 && !has_ghost(&value)) || !later.into_iter().any(calls_routine) {
            return Ok(value);
        }
        Ok(Value::Register(self.copy_to_temporary(value)?))
    }

    pub(super) fn preserve_place<'e>(
        &mut self,
        at: &mut Place,
        later: impl IntoIterator<Item = &'e Expression>,
    ) -> Result<()> {
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

    pub(in crate::language) fn value(&mut self, expression: &'a Expression) -> Result<Value> {
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
