//! Compiles a tree to a program: the declarations, and the routines of the threads.

use std::collections::{HashMap, HashSet};

use super::body::Body;
use super::code::{Final, Operation, Program, Routine, Value, FIELD_BITS};
use super::live::{in_value as reads, live, Registers};
use super::observed::is_observed;
use super::syntax::{Declared, Expression, File, Item, Statement};
use super::{Settings, SyntaxError};

/// The most registers that a thread may have: each is a bit in a word.
pub(super) const MAX_REGISTERS: usize = 128;
/// The most words of memory that a program may have.
const MAX_WORDS: usize = 120;
/// The most threads that a program may have. Each is a bit in a word, for barriers.
const MAX_THREADS: usize = 15;
/// The most operations that a thread may have, and the most copies of blocks.
pub(super) const MAX_OPERATIONS: usize = 10_000;
/// The most fields that a packed word may have.
pub(super) const MAX_FIELDS: usize = 15 / FIELD_BITS as usize;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

pub(super) fn compile(file: &File, text: &str, settings: &Settings) -> Result<Program> {
    let mut names = Names { constants: settings.clone().into_iter().collect(), ..Names::default() };
    let mut program = Program {
        memory: Vec::new(),
        lines: Vec::new(),
        words: Vec::new(),
        ghosts: Vec::new(),
        threads: Vec::new(),
        init: None,
        finally: Vec::new(),
        tasks: 0,
        text: text.lines().map(str::to_owned).collect(),
    };
    for (item, line) in file {
        names.declare(item, *line, &mut program)?;
    }
    for (item, line) in file {
        if let Item::Function { parameters, .. } = item {
            if let Some(parameter) = parameters.iter().find(|name| names.is_word(name)) {
                return Err(declared_twice(parameter, *line));
            }
        }
    }
    let starting = names.starting(file)?;
    program.tasks = usize::try_from(names.constants.get("TASKS").copied().unwrap_or(0)).unwrap_or(0);
    for (item, line) in file {
        match item {
            Item::Init(_) if program.init.is_some() => return Err(declared_twice("init", *line)),
            // `init` runs as the first thread.
            Item::Init(body) => program.init = Some(starting.init(body)?),
            Item::Thread { name, copies, body } => {
                let copies = copies.as_ref().map_or(Ok(1), |copies| names.constant(copies, *line))?;
                for copy in 1..=copies {
                    let name = if copies == 1 { name.clone() } else { format!("{name} {copy}") };
                    let number = program.threads.len() + 1;
                    if number > MAX_THREADS {
                        let reason = format!("a program has at most {MAX_THREADS} threads");
                        return Err(SyntaxError::new(*line, reason));
                    }
                    program.threads.push(if number == 1 {
                        starting.routine(&name, 1, body)?
                    } else {
                        names.only(names.named(number as i16, body)?).routine(&name, number as i16, body)?
                    });
                }
            }
            Item::Finally(condition) => program.finally.push(names.final_condition(condition, *line)?),
            _ => {}
        }
    }
    Ok(program)
}

pub(super) fn declared_twice(name: &str, line: usize) -> SyntaxError {
    SyntaxError::new(line, format!("`{name}` is declared twice"))
}

#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) base: u8,
    pub(super) length: u8,
    /// Whether the name is used with an index.
    pub(super) indexed: bool,
}

#[derive(Clone, Default)]
pub(super) struct Names<'a> {
    pub(super) constants: HashMap<String, i16>,
    pub(super) rows: HashMap<String, Row>,
    pub(super) ghosts: HashMap<String, u8>,
    pub(super) locals: Vec<(String, i16)>,
    pub(super) functions: HashMap<String, (&'a [String], &'a [Statement])>,
    /// Everything that the text declares except routines.
    pub(super) declared: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    /// Checks that a name is new. A name has one meaning, so that no declaration hides another.
    fn declare_name(&mut self, name: &'a str, line: usize) -> Result<()> {
        match self.declared.insert(name) && !is_built_in(name) {
            true => Ok(()),
            false => Err(declared_twice(name, line)),
        }
    }

    /// Returns whether a name has a meaning in every routine.
    pub(super) fn is_word(&self, name: &str) -> bool {
        let known = self.constants.contains_key(name) || self.rows.contains_key(name) || self.ghosts.contains_key(name);
        known || self.locals.iter().any(|(local, _)| local == name) || is_built_in(name)
    }

    fn declare(&mut self, item: &'a Item, line: usize, program: &mut Program) -> Result<()> {
        match item {
            Item::Shared(words, _) | Item::Local(words) | Item::Ghost(words) | Item::Constant(words) => {
                for word in words {
                    self.declare_name(&word.name, line)?;
                }
            }
            Item::Function { name, parameters, .. } => {
                // A routine is named only where it is called, so a routine and a word may share a
                // name.
                if self.functions.contains_key(name) || is_built_in(name) {
                    return Err(declared_twice(name, line));
                }
                for (index, parameter) in parameters.iter().enumerate() {
                    if parameters[..index].contains(parameter) {
                        return Err(declared_twice(parameter, line));
                    }
                }
            }
            Item::Init(_) | Item::Thread { .. } | Item::Finally(_) => {}
        }
        match item {
            Item::Shared(words, together) => {
                let mut cache_line = program.lines.last().map_or(0, |last| last + 1);
                for word in words {
                    self.row(word, line, cache_line, *together, program)?;
                    cache_line = program.lines.last().map_or(0, |last| last + u8::from(!together));
                }
            }
            Item::Local(words) => {
                for word in words {
                    let value = self.first_value(word, line)?;
                    self.locals.push((word.name.clone(), value));
                }
                if self.locals.len() > MAX_REGISTERS {
                    return Err(too_many_registers(line));
                }
            }
            Item::Ghost(words) => {
                for word in words {
                    let value = self.first_value(word, line)?;
                    self.ghosts.insert(word.name.clone(), program.ghosts.len() as u8);
                    program.ghosts.push((word.name.clone(), value));
                }
            }
            Item::Constant(words) => {
                for word in words {
                    let value = self.first_value(word, line)?;
                    // A setting overrides the text.
                    self.constants.entry(word.name.clone()).or_insert(value);
                }
            }
            Item::Function { name, parameters, body } => {
                self.functions.insert(name.clone(), (parameters, body));
            }
            Item::Init(_) | Item::Thread { .. } | Item::Finally(_) => {}
        }
        Ok(())
    }

    fn row(
        &mut self,
        word: &Declared,
        line: usize,
        cache_line: u8,
        together: bool,
        program: &mut Program,
    ) -> Result<()> {
        let length = word.length.as_ref().map_or(Ok(1), |length| self.constant(length, line))?;
        let value = self.first_value(word, line)?;
        let base = program.memory.len();
        let length = usize::try_from(length).unwrap_or(0);
        if length == 0 || base + length > MAX_WORDS {
            return Err(SyntaxError::new(line, format!("`{}` does not fit: memory has {MAX_WORDS} words", word.name)));
        }
        for offset in 0..length {
            program.memory.push(value);
            program.lines.push(if together { cache_line } else { cache_line + offset as u8 });
        }
        program.words.push((word.name.clone(), base..base + length));
        let row = Row { base: base as u8, length: length as u8, indexed: word.length.is_some() };
        self.rows.insert(word.name.clone(), row);
        Ok(())
    }

    fn first_value(&self, word: &Declared, line: usize) -> Result<i16> {
        word.value.as_ref().map_or(Ok(0), |value| self.constant(value, line))
    }

    /// Returns a number that is known without running the program.
    fn constant(&self, expression: &Expression, line: usize) -> Result<i16> {
        let mut body = Body::new(self, 0, line);
        match body.value(expression)? {
            Value::Constant(number) if body.code.is_empty() => Ok(number),
            _ => Err(SyntaxError::new(line, "this must be a constant")),
        }
    }

    /// Returns the names for `init` and the first thread, which have the same locals.
    fn starting(&self, file: &'a File) -> Result<Self> {
        let mut named = 0;
        let mut is_first = true;
        for (item, line) in file {
            match item {
                Item::Init(body) => named |= self.named(1, body)?,
                Item::Thread { copies, body, .. } if is_first => {
                    named |= self.named(1, body)?;
                    // There may be none of this thread.
                    is_first = copies.as_ref().map_or(Ok(1), |copies| self.constant(copies, *line))? < 1;
                }
                _ => {}
            }
        }
        Ok(self.only(named))
    }

    /// Returns the locals that a thread names: a bit for each.
    fn named(&self, number: i16, body: &'a [Statement]) -> Result<Registers> {
        let mut compiled = Body::new(self, number, 0);
        compiled.block(body)?;
        Ok(compiled.named.get())
    }

    /// Returns the names with only these locals.
    fn only(&self, named: Registers) -> Self {
        let locals = self.locals.iter().enumerate().filter(|(index, _)| named >> index & 1 == 1);
        Names { locals: locals.map(|(_, local)| local.clone()).collect(), ..self.clone() }
    }

    fn routine(&self, name: &str, number: i16, body: &'a [Statement]) -> Result<Routine> {
        let mut compiled = Body::new(self, number, 0);
        compiled.block(body)?;
        compiled.emit(Operation::End);
        let Body { mut code, registers, .. } = compiled;
        for at in 0..code.len() {
            code[at].observed = is_observed(&code, at);
        }
        Ok(Routine {
            name: name.to_owned(),
            live: live(&code),
            code,
            start: self.locals.iter().enumerate().map(|(index, local)| (index as u8, local.1)).collect(),
            registers: registers.len(),
            register_names: registers.into_iter().map(|(_, name)| name).collect(),
        })
    }

    /// Compiles `init`. It runs as the first thread and passes its locals on to that thread.
    fn init(&self, body: &'a [Statement]) -> Result<Routine> {
        let mut routine = self.routine("init", 1, body)?;
        for live in &mut routine.live {
            *live |= Registers::MAX.checked_shr(Registers::BITS - self.locals.len() as u32).unwrap_or(0);
        }
        Ok(routine)
    }

    fn final_condition(&self, condition: &'a Expression, line: usize) -> Result<Final> {
        let mut body = Body::new(self, 0, line);
        body.strict = true;
        let value = body.value(condition)?;
        let mut loads = Vec::new();
        for instruction in body.code {
            match instruction.operation {
                Operation::Load { to, at } => loads.push((to, at)),
                _ => return Err(SyntaxError::new(line, "`finally` may only load")),
            }
        }
        let indices = loads.iter().filter_map(|(_, at)| at.index.as_ref());
        for (index, (name, _)) in self.locals.iter().enumerate() {
            if indices.clone().chain([&value]).any(|value| reads(value) >> index & 1 == 1) {
                return Err(SyntaxError::new(line, format!("`finally` may use memory and ghosts, not `{name}`")));
            }
        }
        Ok(Final { loads, value, line })
    }
}

/// Returns whether the language itself defines this name.
pub(super) fn is_built_in(name: &str) -> bool {
    matches!(name, "cas" | "swap" | "add" | "ME")
}

pub(super) fn too_many_registers(line: usize) -> SyntaxError {
    SyntaxError::new(line, format!("a thread has at most {MAX_REGISTERS} registers"))
}
