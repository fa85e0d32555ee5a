//! Control flow: copies, loops, conditions, routines and waiting.

use std::collections::BTreeSet;

use super::{error_in, faults, loads, machine, results};
use crate::machine::Fault;

#[test]
fn conditions_short_circuit_loads() {
    assert_eq!(loads("shared X, Y = 1\nthread t { if X && Y { fence } while X || X { fence } }"), 3);
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
