//! Parallel iterators over many numbers, and a sort of them.

use rayon::prelude::*;

use super::Program;
use crate::clock::{checksum, timed};
use crate::random::{mix, Random};

fn random_numbers(count: usize) -> Vec<u64> {
    let mut random = Random::new(count as u64);
    (0..count).map(|_| random.next()).collect()
}

/// The sum of all numbers, several times.
pub(crate) fn sum(count: usize, passes: u64) -> Program {
    // Halves of words, so that no sum overflows.
    let numbers: Vec<u64> = random_numbers(count).into_iter().map(|number| number >> 32).collect();
    Box::new(move || {
        timed(
            passes,
            || (0..passes).map(|_| numbers.par_iter().sum::<u64>()).collect::<Vec<_>>(),
            |sums| checksum(sums.iter().copied()),
        )
    })
}

/// A new list, with something else for each number.
pub(crate) fn map_collect(count: usize) -> Program {
    let numbers = random_numbers(count);
    Box::new(move || {
        timed(
            1,
            || numbers.par_iter().map(|&number| mix(number)).collect::<Vec<u64>>(),
            |mapped| checksum(mapped.iter().copied()),
        )
    })
}

/// All numbers in order.
pub(crate) fn sort(count: usize) -> Program {
    let numbers = random_numbers(count);
    // One copy that is written over each round: fresh memory would be part of the time.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_are_those_of_a_single_thread() {
        let mut numbers = random_numbers(10_000);
        let total: u64 = numbers.iter().map(|number| number >> 32).sum();
        assert_eq!(sum(10_000, 2)().checksum(), checksum([total, total]));
        let mapped = numbers.iter().map(|&number| mix(number));
        assert_eq!(map_collect(10_000)().checksum(), checksum(mapped));
        numbers.sort_unstable();
        assert_eq!(sort(10_000)().checksum(), checksum(numbers));
    }
}
