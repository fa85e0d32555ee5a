//! Whether one call of a function may store the tail more than once.
//!
//! From the beginning of a function to its beginning is the way from pop to pop only if each call of it pops at most once. Where the compiler put the pop into
//! a loop, the loop goes round without passing the beginning, and makes fewer stores.

use std::collections::HashSet;

use super::blocks::{Code, End, DRAINS};
use super::program::Program;

/// Why it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// What stores here may be done again without passing the beginning.
    Loop(u64),
    /// Nobody knows where this jump goes: perhaps round.
    Jump(u64),
}

/// Looks at all that happens from the block `entry` on, with what is called, until it is entered again.
pub(super) fn doubt(program: &Program, code: &Code, entry: usize) -> Option<Doubt> {
    let after = |block: usize, are_drains_passed: bool| {
        let next = code.blocks[block].next;
        let (to, next) = match code.blocks[block].end {
            End::Falls | End::CallsLibrary | End::CallsUnknown => (None, next),
            End::Jumps(to) => (Some(to), None),
            End::Branches(to) | End::Calls(to) => (Some(to), next),
            End::JumpsToLibrary | End::JumpsUnknown | End::Returns | End::Stops => (None, None),
        };
        // Panics are left out.
        let matters = move |&to: &usize| {
            let block = &code.blocks[to];
            let is_passed = are_drains_passed || block.stores < DRAINS;
            to != entry && is_passed && !panics(program.functions[block.function].name())
        };
        to.into_iter().chain(next).filter(matters)
    };
    let reached = |from: usize, are_drains_passed: bool| {
        let mut seen = HashSet::new();
        let mut waiting: Vec<usize> = after(from, are_drains_passed).collect();
        while let Some(block) = waiting.pop() {
            if seen.insert(block) {
                waiting.extend(after(block, are_drains_passed));
            }
        }
        seen
    };

    let mut all: Vec<usize> = reached(entry, true).into_iter().collect();
    all.push(entry);
    all.sort_unstable();
    let jump = all.iter().map(|&block| &code.blocks[block]).find(|block| block.end == End::JumpsUnknown);
    // A loop that empties the buffer each time round may pop each time: no pop before it is hidden after it.
    let again = all.iter().find(|&&block| code.blocks[block].stores > 0 && reached(block, false).contains(&block));
    let again = again.map(|&block| Doubt::Loop(code.blocks[block].start));
    again.or(jump.map(|block| Doubt::Jump(block.last)))
}

/// Whether a function is the beginning of a panic, by its name.
fn panics(name: &str) -> bool {
    ["core::panicking::", "core::option::unwrap_failed", "core::option::expect_failed", "core::result::unwrap_failed"]
        .iter()
        .any(|panic| name.starts_with(panic))
}
