//! Which points are raced, and how often. All are raced a little at first, then more and more.

use super::race::{STORES, TASKS};

/// The number of runs of each point in the first pass.
const FIRST_PASS: u64 = 30;
/// The factor by which the runs grow with each pass.
const GROWTH: u64 = 4;
/// The most runs that a pass adds to a point, so that passes stay short.
const MAX_PER_PASS: u64 = 20_000;
/// The factor by which a point far from the line has fewer runs. Its result is hardly in doubt.
const FAR_DIVISOR: u64 = 10;
/// How many deltas below the line are near it.
const BELOW: usize = 4;
/// How many deltas above the line are near it, besides the delta on the line.
pub(super) const ABOVE: usize = 3;
/// The most stores behind a point's hidden pops: slightly more than the largest bound.
const MAX_HIDDEN: usize = 600;

/// A point of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    /// L: stores between two pops.
    pub(super) stores: usize,
    /// How many pops the thief assumes hidden.
    pub(super) delta: usize,
    /// Whether it is near the line between correct and incorrect runs.
    pub(super) near: bool,
}

impl Target {
    /// Returns this point's number of runs, given the number for points near the line.
    pub(super) fn share(&self, runs: u64) -> u64 {
        if self.near {
            runs
        } else {
            runs.div_ceil(FAR_DIVISOR).max(FIRST_PASS).min(runs)
        }
    }
}

/// Returns the most pops that `bound` stores can hide: ceil(S / (L + 1)).
pub(super) fn alpha(bound: usize, stores: usize) -> usize {
    bound.div_ceil(stores + 1)
}

/// Returns the points for a bound.
///
/// For each number of stores these are the deltas around the line, and some on both sides for the
/// whole picture.
pub(super) fn targets(bound: usize) -> Vec<Target> {
    let mut targets = Vec::new();
    for stores in STORES {
        let line = alpha(bound, stores);
        let near = line.saturating_sub(BELOW).max(1)..line + ABOVE;
        let below = [1, line / 4, line / 2, 3 * line / 4];
        let above = [line + 4, line + 8, 3 * line / 2, 2 * line, 3 * line, 5 * line, 7 * line];
        let far = below.into_iter().chain(above.into_iter().filter(|delta| delta * (stores + 1) <= MAX_HIDDEN));
        let far = far.filter(|delta| *delta >= 1 && !near.contains(delta));
        let mut deltas: Vec<(usize, bool)> = far.map(|delta| (delta, false)).collect();
        deltas.extend(near.clone().map(|delta| (delta, true)));
        // A thief that assumes all pops hidden never steals.
        deltas.retain(|(delta, _)| *delta < TASKS as usize);
        deltas.sort_unstable();
        deltas.dedup();
        targets.extend(deltas.into_iter().map(|(delta, near)| Target { stores, delta, near }));
    }
    targets
}

/// Returns the runs of a point near the line after each pass. The last pass ends with `runs`.
pub(super) fn passes(runs: u64) -> impl Iterator<Item = u64> {
    let next = move |&done: &u64| {
        let more = (done * (GROWTH - 1)).min(MAX_PER_PASS);
        (done < runs).then(|| (done + more).min(runs))
    };
    std::iter::successors(Some(FIRST_PASS.min(runs)), next)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_points_include_the_line_and_both_its_sides() {
        for bound in [2, 33, 73, 113, 512] {
            let targets = targets(bound);
            for stores in STORES {
                let line = alpha(bound, stores);
                let has = |delta| targets.contains(&Target { stores, delta, near: true });
                if line + ABOVE < TASKS as usize {
                    assert!(has(line) && has(line + 1), "{bound} {stores}");
                }
                if line > 1 && line < TASKS as usize {
                    assert!(has(line - 1), "{bound} {stores}");
                }
            }
            assert!(targets.iter().all(|target| target.delta >= 1 && target.delta < TASKS as usize));
            let distinct: HashSet<_> = targets.iter().map(|target| (target.stores, target.delta)).collect();
            assert_eq!(distinct.len(), targets.len());
        }
    }

    #[test]
    fn points_reach_far_enough_to_refute_every_bound() {
        let farthest = targets(73)
            .iter()
            .filter(|target| target.stores > 0)
            .map(|target| target.delta * (target.stores + 1))
            .max();
        assert!(farthest.unwrap() >= 512);
    }

    #[test]
    fn passes_grow_and_end_with_the_requested_runs() {
        assert_eq!(passes(3_000).collect::<Vec<_>>(), [30, 120, 480, 1_920, 3_000]);
        assert_eq!(passes(10).collect::<Vec<_>>(), [10]);
        assert_eq!(passes(30).collect::<Vec<_>>(), [30]);
        let long: Vec<_> = passes(10_000_000).collect();
        assert!(long.windows(2).all(|pair| pair[1] - pair[0] <= MAX_PER_PASS && pair[1] > pair[0]));
        assert_eq!(long.last(), Some(&10_000_000));
    }

    #[test]
    fn points_far_from_the_line_have_fewer_runs() {
        let target = |near| Target { stores: 1, delta: 2, near };
        assert_eq!((target(true).share(3_000), target(false).share(3_000)), (3_000, 300));
        assert_eq!((target(false).share(100), target(false).share(10)), (30, 10));
    }
}
