//! The same programs on rayon's own core and on filch's.

use super::items::{bars, bench, figure, has_figures, interval, name, table, text, value, Texts};
use crate::bench::rayon::{
    measured, programs, ratio, timed, CaseAndUnit, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK, FILCH, IN_PLACE,
    OUTSIDE, RAYON,
};
use crate::bench::{rayon, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Item, Section};

const ID: &str = "rayon";

/// The implementations that are measured in every case.
const BOTH: [&str; 2] = [RAYON, FILCH];

/// The page's name for [`IN_PLACE`].
const IN_PLACE_LABEL: &str = "filch, in place";

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
    let figures = results.figures(rayon::SUITE);
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
    let figures = results.figures(rayon::SUITE);
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
    let figures = results.figures(rayon::SUITE);
    let mut cases = measured(figures, &BOTH);
    cases.extend([("tick", EXTRA_CPU_MICROS_A_TICK), ("idle", CPU_MILLIS_A_SECOND)]);
    let row = |&(case, unit): &CaseAndUnit<'_>| {
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
    let figures = results.figures(rayon::SUITE);
    let mut cases = measured(figures, &[IN_PLACE]);
    cases.extend([("tick", EXTRA_CPU_MICROS_A_TICK), ("idle", CPU_MILLIS_A_SECOND)]);
    let row = |&(case, unit): &CaseAndUnit<'_>| {
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
