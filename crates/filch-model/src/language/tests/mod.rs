//! Tests that the language does what its manual says, and that errors are clear sentences.

mod any_text;
mod control_flow;
mod errors;
mod program;
mod value;

use std::collections::BTreeSet;

use super::{compile, Settings};
use crate::litmus;
use crate::machine::{Buffer, Claims, Fault, Machine};

fn machine(text: &str) -> Machine {
    machine_with(text, Buffer::None)
}

fn machine_with(text: &str, buffer: Buffer) -> Machine {
    Machine::new(text, &Settings::new(), buffer, Claims::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the values that the ghost `a` can have at the end.
fn results(text: &str) -> Vec<i16> {
    let machine = machine(text);
    assert_eq!(faults(&machine), BTreeSet::new(), "{text}");
    litmus::outcomes(&machine, &["a"]).into_iter().flatten().collect()
}

/// Evaluates a value in a thread. The thread has x = 2, y = 3 and z = 0, and a word W holds 7.
fn value(of: &str) -> i16 {
    let text = format!("shared W = 7\nghost a\nthread t {{ x = 2; y = 3; z = 0; a = {of} }}");
    match results(&text)[..] {
        [one] => one,
        ref others => panic!("{of} is {others:?}"),
    }
}

fn faults(machine: &Machine) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut pending = vec![machine.initial().clone()];
    let mut seen: Vec<_> = pending.clone();
    while let Some(state) = pending.pop() {
        found.extend(machine.fault(&state).map(Fault::description));
        machine.each_action(&state, |action| {
            let next = machine.after(&state, action);
            if !seen.contains(&next) {
                seen.push(next.clone());
                pending.push(next);
            }
        });
    }
    found
}

/// Returns the line and the description of the error in a text.
fn error_in(text: &str) -> (usize, String) {
    match compile(text, &Settings::new()) {
        Ok(_) => panic!("it is a program:\n{text}"),
        Err(error) => (error.line, error.reason),
    }
}

/// Returns the number of loads that a thread makes on its way to the end.
fn loads(text: &str) -> usize {
    use crate::machine::Event;
    let machine = machine(text);
    let (mut state, mut count) = (machine.initial().clone(), 0);
    loop {
        let mut next = None;
        machine.each_action(&state, |action| next = Some(action));
        let Some(action) = next else {
            assert!(machine.is_over(&state));
            return count;
        };
        let (after, events) = machine.observe(&state, action);
        count += events.iter().filter(|(_, event)| matches!(event, Event::Loaded { .. })).count();
        state = after;
    }
}
