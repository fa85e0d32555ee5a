//! Checkpoints to write, and heads to put before damaged ones.

use std::time::Duration;

use filch_dd::checkpoint::{Checkpoint, Identity};
use filch_dd::port::{Package, Totals};
use filch_dd::{Decision, Solution, Variable};
use proptest::prelude::*;

pub(crate) const HEAD: usize = 28;

/// Any checkpoint at all.
pub(crate) fn checkpoints() -> impl Strategy<Value = Checkpoint> {
    let identity = ("[a-z]{0,9}", any::<u64>()).prop_map(|(problem, instance)| Identity { problem, instance });
    let totals = any::<[u64; 4]>().prop_map(|[explored, closed, diagram_nodes, pruned]| Totals {
        explored,
        closed,
        diagram_nodes,
        pruned,
    });
    let decision =
        (any::<u32>(), any::<i64>()).prop_map(|(variable, value)| Decision { variable: Variable(variable), value });
    let best = (any::<i64>(), prop::collection::vec(decision, 0..20))
        .prop_map(|(cost, decisions)| Solution { cost, decisions });
    let one = (any::<u64>(), any::<i64>(), prop::collection::vec(any::<u8>(), 0..300))
        .prop_map(|(nodes, bound, bytes)| Package::new(nodes % (bytes.len() as u64 + 1), bound, bytes));
    let packages = prop::collection::vec(one, 0..5);
    let elapsed = (any::<u64>(), 0..1_000_000_000u32).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos));
    (identity, elapsed, totals, prop::option::of(best), packages, any::<u32>(), any::<u32>()).prop_map(
        |(identity, elapsed, totals, best, packages, ranks, threads)| Checkpoint {
            identity,
            elapsed,
            totals,
            best,
            packages,
            ranks,
            threads,
        },
    )
}

/// A checkpoint with a number, which is that of its only package.
pub(crate) fn numbered(number: u64) -> Checkpoint {
    let mut checkpoint = Checkpoint::new(Identity::new("misp", "p edge 2 1\ne 1 2\n"));
    checkpoint.packages = vec![Package::new(number, 7, vec![number as u8; 2000])];
    checkpoint
}

/// Returns a file with these contents and this version. The rest of the head is right.
pub(crate) fn with_head(version: u32, contents: &[u8]) -> Vec<u8> {
    let mut file = b"filch\xff\r\n".to_vec();
    file.extend(version.to_le_bytes());
    file.extend((contents.len() as u64).to_le_bytes());
    file.extend(crc32fast::hash(contents).to_le_bytes());
    file.extend(crc32fast::hash(&file).to_le_bytes());
    file.extend(contents);
    file
}
