//! Parallel iterators over many numbers, and a sort of them.

use rayon::prelude::*;

use super::{repeated, Program};
use crate::busy;
use crate::clock::{checksum, timed};
use crate::random::{mix, Random};

/// The steps of work for an item: about 30 nanoseconds.
const STEPS_AN_ITEM: u64 = 50;

fn random_numbers(count: usize) -> Vec<u64> {
    let mut random = Random::new(count as u64);
    (0..count).map(|_| random.next()).collect()
}

/// The sum of all numbers, `passes` times.
pub(crate) fn sum(count: usize, passes: u64) -> Program {
    // Half words, so that no sum overflows.
    let numbers: Vec<u64> = random_numbers(count).into_iter().map(|number| number >> 32).collect();
    let sums = move || (0..passes).map(|_| numbers.par_iter().sum::<u64>()).collect::<Vec<_>>();
    repeated(passes, sums, |sums| checksum(sums.iter().copied()))
}

/// Collects a new list with a mixed value for each number.
pub(crate) fn map_collect(count: usize) -> Program {
    let numbers = random_numbers(count);
    let mapped = move || numbers.par_iter().map(|&number| mix(number)).collect::<Vec<u64>>();
    repeated(1, mapped, |mapped| checksum(mapped.iter().copied()))
}

/// Sorts all numbers.
pub(crate) fn sort(count: usize) -> Program {
    let numbers = random_numbers(count);
    // A single copy is overwritten in each round: fresh memory would be part of the time.
    let mut copy = numbers.clone();
    Box::new(move || {
        copy.copy_from_slice(&numbers);
        let unsorted = &mut copy[..];
        let sort = move || {
            unsorted.par_sort_unstable();
            unsorted
        };
        timed(1, sort, |sorted| checksum(sorted.iter().copied()))
    })
}

/// A little work for each number of a serial iterator, which threads advance in turns.
pub(crate) fn bridge(count: u64) -> Program {
    let sum = move || (0..count).par_bridge().map(item).reduce(|| 0, u64::wrapping_add);
    repeated(1, sum, |&sum| checksum([sum]))
}

fn item(number: u64) -> u64 {
    busy::steps(STEPS_AN_ITEM, number)
}

/// The sum of a mixed value for each number, split down to single numbers.
pub(crate) fn in_parts_of_one(count: usize) -> Program {
    let numbers = random_numbers(count);
    let sum = move || numbers.par_iter().with_max_len(1).map(|&number| mix(number)).reduce(|| 0, u64::wrapping_add);
    repeated(1, sum, |&sum| checksum([sum]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_are_those_of_a_single_thread() {
        let mut numbers = random_numbers(10_000);
        let total: u64 = numbers.iter().map(|number| number >> 32).sum();
        assert_eq!(sum(10_000, 2)().checksum(), checksum([total, total]));
        let mapped = || numbers.iter().map(|&number| mix(number));
        assert_eq!(map_collect(10_000)().checksum(), checksum(mapped()));
        let mixed = mapped().fold(0, u64::wrapping_add);
        assert_eq!(in_parts_of_one(10_000)().checksum(), checksum([mixed]));
        let items = (0..10_000).map(item).fold(0, u64::wrapping_add);
        assert_eq!(bridge(10_000)().checksum(), checksum([items]));
        numbers.sort_unstable();
        assert_eq!(sort(10_000)().checksum(), checksum(numbers));
    }
}
