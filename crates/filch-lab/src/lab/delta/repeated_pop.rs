//! Whether a single call of a function may store the tail more than once.
//!
//! The path from a function's beginning to its beginning leads from pop to pop only if each call
//! pops at most once. If the compiler put the pop into a loop, the loop repeats without passing the
//! beginning, and makes fewer stores. The same holds for the return from a recursion, and for a
//! function that makes two calls in a row that pop.

use std::collections::{HashMap, HashSet};

use super::blocks::{Block, Code, End, DRAINS};
use super::program::Program;

/// Returns why one call may store the tail more than once, if so.
///
/// Checks everything reachable from the block `entry`, callees included, until `entry` is reached
/// again.
pub(super) fn reason(program: &Program, code: &Code, entry: usize) -> Option<String> {
    let after = |block: usize, returns: &Returns, passes_drains: bool| {
        let Block { end, function, .. } = code.blocks[block];
        let is_return = matches!(end, End::Returns | End::JumpsToLibrary);
        let callers = returns.get(&function).filter(|_| is_return).into_iter().flatten().copied();
        // Paths into panics are ignored.
        let matters = |&to: &usize| {
            let block = &code.blocks[to];
            let is_passed = passes_drains || block.stores < DRAINS;
            to != entry && is_passed && !panics(program.functions[block.function].name())
        };
        code.successors(block).chain(code.callee(block)).chain(callers).filter(matters).collect::<Vec<usize>>()
    };
    let reached = |from: usize, returns: &Returns, passes_drains: bool| {
        let mut seen = HashSet::new();
        let mut pending = after(from, returns, passes_drains);
        while let Some(block) = pending.pop() {
            if seen.insert(block) {
                pending.extend(after(block, returns, passes_drains));
            }
        }
        seen
    };

    // Return targets are reached together with the calls.
    let mut all: Vec<usize> = reached(entry, &Returns::new(), true).into_iter().collect();
    all.push(entry);
    all.sort_unstable();
    let returns = returns(code, &all);
    // A loop that empties the buffer in every iteration may pop in every iteration: no pop before
    // the drain is hidden after it.
    let is_repeated = |block: usize| reached(block, &returns, false).contains(&block);
    let repeated = all.iter().find(|&&block| code.blocks[block].may_store_tail && is_repeated(block));
    let repeated = repeated.map(|&block| format!("the store at {:#x} may be repeated", code.blocks[block].start));
    // An unknown target may loop, or pop several times.
    let unknown = |end: End, name: &str| {
        let block = all.iter().map(|&block| &code.blocks[block]).find(|block| block.end == end)?;
        Some(format!("the target of its {name} at {:#x} is unknown", block.last))
    };
    repeated.or_else(|| unknown(End::JumpsUnknown, "jump")).or_else(|| unknown(End::CallsUnknown, "call"))
}

/// For each function, the blocks that it returns to.
type Returns = HashMap<usize, HashSet<usize>>;

/// Returns where the functions that these blocks call return to.
fn returns(code: &Code, blocks: &[usize]) -> Returns {
    let mut returns = Returns::new();
    let mut continues_in = Vec::new();
    for &block in blocks {
        let Block { function, next, .. } = code.blocks[block];
        if let (Some(callee), Some(next)) = (code.callee(block), next) {
            returns.entry(code.blocks[callee].function).or_default().insert(next);
        }
        // If a function continues in another function, that one returns to the first function's
        // callers.
        let others = code.successors(block).chain(next).map(|to| code.blocks[to].function);
        continues_in.extend(others.filter(|other| *other != function).map(|other| (function, other)));
    }
    loop {
        let mut has_grown = false;
        for (from, into) in &continues_in {
            for to in returns.get(from).cloned().unwrap_or_default() {
                has_grown |= returns.entry(*into).or_default().insert(to);
            }
        }
        if !has_grown {
            return returns;
        }
    }
}

/// Whether a function starts a panic, by its name.
fn panics(name: &str) -> bool {
    ["core::panicking::", "core::option::unwrap_failed", "core::option::expect_failed", "core::result::unwrap_failed"]
        .iter()
        .any(|panic| name.starts_with(panic))
}
