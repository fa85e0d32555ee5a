//! Random numbers that a seed stands for, and that need no order: the number of a node depends on the node alone, whoever looks at it first.

/// What the counter of SplitMix64 goes on by.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A number in which every bit depends on every bit of `value`: the last step of SplitMix64.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(STEP);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// The same of two numbers.
#[inline]
pub(crate) fn mix_two(first: u64, second: u64) -> u64 {
    mix(first ^ second.wrapping_mul(0xD1B5_4A32_D192_ED03))
}

/// A number below `limit`, from a random one.
#[inline]
pub(crate) fn below(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}

/// A number from 0 to 1, without 1.
#[inline]
pub(crate) fn fraction(random: u64) -> f64 {
    (random >> 11) as f64 / (1u64 << 53) as f64
}
