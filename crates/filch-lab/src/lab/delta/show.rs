//! Formats findings as text and as JSON.

use std::path::Path;

use serde_json::{json, Value};

use super::cheapest_path::{CheapestPath, Exit};
use super::program::Program;
use super::{constructor, Finding, Place};
use crate::figures::grouped;

/// Formats the answer, the path, and the limits of the answer.
pub(super) fn text(program: &Program, finding: &Finding, bound: usize) -> String {
    let named = |place: &Place| format!("`{}` at {:#x}", super::described(program, place), place.address);
    let places = finding.places.iter().map(named).collect::<Vec<_>>().join(", ");
    let mut text = String::new();
    match &finding.path {
        None => text.push_str(&format!(
            "There is no path from a pop to a pop (at {places}): the program pops once, and delta is 1.\n"
        )),
        Some(path) => {
            text.push_str(&format!("The path from a pop to a pop with the fewest stores (at {places}):\n\n"));
            text.push_str(&steps(program, path));
            text.push_str(&format!("\n{}\n", conclusion(finding, bound)));
        }
    }
    text.push_str(&format!("\n{}", constructor::text(finding, bound)));
    text.push_str(&limits(program, finding));
    text
}

fn conclusion(finding: &Finding, bound: usize) -> String {
    let stores = finding.stores.unwrap_or_default();
    match finding.delta(bound) {
        Some(2..) if finding.drains() => {
            "Every path passes a fence or a locked instruction, which empties the store buffer: at most two pops are hidden, the last of one call and the first of the next, and delta is 2. With the place of the store of the tail it may be 1.".to_owned()
        }
        _ if finding.drains() => {
            "Every path passes a fence or a locked instruction, which empties the store buffer: delta is 1, and such a queue needs no delta.".to_owned()
        }
        Some(delta) => {
            let (extra, why) = match finding.extra_pop() {
                0 => ("", ""),
                _ => (" + 1", ". The 1 allows for a store of the tail that comes late in one call and early in the next; with its place, as in `NAME+0x1f`, it is not needed"),
            };
            let (between, one) = match finding.extra_pop() {
                0 => ("between two pops", "of the stores"),
                _ => ("from the beginning of a pop to the beginning of the next, besides the store of the tail", "store between two stores of the tail"),
            };
            format!(
                "x = {stores}: the program makes at least {stores} stores {between}. With S = {bound}, delta = ceil({bound} / {}){extra} = {delta}, if at least one {one} goes to another cache line than the tail{why}.",
                stores.saturating_add(1)
            )
        }
        None => format!(
            "x = {stores}: there may be no store between two pops, so their stores of the tail may leave the buffer as one. No delta is safe; add a store to another cache line to each pop."
        ),
    }
}

/// Formats a line for each consecutive visit of a function.
fn steps(program: &Program, path: &CheapestPath) -> String {
    let mut visits: Vec<(usize, u64, u64)> = Vec::new();
    for step in &path.steps {
        match visits.last_mut() {
            Some((function, _, stores)) if *function == step.function => *stores = stores.saturating_add(step.stores),
            _ => visits.push((step.function, step.address, step.stores)),
        }
    }
    let mut text = String::new();
    for (function, address, stores) in visits {
        let name = program.functions[function].name();
        let stores = match stores {
            1 => "1 store".to_owned(),
            super::DRAINS.. => "empties the buffer".to_owned(),
            _ => format!("{stores} stores"),
        };
        text.push_str(&format!("  {address:#x}  {name}: {stores}\n"));
    }
    if let Some(exit) = path.exit {
        text.push_str(&format!("  {}\n", exit_text(program, exit)));
    }
    text
}

fn exit_text(program: &Program, exit: Exit) -> String {
    match exit {
        Exit::Call(address) => format!("{address:#x}  an indirect call, which may pop immediately"),
        Exit::Jump(address) => format!("{address:#x}  an indirect jump, which may reach a pop immediately"),
        Exit::Return(function) => {
            format!(
                "a return from `{}` to an unknown caller, which may pop immediately",
                program.functions[function].name()
            )
        }
    }
}

fn limits(program: &Program, finding: &Finding) -> String {
    let Finding { indirect_calls, indirect_jumps, library_calls, other_copies, path, .. } = finding;
    let used = match path.as_ref().and_then(|path| path.exit) {
        Some(_) => "The path above uses one of these, so the true x may be larger.",
        None => "The path above uses none of these.",
    };
    let mut text = format!(
        "Indirect calls in the program: {}; indirect jumps: {}. Each may reach a pop without a store, and so may a return to an unknown caller. {used}\nCalls of libraries: {}. They are assumed to return without a pop and without a store. So x is a lower bound if no library calls back into code that pops (as qsort may), and if nothing but returns leads back (no longjmp, no change of stacks).\n",
        grouped(*indirect_calls),
        grouped(*indirect_jumps),
        grouped(*library_calls),
    );
    if finding.places.iter().any(|place| !place.is_store) {
        text.push_str("A single instruction is assumed to store the tail, at most once in a call of the function. Otherwise give the places of all such stores.\n");
    }
    text.push_str(
        "Copies of the pop that the compiler inlined into other functions are not detected: give their places too.\n",
    );
    if *other_copies > 0 {
        text.push_str(&format!(
            "Functions of the same name that are not counted as pops: {}. If they pop from such a queue, give their places too.\n",
            grouped(*other_copies)
        ));
    }
    if program.unnamed > 0 {
        text.push_str(&format!(
            "{} bytes of code belong to no named function and may call any function, so each function may return to a caller that pops immediately.\n",
            grouped(program.unnamed)
        ));
    }
    text
}

/// Returns the finding as JSON.
pub(super) fn json(program: &Program, finding: &Finding, bound: usize, binary: &Path) -> Value {
    let step = |step: &super::cheapest_path::Step| {
        json!({
            "function": program.functions[step.function].name(),
            "address": format!("{:#x}", step.address),
            "stores": step.stores,
        })
    };
    let place = |place: &Place| {
        json!({
            "function": program.functions[place.function].name(),
            "address": format!("{:#x}", place.address),
            "is_store_of_the_tail": place.is_store,
        })
    };
    let path = finding.path.as_ref();
    json!({
        "instrument": "delta",
        "binary": binary.display().to_string(),
        "places": finding.places.iter().map(place).collect::<Vec<_>>(),
        "other_copies": finding.other_copies,
        "unnamed_bytes": program.unnamed,
        "stores": finding.stores,
        "drains": finding.drains(),
        "bound": bound,
        "delta": finding.delta(bound),
        "code": constructor::line(finding, bound),
        "path": path.map(|path| path.steps.iter().map(step).collect::<Vec<_>>()),
        "leaves": path.and_then(|path| path.exit).map(|exit| exit_text(program, exit)),
        "indirect_calls": finding.indirect_calls,
        "indirect_jumps": finding.indirect_jumps,
        "library_calls": finding.library_calls,
    })
}
