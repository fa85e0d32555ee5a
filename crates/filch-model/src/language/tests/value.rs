//! Values: operators, loads, packed words and rows.

use std::collections::BTreeSet;

use super::{error_in, faults, loads, machine, results, value};
use crate::machine::Fault;
use crate::search::graph::Graph;

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
