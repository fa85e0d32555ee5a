//! Formats findings as text and as JSON.

use std::path::Path;

use serde_json::{json, Value};

use super::program::Program;
use super::way::{Leaves, Way};
use super::{Finding, Place};
use crate::figures::grouped;

/// Formats the answer, the path, and the limits of the answer.
pub(super) fn text(program: &Program, finding: &Finding, bound: usize) -> String {
    let named = |place: &Place| format!("`{}` at {:#x}", super::described(program, place), place.address);
    let places = finding.places.iter().map(named).collect::<Vec<_>>().join(", ");
    let mut text = String::new();
    match &finding.way {
        None => text.push_str(&format!(
            "There is no way from a pop to a pop (at {places}): the program pops once, and delta is 1.\n"
        )),
        Some(way) => {
            text.push_str(&format!("The cheapest way from a pop to a pop (at {places}):\n\n"));
            text.push_str(&steps(program, way));
            text.push_str(&format!("\n{}\n", conclusion(finding, bound)));
        }
    }
    text.push_str(&worth(program, finding));
    text
}

fn conclusion(finding: &Finding, bound: usize) -> String {
    let stores = finding.stores.unwrap_or_default();
    match finding.delta(bound) {
        Some(2..) if finding.drains() => {
            "Every way passes a fence or a locked instruction, which empties the store buffer: at most two pops are hidden, the last of one call and the first of the next, and delta is 2. With the place of the store of the tail it may be 1.".to_owned()
        }
        _ if finding.drains() => {
            "Every way passes a fence or a locked instruction, which empties the store buffer: delta is 1, and such a queue needs none.".to_owned()
        }
        Some(delta) => {
            let (one_more, why) = match finding.one_more() {
                0 => ("", ""),
                _ => (" + 1", ", where the one is for a store of the tail that comes late in one call and early in the next: its place, as in `NAME+0x1f`, does without"),
            };
            let (between, one) = match finding.one_more() {
                0 => ("between two pops", "of the stores"),
                _ => ("from the beginning of a pop to that of the next, beside that of the tail", "store between two stores of the tail"),
            };
            format!(
                "x = {stores}: at least so many stores are made {between}. With S = {bound}, delta = ceil({bound} / {}){one_more} = {delta}, if at least one {one} goes to another cache line than the tail{why}.",
                stores.saturating_add(1)
            )
        }
        None => format!(
            "x = {stores}: there may be no store between two pops, whose stores of the tail may then leave the buffer as one. No delta is safe; have each pop make a store to another cache line."
        ),
    }
}

/// Formats a line for each consecutive stay in a function.
fn steps(program: &Program, way: &Way) -> String {
    let mut stays: Vec<(usize, u64, u64)> = Vec::new();
    for step in &way.steps {
        match stays.last_mut() {
            Some((function, _, stores)) if *function == step.function => *stores = stores.saturating_add(step.stores),
            _ => stays.push((step.function, step.address, step.stores)),
        }
    }
    let mut text = String::new();
    for (function, address, stores) in stays {
        let name = program.functions[function].name();
        let stores = match stores {
            1 => "1 store".to_owned(),
            super::DRAINS.. => "empties the buffer".to_owned(),
            _ => format!("{stores} stores"),
        };
        text.push_str(&format!("  {address:#x}  {name}: {stores}\n"));
    }
    if let Some(leaves) = way.leaves {
        text.push_str(&format!("  {}\n", leaving(program, leaves)));
    }
    text
}

fn leaving(program: &Program, leaves: Leaves) -> String {
    match leaves {
        Leaves::Call(address) => format!("{address:#x}  an indirect call, which may pop at once"),
        Leaves::Jump(address) => format!("{address:#x}  an indirect jump, which may lead to a pop at once"),
        Leaves::Return(function) => {
            format!(
                "a return from `{}` to a caller that is not known, which may pop at once",
                program.functions[function].name()
            )
        }
    }
}

fn worth(program: &Program, finding: &Finding) -> String {
    let Finding { indirect_calls, indirect_jumps, library_calls, other_copies, way, .. } = finding;
    let used = match way.as_ref().and_then(|way| way.leaves) {
        Some(_) => "The way above uses one, so that the true x may be larger.",
        None => "The way above uses none.",
    };
    let mut text = format!(
        "Indirect calls in the program: {}; indirect jumps: {}. Each may lead to a pop at once, without a store, and so may a return to a caller that is not known. {used}\nCalls of libraries: {}. They are taken to return without a pop and without a store. So x is a lower bound if no library calls back into code that pops (as qsort may), and if nothing but returns leads back (no longjmp, no change of stacks).\n",
        grouped(*indirect_calls),
        grouped(*indirect_jumps),
        grouped(*library_calls),
    );
    if finding.places.iter().any(|place| !place.is_store) {
        text.push_str("One instruction is taken to store the tail, at most once in a call of the function. If that is not so, give the places of all such stores.\n");
    }
    text.push_str(
        "Copies of the pop that the compiler put into other functions are not seen: give their places too.\n",
    );
    if *other_copies > 0 {
        text.push_str(&format!(
            "Functions of the same name that are not taken for pops: {}. If they pop from such a queue, give their places too.\n",
            grouped(*other_copies)
        ));
    }
    if program.unnamed > 0 {
        text.push_str(&format!(
            "Of the code, {} bytes belong to no function with a name, and may call any: each function may return to a caller that pops at once.\n",
            grouped(program.unnamed)
        ));
    }
    text
}

/// Returns the finding as JSON.
pub(super) fn json(program: &Program, finding: &Finding, bound: usize, binary: &Path) -> Value {
    let step = |step: &super::way::Step| {
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
    let way = finding.way.as_ref();
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
        "path": way.map(|way| way.steps.iter().map(step).collect::<Vec<_>>()),
        "leaves": way.and_then(|way| way.leaves).map(|leaves| leaving(program, leaves)),
        "indirect_calls": finding.indirect_calls,
        "indirect_jumps": finding.indirect_jumps,
        "library_calls": finding.library_calls,
    })
}
