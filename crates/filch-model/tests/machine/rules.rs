//! The machine follows its rules: stores, fences, the lock, locked instructions and barriers.

use std::collections::BTreeSet;

use crate::chase_lev::{chase_lev, CAS_HEAD, CAS_HEAD_WRITTEN_OUT};
use crate::{machine, possible, states};
use filch_model::litmus::{buffers, outcomes, Outcome};
use filch_model::machine::{Action, Buffer, Coalescing, Machine, State};

/// Returns whether a thread is about to run this line. `line` must be the whole line.
fn stands_before(machine: &Machine, state: &State, thread: usize, line: &str) -> bool {
    machine.next_line(state, thread).is_some_and(|number| machine.line(number) == line)
}

fn is_empty(machine: &Machine, state: &State, thread: usize) -> bool {
    let (queued, leaving) = machine.waiting(state, thread);
    queued.is_empty() && leaving.is_empty()
}

#[test]
fn stores_without_a_step_of_their_own_change_no_outcome_of_a_queue() {
    for buffer in buffers() {
        for fenced in [0, 1] {
            let eager = chase_lev(CAS_HEAD, fenced, buffer);
            let mut stepwise = eager.clone();
            stepwise.set_store_steps();
            let shown = ["a", "b", "c", "d", "H", "T"];
            assert_eq!(outcomes(&eager, &shown), outcomes(&stepwise, &shown), "{buffer}");
        }
    }
}

#[test]
fn a_compare_and_swap_equals_its_rules_in_sequence() {
    let shown = ["a", "b", "c", "d", "H", "T"];
    for buffer in buffers() {
        for fenced in [0, 1] {
            let (one, other) = (chase_lev(CAS_HEAD, fenced, buffer), chase_lev(CAS_HEAD_WRITTEN_OUT, fenced, buffer));
            assert_eq!(outcomes(&one, &shown), outcomes(&other, &shown), "{buffer}");
        }
    }
}

#[test]
fn locked_instructions_equal_their_rules_in_sequence() {
    let instructions = [
        ("cas(X, 0, 5)", "lock; x = X; done = 0; if x == 0 { X := 5; done = 1 } unlock; return done"),
        ("swap(X, 5)", "lock; x = X; X := 5; unlock; return x"),
        ("add(X, 2)", "lock; x = X; X := x + 2; unlock; return x"),
    ];
    let programs = [
        "thread one { Y := 1; a = locked(); b = Z } thread two { Z := 1; c = locked(); d = Y }",
        "thread one { X := 1; a = locked(); b = Y } thread two { Y := 1; c = X; d = X }",
        "thread one { X := 1; Y := 1; a = locked() } thread two { b = Y; c = locked(); d = X }",
        "thread one { a = locked(); Y := 1; b = Z } thread two { Z := 1; X := 3; c = Y; d = X }",
    ];
    for (instruction, rules) in instructions {
        for program in programs {
            for buffer in buffers() {
                let found = |body: &str| {
                    let text = format!("shared X, Y, Z\nghost a, b, c, d\nfn locked() {{ {body} }}\n{program}");
                    outcomes(&machine(&text, buffer), &["a", "b", "c", "d", "X"])
                };
                assert_eq!(
                    found(&format!("return {instruction}")),
                    found(rules),
                    "{instruction} in {program} on {buffer}"
                );
            }
        }
    }
}

#[test]
fn while_a_thread_holds_the_lock_no_other_thread_accesses_memory() {
    let text =
        "shared X, Y\nghost a\nthread one {\nX := 1\nX := 2\na = Y\n}\nthread two {\nlock\nY := 1\nY := 2\nunlock\n}";
    for buffer in buffers() {
        let mut machine = machine(text, buffer);
        machine.set_store_steps();
        let mut held = 0;
        for state in states(&machine) {
            let inside = ["Y := 1", "Y := 2", "unlock"].iter().any(|line| stands_before(&machine, &state, 1, line));
            if !inside {
                continue;
            }
            held += 1;
            let actions = possible(&machine, &state);
            assert!(!actions.contains(&Action::Drain(0)) && !actions.contains(&Action::Write(0)), "{buffer}");
            let stores = ["X := 1", "X := 2"].iter().any(|line| stands_before(&machine, &state, 0, line));
            let room = machine.waiting(&state, 0).0.len() < buffer.capacity();
            assert_eq!(actions.contains(&Action::Run(0)), stores && room, "rule 6 is the only one left, on {buffer}");
        }
        assert!(held > 0);
    }
}

#[test]
fn only_the_holder_releases_the_lock_and_only_with_an_empty_buffer() {
    let text = "shared X\nthread one {\nX := 1\nlock\nX := 2\nunlock\n}\nthread two {\nlock\nunlock\n}";
    for buffer in buffers() {
        let mut machine = machine(text, buffer);
        machine.set_store_steps();
        for state in states(&machine) {
            let inside = |thread| {
                stands_before(&machine, &state, thread, "unlock") || stands_before(&machine, &state, thread, "X := 2")
            };
            assert!(!(inside(0) && inside(1)), "both hold the lock");
            if stands_before(&machine, &state, 0, "unlock") {
                assert_eq!(possible(&machine, &state).contains(&Action::Run(0)), is_empty(&machine, &state, 0));
            }
        }
    }
    let stray = machine("thread one { unlock }", Buffer::None);
    assert!(stray.is_stuck(stray.initial()));
}

#[test]
fn a_fence_and_a_locked_instruction_wait_for_the_buffer_and_the_egress_slot() {
    for step in ["fence", "swap(Z, 1)", "cas(Z, 5, 6)", "add(Z, 1)", "acquire Z", "barrier"] {
        let text = format!("shared X, Y, Z\nthread one {{\nX := 1\nY := 1\n{step}\n}}");
        for buffer in buffers() {
            let machine = machine(&text, buffer);
            let (mut waited_for_slot, mut passed) = (false, false);
            for state in states(&machine).iter().filter(|state| stands_before(&machine, state, 0, step)) {
                let goes_on = possible(&machine, state).contains(&Action::Run(0));
                assert_eq!(goes_on, is_empty(&machine, state, 0), "{step} on {buffer}");
                let (queued, leaving) = machine.waiting(state, 0);
                waited_for_slot |= queued.is_empty() && !leaving.is_empty();
                passed |= goes_on;
            }
            assert!(passed);
            assert_eq!(waited_for_slot, buffer.egress().is_some(), "{step} on {buffer}");
        }
    }
}

#[test]
fn a_store_waits_only_if_the_buffer_is_full() {
    let stores: String = (1..=6).map(|number| format!("X := {number}\n")).collect();
    for buffer in buffers().into_iter().filter(|buffer| *buffer != Buffer::None) {
        for stepwise in [false, true] {
            let mut machine = machine(&format!("shared X\nthread one {{\n{stores}}}"), buffer);
            if stepwise {
                machine.set_store_steps();
            }
            let mut longest = 0;
            for state in states(&machine) {
                let queued = machine.waiting(&state, 0).0.len();
                longest = longest.max(queued);
                if machine.next_line(&state, 0).is_some() {
                    assert_eq!(possible(&machine, &state).contains(&Action::Run(0)), queued < buffer.capacity());
                }
            }
            assert_eq!(longest, buffer.capacity());
        }
    }
}

#[test]
fn stores_leave_in_order_through_the_egress_slot() {
    let text = "line { shared A, B }\nshared C\nthread one { A := 1; A := 2; B := 3; C := 4; fence }";
    let slots = |coalescing| -> BTreeSet<Vec<(String, i16)>> {
        let machine = machine(text, Buffer::Egress(4, coalescing));
        states(&machine).iter().map(|state| machine.waiting(state, 0).1).collect()
    };
    let named =
        |slot: &[(&str, i16)]| slot.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect::<Vec<_>>();
    let (a1, a2, b, c) = (("A", 1), ("A", 2), ("B", 3), ("C", 4));
    let by_word = [&[][..], &[a1], &[a2], &[b], &[c]].map(named);
    assert_eq!(slots(Coalescing::Word), BTreeSet::from(by_word));
    let by_line = [&[][..], &[a1], &[a2], &[b], &[c], &[a2, b]].map(named);
    assert_eq!(slots(Coalescing::Line), BTreeSet::from(by_line));
}

#[test]
fn a_barrier_is_a_fence_in_every_other_thread() {
    // The barrier written out: the other thread passes a fence somewhere in its program, after the
    // barrier has begun and before it ends.
    const FENCE: &str = "await BEGUN == 1; fence; swap(DONE, 1)";
    const BARRIER: &str = "fence; swap(BEGUN, 1); await DONE == 1";
    let others: [&[&str]; 5] = [
        &["X := 1", "a = Y"],
        &["a = Y", "X := 1"],
        &["X := 1", "Z := 1", "a = Y"],
        &["X := 1", "a = Y", "X := 2", "b = Y"],
        &["a = Y", "X := 1", "Z := 1", "b = Y"],
    ];
    let issuers = [
        "Y := 1; barrier; c = X; d = Z",
        "c = X; barrier; Y := 1; d = Z",
        "barrier; Y := 1; c = X; d = X",
        "c = X; d = Z; barrier; Y := 1",
    ];
    let words = "shared X, Y, Z, BEGUN, DONE\nghost a, b, c, d";
    for other in others {
        for issuer in issuers {
            for buffer in buffers() {
                let found = |one: &str, two: &str| -> BTreeSet<Outcome> {
                    let text = format!("{words}\nthread one {{ {one} }}\nthread two {{ {two} }}");
                    outcomes(&machine(&text, buffer), &["a", "b", "c", "d"])
                };
                let written_out = (0..=other.len()).flat_map(|place| {
                    let mut steps = other.to_vec();
                    steps.insert(place, FENCE);
                    found(&steps.join("; "), &issuer.replace("barrier", BARRIER))
                });
                assert_eq!(
                    found(&other.join("; "), issuer),
                    written_out.collect(),
                    "{other:?} and {issuer} on {buffer}"
                );
            }
        }
    }
}
