//! The abstract machine of bounded TSO. It follows section 2 of *Fence-Free Work Stealing on
//! Bounded TSO Processors*.
//!
//! Threads run in order and share a memory subsystem: memory, a first-in first-out store buffer for
//! each thread, and one lock. The rules have the paper's numbers:
//!
//! | rule | what may happen | when | here |
//! |---|---|---|---|
//! | 1 | the oldest store of a buffer reaches memory | the lock is free or the thread holds it | [`Action::Drain`] |
//! | 2 | a thread loads: its own newest store to the word, or else memory | the lock is free or the thread holds it | `load` |
//! | 3 | a thread takes the lock | the lock is free | `lock` |
//! | 4 | a thread releases the lock | its buffer is empty | `unlock` |
//! | 5 | a thread passes a fence | its buffer is empty | `fence` |
//! | 6 | a thread stores | its buffer is not full | `store` |
//!
//! A compare-and-swap is rules 3, 2, 6, 1 and 4 in one step. This loses no runs: while a thread
//! holds the lock, no other thread accesses memory. So the thread may as well have emptied its
//! buffer just before. A test compares the two.
//!
//! The machine has two additions:
//!
//! - With [`Buffer::Egress`], a store leaves the buffer for the egress slot of section 7.3
//!   ([`Action::Drain`]). The slot is written to memory later ([`Action::Write`]). A store to an
//!   address that the slot holds replaces the older store there.
//! - `barrier` is the kernel's process-wide barrier: every other thread passes a fence at some
//!   moment between its beginning and its end. The earliest such moment is when that thread's
//!   buffer is first empty. Any later moment allows less.
//!
//! # Fewer states
//!
//! A store into a buffer that is not full affects no other thread. It commutes with every step of
//! the other threads and with the draining of the same buffer, and no step can disable it. So the
//! machine makes the store at once, as part of the step before. [`Machine::set_store_steps`] turns
//! that off, and a test compares the two. A store keeps its own step if the specification is told
//! something after it. In a program with a `barrier` all stores keep their own step, because it
//! matters whether a store came before the barrier.

mod buffer;
mod event;
mod execute;
mod state;
mod step;

pub use buffer::{Buffer, Coalescing};
pub use event::{Event, Fault};
pub use state::State;
pub use step::Action;

use crate::language::{self, Program, Settings, SyntaxError};
use state::Layout;

/// A machine that runs a program.
#[derive(Clone, Debug)]
pub struct Machine {
    program: Program,
    buffer: Buffer,
    layout: Layout,
    initial: State,
    eager: bool,
    claims: Claims,
}

/// The claims about a program, besides that it has no faults and never gets stuck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// No task is extracted twice.
    pub at_most_once: bool,
    /// Every task has been extracted at the end.
    pub nothing_lost: bool,
}

impl Machine {
    /// Creates a machine that runs the program with this text.
    ///
    /// # Errors
    ///
    /// If the text is not a program, or the program is too large.
    pub fn new(text: &str, settings: &Settings, buffer: Buffer, claims: Claims) -> Result<Self, SyntaxError> {
        let program = language::compile(text, settings)?;
        let layout = Layout::new(&program, buffer)?;
        if let Some(preparation) = program.preparation() {
            Layout::new(&preparation, Buffer::None)?;
        }
        let initial = State::empty(&layout);
        let eager = !program.has_barrier();
        let mut machine = Machine { program, buffer, layout, initial, eager, claims };
        machine.start();
        Ok(machine)
    }

    /// Gives every store its own step.
    pub fn set_store_steps(&mut self) {
        self.eager = false;
        self.start();
    }

    /// The claims about the program.
    pub fn claims(&self) -> Claims {
        self.claims
    }

    /// The store buffers of the machine.
    pub fn buffer(&self) -> Buffer {
        self.buffer
    }

    /// The names of the threads.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.program.threads.iter().map(|thread| thread.name.as_str())
    }

    /// The initial state.
    pub fn initial(&self) -> &State {
        &self.initial
    }

    /// Returns whether all threads have ended and all buffers are empty.
    pub fn is_over(&self, state: &State) -> bool {
        (0..self.program.threads.len()).all(|thread| self.has_ended(state, thread) && self.is_drained(state, thread))
    }

    /// Returns whether no step is possible although a thread has not ended.
    pub fn is_stuck(&self, state: &State) -> bool {
        !self.can_step(state) && self.fault(state).is_none() && !self.is_over(state)
    }

    /// The fault in a thread, if there is one.
    pub fn fault(&self, state: &State) -> Option<Fault> {
        Fault::from_word(state.words[self.layout.fault])
    }

    /// The number of times that a task was extracted. Tasks are numbered from 1.
    pub fn extracted(&self, state: &State, task: usize) -> i16 {
        state.words[self.layout.extracted + task - 1]
    }

    /// The number of times that each task was extracted.
    pub fn all_extracted<'a>(&self, state: &'a State) -> impl Iterator<Item = i16> + 'a {
        state.words[self.layout.extracted..self.layout.fault].iter().copied()
    }

    /// The number of tasks of the program.
    pub fn tasks(&self) -> usize {
        self.program.tasks
    }

    /// The value of a ghost.
    pub fn ghost(&self, state: &State, name: &str) -> Option<i16> {
        let index = self.program.ghosts.iter().position(|(known, _)| known == name)?;
        Some(state.words[self.layout.ghosts + index])
    }

    /// The values of the ghosts, by name.
    pub fn ghosts<'a>(&'a self, state: &'a State) -> impl Iterator<Item = (&'a str, i16)> + 'a {
        let names = self.program.ghosts.iter().enumerate();
        names.map(|(index, (name, _))| (name.as_str(), state.words[self.layout.ghosts + index]))
    }

    /// The value of a word of memory, by the name that [`Machine::word_name`] gives it.
    pub fn word(&self, state: &State, name: &str) -> Option<i16> {
        let address = (0..self.program.memory.len()).find(|address| self.word_name(*address) == name)?;
        Some(state.words[address])
    }

    /// The words of memory that differ between two states, by name, with their new values.
    pub fn changes(&self, before: &State, after: &State) -> Vec<(String, i16)> {
        let changed = (0..self.program.memory.len()).filter(|address| before.words[*address] != after.words[*address]);
        changed.map(|address| (self.word_name(address), after.words[address])).collect()
    }

    /// The values of all words of memory, by name.
    pub fn memory(&self, state: &State) -> Vec<(String, i16)> {
        (0..self.program.memory.len()).map(|address| (self.word_name(address), state.words[address])).collect()
    }

    /// The name of a word of memory.
    pub fn word_name(&self, address: usize) -> String {
        for (name, range) in &self.program.words {
            if range.contains(&address) {
                return if range.len() == 1 { name.clone() } else { format!("{name}[{}]", address - range.start) };
            }
        }
        format!("word {address}")
    }

    /// The stores in a thread's store buffer, oldest first, and those in its egress slot.
    pub fn waiting(&self, state: &State, thread: usize) -> (Vec<(String, i16)>, Vec<(String, i16)>) {
        let named = |entry: (u8, i16)| (self.word_name(usize::from(entry.0)), entry.1);
        let thread = &self.layout.threads[thread];
        (thread.queued(state).map(named).collect(), thread.leaving(state).map(named).collect())
    }

    /// The line that a thread will run next, or `None` if it has ended.
    pub fn next_line(&self, state: &State, thread: usize) -> Option<usize> {
        if self.has_ended(state, thread) {
            return None;
        }
        let counter = state.words[self.layout.threads[thread].counter] as usize;
        Some(self.program.threads[thread].code[counter].line)
    }

    /// A line of the program, without the spaces around it.
    pub fn line(&self, number: usize) -> &str {
        let line = self.program.text.get(number.wrapping_sub(1)).map_or("", String::as_str);
        line.split("//").next().unwrap_or_default().trim()
    }

    /// The registers of a thread that have a name and may still be read.
    pub fn registers(&self, state: &State, thread: usize) -> Vec<(String, i16)> {
        let (layout, routine) = (&self.layout.threads[thread], &self.program.threads[thread]);
        let live = routine.live[state.words[layout.counter] as usize];
        let named = routine
            .register_names
            .iter()
            .enumerate()
            .filter(|(index, name)| live >> index & 1 == 1 && !name.starts_with('#'));
        named.map(|(index, name)| (name.clone(), state.words[layout.registers + index])).collect()
    }
}
