//! The same programs on rayon's own core and on filch's.

use super::items::{bars, bench, figure, text, thread_counts, Columns};
use crate::bench::rayon::{
    measured, programs, ratio, timed, CaseAndUnit, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK, FILCH, IN_PLACE,
    OUTSIDE, RAYON,
};
use crate::bench::{rayon, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

/// The implementations that are measured in every case, with their names on the page.
const BOTH: [(&str, &str); 2] = [(RAYON, "rayon"), (FILCH, "filch")];

/// The page's name for [`IN_PLACE`].
const IN_PLACE_LABEL: &str = "filch, in place";

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: "rayon",
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
            all_cases(
                results,
                &BOTH,
                Texts::new(
                    "rayon-all",
                    "Every program",
                    "Medians. A ratio is filch / rayon, with its interval.",
                    bench(rayon::SUITE, results.full, &[]),
                ),
            ),
            all_cases(
                results,
                &[(IN_PLACE, IN_PLACE_LABEL)],
                Texts::new(
                    "rayon-in-place",
                    "Programs whose callers can take part in the work",
                    "Medians. A ratio is filch, in place / rayon, with its interval.",
                    bench(rayon::SUITE, results.full, &[]),
                ),
            ),
        ],
    }
}

fn drawing(results: &Results) -> Item {
    let figures = results.figures(rayon::SUITE);
    let cases: Vec<_> = programs(figures).into_iter().map(|of| (of.0.to_owned(), of)).collect();
    let chart = bars("time on filch, rayon = 1", &cases, &thread_counts(), |&(case, unit), &count| {
        ratio(figures, FILCH, case, unit, count)
    });
    let texts = Texts::new(
        "rayon-programs",
        "The same programs on both cores",
        "Below 1 is faster on filch. The times of life, which calls from outside the pool, vary by a factor of ten on both cores.",
        bench(rayon::SUITE, results.full, &[]),
    );
    figure(texts, chart)
}

/// Returns the figure of calls from outside, compared with rayon's.
fn calls_from_outside(results: &Results) -> Item {
    let figures = results.figures(rayon::SUITE);
    let cases = timed(figures, &[FILCH, IN_PLACE]).into_iter();
    let calls: Vec<_> = cases.filter_map(|of| Some((of.0.strip_prefix(OUTSIDE)?.to_owned(), of))).collect();
    let names = [FILCH, IN_PLACE].map(|name| (if name == FILCH { FILCH } else { IN_PLACE_LABEL }.to_owned(), name));
    let chart = bars("time of a call, rayon = 1", &calls, &names, |&(case, unit), name| {
        ratio(figures, name, case, unit, THREADS)
    });
    let texts = Texts::new(
        "rayon-outside",
        format!("Calls from outside a pool of {}", threads(THREADS)),
        "Below 1 is faster than on rayon. Calls follow each other immediately, unless the name states a pause.",
        bench(rayon::SUITE, results.full, &[OUTSIDE]),
    );
    figure(texts, chart)
}

/// Returns a table with the times of these implementations, and the ratio of the last to rayon.
fn all_cases(results: &Results, implementations: &[(&'static str, &str)], texts: Texts) -> Item {
    let figures = results.figures(rayon::SUITE);
    let names: Vec<&str> = implementations.iter().map(|&(name, _)| name).collect();
    let mut cases = measured(figures, &names);
    cases.extend([("tick", EXTRA_CPU_MICROS_A_TICK), ("idle", CPU_MILLIS_A_SECOND)]);
    let mut columns = Columns::of(cases).name("program", |&(case, _)| case).name("unit", |&(_, unit)| unit);
    for (several, count) in thread_counts() {
        for &(name, label) in implementations {
            let time = |&(case, unit): &CaseAndUnit<'_>| {
                is_measured(case, count).then(|| figures.figure(case, unit, (name, count)))?
            };
            columns = columns.value(&format!("{label}, {several}"), time);
        }
        let last = implementations[implementations.len() - 1].0;
        columns = columns.interval(&format!("ratio, {several}"), |&(case, unit)| {
            is_measured(case, count).then(|| ratio(figures, last, case, unit, count))?
        });
    }
    columns.table(texts)
}

/// Whether a case is measured with this number of threads. Cases about sleep need several.
fn is_measured(case: &str, count: usize) -> bool {
    count > 1 || !["tick", "idle"].contains(&case)
}
