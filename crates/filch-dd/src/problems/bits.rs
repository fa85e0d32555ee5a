//! Bit sets of small numbers, which states are made of.
//!
//! [`Words`] is stored inline in the state, so that copying, comparing and hashing a state follow
//! no pointer and allocate nothing. [`ManyWords`] is for sets that are too large for that.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of the numbers below some limit.
pub trait Bits: Clone + Eq + Hash + Send + Sync + fmt::Debug + Serialize + DeserializeOwned + 'static {
    /// The most numbers that a set of this type can have.
    const CAPACITY: usize;

    /// Returns an empty set that can hold the numbers below `limit`.
    fn empty(limit: usize) -> Self;

    /// Returns the bits, 64 in a word, the lowest number first.
    fn words(&self) -> &[u64];

    /// Returns the bits, mutably.
    fn words_mut(&mut self) -> &mut [u64];

    /// Returns the set of all numbers below `limit`.
    fn full(limit: usize) -> Self {
        let mut set = Self::empty(limit);
        (0..limit).for_each(|number| set.insert(number));
        set
    }

    /// Returns whether `number` is in the set.
    #[inline]
    fn has(&self, number: usize) -> bool {
        self.words()[number / 64] >> (number % 64) & 1 == 1
    }

    /// Inserts `number`.
    #[inline]
    fn insert(&mut self, number: usize) {
        self.words_mut()[number / 64] |= 1 << (number % 64);
    }

    /// Removes `number`.
    #[inline]
    fn remove(&mut self, number: usize) {
        self.words_mut()[number / 64] &= !(1 << (number % 64));
    }

    /// Inserts all numbers of `other` (union).
    #[inline]
    fn union_with(&mut self, other: &Self) {
        self.words_mut().iter_mut().zip(other.words()).for_each(|(mine, other)| *mine |= other);
    }

    /// Removes the numbers that `other` does not have (intersection).
    #[inline]
    fn intersect_with(&mut self, other: &Self) {
        self.words_mut().iter_mut().zip(other.words()).for_each(|(mine, other)| *mine &= other);
    }

    /// Removes the numbers of `other` (difference).
    #[inline]
    fn difference_with(&mut self, other: &Self) {
        self.words_mut().iter_mut().zip(other.words()).for_each(|(mine, other)| *mine &= !other);
    }

    /// Returns whether the two sets have a number in common.
    #[inline]
    fn intersects(&self, other: &Self) -> bool {
        self.words().iter().zip(other.words()).fold(0, |all, (mine, other)| all | (mine & other)) != 0
    }

    /// Returns how many numbers are in the set.
    #[inline]
    fn count(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    #[inline]
    fn is_empty(&self) -> bool {
        self.words().iter().fold(0, |all, word| all | word) == 0
    }

    /// Returns the least number.
    #[inline]
    fn first(&self) -> Option<usize> {
        self.words()
            .iter()
            .enumerate()
            .find(|(_, &word)| word != 0)
            .map(|(at, word)| at * 64 + word.trailing_zeros() as usize)
    }

    /// Returns the numbers, the least first.
    #[inline]
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors(Some(word), |&word| Some(word & word.wrapping_sub(1)))
                .take_while(|&word| word != 0)
                .map(move |word| at * 64 + word.trailing_zeros() as usize)
        })
    }
}

/// A set of numbers below 64 × `N`, stored inline: no pointer, no allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Words<const N: usize>([u64; N]);

impl<const N: usize> Bits for Words<N> {
    const CAPACITY: usize = 64 * N;

    fn empty(limit: usize) -> Self {
        assert!(limit <= Self::CAPACITY, "a set of {N} words cannot hold {limit} numbers");
        Words([0; N])
    }

    #[inline]
    fn words(&self) -> &[u64] {
        &self.0
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

/// Returns each word as eight bytes, since the bits are spread all over them.
fn bytes(words: &[u64]) -> impl ExactSizeIterator<Item = [u8; 8]> + '_ {
    words.iter().map(|word| word.to_le_bytes())
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<impl Iterator<Item = u64>, D::Error> {
    Ok(Vec::<[u8; 8]>::deserialize(deserializer)?.into_iter().map(u64::from_le_bytes))
}

impl<const N: usize> Serialize for Words<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(bytes(&self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for Words<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words: Vec<u64> = words(deserializer)?.collect();
        let found = words.len();
        let words = words.try_into().map_err(|_| Error::custom(format_args!("expected {N} words, found {found}")))?;
        Ok(Words(words))
    }
}

impl Serialize for ManyWords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(bytes(&self.0))
    }
}

impl<'de> Deserialize<'de> for ManyWords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(ManyWords(words(deserializer)?.collect()))
    }
}

impl<const N: usize> Hash for Words<N> {
    /// Hashes word by word.
    ///
    /// The length is the same for all sets, and need not be hashed.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.iter().for_each(|&word| hasher.write_u64(word));
    }
}

impl<const N: usize> fmt::Debug for Words<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A set of any size, on the heap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManyWords(Box<[u64]>);

impl Bits for ManyWords {
    const CAPACITY: usize = usize::MAX;

    fn empty(limit: usize) -> Self {
        ManyWords(vec![0; limit.div_ceil(64)].into())
    }

    #[inline]
    fn words(&self) -> &[u64] {
        &self.0
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl Hash for ManyWords {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.iter().for_each(|&word| hasher.write_u64(word));
    }
}

impl fmt::Debug for ManyWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set<S: Bits>(numbers: &BTreeSet<usize>) -> S {
        let mut set = S::empty(256);
        numbers.iter().for_each(|&number| set.insert(number));
        set
    }

    fn check<S: Bits>(a: &BTreeSet<usize>, b: &BTreeSet<usize>) -> Result<(), TestCaseError> {
        let (one, other) = (set::<S>(a), set::<S>(b));
        let same = |set: &S, expected: BTreeSet<usize>| set.iter().eq(expected);
        let changed = |change: fn(&mut S, &S)| {
            let mut changed = one.clone();
            change(&mut changed, &other);
            changed
        };
        prop_assert!(same(&one, a.clone()));
        prop_assert!(same(&changed(S::union_with), a | b));
        prop_assert!(same(&changed(S::intersect_with), a & b));
        prop_assert!(same(&changed(S::difference_with), a - b));
        prop_assert_eq!(one.intersects(&other), !a.is_disjoint(b));
        prop_assert_eq!((one.count(), one.is_empty(), one.first()), (a.len(), a.is_empty(), a.first().copied()));
        prop_assert_eq!(one == other, a == b);
        for number in 0..256 {
            prop_assert_eq!(one.has(number), a.contains(&number));
            let mut less = one.clone();
            less.remove(number);
            prop_assert!(!less.has(number) && less.count() == a.len() - usize::from(a.contains(&number)));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn sets_of_bits_behave_like_sets(
            a in prop::collection::btree_set(0..256usize, 0..100),
            b in prop::collection::btree_set(0..256usize, 0..100),
        ) {
            check::<Words<4>>(&a, &b)?;
            check::<ManyWords>(&a, &b)?;
        }
    }

    #[test]
    fn a_full_set_has_all_numbers_below_the_limit() {
        for limit in [0, 1, 63, 64, 65, 128] {
            assert!(Words::<2>::full(limit).iter().eq(0..limit));
            assert!(ManyWords::full(limit).iter().eq(0..limit));
        }
    }
}
