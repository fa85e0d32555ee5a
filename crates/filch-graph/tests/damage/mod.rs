//! Ways to damage a file, for the tests of readers.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::{select, Index};

/// A way to damage a file.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Flip(Index, u8),
    Delete(Index, usize),
    Repeat(Index, usize),
    Insert(Index, &'static str),
    Cut(Index),
}

/// Any damage; inserted text is one of the words.
pub(crate) fn damages(words: &'static [&'static str]) -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        (any::<Index>(), 1..40usize).prop_map(|(at, length)| Damage::Delete(at, length)),
        (any::<Index>(), 1..40usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        (any::<Index>(), select(words)).prop_map(|(at, word)| Damage::Insert(at, word)),
        (any::<Index>(), select(words)).prop_map(|(at, word)| Damage::Insert(at, word)),
        any::<Index>().prop_map(Damage::Cut),
    ]
}

/// Applies the damage.
pub(crate) fn damage(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let range = |at: &Index, length: usize, bytes: &[u8]| -> Range<usize> {
        let start = at.index(bytes.len());
        start..bytes.len().min(start + length)
    };
    match damage {
        Damage::Flip(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
        }
        Damage::Delete(at, length) => drop(bytes.drain(range(at, *length, bytes))),
        Damage::Repeat(at, length) => {
            let range = range(at, *length, bytes);
            let copy = bytes[range.clone()].to_vec();
            bytes.splice(range.start..range.start, copy);
        }
        Damage::Insert(at, word) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, word.bytes());
        }
        Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
    }
}
