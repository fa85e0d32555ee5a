//! The greatest of many bounds that change now and then.

use std::collections::BTreeMap;

use filch_dd::Cost;

/// A multiset of bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bounds {
    counts: BTreeMap<Cost, usize>,
}

impl Bounds {
    pub(crate) fn add(&mut self, bound: Option<Cost>) {
        if let Some(bound) = bound {
            *self.counts.entry(bound).or_default() += 1;
        }
    }

    pub(crate) fn remove(&mut self, bound: Option<Cost>) {
        if let Some(bound) = bound {
            let count = self.counts.get_mut(&bound).expect("a removed bound was added before");
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&bound);
            }
        }
    }

    pub(crate) fn greatest(&self) -> Option<Cost> {
        self.counts.last_key_value().map(|(&bound, _)| bound)
    }
}
