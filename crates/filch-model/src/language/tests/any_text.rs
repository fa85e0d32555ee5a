//! Texts that are nearly programs: none makes the compiler or the machine panic.

use crate::language::{compile, Settings};
use crate::litmus;
use crate::machine::{Buffer, Claims, Machine};

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
