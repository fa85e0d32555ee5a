//! A parallel iterator that is hardly worth it, very often.

use rayon::prelude::*;

use super::Program;
use crate::clock::{checksum, timed};

/// So many calls from outside the pool: each of them has to enter it.
pub(crate) fn program(elements: u64, calls: u64) -> Program {
    let numbers: Vec<u64> = (0..elements).collect();
    Box::new(move || timed(calls, || all(&numbers, calls), |&sum| sum))
}

/// The same from inside a pool.
pub(crate) fn installed(elements: u64, calls: u64) -> Option<Program> {
    let numbers: Vec<u64> = (0..elements).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build().ok()?;
    Some(Box::new(move || pool.install(|| timed(calls, || all(&numbers, calls), |&sum| sum))))
}

fn all(numbers: &[u64], calls: u64) -> u64 {
    (0..calls).fold(0, |sum, call| {
        let part: u64 = numbers.par_iter().map(|&number| number ^ call).sum();
        checksum([sum, part])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_and_outside_come_to_the_same() {
        assert_eq!(program(50, 10)().checksum(), installed(50, 10).unwrap()().checksum());
        assert_ne!(program(50, 10)().checksum(), program(50, 11)().checksum());
    }
}
