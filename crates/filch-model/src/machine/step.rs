//! The possible next steps, and their effects.

use std::ops::ControlFlow;

use super::event::{Event, Fault};
use super::execute::{address, coalesce, take_first};
use super::state::{State, ThreadLayout};
use super::{Buffer, Coalescing, Machine};
use crate::language::{Operation, Place, Value};

/// A step of a machine. Threads are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A thread runs, up to its next access to memory.
    Run(u8),
    /// The oldest store of a thread leaves its buffer. It goes to memory, or to the egress slot if
    /// there is one.
    Drain(u8),
    /// A thread's egress slot is written to memory.
    Write(u8),
}

impl Action {
    /// The thread that makes the step, or that made the store.
    pub fn thread(self) -> usize {
        match self {
            Action::Run(thread) | Action::Drain(thread) | Action::Write(thread) => usize::from(thread),
        }
    }
}

/// More operations without a step than any program has.
const MAX_LOCAL_OPERATIONS: usize = 10_000;

impl Machine {
    /// Runs every thread up to its first step.
    pub(super) fn start(&mut self) {
        self.initial = self.begin(&mut |_, _, _| {});
    }

    /// Returns the events before the threads' first steps. Each has its thread, its line of the
    /// program and the event.
    pub fn opening(&self) -> Vec<(usize, usize, Event)> {
        let mut events = Vec::new();
        self.begin(&mut |thread, line, event| events.push((thread, line, event())));
        events
    }

    fn begin(&self, note: &mut impl FnMut(usize, usize, &dyn Fn() -> Event)) -> State {
        let mut state = State::empty(&self.layout);
        state.words[..self.program.memory.len()].copy_from_slice(&self.program.memory);
        for (index, (_, value)) in self.program.ghosts.iter().enumerate() {
            state.words[self.layout.ghosts + index] = *value;
        }
        for (thread, routine) in self.layout.threads.iter().zip(&self.program.threads) {
            for (register, value) in &routine.start {
                state.words[thread.registers + usize::from(*register)] = *value;
            }
        }
        self.prepare(&mut state);
        for thread in 0..self.program.threads.len() {
            self.run_to_next_step(&mut state, thread, &mut |line, event| note(thread, line, event));
        }
        state
    }

    /// Runs `init` as the first thread, directly on memory.
    fn prepare(&self, state: &mut State) {
        let Some(program) = self.program.preparation() else {
            return;
        };
        let locals = program.threads[0].start.len();
        let Ok(layout) = super::Layout::new(&program, Buffer::None) else {
            unreachable!("it was tried when the machine was made");
        };
        let mut alone = Machine {
            initial: State::empty(&layout),
            program,
            buffer: Buffer::None,
            layout,
            eager: true,
            claims: super::Claims::default(),
        };
        alone.start();
        let mut at = alone.initial.clone();
        let mut steps = 0;
        while !alone.is_over(&at) && alone.fault(&at).is_none() {
            let mut next = None;
            alone.each_action(&at, |action| next = Some(action));
            steps += 1;
            match next {
                Some(action) if steps < MAX_LOCAL_OPERATIONS => at = alone.after(&at, action),
                _ => return self.fail(state, Fault::Endless, 0, &mut |_, _| {}),
            }
        }
        // Memory, ghosts, extracted tasks and a fault have the same places in the larger state.
        state.words[..=self.layout.fault].copy_from_slice(&at.words[..=alone.layout.fault]);
        if let Some(first) = self.layout.threads.first() {
            let from = alone.layout.threads[0].registers;
            state.words[first.registers..first.registers + locals].copy_from_slice(&at.words[from..from + locals]);
        }
    }

    /// Calls `with` for every possible step.
    #[inline]
    pub fn each_action(&self, state: &State, mut with: impl FnMut(Action)) {
        let _ = self.find_action(state, |action| {
            with(action);
            ControlFlow::Continue(())
        });
    }

    /// Returns whether any step is possible.
    pub(super) fn can_step(&self, state: &State) -> bool {
        self.find_action(state, |_| ControlFlow::Break(())).is_break()
    }

    /// Calls `with` for every possible step, until `with` breaks.
    #[inline]
    fn find_action(&self, state: &State, mut with: impl FnMut(Action) -> ControlFlow<()>) -> ControlFlow<()> {
        if state.words[self.layout.fault] != 0 {
            return ControlFlow::Continue(());
        }
        let holder = state.words[self.layout.lock];
        for (index, thread) in self.layout.threads.iter().enumerate() {
            let number = index as u8;
            let free = holder == 0 || holder == i16::from(number) + 1;
            if free && state.words[thread.queue] != 0 && self.may_leave(state, thread) {
                with(Action::Drain(number))?;
            }
            if free && state.words[thread.egress] != 0 {
                with(Action::Write(number))?;
            }
            if self.may_run(state, index, thread, free) {
                with(Action::Run(number))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the state after a possible step.
    #[inline]
    pub fn after(&self, state: &State, action: Action) -> State {
        let mut next = state.clone();
        self.apply(&mut next, action, &mut |_, _| {});
        next
    }

    /// Returns the state after a step, and the events in it. Each event has its line of the
    /// program.
    pub fn observe(&self, state: &State, action: Action) -> (State, Vec<(usize, Event)>) {
        let mut next = state.clone();
        let mut events = Vec::new();
        self.apply(&mut next, action, &mut |line, event: &dyn Fn() -> Event| events.push((line, event())));
        (next, events)
    }

    pub(super) fn has_ended(&self, state: &State, thread: usize) -> bool {
        let counter = state.words[self.layout.threads[thread].counter] as usize;
        matches!(self.program.threads[thread].code[counter].operation, Operation::End)
    }

    pub(super) fn is_drained(&self, state: &State, thread: usize) -> bool {
        let thread = &self.layout.threads[thread];
        state.words[thread.queue] == 0 && state.words[thread.egress] == 0
    }

    /// Returns whether the conditions on the last state hold in a state.
    pub fn ends_well(&self, state: &State) -> bool {
        self.program.finally.iter().all(|last| {
            let mut registers = [0; 64];
            for (to, at) in &last.loads {
                let index = at.index.as_ref().map_or(Ok(0), |index| self.evaluate(state, &registers, index));
                match index.and_then(|index| address(at, index)) {
                    Ok(address) => registers[usize::from(*to)] = state.words[usize::from(address)],
                    Err(_) => return false,
                }
            }
            self.evaluate(state, &registers, &last.value).is_ok_and(|value| value != 0)
        })
    }

    /// Rule 1 with an egress slot. The slot must be empty, or hold a store that the oldest store
    /// coalesces with.
    fn may_leave(&self, state: &State, thread: &ThreadLayout) -> bool {
        let Some(coalescing) = self.buffer.egress() else {
            return true;
        };
        state.words[thread.egress] == 0
            || match coalescing {
                Coalescing::Word => state.words[thread.egress + 1] == state.words[thread.queue + 1],
                Coalescing::Line => {
                    self.program.lines[state.words[thread.egress + 1] as usize]
                        == self.program.lines[state.words[thread.queue + 1] as usize]
                }
            }
    }

    fn may_run(&self, state: &State, index: usize, thread: &ThreadLayout, free: bool) -> bool {
        let counter = state.words[thread.counter] as usize;
        let drained = state.words[thread.queue] == 0 && state.words[thread.egress] == 0;
        match &self.program.threads[index].code[counter].operation {
            Operation::End => false,
            Operation::Load { .. } => free,
            Operation::Await { to, at, condition } => free && self.is_met(state, thread, *to, at, condition),
            Operation::Store { .. } => match self.buffer {
                Buffer::None => free,
                _ => usize::try_from(state.words[thread.queue]).is_ok_and(|queued| queued < self.buffer.capacity()),
            },
            Operation::Fence => drained,
            Operation::Lock => state.words[self.layout.lock] == 0,
            Operation::Unlock => state.words[self.layout.lock] == index as i16 + 1 && drained,
            Operation::Cas { .. } | Operation::Swap { .. } | Operation::Add { .. } | Operation::Barrier => {
                free && drained
            }
            Operation::Acquire { at } => {
                // An index outside its row is a fault, so the thread does not wait.
                let address = self.locate(state, thread, at);
                free && drained && address.map_or(true, |address| state.words[usize::from(address)] == 0)
            }
            Operation::BarrierDone => state.words[thread.pending_fences] == 0,
            // A thread stops before a step, never before one of these.
            Operation::Assign { .. }
            | Operation::SetGhost { .. }
            | Operation::JumpUnless { .. }
            | Operation::Jump { .. }
            | Operation::Took { .. }
            | Operation::Assert { .. } => true,
        }
    }

    fn is_met(&self, state: &State, thread: &ThreadLayout, to: u8, at: &Place, condition: &Value) -> bool {
        let Ok(address) = self.locate(state, thread, at) else {
            return true;
        };
        let mut registers = [0; 64];
        let count = thread.pending_fences - thread.registers;
        registers[..count].copy_from_slice(&state.words[thread.registers..thread.pending_fences]);
        registers[usize::from(to)] = self.load(state, thread, address).0;
        self.evaluate(state, &registers, condition) != Ok(0)
    }

    fn apply(&self, state: &mut State, action: Action, note: &mut impl FnMut(usize, &dyn Fn() -> Event)) {
        match action {
            Action::Run(thread) => self.run(state, usize::from(thread), note),
            Action::Drain(thread) => {
                let layout = self.layout.threads[usize::from(thread)];
                let (address, value) = take_first(state, layout.queue);
                match self.buffer.egress() {
                    None => state.words[usize::from(address)] = value,
                    Some(_) => coalesce(state, layout.egress, address, value),
                }
                self.clear_pending_fences(state, usize::from(thread));
            }
            Action::Write(thread) => {
                let layout = self.layout.threads[usize::from(thread)];
                while state.words[layout.egress] != 0 {
                    let (address, value) = take_first(state, layout.egress);
                    state.words[usize::from(address)] = value;
                }
                self.clear_pending_fences(state, usize::from(thread));
            }
        }
    }

    /// Clears a thread with an empty buffer from all barriers that wait for it. Its fence has
    /// happened.
    fn clear_pending_fences(&self, state: &mut State, thread: usize) {
        if self.is_drained(state, thread) {
            for other in &self.layout.threads {
                state.words[other.pending_fences] &= !(1 << thread);
            }
        }
    }

    /// Runs a step of a thread, and everything that follows without another step.
    fn run(&self, state: &mut State, index: usize, note: &mut impl FnMut(usize, &dyn Fn() -> Event)) {
        let thread = self.layout.threads[index];
        let counter = state.words[thread.counter] as usize;
        let instruction = &self.program.threads[index].code[counter];
        state.words[thread.counter] += 1;
        match self.execute(state, index, &instruction.operation, instruction.line, note) {
            Ok(()) => self.run_to_next_step(state, index, note),
            Err(fault) => self.fail(state, fault, instruction.line, note),
        }
    }

    fn fail(&self, state: &mut State, fault: Fault, line: usize, note: &mut impl FnMut(usize, &dyn Fn() -> Event)) {
        state.words[self.layout.fault] = fault as i16 + 1;
        note(line, &|| Event::Failed(fault));
    }

    /// Runs a thread up to its next step. Clears registers that will not be read.
    fn run_to_next_step(&self, state: &mut State, index: usize, note: &mut impl FnMut(usize, &dyn Fn() -> Event)) {
        let thread = self.layout.threads[index];
        let routine = &self.program.threads[index];
        for _ in 0..MAX_LOCAL_OPERATIONS {
            let counter = state.words[thread.counter] as usize;
            let instruction = &routine.code[counter];
            let continues = match &instruction.operation {
                Operation::Assign { .. }
                | Operation::SetGhost { .. }
                | Operation::JumpUnless { .. }
                | Operation::Jump { .. }
                | Operation::Took { .. }
                | Operation::Assert { .. } => true,
                Operation::Store { .. } => {
                    self.eager
                        && !instruction.observed
                        && self.buffer != Buffer::None
                        && (state.words[thread.queue] as usize) < self.buffer.capacity()
                }
                Operation::BarrierDone => state.words[thread.pending_fences] == 0,
                _ => false,
            };
            if !continues {
                if matches!(instruction.operation, Operation::End) {
                    note(instruction.line, &|| Event::Ended);
                }
                let live = routine.live[counter];
                for register in 0..routine.registers {
                    if live >> register & 1 == 0 {
                        state.words[thread.registers + register] = 0;
                    }
                }
                return;
            }
            state.words[thread.counter] += 1;
            if let Err(fault) = self.execute(state, index, &instruction.operation, instruction.line, note) {
                return self.fail(state, fault, instruction.line, note);
            }
        }
        self.fail(state, Fault::Endless, 0, note);
    }
}
