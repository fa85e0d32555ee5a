//! Whole programs: threads and their locals, `init`, settings, ghosts and `finally`.

use std::collections::BTreeSet;

use super::{faults, loads, machine, machine_with, results};
use crate::language::Settings;
use crate::litmus::{self, Outcome};
use crate::machine::{Buffer, Claims, Fault, Machine};
use crate::search::graph::Graph;

#[test]
fn me_is_the_number_of_the_thread() {
    assert_eq!(results("ghost a\nthread t * 2 { fence; a = 10 * a + ME }"), [12, 21]);
    assert_eq!(results("shared X\nghost a\ninit { X := ME }\nthread t { a = X }"), [1]);
}

#[test]
fn each_thread_has_its_own_locals_with_their_initial_values() {
    let text =
        "shared X\nghost a\nlocal n = 4\nthread t { n = n + 1; add(X, n) }\nthread u { add(X, n) }\nfinally X == 9";
    let machine = machine(text);
    assert!(Graph::of(&machine).over().iter().all(|state| machine.ends_well(state)));
    assert_eq!(results("ghost a\nlocal n = 4\nfn f() { n = n + 1 }\nthread t { f(); f(); a = n }"), [6]);
}

#[test]
fn init_runs_as_the_first_thread_and_passes_its_locals_to_it() {
    let text = "shared X, L[3]\nlocal tail = 0, head = 5\nghost a\nfn push(x) { L[tail] := x; tail = tail + 1 }\n
        init { push(7); push(8); head = 3 }\nthread owner { a = 100 * L[1] + 10 * tail + head }\nthread other { X := tail }\nfinally X == 0";
    assert_eq!(results(text), [823]);
    let machine = machine(text);
    assert!(Graph::of(&machine).over().iter().all(|state| machine.ends_well(state)));
    // This also holds if the last statement of `init` is about another word.
    assert_eq!(results("shared X\nlocal n\nghost a\ninit { n = 3; X := 1; fence }\nthread t { a = n }"), [3]);
}

#[test]
fn a_fault_in_init_is_reported() {
    assert_eq!(
        faults(&machine("init { assert 0 }\nthread t { fence }")),
        BTreeSet::from([Fault::Assertion.description()])
    );
    assert_eq!(
        faults(&machine("shared L[2]\ninit { x = 2; L[x] := 1; fence }\nthread t { fence }")),
        BTreeSet::from([Fault::OutOfBounds.description()])
    );
    assert_eq!(
        faults(&machine("init { loop { fence } }\nthread t { fence }")),
        BTreeSet::from([Fault::Endless.description()])
    );
}

#[test]
fn settings_override_constants_and_decide_conditions() {
    let text = "const N = 2\nghost a\nthread t { if N == 3 { a = 1 } else { a = 2 } }";
    assert_eq!(results(text), [2]);
    let settings = Settings::from([("N".to_owned(), 3)]);
    let machine = Machine::new(text, &settings, Buffer::None, Claims::default()).unwrap();
    assert_eq!(litmus::outcomes(&machine, &["a"]), BTreeSet::from([vec![1]]));
    let decided = "const N = 0\nshared X\nthread t { if N { x = X } if N && X { fence } if !N || X { X := 1 } }";
    assert_eq!(loads(decided), 0);
}

#[test]
fn finally_checks_memory_and_ghosts() {
    let ends = |condition: &str| {
        let text = format!("shared X, L[2] = 3\nghost g = 4\nthread t {{ X := 1 }}\nfinally {condition}");
        let machine = machine(&text);
        Graph::of(&machine).over().iter().all(|state| machine.ends_well(state))
    };
    assert!(ends("X == 1 && L[X] == 3 && g == 4"));
    assert!(!ends("X == 0"));
    assert!(!ends("X == 0 || g == 5"));
    assert!(ends("X == 0 || g == 4\nfinally X"));
    assert!(!ends("X == 1\nfinally g == 3"));
}

#[test]
fn a_store_that_reads_a_ghost_has_its_own_step() {
    let text = "shared X, Y, Z\nghost g, a\nthread t { a = Y; X := g }\nthread u { Y := 1; g = 2; Z := 1 }";
    for buffer in [Buffer::None, Buffer::Bounded(2)] {
        let eager = machine_with(text, buffer);
        let mut stepwise = eager.clone();
        stepwise.set_store_steps();
        assert_eq!(litmus::outcomes(&eager, &["X", "a"]), litmus::outcomes(&stepwise, &["X", "a"]), "{buffer}");
    }
}

#[test]
fn threads_are_numbered_only_if_there_are_several() {
    let text = "thread owner { fence }\nthread thief * N { fence }";
    let names =
        |number: &str| -> Vec<String> { machine(&text.replace('N', number)).threads().map(str::to_owned).collect() };
    assert_eq!(names("0"), ["owner"]);
    assert_eq!(names("1"), ["owner", "thief"]);
    assert_eq!(names("2"), ["owner", "thief 1", "thief 2"]);
}

#[test]
fn outcomes_have_the_requested_order() {
    let machine = machine("shared X = 1\nghost a = 2, b = 3\nthread t { fence }");
    assert_eq!(litmus::outcomes(&machine, &["b", "X", "a"]), BTreeSet::from([Outcome::from([3, 1, 2])]));
}
