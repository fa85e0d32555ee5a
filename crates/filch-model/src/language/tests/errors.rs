//! Errors have a line and a reason, and limits are errors.

use super::error_in;
use crate::language::{compile, Settings};
use crate::machine::{Buffer, Claims, Machine};

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
fn a_thread_has_at_most_128_registers() {
    let registers = |count: usize| {
        let sets: String = (0..count).map(|number| format!("x{number} = 1\n")).collect();
        compile(&format!("thread t {{\n{sets}}}"), &Settings::new())
    };
    assert!(registers(128).is_ok());
    assert_eq!(registers(129).unwrap_err().to_string(), "line 130: a thread has at most 128 registers");
    let locals = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("x{number}")).collect();
        compile(&format!("\nlocal {}\nthread t {{ fence }}", names.join(", ")), &Settings::new())
    };
    assert!(locals(128).is_ok());
    assert_eq!(locals(129).unwrap_err().to_string(), "line 2: a thread has at most 128 registers");
}

#[test]
fn a_state_that_does_not_fit_is_an_error() {
    let error =
        Machine::new("shared L[120]\nthread t * 15 { fence }", &Settings::new(), Buffer::Bounded(6), Claims::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("more than 320"), "{error}");
    // The state of `init` alone can be too large, too.
    let sets: String = (0..128).map(|number| format!("x{number} = 1\n")).collect();
    let ghosts: Vec<String> = (0..70).map(|number| format!("g{number}")).collect();
    let ghosts = ghosts.join(", ");
    let text = format!("shared L[120]\nghost {ghosts}\ninit {{\n{sets}}}\nthread t {{ fence }}");
    let error = Machine::new(&text, &Settings::new(), Buffer::None, Claims::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("more than 320"), "{error}");
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
