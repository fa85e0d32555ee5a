//! How often each point was raced at each site, and how often incorrectly.

use std::collections::BTreeMap;

use super::race::Tally;
use super::{verdict, Placement, Point};
use crate::lab::kinds::Kind;

/// A point at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) placement: Placement,
    pub(super) stores: usize,
    pub(super) delta: usize,
}

/// The tallies of all points with runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts(BTreeMap<Key, Tally>);

impl Counts {
    /// Adds a tally to a point.
    pub(super) fn add(&mut self, key: Key, more: Tally) {
        let tally = self.0.entry(key).or_default();
        tally.runs = tally.runs.saturating_add(more.runs);
        tally.incorrect = tally.incorrect.saturating_add(more.incorrect);
    }

    /// Returns the tally of a point.
    pub(super) fn of(&self, key: Key) -> Tally {
        self.0.get(&key).copied().unwrap_or_default()
    }

    /// Iterates over all tallies, in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, Tally)> + '_ {
        self.0.iter().map(|(key, tally)| (*key, *tally))
    }

    /// Returns the sum of all tallies.
    pub(super) fn total(&self) -> Tally {
        let sum = |sum: Tally, (_, tally): (Key, Tally)| Tally {
            runs: sum.runs.saturating_add(tally.runs),
            incorrect: sum.incorrect.saturating_add(tally.incorrect),
        };
        self.iter().fold(Tally::default(), sum)
    }

    /// The places with runs.
    pub(super) fn places(&self) -> Vec<(Kind, Placement)> {
        let mut places: Vec<_> = self.0.keys().map(|key| (key.kind, key.placement)).collect();
        places.dedup();
        places
    }

    /// Returns the counts of some points only.
    pub(super) fn only(&self, is_wanted: impl Fn(Key) -> bool) -> Counts {
        Counts(self.iter().filter(|(key, _)| is_wanted(*key)).collect())
    }

    /// Returns the points, with all kinds of cores merged.
    pub(super) fn points(&self) -> Vec<Point> {
        let mut merged = Counts::default();
        self.iter().for_each(|(key, tally)| merged.add(Key { kind: Kind::Any, ..key }, tally));
        let point = |(key, tally): (Key, Tally)| {
            let (Key { placement, stores, delta, .. }, Tally { runs, incorrect }) = (key, tally);
            Point { stores, delta, placement, runs, incorrect }
        };
        merged.iter().map(point).collect()
    }

    /// See [`verdict::largest_violation`].
    pub(super) fn largest_violation(&self) -> Option<usize> {
        verdict::largest_violation(&self.points())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::lab::litmus) fn key(stores: usize, delta: usize) -> Key {
        Key { kind: Kind::Any, placement: Placement::DifferentCores, stores, delta }
    }

    pub(in crate::lab::litmus) fn counts(points: &[(Key, u64, u64)]) -> Counts {
        let mut counts = Counts::default();
        points.iter().for_each(|&(key, runs, incorrect)| counts.add(key, Tally { runs, incorrect }));
        counts
    }

    #[test]
    fn kinds_of_cores_are_counted_separately_and_merged_in_points() {
        let small = Key { kind: Kind::Efficient, ..key(1, 36) };
        let all = counts(&[(key(1, 36), 10, 0), (small, 10, 1), (key(1, 36), 5, 2)]);
        assert_eq!(all.of(key(1, 36)), Tally { runs: 15, incorrect: 2 });
        assert_eq!(all.places().len(), 2);
        assert_eq!(all.only(|key| key.kind == Kind::Efficient).total(), Tally { runs: 10, incorrect: 1 });
        let points = all.points();
        assert_eq!(points.len(), 1);
        assert_eq!((points[0].runs, points[0].incorrect), (25, 3));
        assert_eq!(all.total(), Tally { runs: 25, incorrect: 3 });
        assert_eq!(all.largest_violation(), Some(72));
    }
}
