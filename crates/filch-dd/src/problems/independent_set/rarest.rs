//! Finds the number that is in the fewest of many sets.

use super::super::bits::Bits;

/// Counts for each number how many sets have it, all numbers at once.
///
/// The counts are stored as bit slices: the first set has the lowest bit of each count, the second
/// the next bit, and so on. Adding a set is an addition of 64 counters for each word. A naive
/// addition would carry through all the bits each time. So at each level one set waits until a
/// second one arrives, and the three (sum, waiting, new) go through one full adder, whose carry is
/// a new set for the next level. Level k works only every 2^k sets, so adding a set costs one full
/// adder on average, whatever the sets hold.
#[derive(Debug)]
pub struct Rarest<S> {
    levels: Vec<Level<S>>,
    sets: u64,
}

#[derive(Debug)]
struct Level<S> {
    /// This bit of each count.
    sum: S,
    /// A set to add here, if this bit of the number of sets is 1.
    waiting: S,
}

impl<S: Bits> Default for Rarest<S> {
    fn default() -> Self {
        Rarest::new()
    }
}

impl<S: Bits> Rarest<S> {
    /// Returns a counter without sets.
    pub fn new() -> Rarest<S> {
        // Enough for 4,096 sets without growing.
        Rarest { levels: Vec::with_capacity(12), sets: 0 }
    }

    /// Adds a set; all sets must be of the same size.
    #[inline]
    pub fn add(&mut self, set: &S) {
        let mut carry = set.clone();
        let full = self.sets.trailing_ones() as usize;
        self.sets += 1;
        for level in &mut self.levels[..full] {
            let words = level.sum.words_mut().iter_mut().zip(level.waiting.words()).zip(carry.words_mut());
            for ((sum, &waiting), carry) in words {
                let half = *sum ^ waiting;
                let out = (*sum & waiting) | (half & *carry);
                *sum = half ^ *carry;
                *carry = out;
            }
        }
        match self.levels.get_mut(full) {
            Some(level) => level.waiting = carry,
            None => {
                let mut none = carry.clone();
                none.words_mut().fill(0);
                self.levels.push(Level { sum: none, waiting: carry });
            }
        }
    }

    /// Returns the number that is in the fewest sets, but in at least one.
    ///
    /// Among equals it is the lowest number. `None` if all sets are empty.
    #[inline]
    pub fn find(mut self) -> Option<usize> {
        // The waiting sets are added with the ordinary carry.
        for from in 0..self.levels.len() {
            if self.sets >> from & 1 == 0 {
                continue;
            }
            let mut carry = self.levels[from].waiting.clone();
            for level in &mut self.levels[from..] {
                for (sum, carry) in level.sum.words_mut().iter_mut().zip(carry.words_mut()) {
                    (*sum, *carry) = (*sum ^ *carry, *sum & *carry);
                }
            }
            if !carry.is_empty() {
                // The `waiting` set of the new level is not read again.
                self.levels.push(Level { sum: carry.clone(), waiting: carry });
            }
        }

        let mut left = self.levels.first()?.sum.clone();
        self.levels[1..].iter().for_each(|level| left.union_with(&level.sum));
        // From the highest bit down: if some of the remaining numbers have a 0 there, only these
        // can have the least count.
        for level in self.levels.iter().rev() {
            let mut fewer = left.clone();
            fewer.difference_with(&level.sum);
            if !fewer.is_empty() {
                left = fewer;
            }
        }
        left.first()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::bits::{ManyWords, Words};
    use super::*;
    use crate::random::Stream;

    /// Finds the same number by counting one bit at a time.
    fn counted(sets: &[Words<2>]) -> Option<usize> {
        let mut counts = [0; 128];
        sets.iter().for_each(|set| set.iter().for_each(|number| counts[number] += 1));
        (0..128).filter(|&number| counts[number] > 0).min_by_key(|&number| counts[number])
    }

    #[test]
    fn the_rarest_number_is_the_one_that_counting_finds() {
        let mut stream = Stream::new(5, 0);
        for round in 0..2000 {
            let count = if round % 100 == 0 { 300 } else { stream.below(40) };
            let dense = stream.below(5);
            let limit = 1 + stream.below(128) as usize;
            let sets: Vec<Words<2>> = (0..count)
                .map(|_| {
                    let mut set = Words::empty(128);
                    (0..limit).filter(|_| stream.below(5) <= dense).for_each(|number| set.insert(number));
                    set
                })
                .collect();
            let (mut small, mut large) = (Rarest::new(), Rarest::new());
            for set in &sets {
                small.add(set);
                let mut many = ManyWords::empty(128);
                many.words_mut().copy_from_slice(set.words());
                large.add(&many);
            }
            assert_eq!(small.find(), counted(&sets), "{sets:?}");
            assert_eq!(large.find(), counted(&sets));
        }
    }
}
