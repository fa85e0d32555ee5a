//! The same programs on rayon's own core and on filch's.

use super::claim::{Bound, Claim, Criterion};
use super::items::{bars, bench, figure, has_figures, interval, name, table, text, value, Texts};
use super::ratio::Figures;
use super::rounds::Rounds;
use crate::bench::rayon::{
    ALLOCATIONS_A_TASK, CPU_MICROS_A_CALL, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK, OUTSIDE, P99_MICROS_A_CALL,
};
use crate::bench::{rayon, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Verdict};

pub(super) const ID: &str = "rayon";

const FILCH: &str = "filch";
const IN_PLACE: &str = "filch-in-place";
const RAYON: &str = "rayon";

/// The implementations that are measured in every case.
const BOTH: [&str; 2] = [RAYON, FILCH];

/// The page's name for [`IN_PLACE`].
const IN_PLACE_LABEL: &str = "filch, in place";

/// The largest ratio that is within the accuracy of a comparison.
const TOLERANCE: f64 = 1.03;

/// A case and a unit.
type Measured<'a> = (&'a str, &'static str);

/// Returns what is measured of any of `names`, in the order of the suite. The cases `tick` and
/// `idle` are handled separately.
fn measured<'a>(figures: Figures<'a>, names: &[&str]) -> Vec<Measured<'a>> {
    let mut cases = Vec::new();
    for series in figures.all() {
        let is_wanted = names.contains(&series.name) && !["idle", "tick"].contains(&&*series.case);
        if is_wanted && !cases.contains(&(&*series.case, series.unit)) {
            cases.push((&*series.case, series.unit));
        }
    }
    cases
}

/// Returns what is timed: each case with its unit. CPU times, the slowest calls and allocations are
/// handled separately.
fn timed<'a>(figures: Figures<'a>, names: &[&str]) -> Vec<Measured<'a>> {
    let mut cases = measured(figures, names);
    cases.retain(|(_, unit)| ![CPU_MICROS_A_CALL.name, P99_MICROS_A_CALL.name, ALLOCATIONS_A_TASK].contains(unit));
    cases
}

/// Returns the timed programs. Single calls from outside are many, and would outweigh them in a
/// mean.
fn programs(figures: Figures<'_>) -> Vec<Measured<'_>> {
    let mut cases = timed(figures, &BOTH);
    cases.retain(|(case, _)| !case.starts_with(OUTSIDE));
    cases
}

fn ratio(figures: Figures<'_>, name: &str, case: &str, unit: &str, count: usize) -> Option<Rounds> {
    figures.ratio(case, unit, (name, count), (RAYON, count))
}

pub(super) fn verdicts(results: &Results) -> Vec<Verdict> {
    let figures = Figures::of(results, rayon::SUITE);
    let claim = |text: &str| Claim::of_filch(ID, text);
    let faster = |case: &str, unit: &str, count: usize, least: f64| {
        let figure = figures.ratio(case, unit, (RAYON, count), (FILCH, count));
        Criterion::new(format!("{case}, {}:", threads(count)), figure, Bound::AtLeast(least))
    };
    let mean = |count: usize| {
        let ratios: Vec<Option<Rounds>> =
            programs(figures).into_iter().map(|(case, unit)| ratio(figures, FILCH, case, unit, count)).collect();
        Criterion::mean(format!("{}:", threads(count)), &ratios, Bound::AtMost(1.0))
            .incomplete_if(results.is_incomplete(rayon::SUITE))
    };
    let all = |name: &'static str| {
        let mut all = comparisons(figures, name);
        if results.is_incomplete(rayon::SUITE) {
            all.push(("programs that did not run".to_owned(), None));
        }
        all
    };
    vec![
        claim("No program that uses rayon is slower on filch. (Tolerance: 3 %, the accuracy of a comparison.)")
            .judged_each(&all(FILCH), Bound::AtMost(TOLERANCE)),
        claim("With callers in place, no program that calls from outside its pool is slower than on rayon. (Tolerance: 3 %.)")
            .judged_each(&all(IN_PLACE), Bound::AtMost(TOLERANCE)),
        claim("Over all programs, filch is faster: the geometric mean of filch / rayon is below 1.")
            .judged("filch / rayon", [1, THREADS].map(mean).to_vec()),
        claim("For programs that are mostly joins, rayon's own core takes at least 3 times as long.").judged(
            "rayon / filch",
            ["join-tree-16m", "join-fib"]
                .into_iter()
                .flat_map(|case| [1, THREADS].map(|count| faster(case, "ns/join", count, 3.0)))
                .collect(),
        ),
        claim(
            "A pool that gets a little work every 4 ms uses at most a third of rayon's CPU time, not counting the work itself.",
        )
        .judged(
            "3 x filch - rayon",
            vec![Criterion::new(
                "",
                figures.excess("tick", EXTRA_CPU_MICROS_A_TICK, 3.0, (FILCH, THREADS), (RAYON, THREADS)),
                Bound::AtMost(0.0),
            )
            .with_unit("us per tick")],
        ),
    ]
}

/// Returns the ratio of every program with each number of threads.
fn comparisons(figures: Figures<'_>, name: &str) -> Vec<(String, Option<Rounds>)> {
    let of = |(case, unit): Measured<'_>, count| {
        (format!("{case}, {}:", threads(count)), ratio(figures, name, case, unit, count))
    };
    timed(figures, &[name]).into_iter().flat_map(|case| [1, THREADS].map(|count| of(case, count))).collect()
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: ID,
        title: "Programs that use rayon, on filch".to_owned(),
        items: vec![
            text(
                "One line in `Cargo.toml` replaces `rayon-core` with filch's; no source changes. The same programs run on both, each in \
                 its own process, in turns. Published programs (tokei, oxipng) are only in full runs. `filch, in place` is filch \
                 with `FILCH_CALLERS=in-place`: a thread outside the pool takes part in the work that it calls for, instead of \
                 waiting for a worker.",
            ),
            drawing(results),
            calls_from_outside(results),
            all_cases(results),
            all_cases_in_place(results),
        ],
    }
}

fn drawing(results: &Results) -> Item {
    let figures = Figures::of(results, rayon::SUITE);
    let cases = programs(figures);
    let groups: Vec<&str> = cases.iter().map(|&(case, _)| case).collect();
    let counts = [1, THREADS].map(|count| (threads(count), count));
    let names: Vec<&str> = counts.iter().map(|(name, _)| &**name).collect();
    let chart = bars("time on filch, rayon = 1", Some(1.0), &groups, &names, |group, name| {
        let &(case, unit) = cases.iter().find(|(case, _)| *case == group)?;
        let &(_, count) = counts.iter().find(|(known, _)| known == name)?;
        ratio(figures, FILCH, case, unit, count)
    });
    figure(
        Texts {
            id: "rayon-programs",
            title: "The same programs on both cores".to_owned(),
            caption: "Below 1 is faster on filch. The times of life, which calls from outside the pool, vary by a factor of ten on both cores.".to_owned(),
            command: bench(rayon::SUITE, results.full, &[]),
        },
        chart,
    )
}

/// Returns the figure of calls from outside, compared with rayon's.
fn calls_from_outside(results: &Results) -> Item {
    let figures = Figures::of(results, rayon::SUITE);
    let cases = timed(figures, &[FILCH, IN_PLACE]);
    let groups: Vec<&str> = cases.iter().filter_map(|(case, _)| case.strip_prefix(OUTSIDE)).collect();
    let several = threads(THREADS);
    let chart = bars("time of a call, rayon = 1", Some(1.0), &groups, &[FILCH, IN_PLACE_LABEL], |group, name| {
        let &(case, unit) = cases.iter().find(|(case, _)| case.strip_prefix(OUTSIDE) == Some(group))?;
        ratio(figures, if name == FILCH { FILCH } else { IN_PLACE }, case, unit, THREADS)
    });
    figure(
        Texts {
            id: "rayon-outside",
            title: format!("Calls from outside a pool of {several}"),
            caption:
                "Below 1 is faster than on rayon. Calls follow each other immediately, unless the name states a pause."
                    .to_owned(),
            command: bench(rayon::SUITE, results.full, &[OUTSIDE]),
        },
        chart,
    )
}

fn all_cases(results: &Results) -> Item {
    let figures = Figures::of(results, rayon::SUITE);
    let mut cases = measured(figures, &BOTH);
    cases.extend([("tick", EXTRA_CPU_MICROS_A_TICK), ("idle", CPU_MILLIS_A_SECOND)]);
    let row = |&(case, unit): &Measured<'_>| {
        let mut row = vec![name(case), name(unit)];
        for count in [1, THREADS] {
            row.push(value(figures.figure(case, unit, (RAYON, count))));
            row.push(value(figures.figure(case, unit, (FILCH, count))));
            row.push(interval(ratio(figures, FILCH, case, unit, count)));
        }
        row
    };
    let several = threads(THREADS);
    table(
        Texts {
            id: "rayon-all",
            title: "Every program".to_owned(),
            caption: "Medians. A ratio is filch / rayon, with its interval.".to_owned(),
            command: bench(rayon::SUITE, results.full, &[]),
        },
        &[
            "program",
            "unit",
            "rayon, 1 thread",
            "filch, 1 thread",
            "ratio, 1 thread",
            &format!("rayon, {several}"),
            &format!("filch, {several}"),
            &format!("ratio, {several}"),
        ],
        cases.iter().map(row).filter(|row| has_figures(&row[1..])).collect(),
    )
}

fn all_cases_in_place(results: &Results) -> Item {
    let figures = Figures::of(results, rayon::SUITE);
    let mut cases = measured(figures, &[IN_PLACE]);
    cases.extend([("tick", EXTRA_CPU_MICROS_A_TICK), ("idle", CPU_MILLIS_A_SECOND)]);
    let row = |&(case, unit): &Measured<'_>| {
        let mut row = vec![name(case), name(unit)];
        for count in [1, THREADS] {
            row.push(value(figures.figure(case, unit, (IN_PLACE, count))));
            row.push(interval(ratio(figures, IN_PLACE, case, unit, count)));
        }
        row
    };
    let several = threads(THREADS);
    table(
        Texts {
            id: "rayon-in-place",
            title: "Programs whose callers can take part in the work".to_owned(),
            caption: "Medians. A ratio is filch, in place / rayon, with its interval.".to_owned(),
            command: bench(rayon::SUITE, results.full, &[]),
        },
        &[
            "program",
            "unit",
            &format!("{IN_PLACE_LABEL}, 1 thread"),
            "ratio, 1 thread",
            &format!("{IN_PLACE_LABEL}, {several}"),
            &format!("ratio, {several}"),
        ],
        cases.iter().map(row).filter(|row| has_figures(&row[1..])).collect(),
    )
}
