//! How strong the evidence of a sweep without violations is.

use super::plan::{alpha, targets, ABOVE};
use super::{verdict, Placement, Point, Sweep, Verdict};

/// How many runs close to the line make a bound reliable.
pub(crate) const RUNS_TO_TRUST: u64 = 1_000_000;

impl Sweep {
    /// Returns the most hidden pops with `stores` stores between two pops, if the bound holds.
    pub(crate) fn most_hidden(&self, stores: usize) -> usize {
        alpha(self.supposed, stores)
    }

    /// Returns the largest delta x (L + 1) of an incorrect run below the bound.
    pub(crate) fn largest_below(&self) -> Option<usize> {
        let is_below = |point: &&Point| point.delta * (point.stores + 1) < self.supposed;
        verdict::largest_violation(self.points.iter().filter(is_below))
    }

    /// Whether a run was incorrect close below the bound. Then a violation above it would have been
    /// seen too.
    pub(crate) fn can_see(&self) -> bool {
        let close = (self.supposed / 10).max(2);
        self.largest_below().is_some_and(|stores| stores + close >= self.supposed)
    }

    /// Returns the number of runs with a delta that should be safe.
    pub(crate) fn safe_runs(&self) -> u64 {
        self.runs(|point, line| point.delta >= line)
    }

    /// Returns the number of runs with a barely safe delta. Only sites that could show a violation
    /// count.
    pub(crate) fn close_runs(&self) -> u64 {
        self.runs(|point, line| is_close(point.delta, line) && has_whole_buffer(point.placement))
    }

    /// Whether the sweep could see a violation, made enough runs, and found none.
    pub(crate) fn is_to_be_trusted(&self) -> bool {
        self.verdict == Verdict::Stands && self.can_see() && self.close_runs() >= RUNS_TO_TRUST
    }

    fn runs(&self, wanted: impl Fn(&Point, usize) -> bool) -> u64 {
        let counts = |point: &&Point| point.stores >= 1 && wanted(point, self.most_hidden(point.stores));
        self.points.iter().filter(counts).map(|point| point.runs).sum()
    }
}

fn is_close(delta: usize, line: usize) -> bool {
    (line..line + ABOVE).contains(&delta)
}

/// Whether threads in this placement have whole store buffers. On one core each has half of it.
fn has_whole_buffer(placement: Placement) -> bool {
    placement != Placement::SameCore
}

/// Returns the runs of each near point at each place that suffice in total.
pub(super) fn runs_to_trust(bound: usize, places: impl IntoIterator<Item = Placement>) -> u64 {
    let places = places.into_iter().filter(|&placement| has_whole_buffer(placement)).count();
    let targets = targets(bound);
    let close = |stores, delta| stores >= 1 && is_close(delta, alpha(bound, stores));
    let points = targets.iter().filter(|target| close(target.stores, target.delta)).count();
    RUNS_TO_TRUST.div_ceil((points * places).max(1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(points: &[(usize, usize, u64, u64)]) -> Sweep {
        let point = |&(stores, delta, runs, incorrect)| Point {
            stores,
            delta,
            placement: Placement::DifferentCores,
            runs,
            incorrect,
        };
        Sweep {
            supposed: 73,
            points: points.iter().map(point).collect(),
            largest_violation: None,
            verdict: Verdict::Stands,
        }
    }

    #[test]
    fn runs_that_could_not_have_refuted_the_bound_do_not_count() {
        let all = sweep(&[(0, 100, 1, 0), (1, 36, 2, 0), (1, 37, 4, 0), (1, 39, 8, 0), (1, 40, 16, 0), (2, 25, 32, 0)]);
        assert_eq!((all.close_runs(), all.safe_runs()), (4 + 8 + 32, 4 + 8 + 16 + 32));
        let mut halves = all.clone();
        halves.points.iter_mut().for_each(|point| point.placement = Placement::SameCore);
        assert_eq!((halves.close_runs(), halves.safe_runs()), (0, all.safe_runs()));
    }

    #[test]
    fn a_sweep_without_violations_close_below_the_line_is_not_trusted() {
        for (delta, sees) in [(36, true), (33, true), (32, false), (3, false)] {
            assert_eq!(sweep(&[(1, delta, 10, 1), (1, 37, RUNS_TO_TRUST, 0)]).is_to_be_trusted(), sees, "{delta}");
        }
        assert!(!sweep(&[(1, 36, 10, 0), (1, 37, RUNS_TO_TRUST, 0)]).is_to_be_trusted());
        assert!(!sweep(&[(1, 36, 10, 1), (1, 37, RUNS_TO_TRUST - 1, 0)]).is_to_be_trusted());
    }

    #[test]
    fn runs_to_trust_are_just_enough() {
        for (bound, places) in [(73, 1), (73, 3), (33, 2), (512, 2)] {
            let others = std::iter::once(Placement::SameCore);
            let runs = runs_to_trust(bound, others.chain(std::iter::repeat_n(Placement::Unpinned, places)));
            let raced: Vec<_> = targets(bound)
                .iter()
                .map(|target| (target.stores, target.delta, places as u64 * target.share(runs), 0))
                .collect();
            let close = Sweep { supposed: bound, ..sweep(&raced) }.close_runs();
            assert!((RUNS_TO_TRUST..RUNS_TO_TRUST + RUNS_TO_TRUST / 50).contains(&close), "{bound}, {places}: {close}");
        }
    }
}
