//! Quicksort: jobs of every size, which write memory.

use anyhow::{ensure, Result};

use super::Work;
use crate::bench::contenders::Fork;
use crate::bench::random::scramble;

/// The longest slice that is sorted by insertion.
const SHORT: usize = 32;

/// Random numbers to sort.
#[derive(Debug)]
pub(crate) struct Quicksort {
    numbers: Vec<u32>,
    fingerprint: u64,
}

impl Quicksort {
    /// `len` numbers, the same in each run.
    pub(crate) fn new(len: u64) -> Quicksort {
        let numbers: Vec<u32> = (0..len).map(|n| scramble(n) as u32).collect();
        let fingerprint = fingerprint(&numbers);
        Quicksort { numbers, fingerprint }
    }
}

impl Work for Quicksort {
    type Input = Vec<u32>;
    type Answer = Vec<u32>;

    fn input(&self) -> Vec<u32> {
        self.numbers.clone()
    }

    fn run<F: Fork>(&self, context: F::Context<'_>, mut numbers: Vec<u32>) -> Vec<u32> {
        sort::<F>(context, &mut numbers);
        numbers
    }

    fn check(&self, answer: &Vec<u32>) -> Result<()> {
        ensure!(answer.is_sorted(), "{} numbers were not sorted", self.numbers.len());
        ensure!(
            answer.len() == self.numbers.len() && fingerprint(answer) == self.fingerprint,
            "the sorted numbers are not the {} that were given",
            self.numbers.len()
        );
        Ok(())
    }
}

/// A hash that does not depend on the order of the numbers.
///
/// Different numbers have different hashes with near certainty.
fn fingerprint(numbers: &[u32]) -> u64 {
    numbers.iter().fold(0, |sum, &number| sum.wrapping_add(scramble(u64::from(number))))
}

fn sort<F: Fork>(context: F::Context<'_>, numbers: &mut [u32]) {
    if numbers.len() <= SHORT {
        sort_short(numbers);
        return;
    }
    let middle = partition(numbers);
    let (low, high) = numbers.split_at_mut(middle);
    // The pivot is already in its place.
    let high = &mut high[1..];
    F::join(context, move |context| sort::<F>(context, low), move |context| sort::<F>(context, high));
}

/// Sorts by insertion. One function for all contenders.
#[inline(never)]
fn sort_short(numbers: &mut [u32]) {
    for end in 1..numbers.len() {
        let number = numbers[end];
        let mut place = end;
        while place > 0 && numbers[place - 1] > number {
            numbers[place] = numbers[place - 1];
            place -= 1;
        }
        numbers[place] = number;
    }
}

/// Moves a pivot to its place and returns that index.
///
/// The numbers before it are no greater, the numbers after it no smaller.
#[inline(never)]
fn partition(numbers: &mut [u32]) -> usize {
    let last = numbers.len() - 1;
    // The median of three becomes the pivot, at the front.
    let middle = last / 2;
    if numbers[middle] > numbers[last] {
        numbers.swap(middle, last);
    }
    if numbers[0] > numbers[last] {
        numbers.swap(0, last);
    }
    if numbers[0] < numbers[middle] {
        numbers.swap(0, middle);
    }
    let pivot = numbers[0];

    // Equal numbers are swapped as well, so that many of them do not end up on one side.
    let (mut left, mut right) = (1, last);
    loop {
        while left <= right && numbers[left] < pivot {
            left += 1;
        }
        while left <= right && numbers[right] > pivot {
            right -= 1;
        }
        if left >= right {
            break;
        }
        numbers.swap(left, right);
        left += 1;
        right -= 1;
    }
    // The number at `right` is the last that is no greater than the pivot.
    numbers.swap(0, right);
    right
}

#[cfg(test)]
mod tests {
    use super::super::{joins, tests::all_contenders_agree_on};
    use super::*;
    use crate::bench::contenders::Serial;

    #[test]
    fn all_contenders_sort() {
        for len in [0, 1, 2, 32, 33, 10_000] {
            all_contenders_agree_on(&Quicksort::new(len));
        }
    }

    #[test]
    fn any_order_is_sorted() {
        let orders: [Vec<u32>; 5] = [
            (0..1000).collect(),
            (0..1000).rev().collect(),
            vec![7; 1000],
            (0..1000).map(|n| n % 2).collect(),
            (0..1000).map(|n| scramble(n) as u32 % 10).collect(),
        ];
        for mut numbers in orders {
            let mut expected = numbers.clone();
            expected.sort_unstable();
            sort::<Serial>((), &mut numbers);
            assert_eq!(numbers, expected);
        }
    }

    #[test]
    fn equal_numbers_are_divided_evenly() {
        let work = Quicksort { numbers: vec![7; 4096], fingerprint: fingerprint(&[7; 4096]) };
        assert!(joins(&work).unwrap() < 256);
        assert_eq!(partition(&mut [7; 1001]), 500);
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Quicksort::new(100);
        let mut answer = work.numbers.clone();
        assert!(work.check(&answer).is_err());
        answer.sort_unstable();
        assert!(work.check(&answer).is_ok());
        assert!(work.check(&answer[1..].to_vec()).is_err());
        answer[50] = answer[49];
        assert!(work.check(&answer).is_err());
    }
}
