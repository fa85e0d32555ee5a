//! The deltas of the paper's variants of figure 10.
//!
//! # Stores of the programs
//!
//! The paper counts the stores that each compiled program makes between two pops. Here only stores
//! count that every compiler has to make, because a count that is too large could run a job twice.
//!
//! A leaf is a closure without a join. Between a pop that returns a job and the worker's next pop,
//! a leaf runs from beginning to end: the popped job is that leaf, or its joins lead to one before
//! the first of them pops. A panic that cuts a leaf short is counted with a locked instruction. The
//! end of a stolen job that the worker ran in between is announced with another.
//!
//! So the stores of the smallest leaf count. N bytes that a leaf leaves in memory take at least
//! N / 64 instructions. A leaf that returns its result in a register may make no store at all.
//!
//! | program | stores | what the smallest leaf of the quick and the full case leaves in memory |
//! |---|---|---|
//! | jacobi | 32 | 4 rows of 256 cells, 8 KiB |
//! | matmul | 32 | a block of 16 by 16 numbers, 2 KiB |
//! | heat | 32 | 4 rows of 128 points, 4 KiB |
//! | lu | 30 | a block of 16 by 16 numbers without its first row, 1,920 bytes |
//! | strassen | 32 | a block of 32 by 32 numbers, 8 KiB |
//! | fft | 32 | 16 spectra of 32 complex numbers, 8 KiB |
//! | fib, integrate, knapsack, uts, queens | 0 | results in registers |
//! | quicksort | 0 | perhaps nothing: the part may have a single number |
//! | cholesky | 0 | perhaps nothing: the part may be empty |
//!
//! No program counts more than 32, since a pool's warm-up on the same queue makes no more. A bound
//! of 128 needs 30.

use anyhow::{Context, Result};
use filch_queue::bound::{Bound, Delta};

use crate::bench::bound::{TrustedBound, LARGEST};
use crate::bench::throughput::WARM_UP_STORES;

/// The delta of the paper's precise variants.
const FOUR: usize = 4;

/// The programs that make stores between two pops, and how many. The module argues for each.
const STORES: [(&str, usize); 6] =
    [("jacobi", 32), ("matmul", 32), ("heat", 32), ("lu", 30), ("strassen", 32), ("fft", 32)];

/// The stores that a program makes between two pops, whatever the compiler does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClientStores(usize);

impl ClientStores {
    /// The stores of the program that a case runs.
    pub(super) fn of(case: &str) -> ClientStores {
        let is_of_case = |&&(program, _): &&(&str, usize)| case.split('-').next() == Some(program);
        let stores = STORES.iter().find(is_of_case).map_or(0, |&(_, stores)| stores);
        ClientStores(stores.min(WARM_UP_STORES))
    }
}

/// A delta of 4, or less if the bound is small, for a queue on which only the program runs.
///
/// Pops make the fewest extra stores that give it, beside the stores of the program.
pub(super) fn delta_of_four(bound: &TrustedBound, ClientStores(stores): ClientStores) -> Result<Delta> {
    let bound = bound.stores();
    let pairs = (1..=Delta::MAX_EXTRA_STORES).flat_map(|extra| (0..=stores).map(move |client| (extra, client)));
    // SAFETY: only the program and the warm-up of its pool run on the queue. Both make at least
    // `stores` stores between two pops: the module argues it for the program, and in the warm-up
    // they are volatile.
    let mut deltas = pairs.map(|(extra, client)| unsafe { Delta::with_client_stores(bound, extra, client) });
    let four = deltas.find_map(|delta| delta.ok().filter(|delta| delta.get() <= FOUR));
    four.with_context(|| format!("a delta of 4 needs a bound of at most {LARGEST}, and {} is above it", bound.get()))
}

/// A delta that no queue ever reaches: thieves always wait.
///
/// It is sound on every CPU, since it claims nothing.
pub(super) fn infinite_delta() -> Result<Delta> {
    Ok(Delta::new(Bound::new(usize::MAX)?, 1)?)
}

#[cfg(test)]
mod tests {
    use super::super::case_names;
    use super::super::claims::is_of_the_paper;
    use super::*;

    #[test]
    fn a_delta_of_four_uses_the_fewest_extra_stores() {
        for (case, bound, delta, client, extra) in [
            ("fib-42", 73, 4, 0, 18),
            ("fib-42", 128, 4, 0, 31),
            ("fib-42", 8, 4, 0, 1),
            ("fib-42", 3, 2, 0, 1),
            ("fib-42", LARGEST, 4, 0, 64),
            ("lu-1024", 8, 4, 0, 1),
            ("lu-1024", 73, 4, 17, 1),
            ("lu-1024", 128, 4, 30, 1),
            ("lu-256", 132, 4, 30, 2),
            ("matmul-1024", 132, 4, 31, 1),
            ("matmul-1024", LARGEST, 4, 32, 32),
        ] {
            let four = delta_of_four(&TrustedBound::given(bound).unwrap(), ClientStores::of(case)).unwrap();
            let found = (four.get(), four.client_stores(), four.extra_stores());
            assert_eq!(found, (delta, client, extra), "{case}, S = {bound}");
        }
        let refusal = delta_of_four(&TrustedBound::given(LARGEST + 1).unwrap(), ClientStores(0)).unwrap_err();
        assert!(refusal.to_string().contains("at most 260"), "{refusal}");
        let given = TrustedBound::given(73).unwrap();
        let note = |case: &str| given.note(delta_of_four(&given, ClientStores::of(case)).unwrap());
        assert_eq!(note("fib-42"), "delta 4 by 18 extra stores a pop; S = 73, as given");
        assert_eq!(note("lu-1024"), "delta 4 by 17 stores of the program and 1 extra store a pop; S = 73, as given");
    }

    #[test]
    fn every_program_of_the_table_is_a_case_and_six_of_the_paper_need_no_more_extra_stores() {
        for is_quick in [true, false] {
            let cases = case_names(is_quick);
            let with_stores: Vec<_> = cases.iter().filter(|case| ClientStores::of(case) != ClientStores(0)).collect();
            assert_eq!(with_stores.len(), STORES.len());
            assert!(with_stores.iter().all(|case| is_of_the_paper(case)));
        }
        assert!(STORES.iter().all(|&(_, stores)| stores <= WARM_UP_STORES));
    }

    #[test]
    fn the_infinite_delta_is_longer_than_any_queue() {
        assert!(infinite_delta().unwrap().get() > usize::MAX / 2);
    }
}
