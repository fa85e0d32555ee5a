//! The bound S that the fence-free queues rely on, its justification, and the resulting deltas.

use std::path::Path;

use anyhow::{Context, Result};
use filch_queue::bound::{Bound, Delta};

use crate::lab::calibration::Calibration;

/// The delta of the paper's precise variants.
const FOUR: usize = 4;

/// The largest bound that allows a delta of 4.
pub(crate) const LARGEST: usize = FOUR * (Delta::MAX_EXTRA_STORES + 1);

/// A bound and the reason it can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TrustedBound {
    bound: Bound,
    reason: String,
}

impl Default for TrustedBound {
    /// The bound above every store buffer ever published.
    fn default() -> TrustedBound {
        let reason = "above every published store buffer".to_owned();
        TrustedBound { bound: Bound::GENEROUS, reason }
    }
}

impl TrustedBound {
    /// A bound that the caller vouches for: the entries of the store buffer, plus one.
    pub(crate) fn given(stores: usize) -> Result<TrustedBound> {
        let bound = Bound::new(stores).context("this bound cannot be used")?;
        Ok(TrustedBound { bound, reason: "as given".to_owned() })
    }

    /// A bound that was just found on this machine, and the reason to trust it.
    pub(crate) fn with_reason(stores: usize, reason: &str) -> Result<TrustedBound> {
        Ok(TrustedBound { reason: reason.to_owned(), ..TrustedBound::given(stores)? })
    }

    /// A bound from a file that was measured on this model of CPU.
    pub(crate) fn from_calibration(path: &Path) -> Result<TrustedBound> {
        let Calibration { bound, hypervisor, date, .. } = Calibration::read_here(path)?;
        let place = if hypervisor { " in a virtual machine" } else { "" };
        TrustedBound::with_reason(bound, &format!("measured{place} on {date}"))
    }

    /// The delta if pops make only the one extra store that they must make.
    pub(super) fn delta(&self) -> Result<Delta> {
        Ok(Delta::new(self.bound, 1)?)
    }

    /// A delta of 4, or less if the bound is small.
    ///
    /// Pops make the fewest extra stores that give it.
    pub(super) fn delta_of_four(&self) -> Result<Delta> {
        let deltas = (1..=Delta::MAX_EXTRA_STORES).map(|extra| Delta::new(self.bound, extra));
        let four = deltas.filter_map(Result::ok).find(|delta| delta.get() <= FOUR);
        four.with_context(|| {
            format!("a delta of 4 needs a bound of at most {LARGEST}, and {} is above it", self.bound.get())
        })
    }

    /// A description of a delta and its origin.
    pub(super) fn note(&self, delta: Delta) -> String {
        let stores = match delta.extra_stores() {
            1 => "1 extra store".to_owned(),
            extra => format!("{extra} extra stores"),
        };
        format!("delta {} by {stores} a pop; S = {}, {}", delta.get(), self.bound.get(), self.reason)
    }
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
            let four = TrustedBound::given(bound).unwrap().delta_of_four().unwrap();
            assert_eq!((four.get(), four.extra_stores()), (delta, extra), "S = {bound}");
        }
        let refusal = TrustedBound::given(LARGEST + 1).unwrap().delta_of_four().unwrap_err();
        assert!(refusal.to_string().contains("at most 260"), "{refusal}");
        assert!(TrustedBound::given(0).is_err());
    }

    #[test]
    fn a_note_says_where_a_delta_comes_from() {
        let default = TrustedBound::default();
        assert_eq!(
            default.note(default.delta().unwrap()),
            "delta 64 by 1 extra store a pop; S = 128, above every published store buffer"
        );
        let found = TrustedBound::with_reason(73, "as measured").unwrap();
        assert_eq!(found.note(found.delta().unwrap()), "delta 37 by 1 extra store a pop; S = 73, as measured");
        let given = TrustedBound::given(73).unwrap();
        assert_eq!(given.note(given.delta_of_four().unwrap()), "delta 4 by 18 extra stores a pop; S = 73, as given");
    }

    #[test]
    fn the_infinite_delta_is_longer_than_any_queue() {
        assert!(infinite_delta().unwrap().get() > usize::MAX / 2);
    }
}
