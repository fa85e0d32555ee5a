//! Tests that the language does what its manual says, and that errors are clear sentences.

use std::collections::BTreeSet;

use super::{compile, Settings};
use crate::litmus::{self, Outcome};
use crate::machine::{Buffer, Claims, Fault, Machine};
use crate::search::graph::Graph;

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

#[test]
fn operators_have_the_precedence_of_rust() {
    assert_eq!(value("1 + 2 * 3"), 7);
    assert_eq!(value("(1 + 2) * 3"), 9);
    assert_eq!(value("7 - 2 - 1"), 4);
    assert_eq!(value("12 / 3 / 2"), 2);
    assert_eq!(value("1 + 1 == 2"), 1);
    assert_eq!(value("1 < 2 && 2 < 1 || 1"), 1);
    assert_eq!(value("1 || 0 && 0"), 1);
    assert_eq!(value("!x == 0"), 1);
    assert_eq!(value("!(x == 0)"), 1);
    assert_eq!(value("-x + y"), 1);
    assert_eq!(value("y - -x"), 5);
    assert_eq!(value("2 * x + y * W - 1"), 24);
}

#[test]
fn comparisons_are_0_or_1_in_either_direction() {
    for (sign, less, equal, more) in
        [("<", 1, 0, 0), ("<=", 1, 1, 0), (">", 0, 0, 1), (">=", 0, 1, 1), ("==", 0, 1, 0), ("!=", 1, 0, 1)]
    {
        assert_eq!(value(&format!("x {sign} y")), less, "{sign}");
        assert_eq!(value(&format!("x {sign} x")), equal, "{sign}");
        assert_eq!(value(&format!("y {sign} x")), more, "{sign}");
        assert_eq!(value(&format!("2 {sign} 3")), less, "{sign}");
        assert_eq!(value(&format!("y {sign} W")), less, "{sign}");
    }
}

#[test]
fn a_remainder_is_never_negative() {
    assert_eq!(value("(x - y) % 8"), 7);
    assert_eq!(value("-1 % 8"), 7);
    assert_eq!(value("9 % 8"), 1);
}

#[test]
fn a_value_out_of_range_is_a_fault_at_run_time_and_an_error_if_constant() {
    assert_eq!(faults(&machine("thread t { z = 0; y = 1 / z }")), BTreeSet::from([Fault::Overflow.description()]));
    assert_eq!(faults(&machine("thread t { z = 32767; y = z + 1 }")), BTreeSet::from([Fault::Overflow.description()]));
    assert_eq!(error_in("thread t { z = 0\n y = 1 / 0 }"), (2, "this value is out of range".to_owned()));
}

#[test]
fn and_and_or_short_circuit_without_a_step() {
    assert_eq!(value("z != 0 && 1 / z"), 0);
    assert_eq!(value("z == 0 || 1 / z"), 1);
    assert_eq!(value("x && y"), 1);
    assert_eq!(value("z || y"), 1);
    assert_eq!(value("z || z"), 0);
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

#[test]
fn a_load_on_the_right_of_and_and_or_is_made_only_if_needed() {
    let with = |value: &str| loads(&format!("shared X, Y = 1\nthread t {{ z = 0; y = 1; x = {value} }}"));
    assert_eq!(with("z && X"), 0);
    assert_eq!(with("y && X"), 1);
    assert_eq!(with("y || X"), 0);
    assert_eq!(with("z || X"), 1);
    assert_eq!(with("X && Y"), 1);
    assert_eq!(with("Y && X"), 2);
    assert_eq!(with("X || Y"), 2);
    assert_eq!(with("Y || X"), 1);
    assert_eq!(with("0 && X"), 0);
    assert_eq!(with("1 || X"), 0);
    assert_eq!(with("X && (Y && (X && Y))"), 1);
    assert_eq!(with("Y && (Y && (Y && X))"), 4);
    assert_eq!(with("!(X || !Y) && X"), 3);
}

#[test]
fn conditions_short_circuit_loads() {
    assert_eq!(loads("shared X, Y = 1\nthread t { if X && Y { fence } while X || X { fence } }"), 3);
}

#[test]
fn every_mention_of_a_word_is_one_load_from_left_to_right() {
    assert_eq!(loads("shared X\nthread t { x = X + X * X }"), 3);
    // The second thread changes Y first and then X. So if a load of X sees the change, a later load
    // of Y sees the other change too.
    let text = "shared X, Y\nghost a\nthread t { a = X - Y }\nthread u { Y := 1; X := 1 }";
    assert_eq!(results(text), [-1, 0]);
    let text = "shared X, Y\nghost a\nthread t { a = X > Y }\nthread u { Y := 1; X := 1 }";
    assert_eq!(results(text), [0]);
}

#[test]
fn repeat_makes_copies_with_a_number_in_each() {
    assert_eq!(results("ghost a\nthread t { x = 0; repeat 3 { x = x + 1 } a = x }"), [3]);
    assert_eq!(results("ghost a\nthread t { x = 0; repeat i in 2..=4 { x = 10 * x + i } a = x }"), [234]);
    assert_eq!(results("ghost a\nthread t { x = 5; repeat i in 1..=0 { x = 6 } a = x }"), [5]);
    let nested =
        "ghost a\nthread t { x = 0; repeat i in 1..=2 { repeat j in i..=2 { x = 100 * x + 10 * i + j } } a = x }";
    assert_eq!(results(&nested.replace("100", "7")), [11 * 49 + 12 * 7 + 22]);
    assert_eq!(results("const N = 2\nghost a\nthread t { x = 0; repeat N * 2 { x = x + 1 } a = x }"), [4]);
}

#[test]
fn loops_break_continue_and_return() {
    assert_eq!(results("ghost a\nthread t { x = 0; loop { x = x + 1; if x == 3 { break } } a = x }"), [3]);
    let skipping =
        "ghost a\nthread t { x = 0; y = 0; while x < 5 { x = x + 1; if x % 2 { continue } y = y + x } a = y }";
    assert_eq!(results(skipping), [6]);
    assert_eq!(results("ghost a\nthread t { a = 1; return; a = 2 }"), [1]);
    let nested = "ghost a\nthread t { x = 0; loop { loop { break } x = x + 1; if x == 2 { break } } a = x }";
    assert_eq!(results(nested), [2]);
}

#[test]
fn else_if_chains() {
    let text = "ghost a\nthread t { x = N; if x == 1 { a = 10 } else if x == 2 { a = 20 } else { a = 30 } }";
    for (number, result) in [("1", 10), ("2", 20), ("3", 30)] {
        assert_eq!(results(&text.replace('N', number)), [result]);
    }
}

#[test]
fn a_routine_returns_its_value_or_0() {
    assert_eq!(results("ghost a\nfn f(x) { return x + 1 }\nthread t { a = f(f(1)) + f(10) }"), [14]);
    assert_eq!(results("ghost a\nfn f() { fence }\nthread t { a = f() + 5 }"), [5]);
    assert_eq!(results("ghost a\nfn f() { return\n fence }\nthread t { a = f() + 5 }"), [5]);
    let early = "shared X = 1\nghost a\nfn f(y) { if y == X { return 8 } return 9 }\nthread t { a = 10 * f(1) + f(2) }";
    assert_eq!(results(early), [89]);
}

#[test]
fn a_return_from_a_loop_does_not_end_the_loop_of_the_caller() {
    let text = "ghost a
        fn f(n) { x = 0; loop { x = x + 1; if x == n { return x } } }
        thread t { y = 0; z = 0; loop { y = y + 1; z = z + f(y); if y == 3 { break } } a = z }";
    assert_eq!(results(text), [6]);
}

#[test]
fn a_routine_does_not_see_the_registers_or_copy_numbers_of_its_caller() {
    assert_eq!(error_in("fn f() {\n return x }\nthread t { x = 1; f() }"), (2, "`x` is not declared here".to_owned()));
    assert_eq!(
        error_in("fn f() {\n return i }\nthread t { repeat i in 1..=2 { f() } }"),
        (2, "`i` is not declared here".to_owned())
    );
    let text = "ghost a\nfn g(x) { y = 100; x = x + y; return x }\nfn f(x) { y = x; g(y); return x + y }\nthread t { x = 1; y = 2; f(y); a = 10 * x + y }";
    assert_eq!(results(text), [12]);
    let text =
        "ghost a\nfn f(i) { return i }\nthread t { x = 0; repeat i in 1..=2 { y = 7; x = 10 * x + f(y) + i } a = x }";
    assert_eq!(results(text), [89]);
}

#[test]
fn a_routine_and_a_word_may_share_a_name() {
    assert_eq!(
        results(
            "shared demand\nghost a\nfn demand() { if !demand { demand := 3 } }\nthread t { demand(); a = demand }"
        ),
        [3]
    );
}

#[test]
fn a_constant_argument_is_a_constant_in_the_routine() {
    let text = "ghost a\nfn f(n) { x = 0; repeat n { x = x + 2 } return x }\nthread t { a = f(3) }";
    assert_eq!(results(text), [6]);
    assert_eq!(error_in("fn f(n) {\n repeat n { fence } }\nthread t { x = 3; f(x) }").0, 2);
}

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
fn a_call_does_not_change_a_local_that_was_read_before_it() {
    let with = |value: &str| {
        results(&format!(
            "shared L[9]\nghost a\nlocal n = 1\nfn f() {{ n = n + 1; return 10 }}\nthread t {{ {value} }}"
        ))
    };
    assert_eq!(with("a = n + f()"), [11]);
    assert_eq!(with("a = f() + n"), [12]);
    assert_eq!(with("(x, y) = (n, f()); a = x"), [1]);
    assert_eq!(with("L[n] := f(); a = L[1]"), [10]);
    assert_eq!(with("L[n] := f() + n; a = L[1]"), [12]);
    assert_eq!(with("a = n == 1 && f() && n == 2"), [1]);
    assert_eq!(with("cas(L[n], f() - 10, 5); a = L[1]"), [5]);
    assert_eq!(with("swap(L[n], f()); a = L[1]"), [10]);
    assert_eq!(with("add(L[n], f()); a = L[1]"), [10]);
    let text = "ghost a\nlocal n = 1\nfn f() { n = n + 1; return 10 }\nfn g(x, y) { return x + y }\nthread t { a = g(n, f()) }";
    assert_eq!(results(text), [11]);
}

#[test]
fn fields_of_packed_words_are_independent() {
    assert_eq!(
        results("shared X\nghost a\nthread t { X := (1, 2, 3); (p, q, r) = X; a = 100 * p + 10 * q + r }"),
        [123]
    );
    assert_eq!(results("shared X\nghost a\nthread t { x = 31; X := (x, x, x); (p, q, r) = X; a = p + q + r }"), [93]);
    assert_eq!(results("ghost a\nthread t { x = (4, 5); (x, y) = x; a = 10 * x + y }"), [45]);
    assert_eq!(results("ghost a\nthread t { x = (4, 5); (y, x) = x; a = 10 * x + y }"), [54]);
    assert_eq!(
        results(
            "shared X = (4, 5)\nconst P = (1, 2)\nghost a\nthread t { (x, y) = X; (p, q) = P; a = 10 * x + y + p + q }"
        ),
        [48]
    );
    let text = "shared X = (4, 5)\nghost a\nthread t { a = cas(X, (4, 5), (5, 4)) }\nfinally X == (5, 4)";
    assert_eq!(results(text), [1]);
    assert!(Graph::of(&machine(text)).over().iter().all(|state| machine(text).ends_well(state)));
}

#[test]
fn a_field_out_of_range_is_a_fault_or_an_error() {
    for number in ["32", "-1"] {
        let text = format!("thread t {{ x = {number}; y = (x, 0) }}");
        assert_eq!(faults(&machine(&text)), BTreeSet::from([Fault::Overflow.description()]));
        assert_eq!(
            error_in(&format!("thread t {{\n y = ({number}, 0) }}")),
            (2, "a field is a number from 0 to 31".to_owned())
        );
    }
    assert_eq!(error_in("thread t { x = (1, 2, 3, 4) }").1, "a packed word has at most 3 fields");
    assert_eq!(error_in("thread t { x = 1; (a, b, c, d) = x }").1, "a packed word has at most 3 fields");
    assert_eq!(error_in("thread t { x = () }").1, "expected a value between `(` and `)`");
}

#[test]
fn rows_have_their_initial_values_and_check_indices() {
    assert_eq!(
        results("shared L[3] = 4, M[2]\nghost a\nthread t { L[0] := 1; a = L[0] + L[1] + L[2] + M[0] + M[1] }"),
        [9]
    );
    for index in ["3", "-1"] {
        for access in [
            "L[x] := 1",
            "y = L[x]",
            "cas(L[x], 0, 1)",
            "swap(L[x], 0)",
            "add(L[x], 0)",
            "acquire L[x]",
            "await L[x] == 0",
        ] {
            let text = format!("shared L[3]\nthread t {{ x = {index}; {access} }}");
            assert_eq!(faults(&machine(&text)), BTreeSet::from([Fault::OutOfBounds.description()]), "{access}");
        }
    }
}

#[test]
fn await_and_acquire_block_until_their_condition_is_true() {
    assert_eq!(results("shared X\nghost a\nthread t { await X == 2; a = 1 }\nthread u { X := 1; X := 2 }"), [1]);
    assert_eq!(results("shared X = 1\nghost a\nthread t { acquire X; a = X }\nthread u { X := 0 }"), [1]);
    let text = "shared X = 1\nthread t { z = 0; await 1 / z == X }";
    assert_eq!(faults(&machine(text)), BTreeSet::from([Fault::Overflow.description()]));
}

#[test]
fn a_loop_without_a_step_is_a_fault() {
    assert_eq!(faults(&machine("thread t { fence; loop { } }")), BTreeSet::from([Fault::Endless.description()]));
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
fn errors_have_a_line_and_a_reason() {
    let cases: &[(&str, usize, &str)] = &[
        ("thread t {\n\n x = y }", 3, "`y` is not declared here"),
        ("thread t {\n f() }", 2, "there is no routine `f`"),
        ("fn f(x) { fence }\nthread t { f(1, 2) }", 2, "`f` takes 1 value"),
        ("fn f(x, y) { fence }\nthread t {\n f(1) }", 3, "`f` takes 2 values"),
        ("fn f() {\n f() }\nthread t { f() }", 2, "`f` calls itself"),
        ("fn f() { g() }\nfn g() {\n f() }\nthread t { f() }", 3, "`f` calls itself"),
        ("shared X, Y\nthread t { await X == Y }", 2, "`await` must load exactly one word of memory"),
        ("thread t {\n await 1 }", 2, "`await` must load exactly one word of memory"),
        ("shared X\nthread t { fence\n await 1\n x = X }", 3, "`await` must load exactly one word of memory"),
        ("thread t { x = 1\n x := 2 }", 2, "`x` is not a word of memory"),
        ("shared X\nthread t {\n X = 1 }", 3, "`X` is in memory: store to it with `:=`"),
        ("shared X, Y\nthread t {\n X = Y }", 3, "`X` is in memory: store to it with `:=`"),
        ("const N = 1\nshared X\nthread t {\n N = X }", 4, "`N` is a constant and cannot be set"),
        ("const N = 1\nthread t {\n N = 2 }", 3, "`N` is a constant and cannot be set"),
        ("fn f(n) {\n n = 2 }\nthread t { f(1) }", 2, "`n` is a constant and cannot be set"),
        ("shared L[2]\nthread t {\n x = L }", 3, "`L` is a row: give an index, `L[…]`"),
        ("shared L[2]\nthread t {\n L := 1 }", 3, "`L` is a row: give an index, `L[…]`"),
        ("shared X\nthread t {\n x = X[0] }", 3, "`X` is one word and has no index"),
        ("shared X\nthread t {\n cas(X[1], 0, 1) }", 3, "`X` is one word and has no index"),
        ("thread t {\n x = y[0] }", 2, "`y` is not a row of memory"),
        ("thread t { x = 1\n cas(x, 0, 1) }", 2, "`x` is not a word of memory"),
        ("thread t {\n cas(1, 0, 1) }", 2, "the first operand of a locked instruction must be a word of memory"),
        ("shared X\nthread t {\n cas(X, 0) }", 3, "`cas` takes 3 values"),
        ("shared X\nthread t {\n x = swap(X) }", 3, "`swap` takes 2 values"),
        ("shared X\nthread t {\n x = add(X, 1, 2) }", 3, "`add` takes 2 values"),
        ("thread t {\n break }", 2, "`break` outside of a loop"),
        ("thread t {\n continue }", 2, "`continue` outside of a loop"),
        ("thread t { loop { repeat 2 {\n break } } }", 2, "`break` outside of a loop"),
        ("thread t { x = 2\n repeat x { fence } }", 2, "the number of copies must be a constant"),
        ("shared X\nshared Y = X\nthread t { fence }", 2, "this must be a constant"),
        ("shared X[0]\nthread t { fence }", 1, "`X` does not fit: memory has 120 words"),
        ("shared X[121]\nthread t { fence }", 1, "`X` does not fit: memory has 120 words"),
        ("shared X[-1]\nthread t { fence }", 1, "`X` does not fit: memory has 120 words"),
        ("shared X, X", 1, "`X` is declared twice"),
        ("shared X\nghost X", 2, "`X` is declared twice"),
        ("local x\nconst x = 1", 2, "`x` is declared twice"),
        ("fn f() { fence }\nfn f() { fence }", 2, "`f` is declared twice"),
        ("init { fence }\ninit { fence }\nthread t { fence }", 2, "`init` is declared twice"),
        ("shared X\nfn f(X) { return X }\nthread t { f(1) }", 2, "`X` is declared twice"),
        ("fn f(x, x) { return x }\nthread t { f(1, 2) }", 1, "`x` is declared twice"),
        ("shared X\nthread t {\n repeat X in 1..=2 { fence } }", 3, "`X` is declared twice"),
        ("fn cas(x) { fence }", 1, "`cas` is declared twice"),
        ("shared ME", 1, "`ME` is declared twice"),
        ("local n\nthread t { fence }\nfinally n == 0", 3, "`finally` may use memory and ghosts, not `n`"),
        ("shared X\nthread t { fence }\nfinally cas(X, 0, 1)", 3, "`finally` may only load"),
        ("thread t {\n x = 99999 }", 2, "`99999` is not a number"),
        ("thread t {\n x = 12ab }", 2, "`12ab` is not a number"),
        ("thread t {\n x = 1 ? 2 }", 2, "`? 2 }` is not part of the language"),
        ("thread t {\n x = 'é' }", 2, "`'é' }` is not part of the language"),
        ("thread t { fence", 1, "expected `}`, found the end"),
        ("thread t {\n if 1 {\n fence\n", 3, "expected `}`, found the end"),
        ("thread t { x = (1 }", 1, "expected `,`, found `}`"),
        ("thread t { x = }", 1, "expected a name or a number, found `}`"),
        ("thread t { repeat i in 1..3 { fence } }", 1, "expected `..=`, found `..`"),
        ("thread t {\n 5 }", 2, "expected a statement, found `5`"),
        ("thread t { fence }\n}", 2, "`}` does not begin a declaration"),
        ("thread t { fence }\nfence", 2, "`fence` does not begin a declaration"),
        ("thread { fence }", 1, "expected a name, found `{`"),
        ("line { local x }", 1, "a `line` may only hold `shared` words"),
        ("thread t * 16 { fence }", 1, "a program has at most 15 threads"),
        ("thread t { repeat 30000 { fence; fence } }", 1, "a thread has more than 10000 operations"),
        ("thread t { repeat 30000 { repeat 30000 { } } }", 1, "a thread has more than 10000 operations"),
    ];
    for (text, line, reason) in cases {
        assert_eq!(error_in(text), (*line, (*reason).to_owned()), "{text}");
    }
}

#[test]
fn a_thread_has_at_most_64_registers() {
    let registers = |count: usize| {
        let sets: String = (0..count).map(|number| format!("x{number} = 1\n")).collect();
        compile(&format!("thread t {{\n{sets}}}"), &Settings::new())
    };
    assert!(registers(64).is_ok());
    assert_eq!(registers(65).unwrap_err().to_string(), "line 66: a thread has at most 64 registers");
    let locals = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("x{number}")).collect();
        compile(&format!("\nlocal {}\nthread t {{ fence }}", names.join(", ")), &Settings::new())
    };
    assert!(locals(64).is_ok());
    assert_eq!(locals(65).unwrap_err().to_string(), "line 2: a thread has at most 64 registers");
}

#[test]
fn a_state_that_does_not_fit_is_an_error() {
    let error =
        Machine::new("shared L[120]\nthread t * 15 { fence }", &Settings::new(), Buffer::Bounded(6), Claims::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("more than 256"), "{error}");
    // The state of `init` alone can be too large, too.
    let sets: String = (0..64).map(|number| format!("x{number} = 1\n")).collect();
    let ghosts: Vec<String> = (0..70).map(|number| format!("g{number}")).collect();
    let ghosts = ghosts.join(", ");
    let text = format!("shared L[120]\nghost {ghosts}\ninit {{\n{sets}}}\nthread t {{ fence }}");
    let error = Machine::new(&text, &Settings::new(), Buffer::None, Claims::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("more than 256"), "{error}");
}

#[test]
fn deep_nesting_is_an_error_and_does_not_overflow_the_stack() {
    for (open, close) in [("(", ")"), ("!", ""), ("-", ""), ("1 + (", ")"), ("1 && (", ")"), ("f(", ")"), ("L[", "]")] {
        let text = format!("thread t {{ x = {}1{} }}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(error_in(&text).1, "this is nested more than 100 levels deep", "{open}");
    }
    for (open, close) in [("if 1 { ", "}"), ("loop { ", "}"), ("if 1 { } else ", "{ }"), ("repeat 1 { ", "}")] {
        let text = format!("thread t {{ {}{} }}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(error_in(&text).1, "this is nested more than 100 levels deep", "{open}");
    }
    let long = format!("thread t {{ x = 1; x = x{} }}", " + x".repeat(100_000));
    assert_eq!(error_in(&long).1, "this is nested more than 100 levels deep");
}

#[test]
fn conditions_within_conditions_are_compiled_once() {
    let text = format!("shared X\nthread t {{ x = {}X{} }}", "X && (".repeat(30), ")".repeat(30));
    assert!(compile(&text, &Settings::new()).is_ok());
}

/// Returns programs that use every feature of the language, and all litmus tests.
fn programs() -> Vec<String> {
    let everything = "
shared H = 0, T
shared tasks[4] = 1 // a row
line { shared A, B = 1 }
local tail = 0, n = -1
ghost seen = 0
const W = 2 + 2, EMPTY = -1

fn push(task) {
    tasks[tail % W] := task
    tail = tail + 1
    T := tail
}
fn pop() {
    t = T - 1
    T := t; fence
    (s, h) = (t % 4, H)
    if t > h { return tasks[t % W] } else if t < h { T := h; return EMPTY }
    T := h + 1
    if !cas(H, h, h + 1) || s == 3 { return
    }
    return tasks[t % W]
}
init { push(1); push(2) }
thread owner {
    x = pop()
    if x >= 1 && x <= 2 { took(x) }
    seen = seen + 1
    assert seen == 1
}
thread thief * 2 {
    repeat i in 1..=2 { x = swap(A, i) + add(B, ME) }
    lock; A := 1; unlock
    loop { if A != 0 { break } continue }
    while A && !B { fence }
    acquire H; await T == 1; barrier
}
finally seen == 1 && tasks[0] == 1";
    let litmus = litmus::all().into_iter().map(|litmus| litmus.text.to_owned());
    [everything.to_owned()].into_iter().chain(litmus).collect()
}

#[test]
fn no_text_makes_the_compiler_panic() {
    let settings = Settings::from([("TASKS".to_owned(), 2)]);
    let mut accepted = 0;
    let mut attempt = |text: &str| accepted += usize::from(compile(text, &settings).is_ok());
    let replacements = [
        "{", "}", "(", ")", "[", "]", ",", ";", "=", ":=", "==", "<", "..=", "!", "-", "*", "%", "&&", "0", "32767",
        "X", "x", "H", "tasks", "tail", "seen", "W", "pop", "cas", "if", "else", "loop", "repeat", "in", "return",
        "await", "acquire", "took", "fence", "thread", "shared", "line", "local", "ghost", "const", "fn", "init",
        "finally", "ME", "?", "é",
    ];
    for program in programs() {
        assert!(compile(&program, &settings).is_ok(), "{program}");
        for end in (0..=program.len()).filter(|end| program.is_char_boundary(*end)) {
            attempt(&program[..end]);
            attempt(&program[end..]);
        }
    }
    let program = &programs()[0];
    let tokens: Vec<(usize, usize)> = token_ranges(program);
    for (index, (start, end)) in tokens.iter().enumerate() {
        let (before, after) = (&program[..*start], &program[*end..]);
        attempt(&format!("{before}{after}"));
        attempt(&format!("{before}{0} {0}{after}", &program[*start..*end]));
        for replacement in replacements {
            attempt(&format!("{before} {replacement} {after}"));
        }
        if let Some((next, last)) = tokens.get(index + 1) {
            let (one, other) = (&program[*start..*end], &program[*next..*last]);
            attempt(&format!("{before}{other}{}{one}{}", &program[*end..*next], &program[*last..]));
        }
    }
    assert!(accepted > 1000);
}

/// Returns the positions of the words, numbers and signs of a text.
fn token_ranges(text: &str) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, letter) in text.char_indices() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        match ranges.last_mut() {
            _ if letter.is_whitespace() => {}
            Some((start, end)) if *end == at && is_word(letter) && text[*start..*end].chars().all(is_word) => *end += 1,
            _ => ranges.push((at, at + letter.len_utf8())),
        }
    }
    ranges
}

#[test]
fn a_program_that_compiles_can_be_run() {
    // A program that is one token away from a correct one may mean anything, but none of its steps
    // panics.
    let settings = Settings::from([("TASKS".to_owned(), 2)]);
    let program = &programs()[0];
    for (start, end) in token_ranges(program) {
        for replacement in ["", "0", "-", "tail", "31", "H", "5", "else", "<"] {
            let text = format!("{} {replacement} {}", &program[..start], &program[end..]);
            let Ok(machine) = Machine::new(&text, &settings, Buffer::Bounded(1), Claims::default()) else {
                continue;
            };
            let mut state = machine.initial().clone();
            for step in 0..200 {
                let mut actions = Vec::new();
                machine.each_action(&state, |action| actions.push(action));
                if actions.is_empty() {
                    break;
                }
                state = machine.after(&state, actions[step * 7 % actions.len()]);
                machine.ends_well(&state);
            }
        }
    }
}

#[test]
fn outcomes_have_the_requested_order() {
    let machine = machine("shared X = 1\nghost a = 2, b = 3\nthread t { fence }");
    assert_eq!(litmus::outcomes(&machine, &["b", "X", "a"]), BTreeSet::from([Outcome::from([3, 1, 2])]));
}
