//! The primes below a limit, by the sieve of Eratosthenes.
//!
//! It is a parallel iterator over segments that fit in a cache.

use rayon::prelude::*;

use super::{repeated, Program};
use crate::clock::checksum;

/// The numbers in a segment; only the odd ones have a place in it.
const SEGMENT: u64 = 1 << 16;

/// Counts the primes below `limit` and adds them up.
pub(crate) fn program(limit: u64) -> Program {
    repeated(1, move || primes(limit), |&(count, sum)| checksum([count, sum]))
}

fn primes(limit: u64) -> (u64, u64) {
    if limit <= 2 {
        return (0, 0);
    }
    let seeds = small_primes((limit as f64).sqrt() as u64 + 1);
    let (count, sum) = (0..limit.div_ceil(SEGMENT))
        .into_par_iter()
        .map(|segment| odd_primes(segment * SEGMENT, limit.min((segment + 1) * SEGMENT), &seeds))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    (count + 1, sum + 2)
}

/// The number of odd primes from the even number `from` to `to`, and their sum.
fn odd_primes(from: u64, to: u64, seeds: &[u64]) -> (u64, u64) {
    let mut is_composite = vec![false; ((to - from) / 2) as usize];
    for &prime in seeds.iter().take_while(|&&prime| prime * prime < to) {
        // The first odd multiple that no smaller prime has crossed out.
        let multiple = (prime * prime).max(from.div_ceil(prime) * prime);
        let multiple = if multiple % 2 == 0 { multiple + prime } else { multiple };
        let places = is_composite.iter_mut().skip(((multiple - from) / 2) as usize);
        places.step_by(prime as usize).for_each(|place| *place = true);
    }
    let numbers =
        is_composite.iter().zip((from + 1..).step_by(2)).filter(|&(&composite, number)| !composite && number > 1);
    numbers.fold((0, 0), |(count, sum), (_, number)| (count + 1, sum + number))
}

/// The odd primes up to and including `limit`.
fn small_primes(limit: u64) -> Vec<u64> {
    let is_prime = |number: &u64| (3..).step_by(2).take_while(|d| d * d <= *number).all(|d| number % d != 0);
    (3..=limit).step_by(2).filter(is_prime).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primes_are_those_of_the_tables() {
        assert_eq!(primes(2), (0, 0));
        assert_eq!(primes(3), (1, 2));
        assert_eq!(primes(30), (10, 129));
        assert_eq!(primes(1_000_000), (78_498, 37_550_402_023));
    }
}
