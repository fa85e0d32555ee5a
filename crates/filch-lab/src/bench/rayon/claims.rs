//! The claims about programs that use rayon.

use super::cases::OUTSIDE;
use super::figure::{
    ALLOCATIONS_A_TASK, CPU, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK, NANOS_A_CALL, NANOS_A_JOIN, P99,
};
use super::variant::Variant;
use crate::bench::cpu::WHY_NOT_MEASURED;
use crate::bench::THREADS;
use crate::claims::{Bound, Claim, Criterion, Figures, Rounds, Source, Verdict};
use crate::figures::threads;

pub(crate) const FILCH: &str = Variant::Shipped.name();
pub(crate) const IN_PLACE: &str = Variant::InPlace.name();
pub(crate) const RAYON: &str = Variant::Stock.name();

/// The largest ratio that is within the accuracy of a comparison.
const TOLERANCE: f64 = 1.03;

/// A case and a unit.
pub(crate) type CaseAndUnit<'a> = (&'a str, &'static str);

/// Returns what is measured of any of `names`, in the order of the suite. The cases `tick` and
/// `idle` are handled separately.
pub(crate) fn measured<'a>(figures: Figures<'a>, names: &[&str]) -> Vec<CaseAndUnit<'a>> {
    let mut cases = Vec::new();
    for series in figures.series {
        let is_wanted = names.contains(&series.name) && !["idle", "tick"].contains(&&*series.case);
        if is_wanted && !cases.contains(&(&*series.case, series.unit)) {
            cases.push((&*series.case, series.unit));
        }
    }
    cases
}

/// Returns what is timed: each case with its unit. CPU times, the slowest calls and allocations are
/// handled separately.
pub(crate) fn timed<'a>(figures: Figures<'a>, names: &[&str]) -> Vec<CaseAndUnit<'a>> {
    let mut cases = measured(figures, names);
    cases.retain(|(_, unit)| ![CPU.unit, P99.unit, ALLOCATIONS_A_TASK].contains(unit));
    cases
}

/// Returns the timed programs. Single calls from outside are many, and would outweigh them in a
/// mean.
pub(crate) fn programs(figures: Figures<'_>) -> Vec<CaseAndUnit<'_>> {
    let mut cases = timed(figures, &[RAYON, FILCH]);
    cases.retain(|(case, _)| !case.starts_with(OUTSIDE));
    cases
}

pub(crate) fn ratio(figures: Figures<'_>, name: &str, case: &str, unit: &str, count: usize) -> Option<Rounds> {
    figures.ratio(case, unit, (name, count), (RAYON, count))
}

pub(crate) fn verdicts(figures: Figures<'_>) -> Vec<Verdict> {
    let claim = |text: &str| Claim::new(Source::filch("rayon"), text);
    let faster = |(case, unit): CaseAndUnit<'_>, least: f64| {
        [1, THREADS].map(|count| {
            let figure = figures.ratio(case, unit, (RAYON, count), (FILCH, count));
            Criterion::new(format!("{case}, {}:", threads(count)), figure, Bound::AtLeast(least))
        })
    };
    let mean = |count: usize| {
        let ratios: Vec<Option<Rounds>> =
            programs(figures).into_iter().map(|(case, unit)| ratio(figures, FILCH, case, unit, count)).collect();
        Criterion::mean(format!("{}:", threads(count)), &ratios, Bound::AtMost(1.0))
            .incomplete_if(figures.is_incomplete)
    };
    let no_slower = |name: &'static str| {
        let of = move |(case, unit): CaseAndUnit<'_>| {
            [1, THREADS].map(|count| {
                let ratio = ratio(figures, name, case, unit, count);
                Criterion::new(format!("{case}, {}:", threads(count)), ratio, Bound::AtMost(TOLERANCE))
            })
        };
        let missing = Criterion::new("programs that did not run", None, Bound::AtMost(TOLERANCE));
        timed(figures, &[name]).into_iter().flat_map(of).chain(figures.is_incomplete.then_some(missing))
    };
    // Both ways to call from outside. The cases about sleep are measured with several threads only.
    let variants = [(FILCH, THREADS), (IN_PLACE, THREADS)];
    let label = |(name, count): (&str, usize)| format!("{name}, {}:", threads(count));
    let ticks = variants.map(|filch| {
        let excess = figures.excess("tick", EXTRA_CPU_MICROS_A_TICK, 3.0, filch, (RAYON, filch.1));
        Criterion::new(label(filch), excess, Bound::AtMost(0.0)).with_unit("us per tick")
    });
    let idle = variants.map(|filch| {
        Criterion::new(label(filch), figures.figure("idle", CPU_MILLIS_A_SECOND, filch), Bound::AtMost(0.5))
            .with_unit("ms/s")
    });
    // No allocations, except for queues that grow now and then.
    let allocations = figures.cases(ALLOCATIONS_A_TASK).into_iter().flat_map(|case| {
        [1, THREADS].map(|count| {
            let figure = figures.figure(case, ALLOCATIONS_A_TASK, (FILCH, count));
            Criterion::new(format!("{case}, {}:", threads(count)), figure, Bound::AtMost(0.01))
        })
    });
    let of_calls = |name: &'static str, of: fn(Bounds) -> f64| {
        bounded(figures, name, move |case, unit, threads| Bounds::of(case, unit, threads).map(of))
    };
    vec![
        claim("No program that uses rayon is slower on filch. (Tolerance: 3 %, the accuracy of a comparison.)")
            .judged_each(no_slower(FILCH)),
        claim("With callers in place, no program that calls from outside its pool is slower than on rayon. (Tolerance: 3 %.)")
            .judged_each(no_slower(IN_PLACE)),
        claim("Over all programs and micro benchmarks, filch is faster: the geometric mean of filch / rayon is below 1. (Without single calls from outside.)")
            .judged("filch / rayon", [1, THREADS].map(mean)),
        claim("For programs that are mostly joins, rayon's own core takes at least 3 times as long.").judged(
            "rayon / filch",
            ["join-tree-16m", "join-fib"].into_iter().flat_map(|case| faster((case, NANOS_A_JOIN.unit), 3.0)),
        ),
        claim("For a parallel iterator over 50 elements, called from inside a pool or from outside, rayon's own core takes at least twice as long.")
            .judged(
                "rayon / filch",
                ["small-50-installed", "outside/small-50"]
                    .into_iter()
                    .flat_map(|case| faster((case, NANOS_A_CALL.unit), 2.0)),
            ),
        claim(
            "A pool that gets a little work every 4 ms uses at most a third of rayon's CPU time, not counting the work itself.",
        )
        .judged("3 x filch - rayon", ticks)
        .or_because(WHY_NOT_MEASURED),
        claim("An idle process uses less than half a millisecond of CPU time per second.")
            .judged("", idle)
            .or_because(WHY_NOT_MEASURED),
        claim("A task of a scope, or a job spawned by a worker, of five words makes no allocation. (Fewer than one in a hundred: queues grow now and then.)")
            .judged_each(allocations),
        claim("Calls from outside a pool, and programs: the time, the CPU time and the slowest calls are at most 0.8 to 1.15 times those of rayon, by case. (Some pauses between calls have no bound.)")
            .judged_each(of_calls(FILCH, |bounds| bounds.shipped)),
        claim("Calls from outside a pool, and programs, with callers in place: the same figures are at most 0.03 to 1.15 times those of rayon, by case. (Some pauses between calls have no bound.)")
            .judged_each(of_calls(IN_PLACE, |bounds| bounds.in_place)),
        claim("Tasks of scopes and spawned jobs, `par_bridge` and `with_max_len(1)` take at most 0.25 to 1.02 times as long as on rayon, by case.")
            .judged_each(bounded(figures, FILCH, |case, _, threads| scope_bound(case, threads))),
    ]
}

/// Compares each figure that has a bound with rayon's.
fn bounded(
    figures: Figures<'_>,
    name: &'static str,
    most: impl Fn(&str, &str, usize) -> Option<f64>,
) -> Vec<Criterion> {
    let criterion = |series: &crate::figures::Series| {
        let most = most(&series.case, series.unit, series.threads)?;
        let ratio = ratio(figures, name, &series.case, series.unit, series.threads);
        let label = format!("{}, {}, {}:", series.case, series.unit, threads(series.threads));
        Some(Criterion::new(label, ratio, Bound::AtMost(most)))
    };
    let measured = figures.series.iter().filter(|series| series.name == name).filter_map(criterion);
    let missing = Criterion::new("programs that did not run", None, Bound::AtMost(1.0));
    measured.chain(figures.is_incomplete.then_some(missing)).collect()
}

/// The largest figures as multiples of rayon's, by variant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    /// The bound if a worker runs the call.
    shipped: f64,
    /// The bound if the caller takes part.
    in_place: f64,
}

impl Bounds {
    /// The bounds of all other cases with one thread.
    const WITH_ONE_THREAD: Bounds = Bounds { shipped: 1.02, in_place: 1.0 };

    /// The bounds, with one thread, of iterators that the part `scopes` has too.
    const OF_ITERATORS: Bounds = Bounds { shipped: 1.0, in_place: 1.0 };

    /// The bounds of a case in a unit, if it has any.
    fn of(case: &str, unit: &str, threads: usize) -> Option<Bounds> {
        let most = Bounds::with_several_threads(case, unit)?;
        Some(match case {
            _ if threads > 1 => most,
            "par-iter-sum-10m" | "map-collect-10m" | "par-sort-10m" => Bounds::OF_ITERATORS,
            _ => Bounds::WITH_ONE_THREAD,
        })
    }

    fn with_several_threads(case: &str, unit: &str) -> Option<Bounds> {
        let (shipped, in_place) = match case.strip_prefix(OUTSIDE) {
            Some(call) => match (call, unit) {
                ("small-50", unit) if unit == CPU.unit => (1.0, 0.1),
                ("small-50-after-1ms", unit) if unit == CPU.unit => (0.8, 0.4),
                ("small-50" | "join-empty", _) => (1.0, 0.03),
                ("small-50-after-1ms" | "join-empty-after-1ms", _) => (1.0, 0.25),
                ("join-20us" | "join-200us" | "join-2ms", unit) if unit == P99.unit => (1.15, 1.15),
                ("join-20us", _) => (1.05, 1.0),
                ("join-200us", _) => (1.05, 1.05),
                ("join-2ms", _) => (1.02, 1.02),
                ("join-2ms-after-1ms", _) => (1.03, 1.03),
                ("callers-4-small-50" | "callers-4-join-200us" | "pool-with-handlers", _) => (1.0, 1.0),
                ("sum-200k", _) => (1.0, 0.7),
                _ => return None,
            },
            None => match case {
                "life" => (1.02, 0.85),
                "par-iter-sum-10m" | "map-collect-10m" | "par-sort-10m" | "par-chunks-matmul" | "n-body"
                | "life-large" | "sieve" | "tsp" | "str-split" => (1.02, 1.0),
                _ => return None,
            },
        };
        Some(Bounds { shipped, in_place })
    }
}

/// The largest time of a case of the part `scopes`, as a multiple of rayon's.
fn scope_bound(case: &str, threads: usize) -> Option<f64> {
    let (with_one_thread, with_several) = match case {
        "scope-100k" => (0.25, 0.5),
        "scope-fifo-100k" => (0.6, 0.8),
        "scope-par-iter-100k" => (0.4, 1.0),
        "spawn-tree-17" => (0.3, 0.4),
        "scope-of-1" | "scope-of-4" => (0.4, 0.5),
        "scope-of-64" => (0.3, 0.5),
        "spawn-inside-100k" => (0.6, 0.7),
        "spawn-outside-1" | "spawn-outside-4" => (0.8, 0.9),
        "par-bridge" => (1.0, 1.02),
        "max-len-1" => (0.7, 0.7),
        "walk" => (1.0, 1.0),
        _ => return None,
    };
    Some(if threads == 1 { with_one_thread } else { with_several })
}

#[cfg(test)]
mod tests {
    use super::super::cases::{Kind, TASKS};
    use super::*;
    use crate::claims::Holds;
    use crate::figures::Series;

    /// The verdict on a claim by filch's figure and rayon's, with two threads.
    fn verdict(claim: &str, case: &str, unit: &'static str, filch: f64, rayon: f64) -> Verdict {
        let series = |name, figure: f64| Series {
            case: case.to_owned(),
            name,
            threads: 2,
            unit,
            samples: vec![figure; 6],
            note: None,
        };
        let all = [series(FILCH, filch), series(IN_PLACE, filch), series(RAYON, rayon)];
        let verdicts = verdicts(Figures { series: &all, is_quick: false, is_incomplete: false });
        verdicts.into_iter().find(|verdict| verdict.claim.starts_with(claim)).unwrap()
    }

    #[test]
    fn ticks_are_judged_without_their_work_and_allocations_alone() {
        let tick = |filch| verdict("A pool that gets", "tick", EXTRA_CPU_MICROS_A_TICK, filch, 40.0).measured;
        assert!(tick(10.0).contains("filch, 2 threads: -10.0 "), "{}", tick(10.0));
        // Those with one thread were not measured.
        let allocations = |filch| verdict("A task of a scope", "a", ALLOCATIONS_A_TASK, filch, 1.0).holds;
        assert_eq!([0.0, 1.0].map(allocations), [Holds::Unclear, Holds::No]);
    }

    #[test]
    fn each_variant_has_its_own_bounds() {
        let measured =
            verdict("Calls from outside a pool, and programs, with", "outside/join-empty", "ns/call", 40.0, 1e3)
                .measured;
        assert!(measured.ends_with("join-empty, ns/call, 2 threads: 0.04 (0.04 to 0.04, 6 rounds)"), "{measured}");
        assert_eq!(
            verdict("Calls from outside a pool, and programs: the", "outside/join-empty", "ns/call", 40.0, 1e3).holds,
            Holds::Yes
        );
    }

    #[test]
    fn a_call_from_outside_has_a_bound_for_each_variant_and_unit() {
        let bounds = |case, unit| Bounds::of(case, unit, 2).map(|most| [most.shipped, most.in_place]);
        assert_eq!(bounds("outside/small-50", "ns/call"), Some([1.0, 0.03]));
        assert_eq!(bounds("outside/small-50", "cpu-us/call"), Some([1.0, 0.1]));
        assert_eq!(bounds("outside/small-50-after-1ms", "ns/call"), Some([1.0, 0.25]));
        assert_eq!(bounds("outside/small-50-after-1ms", "cpu-us/call"), Some([0.8, 0.4]));
        assert_eq!(bounds("outside/join-20us", "us/call"), Some([1.05, 1.0]));
        assert_eq!(bounds("outside/join-20us", "p99-us/call"), Some([1.15, 1.15]));
        assert_eq!(bounds("life", "us/generation"), Some([1.02, 0.85]));
        assert_eq!(bounds("outside/small-50-after-5ms", "ns/call"), None);
        for case in ["outside/small-50", "outside/join-2ms", "outside/sum-200k", "life", "tsp"] {
            assert_eq!(Bounds::of(case, "us/call", 1), Some(Bounds { shipped: 1.02, in_place: 1.0 }), "{case}");
        }
    }

    #[test]
    fn cases_of_scopes_have_a_bound_for_each_number_of_threads() {
        let both = |case| [1, 2].map(|threads| scope_bound(case, threads));
        assert_eq!(both("scope-100k"), [Some(0.25), Some(0.5)]);
        assert_eq!(both("spawn-outside-4"), [Some(0.8), Some(0.9)]);
        for case in TASKS {
            assert_eq!(both(case.name).contains(&None), case.kind != Kind::Time, "{case}");
        }
    }
}
