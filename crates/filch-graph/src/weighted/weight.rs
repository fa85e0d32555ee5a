//! A weight, and how it is kept in 32 bits.

/// The largest weight, for errors. It is that of an `f32`, rounded down.
pub(crate) const MOST: &str = "3.4e38";

/// A weight, as the graph keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Weight {
    /// A whole number.
    Whole(u32),
    /// Any other number from 0 to the largest `f32`.
    Real(f32),
}

/// How all weights of a graph are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Each word is a whole number.
    Whole,
    /// Each word has the bits of an `f32`. It is not negative, so the words are in the order of the
    /// numbers.
    Real,
}

impl Weight {
    /// Returns the weight with this value; `None` if it is negative, too large or not a number.
    #[inline]
    pub(crate) fn of(value: f64) -> Option<Weight> {
        // A negative zero is not below 0, and becomes a zero.
        if value.is_nan() || value < 0.0 {
            return None;
        }
        // A number that is too large becomes the largest.
        let whole = value as u32;
        if f64::from(whole) == value {
            return Some(Weight::Whole(whole));
        }
        let real = value as f32;
        real.is_finite().then_some(Weight::Real(real))
    }

    /// Returns the kind of the smallest graph that can have this weight.
    #[inline]
    pub(crate) fn kind(self) -> Kind {
        match self {
            Weight::Whole(_) => Kind::Whole,
            Weight::Real(_) => Kind::Real,
        }
    }

    /// Returns the word for this weight, if all weights are of this kind.
    #[inline]
    pub(crate) fn word(self, kind: Kind) -> u32 {
        match (self, kind) {
            (Weight::Whole(whole), Kind::Whole) => whole,
            (Weight::Whole(whole), Kind::Real) => real_word(whole),
            (Weight::Real(real), _) => real.to_bits(),
        }
    }
}

impl Kind {
    /// Returns the kind that can keep the weights of both.
    #[inline]
    pub(crate) fn and(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Whole, Kind::Whole) => Kind::Whole,
            _ => Kind::Real,
        }
    }

    /// Returns the weight in a word.
    #[inline]
    pub(crate) fn weight(self, word: u32) -> f64 {
        match self {
            Kind::Whole => f64::from(word),
            Kind::Real => f64::from(f32::from_bits(word)),
        }
    }
}

/// Converts the word of a whole number into that of the nearest real number.
#[inline]
pub(crate) fn real_word(whole: u32) -> u32 {
    (whole as f32).to_bits()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn weights_are_whole_real_or_refused() {
        assert_eq!(Weight::of(0.0), Some(Weight::Whole(0)));
        assert_eq!(Weight::of(-0.0), Some(Weight::Whole(0)));
        assert_eq!(Weight::of(4_294_967_295.0), Some(Weight::Whole(u32::MAX)));
        assert_eq!(Weight::of(4_294_967_296.0), Some(Weight::Real(4_294_967_296.0)));
        assert_eq!(Weight::of(0.1), Some(Weight::Real(0.1)));
        assert_eq!(Weight::of(1e-60), Some(Weight::Real(0.0)));
        assert_eq!(Weight::of(f64::from(f32::MAX)), Some(Weight::Real(f32::MAX)));
        for refused in [-1.0, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3.5e38, 1e300] {
            assert_eq!(Weight::of(refused), None, "{refused}");
        }
    }

    proptest! {
        #[test]
        fn words_keep_the_value_and_the_order(a: u32, b in 0f32..f32::MAX) {
            let (whole, real) = (Weight::Whole(a), Weight::Real(b));
            prop_assert_eq!(Kind::Whole.weight(whole.word(Kind::Whole)), f64::from(a));
            prop_assert_eq!(Kind::Real.weight(whole.word(Kind::Real)), f64::from(a as f32));
            prop_assert_eq!(Kind::Real.weight(real.word(Kind::Real)), f64::from(b));
            prop_assert_eq!(whole.word(Kind::Real).cmp(&real.word(Kind::Real)), (a as f32).total_cmp(&b));
        }
    }
}
