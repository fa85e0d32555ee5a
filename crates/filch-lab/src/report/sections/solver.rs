//! The solver on decision diagrams, compared with ddo.

use super::items::{bars, bench, figure, has_figures, interval, name, table, text, value, Texts};
use crate::bench::solver::{DDO, FILCH, MILLISECONDS, NODES, PEAK_MEGABYTES, SERIAL_PAIR};
use crate::bench::{solver, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Cell, Item, Section};

const ID: &str = "solver";

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
    let figures = results.figures(solver::SUITE);
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
    let figures = results.figures(solver::SUITE);
    let mut rows = Vec::new();
    for case in figures.cases(MILLISECONDS) {
        for count in [1, THREADS] {
            let of = |unit, other| value(figures.figure(case, unit, (other, count)));
            let ratio = |other| interval(figures.ratio(case, MILLISECONDS, (other, count), (FILCH, count)));
            let notes = [FILCH, DDO].map(|other| (other, figures.note(case, MILLISECONDS, (other, count))));
            let notes = notes.into_iter().filter_map(|(other, note)| Some(format!("{other}: {}", note?)));
            let notes = notes.collect::<Vec<_>>().join("; ");
            // Two serial runs side by side are compared only with two threads.
            let pair = if count == 2 { ratio(SERIAL_PAIR) } else { Cell::Empty };
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
                "Medians. Ratios with their intervals: above 1, filch is faster. serial-pair: two serial runs of filch at the same \
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
            "serial-pair / filch",
            "nodes, filch",
            "nodes, ddo",
            "MB, filch",
            "MB, ddo",
            "note",
        ],
        rows,
    )
}
