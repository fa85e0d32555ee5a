//! Pseudorandom numbers for inputs, the same in each run.

/// SplitMix64: maps a number to a pseudorandom one.
///
/// It is written out because measured work calls it. The crate `rand_xoshiro` would add a call that
/// is not inlined.
pub(crate) fn scramble(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A pseudorandom fraction, from 0 up to but not including 1.
pub(crate) fn fraction(number: u64) -> f64 {
    (scramble(number) >> 11) as f64 / (1u64 << 53) as f64
}

/// A sequence of pseudorandom numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Starts a sequence. Each seed gives a different one.
    pub(crate) fn new(seed: u64) -> Random {
        Random(scramble(seed))
    }

    /// The next number below `bound`, which must be small.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        ((scramble(self.0) >> 32) * bound) >> 32
    }

    /// Chooses from `choices`, which must not be empty.
    pub(crate) fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_fill_the_unit_interval() {
        let fractions: Vec<f64> = (0..1000).map(fraction).collect();
        assert!(fractions.iter().all(|fraction| (0.0..1.0).contains(fraction)));
        for tenth in 0..10 {
            let inside = fractions.iter().filter(|&&fraction| (fraction * 10.0) as u32 == tenth).count();
            assert!((50..200).contains(&inside), "{inside} of 1000 fractions begin with .{tenth}");
        }
    }

    #[test]
    fn every_number_below_the_bound_turns_up_and_no_other() {
        let mut random = Random::new(1);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[random.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
    }
}
