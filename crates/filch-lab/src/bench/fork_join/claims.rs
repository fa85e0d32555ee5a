//! The claims about joins and pools.

use super::cases::{
    CPU_MILLIS_A_SECOND, ENGINE_EVENTS, EXTRA_CPU_MICROS_A_TICK, MILLIS_A_RUN, NANOS_A_JOIN, NANOS_A_WAKE,
    POOL_CPU_MILLIS_A_SECOND, SERIAL_CALL_PAIR, SERIAL_PAIR, SWITCHES_A_SECOND,
};
use crate::bench::cpu::WHY_NOT_MEASURED;
use crate::bench::work::Shape;
use crate::bench::THREADS;
use crate::claims::{geometric_mean, Bound, Claim, Contender, Criterion, Figures, Rounds, Source, Verdict};
use crate::figures::threads;

const WORKER: Contender<'static> = ("filch-worker", THREADS);
const FILCH: Contender<'static> = ("filch", THREADS);

/// The case whose name starts like this. A quick report has smaller ones, for more rounds.
fn sized<'a>(figures: Figures<'a>, start: &str, full: &'a str) -> &'a str {
    figures.series.iter().map(|series| &*series.case).find(|case| case.starts_with(start)).unwrap_or(full)
}

/// The Fibonacci case, which has nothing but joins.
pub(crate) fn fib(figures: Figures<'_>) -> &str {
    sized(figures, "fib-", "fib-38")
}

/// The case of the n queens.
fn queens(figures: Figures<'_>) -> &str {
    sized(figures, "queens-", "queens-13")
}

/// Returns the cost of a fork and a join beyond a plain recursion, in nanoseconds.
pub(crate) fn join_cost(figures: Figures<'_>, other: &str) -> Option<Rounds> {
    figures.difference(fib(figures), NANOS_A_JOIN, (other, 1), ("serial", 1))
}

/// Returns the time to enter a sleeping pool, in nanoseconds.
pub(crate) fn wake_cost(figures: Figures<'_>, other: &str) -> Option<Rounds> {
    figures.figure("wake", NANOS_A_WAKE, (other, THREADS))
}

pub(crate) fn verdicts(figures: Figures<'_>) -> Vec<Verdict> {
    let mut verdicts = of_blitz(figures);
    verdicts.extend(of_filch(figures));
    verdicts
}

fn of_blitz(figures: Figures<'_>) -> Vec<Verdict> {
    let claim = |text: &str| Claim::new(Source::BLITZ, text);
    let most = |figure, nanos: f64| [Criterion::new("", figure, Bound::AtMost(nanos)).with_unit("ns")];
    let linear = |case: &str| {
        let ratio = figures.ratio(case, NANOS_A_JOIN, (SERIAL_PAIR, THREADS), WORKER);
        Criterion::new(format!("{case}:"), ratio, Bound::AtLeast(0.9))
    };
    vec![
        claim("A fork costs about 1 ns and a join 1 to 10 ns: together at most 11 ns.")
            .judged("filch, minus plain recursion", most(join_cost(figures, FILCH.0), 11.0)),
        claim("A wake-up costs 5 to 10 ns. (This is less than a system call. It can only be the check that no worker sleeps.)")
            .judged("entering a sleeping pool", [FILCH.0, ENGINE_EVENTS].map(|name| {
                Criterion::new(format!("{name}:"), wake_cost(figures, name), Bound::AtMost(10.0)).with_unit("ns")
            })),
        claim("Speed-up is nearly linear for compute-bound programs: two workers reach at least 0.9 of the throughput of two serial runs at the same time.")
            .judged("two serial runs / filch-worker", [fib(figures), queens(figures)].map(linear)),
    ]
}

fn of_filch(figures: Figures<'_>) -> Vec<Verdict> {
    let claim = |text: &str| Claim::new(Source::filch("fork-join"), text);
    let number = fib(figures);
    let joins = |case: &str, over: Contender<'_>, under: Contender<'_>| figures.ratio(case, NANOS_A_JOIN, over, under);
    let part = |case: &str, over: Contender<'_>, under: Contender<'_>, bound: Bound| {
        Criterion::new(format!("{case}, {} / {}:", over.0, under.0), joins(case, over, under), bound)
    };
    // With one thread, both ways of the runtime to join.
    let both_joins = |other: &str, least: f64| {
        ["filch-worker", "filch"].map(|filch| part(number, (other, 1), (filch, 1), Bound::AtLeast(least)))
    };
    let (faster, near) = (Bound::AtLeast(1.0), Bound::AtLeast(0.92));
    let programs = [number, queens(figures)];
    let pairs = programs
        .into_iter()
        .flat_map(|case| [SERIAL_PAIR, SERIAL_CALL_PAIR].map(|pair| part(case, (pair, THREADS), WORKER, near)));
    // The ratio of two speed-ups, round by round: the product of two ratios.
    let speed_ups = programs.map(|case| {
        let ratios = [joins(case, ("filch-worker", 1), WORKER), joins(case, (SERIAL_PAIR, THREADS), ("serial", 1))];
        let ratios: Option<Vec<Rounds>> = ratios.into_iter().collect();
        let ratio = ratios.and_then(|ratios| geometric_mean(&ratios)?.map(|mean| mean * mean));
        Criterion::new(format!("{case}:"), ratio, near)
    });
    // Of the runtime's two ways, the faster one counts.
    let large_tree = |other: &str, least: f64| {
        let ratios = ["filch-worker", "filch-maybe"]
            .map(|filch| (format!("{other} / {filch}:"), joins("tree-16m", (other, THREADS), (filch, THREADS))));
        Criterion::largest(ratios, Bound::AtLeast(least))
    };
    let others = [("serial", 1), ("chili", THREADS), ("rayon", THREADS)];
    let small_tree = |case: &'static str, filch| others.map(|other| part(case, other, filch, faster));
    let wakes = [1, THREADS].map(|count| {
        let ratio = figures.ratio("wake", NANOS_A_WAKE, ("filch", count), ("rayon", count));
        Criterion::new(format!("{}:", threads(count)), ratio, Bound::AtMost(1.0))
    });
    let idle = |label: &str, unit| {
        Criterion::new(label, figures.figure("idle", unit, FILCH), Bound::AtMost(0.5)).with_unit("ms/s")
    };
    let switches = figures.figure("idle", SWITCHES_A_SECOND, FILCH).map(Rounds::in_the_worst_round);
    // The rest after subtracting the work itself may be negative, so there is no ratio.
    let ticks = |label: &str, case: &str| {
        let excess = figures.excess(case, EXTRA_CPU_MICROS_A_TICK, 3.0, FILCH, ("rayon", THREADS));
        Criterion::new(label, excess, Bound::AtMost(0.0)).with_unit("us per tick")
    };
    vec![
        claim(
            "A join costs about as much as a call: at most 1.15 times a recursion through calls if the worker is passed along, \
             and at most 1.3 times with rayon's signature.",
        )
        .judged("", [("filch-worker", 1.15), ("filch", 1.3)].map(|(filch, most)| {
            part(number, (filch, 1), ("serial-call", 1), Bound::AtMost(most))
        })),
        claim("On one thread, a join of rayon takes at least 4 times as long.").judged("", both_joins("rayon", 4.0)),
        claim("On one thread, a join of chili takes longer.").judged("", both_joins("chili", 1.0)),
        claim("Two workers reach at least 0.92 of the throughput of two serial runs at the same time.").judged("", pairs),
        claim("The speed-up of two workers over one is at least 0.92 of that of two serial runs at the same time over one.")
            .judged("(filch-worker 1 / filch-worker 2) / (serial / serial-pair)", speed_ups),
        claim(
            "A tree of 16 million nodes on two threads: chili takes at least as long as the faster of filch-worker and \
             filch-maybe, and rayon at least twice as long.",
        )
        .judged("", [large_tree("chili", 1.0), large_tree("rayon", 2.0)]),
        claim("For a tree of 1,023 nodes, filch on two threads takes at most 1.5 times as long as a serial sum.")
            .judged("", [WORKER, FILCH].map(|filch| part("tree-1023", filch, ("serial", 1), Bound::AtMost(1.5)))),
        claim("For a tree of 32,767 nodes, filch on two threads is faster than a serial sum, chili and rayon.")
            .judged("", small_tree("tree-32767", WORKER)),
        claim("For a tree of 32,767 nodes, filch is also faster with rayon's signature, and after an idle millisecond.").judged_each(
            [("tree-32767", FILCH), ("tree-32767-gap", WORKER), ("tree-32767-gap", FILCH)]
                .into_iter()
                .flat_map(|(case, filch)| small_tree(case, filch)),
        ),
        claim("A pool without work uses almost no CPU time: less than half a millisecond per second.").judged(
            "",
            [idle("its threads:", POOL_CPU_MILLIS_A_SECOND), idle("the process:", CPU_MILLIS_A_SECOND)],
        )
        .or_because(WHY_NOT_MEASURED),
        claim("The threads of a pool without work are not switched to, in any round.")
            .judged("worst round", [Criterion::new("", switches, Bound::AtMost(0.0)).with_unit("switches/s")])
            .or_because(WHY_NOT_MEASURED),
        claim(
            "A pool that gets a little work every millisecond uses at most a third of rayon's CPU time, not counting the work \
             itself.",
        )
        .judged("3 x filch - rayon", [ticks("work in 64 parts:", "tick"), ticks("in one:", "tick-serial")])
        .or_because(WHY_NOT_MEASURED),
        claim("A sleeping pool wakes at least as fast as rayon's.").judged("filch / rayon", wakes),
        claim(
            "With 4 to 32 workers whose leaves sleep, filch takes at most 1.03 times as long as if a waiting worker ran any \
             work, and at most 1.05 times as long as rayon. (On the comb 1.08 and 1.1: its chain goes from thief to thief.)",
        )
        .judged_each(many_workers(figures)),
    ]
}

/// Compares programs whose leaves sleep, with each number of workers that was measured.
fn many_workers(figures: Figures<'_>) -> Vec<Criterion> {
    let is_wide = |case: &str| Shape::ALL.iter().any(|shape| shape.name() == case);
    let of_filch = figures.series.iter().filter(|series| (series.name, series.unit) == ("filch", MILLIS_A_RUN));
    let compare = |case: &str, count: usize| {
        let most = if case == Shape::Comb.name() { [1.08, 1.10] } else { [1.03, 1.05] };
        ["filch-any", "rayon"]
            .into_iter()
            .zip(most)
            .map(move |(other, most)| {
                let ratio = figures.ratio(case, MILLIS_A_RUN, ("filch", count), (other, count));
                Criterion::new(format!("{case}, {count} workers, filch / {other}:"), ratio, Bound::AtMost(most))
            })
            .collect::<Vec<_>>()
    };
    let measured = of_filch.filter(|series| is_wide(&series.case));
    let missing = Criterion::new("programs that did not run", None, Bound::AtMost(1.05));
    measured
        .flat_map(|series| compare(&series.case, series.threads))
        .chain(figures.is_incomplete.then_some(missing))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::fork_join::WIDTHS;
    use crate::claims::Holds;
    use crate::figures::Series;

    fn series(case: &str, (name, threads): (&'static str, usize), unit: &'static str, samples: &[f64]) -> Series {
        Series { case: case.to_owned(), name, threads, unit, samples: samples.to_vec(), note: None }
    }

    fn verdict(all: &[Series], start: &str) -> Verdict {
        let verdicts = verdicts(Figures { series: all, is_quick: false, is_incomplete: false });
        verdicts.into_iter().find(|verdict| verdict.claim.starts_with(start)).unwrap()
    }

    #[test]
    fn speed_ups_are_compared_with_each_other() {
        let fib = |runner, nanos: f64| series("fib-38", runner, NANOS_A_JOIN, &[nanos; 6]);
        let all =
            [fib(("filch-worker", 1), 4.0), fib(WORKER, 2.5), fib(("serial", 1), 2.0), fib((SERIAL_PAIR, 2), 1.25)];
        let verdict = verdict(&all, "The speed-up of two workers");
        assert!(verdict.measured.contains("fib-38: 1.00 (1.00 to 1.00, 6 rounds)"), "{}", verdict.measured);
    }

    #[test]
    fn one_bad_round_is_enough_for_the_worst() {
        let holds = |samples: &[f64]| {
            verdict(&[series("idle", FILCH, SWITCHES_A_SECOND, samples)], "The threads of a pool without work").holds
        };
        assert_eq!(holds(&[0.0; 5]), Holds::Yes);
        assert_eq!(holds(&[0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0]), Holds::No);
    }

    #[test]
    fn of_the_two_ways_for_a_large_tree_the_faster_one_counts() {
        let tree = |name, nanos: f64| series("tree-16m", (name, 2), NANOS_A_JOIN, &[nanos; 6]);
        let all = [tree("chili", 6.0), tree("rayon", 12.0), tree("filch-worker", 8.0), tree("filch-maybe", 5.0)];
        let verdict = verdict(&all, "A tree of 16 million");
        assert!(verdict.holds == Holds::Yes && verdict.measured.starts_with("chili / filch-maybe: 1.20"));
    }

    #[test]
    fn wide_programs_have_a_bound_for_each_number_of_workers_and_each_peer() {
        let all: Vec<Series> = ["filch", "filch-any", "rayon"]
            .into_iter()
            .flat_map(|name| WIDTHS.map(|threads| (name, threads)))
            .flat_map(|runner| {
                let millis = if runner.0 == "filch" { 1.06 } else { 1.0 };
                Shape::ALL.map(|shape| series(shape.name(), runner, MILLIS_A_RUN, &[millis; 6]))
            })
            .collect();
        let measured = verdict(&all, "With 4 to 32 workers").measured;
        assert!(measured.starts_with("36 figures: 6 as claimed, 0 unclear, 30 not as claimed"), "{measured}");
    }
}
