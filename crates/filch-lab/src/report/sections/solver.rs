//! The solver on decision diagrams, compared with ddo.

use super::claim::{Bound, Claim, Criterion};
use super::items::{bars, bench, figure, has_figures, interval, name, table, text, value, Texts};
use super::ratio::Figures;
use crate::bench::solver::{DDO, FILCH, MILLISECONDS, NODES, PEAK_MEGABYTES, TWO_SERIAL};
use crate::bench::{solver, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Cell, Item, Section, Verdict};

pub(super) const ID: &str = "solver";

/// Returns the cases of a problem, by the prefix of their names.
fn cases<'a>(figures: Figures<'a>, problem: &str) -> Vec<&'a str> {
    let is_of = |case: &&str| case.split('/').next() == Some(problem);
    figures.cases(MILLISECONDS).into_iter().filter(is_of).collect()
}

/// Makes a part of the mean ratio of another's time to filch's. The mean is over the cases of a
/// problem.
///
/// It must be at least `least`.
fn mean(results: &Results, label: &str, cases: &[&str], (other, count): (&str, usize), least: f64) -> Criterion {
    let figures = Figures::of(results, solver::SUITE);
    let ratio = |case: &&str| figures.ratio(case, MILLISECONDS, (other, count), (FILCH, count));
    let ratios = cases.iter().map(ratio).collect::<Vec<_>>();
    Criterion::mean(label, &ratios, Bound::AtLeast(least)).incomplete_if(results.is_incomplete(solver::SUITE))
}

pub(super) fn verdicts(results: &Results) -> Vec<Verdict> {
    let figures = Figures::of(results, solver::SUITE);
    let claim = |text: &str| Claim::of_filch(ID, text);
    let misp = mean(results, "", &cases(figures, "misp"), (DDO, THREADS), 2.0);
    let knapsack =
        |count: usize| mean(results, &format!("{}:", threads(count)), &cases(figures, "knapsack"), (DDO, count), 1.0);
    let pairs = mean(results, "", &figures.cases(MILLISECONDS), (TWO_SERIAL, 2), 0.9);
    vec![
        claim("Independent sets on two threads: ddo takes at least twice as long (geometric mean).")
            .judged("ddo / filch", vec![misp]),
        claim("Knapsacks: ddo takes at least as long (geometric mean).")
            .judged("ddo / filch", [1, THREADS].map(knapsack).to_vec()),
        claim("Two threads reach at least 0.9 of the throughput of two serial runs at the same time (geometric mean).")
            .judged("two-serial / filch", vec![pairs]),
    ]
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: ID,
        title: "The solver, compared with ddo".to_owned(),
        items: vec![
            text(
                "Branch and bound on decision diagrams, until the optimum is proven. Both solvers have the same problem, width and \
                 settings, and find the same optimum. They search in different orders, so the numbers of nodes are shown, too.",
            ),
            drawing(results),
            all_cases(results),
        ],
    }
}

fn drawing(results: &Results) -> Item {
    let figures = Figures::of(results, solver::SUITE);
    let counts = [1, THREADS].map(|count| (threads(count), count));
    let names: Vec<&str> = counts.iter().map(|(name, _)| &**name).collect();
    let chart = bars("time of ddo, filch = 1", Some(1.0), &figures.cases(MILLISECONDS), &names, |case, name| {
        let &(_, count) = counts.iter().find(|(known, _)| known == name)?;
        figures.ratio(case, MILLISECONDS, (DDO, count), (FILCH, count))
    });
    figure(
        Texts {
            id: "solver-ratios",
            title: "Time to a proof, compared with ddo".to_owned(),
            caption: "Time of ddo relative to filch: above 1, filch is faster. A solver without a proof within the limit counts with the limit.".to_owned(),
            command: bench(solver::SUITE, results.full, &[]),
        },
        chart,
    )
}

/// Returns a table with a row for each instance and number of threads.
fn all_cases(results: &Results) -> Item {
    let figures = Figures::of(results, solver::SUITE);
    let mut rows = Vec::new();
    for case in figures.cases(MILLISECONDS) {
        for count in [1, THREADS] {
            let of = |unit, other| value(figures.figure(case, unit, (other, count)));
            let ratio = |other| interval(figures.ratio(case, MILLISECONDS, (other, count), (FILCH, count)));
            let notes = [FILCH, DDO].map(|other| (other, figures.note(case, MILLISECONDS, (other, count))));
            let notes = notes.into_iter().filter_map(|(other, note)| Some(format!("{other}: {}", note?)));
            let notes = notes.collect::<Vec<_>>().join("; ");
            // Two serial runs side by side are compared only with two threads.
            let pair = if count == 2 { ratio(TWO_SERIAL) } else { Cell::Empty };
            let row = vec![
                name(case),
                super::items::count(count),
                of(MILLISECONDS, FILCH),
                of(MILLISECONDS, DDO),
                ratio(DDO),
                pair,
                of(NODES, FILCH),
                of(NODES, DDO),
                of(PEAK_MEGABYTES, FILCH),
                of(PEAK_MEGABYTES, DDO),
                if notes.is_empty() { Cell::Empty } else { name(notes) },
            ];
            if has_figures(&row[1..]) {
                rows.push(row);
            }
        }
    }
    table(
        Texts {
            id: "solver-all",
            title: "Every instance".to_owned(),
            caption:
                "Medians. Ratios with their intervals: above 1, filch is faster. two-serial: two serial runs of filch at the same \
                 time."
                    .to_owned(),
            command: bench(solver::SUITE, results.full, &[]),
        },
        &[
            "instance",
            "threads",
            "filch (ms)",
            "ddo (ms)",
            "ddo / filch",
            "two-serial / filch",
            "nodes, filch",
            "nodes, ddo",
            "MB, filch",
            "MB, ddo",
            "note",
        ],
        rows,
    )
}
