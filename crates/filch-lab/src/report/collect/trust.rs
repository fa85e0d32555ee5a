//! How far the store buffer and the litmus test of this run can be trusted: the Cilk programs are run with queues that stand on it.

use filch_queue::bound::Bound;

use crate::lab::litmus::{Point, Sweep, Verdict};
use crate::lab::store_buffer::Knee;

/// How many runs close to the line there must be, for none that goes wrong to say anything.
pub(in crate::report) const ENOUGH_RUNS: u64 = 10_000;
/// How many there must be before queues are run with a bound below that which is above every published store buffer. Only a full report has so many.
const RUNS_TO_TRUST: u64 = 1_000_000;
/// How many deltas from the line upwards are close to it.
const CLOSE: usize = 3;
/// A knee that fewer of the resampled rounds agree on may be noise.
pub(in crate::report) const SURE: f64 = 0.9;

/// The bound that the fence-free queues are to be run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// That which is above every published store buffer: nothing here says anything against it, or enough for less.
    Published,
    /// This one: the store buffer was measured, and the litmus test looked for what refutes it, was able to see it, and saw nothing.
    Measured(usize),
    /// This one at least, which is above what is published: something was seen that a smaller one does not explain.
    Raised(usize),
    /// None: something was seen that no bound explains.
    Nothing,
}

/// What the queues may trust, after the store buffer and the litmus test. A bound is only lowered where everything speaks for it, and raised by anything that speaks against it.
pub(super) fn trust(knee: Option<Knee>, sweep: Option<&Sweep>) -> Trust {
    let published = Bound::GENEROUS.get();
    let found = knee.map_or(0, |knee| knee.entries + 1);
    let least = match sweep.map(|sweep| sweep.verdict) {
        Some(Verdict::Refuted) => return Trust::Nothing,
        Some(Verdict::Raised(least)) => least.max(found),
        Some(Verdict::Stands) | None => found,
    };
    if least > published {
        return Trust::Raised(least);
    }
    let is_sure = knee.is_some_and(|knee| knee.confidence >= SURE);
    match sweep {
        Some(sweep)
            if is_sure
                && is_measured(knee, sweep)
                && sweep.verdict == Verdict::Stands
                && largest_below(sweep).is_some()
                && close_runs(sweep) >= RUNS_TO_TRUST =>
        {
            Trust::Measured(sweep.supposed)
        }
        _ => Trust::Published,
    }
}

/// Whether the bound of a sweep was measured: without a knee, it is a guess.
pub(in crate::report) fn is_measured(knee: Option<Knee>, sweep: &Sweep) -> bool {
    knee.is_some_and(|knee| knee.entries + 1 == sweep.supposed)
}

/// The most pops that can be hidden, if a load overtakes at most `bound` stores and there are so many between two pops.
pub(in crate::report) fn most_hidden(bound: usize, stores: usize) -> usize {
    bound.div_ceil(stores + 1)
}

/// The largest delta x (L + 1) below the bound at which a run went wrong: that there is one shows that the instrument sees what it looks for.
pub(in crate::report) fn largest_below(sweep: &Sweep) -> Option<usize> {
    let wrong = sweep.points.iter().filter(|point| point.stores >= 1 && point.incorrect > 0);
    wrong.map(|point| point.delta * (point.stores + 1)).filter(|stores| *stores < sweep.supposed).max()
}

/// How many runs there were with a delta that should be safe.
pub(in crate::report) fn safe_runs(sweep: &Sweep) -> u64 {
    runs(sweep, |point, line| point.delta >= line)
}

/// How many of them with one that should be so only just.
pub(in crate::report) fn close_runs(sweep: &Sweep) -> u64 {
    runs(sweep, |point, line| (line..line + CLOSE).contains(&point.delta))
}

fn runs(sweep: &Sweep, wanted: impl Fn(&Point, usize) -> bool) -> u64 {
    let points = sweep.points.iter().filter(|point| point.stores >= 1);
    points.filter(|point| wanted(point, most_hidden(sweep.supposed, point.stores))).map(|point| point.runs).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::Placement;

    const KNEE: Knee = Knee { entries: 72, confidence: 0.95 };

    fn point(delta: usize, incorrect: u64) -> Point {
        Point { stores: 1, delta, placement: Placement::DifferentCores, runs: RUNS_TO_TRUST, incorrect }
    }

    fn sweep(points: Vec<Point>, verdict: Verdict) -> Sweep {
        Sweep { supposed: 73, points, largest_violation: None, verdict }
    }

    #[test]
    fn a_bound_is_lowered_only_where_everything_speaks_for_it() {
        let clean = sweep(vec![point(36, 3), point(37, 0)], Verdict::Stands);
        assert_eq!(trust(Some(KNEE), Some(&clean)), Trust::Measured(73));
        assert_eq!(trust(None, Some(&clean)), Trust::Published);
        assert_eq!(trust(Some(KNEE), None), Trust::Published);
        assert_eq!(trust(Some(Knee { confidence: 0.85, ..KNEE }), Some(&clean)), Trust::Published);
        assert_eq!(trust(Some(Knee { entries: 71, ..KNEE }), Some(&clean)), Trust::Published);
        let blind = sweep(vec![point(36, 0), point(37, 0)], Verdict::Stands);
        assert_eq!(trust(Some(KNEE), Some(&blind)), Trust::Published);
        let few = sweep(vec![point(36, 3), Point { runs: RUNS_TO_TRUST - 1, ..point(37, 0) }], Verdict::Stands);
        assert_eq!(trust(Some(KNEE), Some(&few)), Trust::Published);
    }

    #[test]
    fn whatever_speaks_against_a_bound_raises_it() {
        let raised = |least| sweep(vec![point(36, 3), point(37, 1)], Verdict::Raised(least));
        assert_eq!(trust(Some(KNEE), Some(&raised(75))), Trust::Published);
        assert_eq!(trust(Some(KNEE), Some(&raised(140))), Trust::Raised(140));
        assert_eq!(trust(None, Some(&raised(140))), Trust::Raised(140));
        assert_eq!(trust(Some(Knee { entries: 150, confidence: 0.8 }), None), Trust::Raised(151));
        assert_eq!(trust(Some(KNEE), Some(&sweep(Vec::new(), Verdict::Refuted))), Trust::Nothing);
    }
}
