//! Random numbers from a seed, the same on every machine and in every version.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// A stream of random numbers.
///
/// An instance is named by its seed. So a test has the first numbers of the generator.
#[derive(Clone, Debug)]
pub(crate) struct Stream(SplitMix64);

impl Stream {
    /// Returns the stream of a seed for a purpose.
    ///
    /// Different purposes must not share numbers.
    pub(crate) fn new(seed: u64, purpose: u64) -> Stream {
        let first = SplitMix64::seed_from_u64(seed).next_u64();
        Stream(SplitMix64::seed_from_u64(first ^ purpose.wrapping_mul(0xD1B5_4A32_D192_ED03)))
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `limit`, which is not 0.
    ///
    /// Some are likelier than others by one part in 2⁶⁴ / `limit`.
    #[inline]
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Returns a number from `least` to `most`, both included.
    #[inline]
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        debug_assert!(least <= most && most.wrapping_sub(least) >= 0 && most.wrapping_sub(least) < i64::MAX);
        least + self.below((most - least) as u64 + 1) as i64
    }

    /// Returns true with a probability of `per_thousand` in a thousand.
    #[inline]
    pub(crate) fn chance(&mut self, per_thousand: u32) -> bool {
        self.below(1000) < u64::from(per_thousand)
    }

    /// Shuffles the items; each order is equally likely.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // The first outputs for the seed 1234567, as its authors' program prints them.
        let mut stream = Stream(SplitMix64::seed_from_u64(1_234_567));
        let first: Vec<u64> = (0..3).map(|_| stream.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_stay_between_the_ends_and_reach_both() {
        let mut stream = Stream::new(7, 0);
        let drawn: Vec<i64> = (0..1000).map(|_| stream.between(-3, 4)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-3), Some(&4)));
    }

    #[test]
    fn a_shuffle_reaches_every_order() {
        let mut stream = Stream::new(3, 0);
        let orders: std::collections::HashSet<[u8; 4]> = (0..500)
            .map(|_| {
                let mut items = [1, 2, 3, 4];
                stream.shuffle(&mut items);
                items
            })
            .collect();
        assert_eq!(orders.len(), 24);
    }
}
