//! Joins with next to no work between them.

use std::hint::black_box;

use super::{repeated, Program};
use crate::clock::checksum;

/// The sum of a perfect binary tree of `layers` layers. Every node is a join.
///
/// Its nodes are in memory in the order of the walk: each node before its left half, and that
/// before its right half. Otherwise most of the time would be waiting for memory, which is the same
/// for all cores.
pub(crate) fn tree(layers: u32) -> Program {
    let nodes: Vec<u32> = (0..(1u32 << layers) - 1).collect();
    repeated(nodes.len() as u64, move || tree_sum(&nodes), |&sum| checksum([sum]))
}

fn tree_sum(nodes: &[u32]) -> u64 {
    let Some((&node, rest)) = nodes.split_first() else { return 0 };
    let (left, right) = rest.split_at(rest.len() / 2);
    let (left, right) = rayon::join(|| tree_sum(left), || tree_sum(right));
    u64::from(node) + left + right
}

/// A Fibonacci number by its definition, with a join wherever there is a sum.
pub(crate) fn fib(n: u32) -> Program {
    // The number of sums is the number of ones to add up, less one.
    let sums = (1..=n).fold((0, 1), |(a, b), _| (b, a + b)).1 - 1;
    repeated(sums, move || fibonacci(black_box(n)), |&number| checksum([number]))
}

fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

/// A little work that every thread of the pool can take part in.
pub(crate) fn warm_up() {
    assert_eq!(fibonacci(black_box(22)), 17_711, "the sum of a warm-up");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_one_thread() {
        assert_eq!(tree_sum(&[]), 0);
        assert_eq!(tree_sum(&(0..1023).collect::<Vec<_>>()), 1023 * 1022 / 2);
        assert_eq!(fibonacci(20), 6_765);
    }

    #[test]
    fn every_sum_is_counted_once() {
        fn sums(n: u32) -> u64 {
            if n < 2 {
                0
            } else {
                1 + sums(n - 1) + sums(n - 2)
            }
        }
        for n in 0..15 {
            assert!(fib(n)().to_string().contains(&format!(" {} ", sums(n))), "{n}");
        }
    }
}
