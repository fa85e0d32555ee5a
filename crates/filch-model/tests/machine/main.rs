//! Tests of the machine and of the search. The machine must follow its manual, and the search must
//! be complete.

mod chase_lev;
mod plain;
mod random_programs;
mod rules;
mod search;

use std::collections::{HashSet, VecDeque};

use filch_model::language::Settings;
use filch_model::machine::{Action, Buffer, Claims, Machine, State};

fn machine(text: &str, buffer: Buffer) -> Machine {
    Machine::new(text, &Settings::new(), buffer, Claims::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn possible(machine: &Machine, state: &State) -> Vec<Action> {
    let mut actions = Vec::new();
    machine.each_action(state, |action| actions.push(action));
    actions
}

/// Returns every reachable state.
fn states(machine: &Machine) -> HashSet<State> {
    let mut seen = HashSet::from([machine.initial().clone()]);
    let mut pending = VecDeque::from([machine.initial().clone()]);
    while let Some(state) = pending.pop_front() {
        for action in possible(machine, &state) {
            let next = machine.after(&state, action);
            if seen.insert(next.clone()) {
                pending.push_back(next);
            }
        }
    }
    seen
}
