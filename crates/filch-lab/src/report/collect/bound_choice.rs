//! The bound of the fence-free queues, from this run's store buffer and litmus test.
//!
//! The Cilk programs and the graphs run with queues that depend on it.

use filch_queue::bound::Bound;

use crate::lab::litmus::{Sweep, Verdict};
use crate::lab::published::{safe_bound, MARGIN};
use crate::lab::store_buffer::{Knee, SURE};

/// The fewest runs close to the line for a sweep without violations to be meaningful.
pub(in crate::report) const ENOUGH_RUNS: u64 = 10_000;

/// The bound for the fence-free queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundChoice {
    /// The bound above every published store buffer.
    ///
    /// No result comes near it, and none is strong enough for a lower bound.
    Published,
    /// A measured bound, with a margin.
    ///
    /// The store buffer was measured. The litmus test looked for a violation of its entries and
    /// one, could see it, and found none. The margin is there because on another CPU a few stores
    /// more were overtaken.
    Measured(usize),
    /// A bound above the published ones, with a margin: so large a store buffer was measured.
    Raised(usize),
    /// No bound: a violation was seen that the store buffer does not explain.
    ///
    /// The violation gives a lower limit of the bound, but no upper limit.
    Unknown,
    /// The bound that the user vouches for.
    Given(usize),
    /// No bound: a violation was seen that the user's bound does not explain.
    GivenIsRefuted(usize),
}

/// Chooses the user's bound, unless the litmus test contradicts it.
pub(super) fn choose_given(given: usize, sweep: Option<&Sweep>) -> BoundChoice {
    match sweep.map(|sweep| sweep.verdict) {
        Some(Verdict::Raised(seen)) if seen > given => BoundChoice::GivenIsRefuted(given),
        Some(Verdict::Refuted) => BoundChoice::GivenIsRefuted(given),
        _ => BoundChoice::Given(given),
    }
}

/// Chooses the bound of the queues, from the store buffer and the litmus test.
///
/// A bound is lowered only if all evidence supports it, including that the measured entries
/// `are_all`. Any evidence against it raises it, or leaves no bound.
pub(super) fn choose(knee: Option<Knee>, sweep: Option<&Sweep>, are_all: impl Fn(usize) -> bool) -> BoundChoice {
    let published = Bound::GENEROUS.get();
    let found = knee.map(|knee| knee.entries + 1);
    match sweep.map(|sweep| sweep.verdict) {
        Some(Verdict::Refuted) => return BoundChoice::Unknown,
        Some(Verdict::Raised(seen)) if seen > found.unwrap_or(published) => {
            let are_few = found.is_some_and(|found| seen <= found + MARGIN);
            return if are_few && seen + MARGIN <= published { BoundChoice::Published } else { BoundChoice::Unknown };
        }
        _ => {}
    }
    let safe = knee.map_or(published, |knee| safe_bound(knee.entries));
    if safe > published {
        return BoundChoice::Raised(safe);
    }
    let is_sure = knee.is_some_and(|knee| knee.confidence >= SURE && are_all(knee.entries));
    match sweep {
        // Only a full report has enough runs.
        Some(sweep) if safe < published && is_sure && is_measured(knee, sweep) && sweep.is_to_be_trusted() => {
            BoundChoice::Measured(safe)
        }
        _ => BoundChoice::Published,
    }
}

/// Whether the bound of a sweep was measured. Without a knee it is a guess.
pub(in crate::report) fn is_measured(knee: Option<Knee>, sweep: &Sweep) -> bool {
    knee.is_some_and(|knee| knee.entries + 1 == sweep.supposed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::evidence::RUNS_TO_TRUST;
    use crate::lab::litmus::{Placement, Point};

    const KNEE: Knee = Knee { entries: 72, confidence: 0.95 };

    fn point(delta: usize, incorrect: u64) -> Point {
        Point { stores: 1, delta, placement: Placement::DifferentCores, runs: RUNS_TO_TRUST, incorrect }
    }

    /// Calls `choose` for a CPU whose entries were all measured.
    fn choose(knee: Option<Knee>, sweep: Option<&Sweep>) -> BoundChoice {
        super::choose(knee, sweep, |_| true)
    }

    fn sweep(points: Vec<Point>, verdict: Verdict) -> Sweep {
        Sweep { supposed: 73, points, largest_violation: None, verdict }
    }

    #[test]
    fn a_bound_is_lowered_only_if_all_evidence_supports_it() {
        let clean = sweep(vec![point(36, 3), point(37, 0)], Verdict::Stands);
        assert_eq!(choose(Some(KNEE), Some(&clean)), BoundChoice::Measured(81));
        assert_eq!(choose(None, Some(&clean)), BoundChoice::Published);
        assert_eq!(choose(Some(KNEE), None), BoundChoice::Published);
        assert_eq!(choose(Some(Knee { confidence: 0.85, ..KNEE }), Some(&clean)), BoundChoice::Published);
        assert_eq!(choose(Some(Knee { entries: 71, ..KNEE }), Some(&clean)), BoundChoice::Published);
        assert_eq!(super::choose(Some(KNEE), Some(&clean), |_| false), BoundChoice::Published);
        let blind = sweep(vec![point(36, 0), point(37, 0)], Verdict::Stands);
        assert_eq!(choose(Some(KNEE), Some(&blind)), BoundChoice::Published);
        let blind = sweep(vec![point(20, 3), point(37, 0)], Verdict::Stands);
        assert_eq!(choose(Some(KNEE), Some(&blind)), BoundChoice::Published);
        let few = sweep(vec![point(36, 3), Point { runs: RUNS_TO_TRUST - 1, ..point(37, 0) }], Verdict::Stands);
        assert_eq!(choose(Some(KNEE), Some(&few)), BoundChoice::Published);
    }

    #[test]
    fn a_large_store_buffer_does_not_lower_the_published_bound() {
        // On such a CPU loads overtook 116 stores, and other runs saw nothing above 113.
        let knee = Knee { entries: 112, ..KNEE };
        let clean = Sweep { supposed: 113, ..sweep(vec![point(56, 3), point(57, 0)], Verdict::Stands) };
        assert!(clean.is_to_be_trusted());
        assert_eq!(choose(Some(knee), Some(&clean)), BoundChoice::Published);
    }

    #[test]
    fn a_given_bound_is_used_unless_a_violation_contradicts_it() {
        assert_eq!(choose_given(81, None), BoundChoice::Given(81));
        for (verdict, expected) in [
            (Verdict::Stands, BoundChoice::Given(81)),
            (Verdict::Raised(81), BoundChoice::Given(81)),
            (Verdict::Raised(82), BoundChoice::GivenIsRefuted(81)),
            (Verdict::Refuted, BoundChoice::GivenIsRefuted(81)),
        ] {
            assert_eq!(choose_given(81, Some(&sweep(Vec::new(), verdict))), expected);
        }
    }

    #[test]
    fn evidence_against_a_bound_raises_it_or_leaves_none() {
        let raised = |least| sweep(vec![point(36, 3), point(37, 1)], Verdict::Raised(least));
        // Only a guess was refuted.
        assert_eq!(choose(None, Some(&raised(75))), BoundChoice::Published);
        assert_eq!(choose(None, Some(&raised(140))), BoundChoice::Unknown);
        assert_eq!(choose(Some(KNEE), Some(&raised(73))), BoundChoice::Published);
        // A few stores more may be on their way to the cache.
        assert_eq!(choose(Some(KNEE), Some(&raised(81))), BoundChoice::Published);
        assert_eq!(choose(Some(KNEE), Some(&raised(82))), BoundChoice::Unknown);
        assert_eq!(choose(Some(KNEE), Some(&raised(140))), BoundChoice::Unknown);
        // Nothing may come near the published bound.
        let large = |seen| choose(Some(Knee { entries: 118, ..KNEE }), Some(&raised(seen)));
        assert_eq!((large(120), large(121)), (BoundChoice::Published, BoundChoice::Unknown));
        assert_eq!(choose(Some(Knee { entries: 150, confidence: 0.8 }), None), BoundChoice::Raised(159));
        assert_eq!(choose(Some(Knee { entries: 125, ..KNEE }), None), BoundChoice::Raised(134));
        assert_eq!(choose(Some(KNEE), Some(&sweep(Vec::new(), Verdict::Refuted))), BoundChoice::Unknown);
    }
}
