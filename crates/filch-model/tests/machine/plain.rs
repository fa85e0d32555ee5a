//! A second, plain implementation of the machine. It runs random programs of stores, loads, fences
//! and swaps.

use std::collections::{BTreeSet, HashSet};

use filch_model::litmus::Outcome;
use filch_model::machine::{Buffer, Coalescing};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Store(usize, i16),
    Load(usize),
    Fence,
    Swap(usize, i16),
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Thread {
    next: usize,
    queue: Vec<(usize, i16)>,
    slot: Vec<(usize, i16)>,
    read: Vec<i16>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Plain {
    memory: Vec<i16>,
    threads: Vec<Thread>,
}

/// Returns the values that all threads read, and the values in memory at the end. Each line has
/// two words.
pub(crate) fn outcomes(words: usize, programs: &[Vec<Step>], buffer: Buffer) -> BTreeSet<Outcome> {
    let first = Plain { memory: vec![0; words], threads: vec![Thread::default(); programs.len()] };
    let (mut seen, mut pending, mut found) = (HashSet::from([first.clone()]), vec![first], BTreeSet::new());
    while let Some(state) = pending.pop() {
        let is_over = |(thread, program): (&Thread, &Vec<Step>)| {
            thread.next == program.len() && thread.queue.is_empty() && thread.slot.is_empty()
        };
        if state.threads.iter().zip(programs).all(is_over) {
            let read = state.threads.iter().flat_map(|thread| thread.read.clone());
            found.insert(read.chain(state.memory.clone()).collect());
        }
        for next in (0..programs.len()).flat_map(|thread| successors(&state, thread, programs, buffer)) {
            if seen.insert(next.clone()) {
                pending.push(next);
            }
        }
    }
    found
}

fn successors(state: &Plain, index: usize, programs: &[Vec<Step>], buffer: Buffer) -> Vec<Plain> {
    let mut all = Vec::new();
    let thread = &state.threads[index];
    let empty = thread.queue.is_empty() && thread.slot.is_empty();
    if let Some((word, value)) = thread.queue.first().copied() {
        let mut next = state.clone();
        let to = &mut next.threads[index];
        to.queue.remove(0);
        let joins = match buffer.egress() {
            None => {
                next.memory[word] = value;
                true
            }
            Some(coalescing) => {
                let alike = |held: usize| match coalescing {
                    Coalescing::Word => held == word,
                    Coalescing::Line => held / 2 == word / 2,
                };
                let joins = to.slot.iter().all(|(held, _)| alike(*held));
                to.slot.retain(|(held, _)| *held != word);
                to.slot.push((word, value));
                to.slot.sort_unstable();
                joins
            }
        };
        if joins {
            all.push(next);
        }
    }
    if !thread.slot.is_empty() {
        let mut next = state.clone();
        for (word, value) in std::mem::take(&mut next.threads[index].slot) {
            next.memory[word] = value;
        }
        all.push(next);
    }
    let Some(step) = programs[index].get(thread.next) else {
        return all;
    };
    let mut next = state.clone();
    let to = &mut next.threads[index];
    to.next += 1;
    let goes_on = match *step {
        Step::Store(word, value) if buffer == Buffer::None => {
            next.memory[word] = value;
            true
        }
        Step::Store(word, value) => {
            to.queue.push((word, value));
            to.queue.len() <= buffer.capacity()
        }
        Step::Load(word) => {
            let own = thread.slot.iter().chain(&thread.queue).rev().find(|(held, _)| *held == word);
            to.read.push(own.map_or(state.memory[word], |(_, value)| *value));
            true
        }
        Step::Fence => empty,
        Step::Swap(word, value) => {
            to.read.push(state.memory[word]);
            next.memory[word] = value;
            empty
        }
    };
    if goes_on {
        all.push(next);
    }
    all
}
