//! Seeded random numbers that do not depend on an order of evaluation.
//!
//! The number of a node depends on the node alone, not on which rank looks at it first.

/// The increment of the SplitMix64 counter.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function of SplitMix64. Every bit of the result depends on every bit of `value`.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(STEP);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
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
