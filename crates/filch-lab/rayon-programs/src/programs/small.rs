//! Many calls of a parallel iterator with hardly any work.

use rayon::prelude::*;

use super::{own_pool, Program};
use crate::clock::{checksum, timed};

/// `calls` calls from inside a pool.
pub(crate) fn installed(elements: u64, calls: u64) -> Result<Program, String> {
    let numbers: Vec<u64> = (0..elements).collect();
    let pool = own_pool()?;
    let all = move || (0..calls).fold(0, |before, call| checksum([before, sum(&numbers, call)]));
    Ok(Box::new(move || pool.install(|| timed(calls, &all, |&sum| sum))))
}

/// The sum of the numbers, each combined with the number of the call.
pub(crate) fn sum(numbers: &[u64], call: u64) -> u64 {
    numbers.par_iter().map(|&number| number ^ call).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_adds_up_all_elements() {
        assert_eq!(sum(&[1, 2, 4], 0), 7);
        assert_eq!(sum(&[1, 2, 4], 8), 31);
        assert_eq!(installed(3, 2).unwrap()().checksum(), checksum([checksum([0, 3]), 1 + 3]));
        assert_ne!(installed(50, 10).unwrap()().checksum(), installed(50, 11).unwrap()().checksum());
    }
}
