//! What a sweep says about the bound under test.

use super::{Point, Verdict};
use crate::lab::calibration::LARGEST_BOUND;

/// Returns the largest `delta * (stores + 1)` of an incorrect point.
///
/// Only points with at least one store between pops count. If a thief that assumed delta hidden
/// pops was wrong, at least delta + 1 were hidden. Between the first and the last of them lie delta
/// times as many stores as a pop makes. So the load overtook one more than that. Without a store in
/// between the CPU may merge pops, which says nothing about how many stores a load overtakes.
pub(super) fn largest_violation<'a>(points: impl IntoIterator<Item = &'a Point>) -> Option<usize> {
    let incorrect = points.into_iter().filter(|point| point.incorrect > 0 && point.stores > 0);
    incorrect.map(|point| point.delta * (point.stores + 1)).max()
}

/// Returns the verdict, given the largest violation. It never lowers a bound: the absence of
/// violations proves nothing.
pub(super) fn judge(supposed: usize, largest_violation: Option<usize>) -> Verdict {
    match largest_violation.map(|stores| stores + 1) {
        Some(bound) if bound > LARGEST_BOUND.max(supposed) => Verdict::Refuted,
        Some(bound) if bound > supposed => Verdict::Raised(bound),
        _ => Verdict::Stands,
    }
}

/// Returns the largest delta that went wrong with no store between pops.
pub(super) fn largest_merged<'a>(points: impl IntoIterator<Item = &'a Point>) -> Option<usize> {
    points.into_iter().filter(|point| point.incorrect > 0 && point.stores == 0).map(|point| point.delta).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::plan::alpha;
    use crate::lab::litmus::Placement;

    fn point(stores: usize, delta: usize, incorrect: u64) -> Point {
        Point { stores, delta, placement: Placement::Unpinned, runs: 1_000, incorrect }
    }

    fn verdict(supposed: usize, points: &[Point]) -> Verdict {
        judge(supposed, largest_violation(points))
    }

    #[test]
    fn only_violations_change_the_bound() {
        let below: Vec<_> = (1..48).map(|stores| point(stores, alpha(73, stores) - 1, 1)).collect();
        let merged = vec![point(0, 200, 999), point(0, 500, 1), point(0, 505, 0)];
        assert_eq!((largest_violation(&below), largest_violation(&merged)), (Some(72), None));
        assert_eq!(largest_merged(&merged), Some(500));
        for (points, expected) in [
            // A sweep without violations does not lower the bound.
            (vec![], Verdict::Stands),
            (vec![point(1, 36, 0), point(1, 1, 0)], Verdict::Stands),
            (vec![point(1, 1, 500)], Verdict::Stands),
            // Incorrect runs below the line are expected, and merged stores do not count.
            (below, Verdict::Stands),
            (merged, Verdict::Stands),
            // A violation beyond every store buffer refutes the bound.
            (vec![point(1, 255, 1)], Verdict::Raised(511)),
            (vec![point(1, 256, 1)], Verdict::Refuted),
            // The worst point decides.
            (vec![point(3, 20, 1), point(1, 40, 1), point(1, 45, 0), point(7, 2, 900)], Verdict::Raised(81)),
        ] {
            assert_eq!(verdict(73, &points), expected, "{points:?}");
        }
    }

    #[test]
    fn one_incorrect_run_on_the_line_raises_the_bound_to_the_smallest_that_explains_it() {
        for stores in 1..48 {
            let delta = alpha(73, stores);
            let Verdict::Raised(bound) = verdict(73, &[point(stores, delta, 1)]) else { panic!("{stores}") };
            assert!(bound > 73);
            assert!(delta < alpha(bound, stores), "not explained");
            assert!(delta >= alpha(bound - 1, stores), "not the smallest");
        }
    }
}
