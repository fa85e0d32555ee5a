//! Figures 7 and 8: the store buffer, and whether loads overtake more than it holds.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::chart::{Chart, Estimate, HeatMap, Line, Lines};
use crate::claims::{Claim, Holds, Source, Verdict};
use crate::figures::grouped;
use crate::lab::calibration::Cpu;
use crate::lab::litmus::{Point, Sweep, Verdict as Bounded};
use crate::lab::published;
use crate::lab::store_buffer::{Knee, SURE};
use crate::report::collect::bound_choice::{self, ENOUGH_RUNS};
use crate::report::collect::Results;
use crate::report::page::{Item, Texts};
use crate::report::sections::items::figure;

pub(in crate::report::sections) fn verdicts(results: &Results) -> Vec<Verdict> {
    let claim = |text: &str| Claim::new(Source::FENCE_FREE, text);
    vec![
        knee(results, claim("The time of a sequence of stores has a knee at the capacity of the store buffer (32 on Westmere-EX, 42 on Haswell, as documented).")),
        bound(results, claim("A load overtakes at most S stores, where S is the capacity plus one. With a delta of at least S / (L + 1), and L at least 1, no run is incorrect.")),
        below(results, claim("With a smaller delta, some runs are incorrect.")),
        coalescing(results, claim("Without a store between pops (L = 0), the bound does not hold: stores to the same address coalesce.")),
    ]
}

fn knee(results: &Results, claim: Claim) -> Verdict {
    let Some(curve) = &results.store_buffer else { return claim.not_measured() };
    match curve.knee {
        None => claim.verdict("no knee above the noise", Holds::Unclear),
        Some(knee) => judged_knee(knee, published::entries_here(), Cpu::is_under_hypervisor(), claim),
    }
}

/// Judges a knee by the published capacity. A knee below it may be that of a shared core, which
/// has only a part of its store buffer. A knee above it may be that of another CPU than the
/// hypervisor names.
fn judged_knee(knee: Knee, published: Option<usize>, is_under_hypervisor: bool, claim: Claim) -> Verdict {
    let measured = format!("{} entries, in {:.0} % of the resampled rounds", knee.entries, 100.0 * knee.confidence);
    let Some(published) = published else {
        return claim.verdict(measured + "; the capacity of this CPU is not known", Holds::Unclear);
    };
    let (holds, why) = match knee.entries.cmp(&published) {
        _ if knee.confidence < SURE => (Holds::Unclear, ""),
        Ordering::Less => (Holds::Unclear, ""),
        Ordering::Equal => (Holds::Yes, ""),
        Ordering::Greater if is_under_hypervisor => (Holds::Unclear, "; the hypervisor may name another CPU"),
        Ordering::Greater => (Holds::No, ""),
    };
    claim.verdict(format!("{measured}; published: {published}{why}"), holds)
}

fn is_measured(results: &Results, sweep: &Sweep) -> bool {
    bound_choice::is_measured(results.store_buffer.as_ref().and_then(|curve| curve.knee), sweep)
}

fn bound(results: &Results, claim: Claim) -> Verdict {
    let Some(sweep) = &results.litmus else { return claim.not_measured() };
    let (safe, close) = (sweep.safe_runs(), sweep.close_runs());
    if safe == 0 {
        return claim.not_measured();
    }
    let (measured, holds) = match sweep.verdict {
        Bounded::Refuted => ("the incorrect runs contradict every bound".to_owned(), Holds::No),
        _ if !is_measured(results, sweep) => {
            ("no conclusion, because S is a guess: the capacity is unknown".to_owned(), Holds::Unclear)
        }
        Bounded::Raised(least) => (format!("some are incorrect; the bound is at least {least}"), Holds::No),
        Bounded::Stands if !sweep.can_see() => (
            "none is incorrect, not even with a delta just below the limit: the threads rarely overlapped".to_owned(),
            Holds::Unclear,
        ),
        Bounded::Stands if close < ENOUGH_RUNS => {
            (format!("none is incorrect, but only {} were close to the limit", grouped_runs(close)), Holds::Unclear)
        }
        Bounded::Stands => ("none is incorrect, which supports the bound but does not prove it".to_owned(), Holds::Yes),
    };
    claim.verdict(format!("S = {}, {} runs with such a delta: {measured}", sweep.supposed, grouped_runs(safe)), holds)
}

fn below(results: &Results, claim: Claim) -> Verdict {
    let Some(sweep) = &results.litmus else { return claim.not_measured() };
    match sweep.largest_below() {
        Some(largest) => {
            let measured =
                format!("the largest delta x (L + 1) below S = {} with an incorrect run is {largest}", sweep.supposed);
            if is_measured(results, sweep) {
                claim.verdict(measured, Holds::Yes)
            } else {
                claim.verdict(measured + "; S is a guess, because the capacity is unknown", Holds::Unclear)
            }
        }
        None => {
            claim.verdict("no such run is incorrect: too few runs, or the threads rarely overlapped", Holds::Unclear)
        }
    }
}

fn coalescing(results: &Results, claim: Claim) -> Verdict {
    let points = |sweep: &Sweep| -> Vec<Point> {
        sweep.points.iter().filter(|point| point.stores == 0 && point.delta >= sweep.supposed).copied().collect()
    };
    let points = results.litmus.as_ref().map(points).unwrap_or_default();
    let (runs, wrong) = points.iter().fold((0, 0), |(runs, wrong), point| (runs + point.runs, wrong + point.incorrect));
    match (runs, wrong) {
        (0, _) => claim.not_measured(),
        (_, 0) => claim.verdict(format!("none of {} such runs is incorrect", grouped_runs(runs)), Holds::Unclear),
        _ => {
            let known = results.litmus.as_ref().is_some_and(|sweep| is_measured(results, sweep));
            let measured = format!("{} of {} such runs are incorrect", grouped_runs(wrong), grouped_runs(runs));
            claim.verdict(measured, if known { Holds::Yes } else { Holds::Unclear })
        }
    }
}

fn grouped_runs(runs: u64) -> String {
    grouped(usize::try_from(runs).unwrap_or(usize::MAX))
}

pub(super) fn store_buffer(results: &Results) -> Item {
    let chart = results.store_buffer.as_ref().filter(|curve| !curve.points.is_empty()).map(|curve| {
        let point = |point: &crate::lab::store_buffer::Point| {
            (point.stores as f64, Estimate { value: point.median, low: point.low, high: point.high })
        };
        let line = Line { name: "median".to_owned(), points: curve.points.iter().map(point).collect() };
        let marker = curve.knee.map(|knee| (knee.entries as f64, format!("{} entries", knee.entries)));
        Chart::Lines(Lines {
            x_axis: "stores per sequence".to_owned(),
            y_axis: "nanoseconds per sequence".to_owned(),
            log_x: false,
            log_y: false,
            lines: vec![line],
            marker,
        })
    });
    let texts = Texts::new(
        "store-buffer",
        "Figure 7: capacity of the store buffer",
        "Stores are free while the store buffer has room. The first store without room stalls the pipeline. The paper's \
         knee is at 32 on Westmere-EX and at 42 on Haswell. The documented capacities of later cores are 56 (Skylake), \
         72 (Ice Lake) and 112 (Golden Cove).",
        "cargo run --release -- lab store-buffer",
    );
    figure(texts, chart)
}

pub(super) fn litmus(results: &Results) -> Item {
    let chart =
        results.litmus.as_ref().filter(|sweep| !sweep.points.is_empty()).map(|sweep| Chart::HeatMap(map(sweep)));
    let texts = Texts::new(
        "litmus",
        "Figure 8: which deltas are safe",
        "An owner and a thief empty a queue of 512 tasks. The x axis is the number of pops that S stores can hide, \
         S / (L + 1) rounded up. The y axis is the thief's delta. If S is right, all cells on or above the line are \
         correct, except for L = 0, the rightmost column. In the paper, with ten million runs per point, S = 32 fails on \
         Westmere-EX and S = 33 holds.",
        "cargo run --release -- lab litmus",
    );
    figure(texts, chart)
}

/// Returns the heat map. Placements and numbers of stores with the same coordinates share a cell.
fn map(sweep: &Sweep) -> HeatMap {
    let mut cells: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for point in sweep.points.iter().filter(|point| point.runs > 0) {
        let along = sweep.most_hidden(point.stores);
        let (Ok(along), Ok(upwards)) = (u32::try_from(along), u32::try_from(point.delta)) else { continue };
        let cell = cells.entry((along, upwards)).or_default();
        cell.0 += point.incorrect;
        cell.1 += point.runs;
    }
    let share = |((x, y), (incorrect, runs)): ((u32, u32), (u64, u64))| (x, y, incorrect as f64 / runs as f64);
    HeatMap {
        x_axis: format!("most pops hidden, S = {}", sweep.supposed),
        y_axis: "delta".to_owned(),
        cells: cells.into_iter().map(share).collect(),
        diagonal: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::Placement;
    use crate::lab::store_buffer::Curve;
    use crate::report::sections::tests::nothing;

    fn results(points: Vec<Point>, verdict: Bounded) -> Results {
        let largest_violation = points
            .iter()
            .filter(|point| point.stores > 0 && point.incorrect > 0)
            .map(|point| point.delta * (point.stores + 1))
            .max();
        let knee = Some(Knee { entries: 7, confidence: 1.0 });
        let store_buffer = Some(Curve { core: "core", points: Vec::new(), knee });
        let litmus = Some(Sweep { supposed: 8, points, largest_violation, verdict });
        Results { litmus, store_buffer, ..nothing() }
    }

    fn point(stores: usize, delta: usize, incorrect: u64) -> Point {
        Point { stores, delta, placement: Placement::Unpinned, runs: ENOUGH_RUNS, incorrect }
    }

    fn holds(results: &Results) -> Vec<Holds> {
        verdicts(results).iter().skip(1).map(|verdict| verdict.holds).collect()
    }

    #[test]
    fn a_knee_is_compared_with_the_published_capacity() {
        let holds = |confidence, published, is_under_hypervisor| {
            let claim = Claim::new(Source::FENCE_FREE, "There is a knee.");
            judged_knee(Knee { entries: 72, confidence }, published, is_under_hypervisor, claim).holds
        };
        assert_eq!(
            [Some(72), Some(56), Some(112), None].map(|published| holds(1.0, published, false)),
            [Holds::Yes, Holds::No, Holds::Unclear, Holds::Unclear]
        );
        assert_eq!([72, 56].map(|published| holds(1.0, Some(published), true)), [Holds::Yes, Holds::Unclear]);
        assert_eq!(holds(SURE - 0.01, Some(72), false), Holds::Unclear);
    }

    #[test]
    fn a_clean_sweep_supports_the_bound_and_violations_below_it() {
        let points = vec![point(1, 4, 0), point(1, 3, 2), point(0, 9, 1)];
        assert_eq!(holds(&results(points, Bounded::Stands)), [Holds::Yes, Holds::Yes, Holds::Yes]);
        // A bound that is not smaller says nothing about a smaller one.
        let raised = results(vec![point(1, 4, 1)], Bounded::Raised(9));
        assert_eq!(holds(&raised), [Holds::No, Holds::Unclear, Holds::NotMeasured]);
        // No run had a delta that should be safe.
        assert_eq!(holds(&results(vec![point(1, 3, 0)], Bounded::Stands))[0], Holds::NotMeasured);
    }

    #[test]
    fn a_sweep_without_violations_below_the_bound_supports_nothing() {
        let nothing_seen = results(vec![point(1, 4, 0), point(1, 3, 0), point(0, 9, 0)], Bounded::Stands);
        assert_eq!(holds(&nothing_seen), [Holds::Unclear, Holds::Unclear, Holds::Unclear]);
        let few = Point { runs: ENOUGH_RUNS - 1, ..point(1, 4, 0) };
        assert_eq!(holds(&results(vec![few, point(1, 3, 1)], Bounded::Stands))[0], Holds::Unclear);
        let far = results(vec![point(1, 40, 0), point(1, 3, 1)], Bounded::Stands);
        assert_eq!(holds(&far)[0], Holds::Unclear);
    }

    #[test]
    fn a_guessed_bound_is_unclear() {
        for verdict in [Bounded::Stands, Bounded::Raised(9)] {
            let mut all = results(vec![point(1, 4, 0), point(1, 3, 2), point(0, 9, 1)], verdict);
            all.store_buffer.as_mut().unwrap().knee = None;
            assert_eq!(holds(&all), [Holds::Unclear, Holds::Unclear, Holds::Unclear]);
        }
    }

    #[test]
    fn points_with_equal_coordinates_share_a_cell() {
        let all = results(vec![point(4, 1, 0), point(5, 1, ENOUGH_RUNS / 2), point(0, 8, 0)], Bounded::Stands);
        let map = map(all.litmus.as_ref().unwrap());
        assert_eq!(map.cells, [(2, 1, 0.25), (8, 8, 0.0)]);
    }
}
