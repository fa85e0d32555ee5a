//! Chase-Lev as a program of the machine.

use filch_model::language::Settings;
use filch_model::machine::{Buffer, Claims, Machine};

/// The figure of the paper: the owner pops what it pushed while a thief steals.
const CHASE_LEV: &str = "
shared H = 0, T = 0
shared tasks[4]
ghost a, b, c, d
const EMPTY = 9, LOST = 8, FENCED = 1

fn push(task) {
    t = T
    tasks[t % 4] := task
    T := t + 1
}
fn pop() {
    t = T - 1
    T := t
    if FENCED { fence }
    h = H
    if t > h { return tasks[t % 4] }
    if t < h { T := h; return EMPTY }
    T := h + 1
    if !cas_head(h, h + 1) { return EMPTY }
    return tasks[t % 4]
}
fn steal() {
    h = H
    t = T
    if h >= t { return EMPTY }
    task = tasks[h % 4]
    if !cas_head(h, h + 1) { return LOST }
    return task
}
init { push(1); push(2) }
thread owner { a = pop(); push(3); b = pop(); c = pop() }
thread thief { d = steal() }
";

pub(crate) const CAS_HEAD: &str = "fn cas_head(old, new) { return cas(H, old, new) }";
/// Rules 3, 2, 6, 1 and 4.
pub(crate) const CAS_HEAD_WRITTEN_OUT: &str = "fn cas_head(old, new) {
    done = 0
    lock
    found = H
    if found == old { H := new; done = 1 }
    unlock
    return done
}";

pub(crate) fn chase_lev(cas_head: &str, fenced: i16, buffer: Buffer) -> Machine {
    let settings = Settings::from([("FENCED".to_owned(), fenced)]);
    Machine::new(&format!("{CHASE_LEV}{cas_head}"), &settings, buffer, Claims::default()).unwrap()
}
