//! The search is complete. It finds every state, programs that get stuck, and endless runs.

use crate::chase_lev::{chase_lev, CAS_HEAD};
use crate::{machine, possible, states};
use filch_model::litmus::{self, buffers};
use filch_model::machine::{Action, Buffer, Coalescing, Machine, State};
use filch_model::search::fair::endless;
use filch_model::search::graph::Graph;
use filch_model::search::{run, Claim, Counterexample, Effort};

#[test]
fn both_searches_reach_the_same_number_of_states() {
    let effort = Effort { threads: 1, ends: false };
    let count = |machine: &Machine| run(machine, effort, &mut |_| {}).progress.states;
    for litmus in litmus::all() {
        for buffer in buffers() {
            let machine = litmus.machine(buffer);
            let graph = Graph::of(&machine);
            assert_eq!(count(&machine), graph.len(), "{} on {buffer}", litmus.name);
            assert_eq!(states(&machine).len(), graph.len(), "{} on {buffer}", litmus.name);
        }
    }
    for buffer in [Buffer::None, Buffer::Bounded(2), Buffer::Egress(2, Coalescing::Line)] {
        let machine = chase_lev(CAS_HEAD, 0, buffer);
        assert_eq!(count(&machine), Graph::of(&machine).len(), "{buffer}");
    }
}

#[test]
fn a_program_that_gets_stuck_is_reported() {
    let effort = Effort { threads: 1, ends: true };
    let refuted = |text: &str, buffer| {
        let machine = machine(text, buffer);
        let example = run(&machine, effort, &mut |_| {}).counterexample?;
        let last = example.steps.iter().fold(machine.initial().clone(), |state, step| machine.after(&state, *step));
        assert_eq!(example.claim == Claim::NeverStuck, machine.is_stuck(&last));
        Some(example.claim)
    };
    for buffer in buffers() {
        assert_eq!(refuted("shared X\nthread one { await X == 1 }", buffer), Some(Claim::NeverStuck));
        let crossed = "shared A, B\nthread one { acquire A; acquire B; A := 0; B := 0 }\nthread two { acquire B; acquire A; A := 0; B := 0 }";
        assert_eq!(refuted(crossed, buffer), Some(Claim::NeverStuck));
        assert_eq!(refuted(&crossed.replace("acquire B; acquire A", "acquire A; acquire B"), buffer), None);
        assert_eq!(
            refuted("shared X\nthread one { lock; X := 1 }\nthread two { x = X }", buffer),
            Some(Claim::NeverStuck)
        );
    }
}

/// Checks that an endless run is fair. It must return to the state where it repeats, and make every
/// step that stays possible.
fn confirm_fair(machine: &Machine, example: &Counterexample) {
    assert_eq!(example.claim, Claim::Ends);
    let from = example.repeats_from.expect("it repeats");
    let (way, round) = example.steps.split_at(from);
    assert!(!round.is_empty());
    let step = |state: &State, action: &Action| {
        assert!(possible(machine, state).contains(action), "{action:?} is not possible");
        machine.after(state, *action)
    };
    let start = way.iter().fold(machine.initial().clone(), |state, action| step(&state, action));
    let mut visited = vec![start.clone()];
    for action in round {
        visited.push(step(visited.last().expect("it has one"), action));
    }
    assert_eq!(visited.last(), Some(&start), "it does not come back");
    for thread in 0..machine.threads().len() as u8 {
        for action in [Action::Run(thread), Action::Drain(thread), Action::Write(thread)] {
            let is_made = round.contains(&action);
            assert!(
                is_made || visited.iter().any(|state| !possible(machine, state).contains(&action)),
                "{action:?} is left out"
            );
        }
    }
}

fn ends(text: &str) {
    for buffer in buffers() {
        assert_eq!(endless(&machine(text, buffer)), None, "{buffer}\n{text}");
    }
}

fn goes_on(text: &str) {
    for buffer in buffers() {
        let machine = machine(text, buffer);
        let example = endless(&machine).unwrap_or_else(|| panic!("it ends on {buffer}\n{text}"));
        confirm_fair(&machine, &example);
        let found = run(&machine, Effort { threads: 1, ends: true }, &mut |_| {});
        assert_eq!(found.counterexample.map(|example| example.claim), Some(Claim::Ends));
    }
}

#[test]
fn waiting_for_a_store_that_comes_ends() {
    ends("shared X\nthread one { while X == 0 { } }\nthread two { X := 1 }");
    ends("shared X, Y\nthread one { while X == 0 { } Y := 1 }\nthread two { X := 1; while Y == 0 { } }");
    ends("shared X\nthread one { await X == 1 }\nthread two { X := 1 }");
    // The store to Z may wait in its buffer after its thread has ended. It leaves only because the
    // memory subsystem is fair, too.
    ends("shared X, Y, Z\nthread one { while Z == 0 { } }\nthread two { X := 1; Y := 1; Z := 1 }");
}

#[test]
fn waiting_for_a_store_that_never_comes_does_not_end() {
    goes_on("shared X, Y\nthread one { while X == 0 { } }\nthread two { Y := 1 }");
    goes_on("shared X\nthread one { X := 1; while X == 1 { } }");
    goes_on("shared X, Y\nthread one { while X == 0 { } Y := 1 }\nthread two { while Y == 0 { } X := 1 }");
}

#[test]
fn a_store_that_is_undone_may_be_missed_forever() {
    // The run is endless only if the waiting thread loads at the wrong moments. But no step stays
    // possible forever without being made.
    goes_on("shared X\nthread one { while X == 0 { } }\nthread two { loop { X := 1; X := 0 } }");
    goes_on("shared X\nthread one { while X == 0 { } }\nthread two { X := 1; X := 0 }");
}

#[test]
fn passing_a_token_around_does_not_end() {
    goes_on("shared T\nthread one { loop { await T == 0; T := 1 } }\nthread two { loop { await T == 1; T := 0 } }");
    goes_on(
        "shared T\nthread one { loop { while T != 0 { } T := 1 } }\nthread two { loop { while T != 1 { } T := 0 } }",
    );
    ends(
        "shared T\nthread one { repeat 3 { await T == 0; T := 1 } }\nthread two { repeat 3 { await T == 1; T := 0 } }",
    );
}

#[test]
fn a_retry_against_finitely_many_successes_ends() {
    let once = "loop { x = X; if cas(X, x, x + 1) { break } }";
    ends(&format!("shared X\nthread one {{ {once} }}\nthread two {{ {once} {once} {once} }}\nfinally X == 4"));
    ends(&format!("shared X\nthread one * 3 {{ {once} }}\nfinally X == 3"));
    goes_on(&format!("shared X\nthread one {{ {once} }}\nthread two {{ loop {{ swap(X, 1); swap(X, 2) }} }}"));
}

#[test]
fn two_threads_that_yield_to_each_other_may_not_end() {
    let polite = |mine: &str, theirs: &str| {
        format!("loop {{ {mine} := 1; fence; if {theirs} == 0 {{ break }} {mine} := 0; fence }} {mine} := 0")
    };
    goes_on(&format!("shared A, B\nthread one {{ {} }}\nthread two {{ {} }}", polite("A", "B"), polite("B", "A")));
}
