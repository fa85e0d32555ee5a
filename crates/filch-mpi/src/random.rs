//! Seeded random numbers that do not depend on an order of evaluation.
//!
//! The number of a node depends on the node alone, not on which rank looks at it first.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// The output function of SplitMix64. Every bit of the result depends on every bit of `value`.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

/// Mixes two numbers into one; see `mix`.
#[inline]
pub(crate) fn mix_two(first: u64, second: u64) -> u64 {
    mix(first ^ second.wrapping_mul(0xD1B5_4A32_D192_ED03))
}

/// Maps a random number to a number below `limit`.
#[inline]
pub(crate) fn below(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}

/// Maps a random number to a number from 0 up to, not including, 1.
#[inline]
pub(crate) fn fraction(random: u64) -> f64 {
    (random >> 11) as f64 / (1u64 << 53) as f64
}
