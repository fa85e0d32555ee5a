//! The deltas of the paper's variants of figure 10.

use anyhow::{Context, Result};
use filch_queue::bound::{Bound, Delta};

use crate::bench::bound::{TrustedBound, LARGEST};

/// The delta of the paper's precise variants.
const FOUR: usize = 4;

/// A delta of 4, or less if the bound is small.
///
/// Pops make the fewest extra stores that give it.
pub(super) fn delta_of_four(bound: &TrustedBound) -> Result<Delta> {
    let bound = bound.stores();
    let deltas = (1..=Delta::MAX_EXTRA_STORES).map(|extra| Delta::new(bound, extra));
    let four = deltas.filter_map(Result::ok).find(|delta| delta.get() <= FOUR);
    four.with_context(|| format!("a delta of 4 needs a bound of at most {LARGEST}, and {} is above it", bound.get()))
}

/// A delta that no queue ever reaches: thieves always wait.
///
/// It is sound on every CPU, since it claims nothing.
pub(super) fn infinite_delta() -> Result<Delta> {
    Ok(Delta::new(Bound::new(usize::MAX)?, 1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_of_four_uses_the_fewest_extra_stores() {
        for (bound, delta, extra) in [(73, 4, 18), (128, 4, 31), (8, 4, 1), (3, 2, 1), (LARGEST, 4, 64)] {
            let four = delta_of_four(&TrustedBound::given(bound).unwrap()).unwrap();
            assert_eq!((four.get(), four.extra_stores()), (delta, extra), "S = {bound}");
        }
        let refusal = delta_of_four(&TrustedBound::given(LARGEST + 1).unwrap()).unwrap_err();
        assert!(refusal.to_string().contains("at most 260"), "{refusal}");
        let given = TrustedBound::given(73).unwrap();
        let note = given.note(delta_of_four(&given).unwrap());
        assert_eq!(note, "delta 4 by 18 extra stores a pop; S = 73, as given");
    }

    #[test]
    fn the_infinite_delta_is_longer_than_any_queue() {
        assert!(infinite_delta().unwrap().get() > usize::MAX / 2);
    }
}
