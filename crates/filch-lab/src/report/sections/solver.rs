//! The solver on decision diagrams, compared with ddo.

use super::items::{as_named, bars, bench, figure, text, thread_counts, Columns};
use crate::bench::solver::{DDO, FILCH, MILLISECONDS, NODES, PEAK_MEGABYTES, SERIAL_PAIR};
use crate::bench::{solver, THREADS};
use crate::report::collect::Results;
use crate::report::page::{Cell, Item, Section, Texts};

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: "solver",
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
    let cases = as_named(&figures.cases(MILLISECONDS));
    let chart = bars("time of ddo, filch = 1", &cases, &thread_counts(), |case, &count| {
        figures.ratio(case, MILLISECONDS, (DDO, count), (FILCH, count))
    });
    let texts = Texts::new(
        "solver-ratios",
        "Time to a proof, compared with ddo",
        "Time of ddo relative to filch: above 1, filch is faster. A solver without a proof within the limit counts with the limit.",
        bench(solver::SUITE, results.full, &[]),
    );
    figure(texts, chart)
}

/// Returns a table with a row for each instance and number of threads.
fn all_cases(results: &Results) -> Item {
    let figures = results.figures(solver::SUITE);
    let cases = figures.cases(MILLISECONDS);
    let of = |&(case, threads): &(&str, usize), unit, other| figures.figure(case, unit, (other, threads));
    let ratio =
        |&(case, threads): &(&str, usize), other| figures.ratio(case, MILLISECONDS, (other, threads), (FILCH, threads));
    let notes = |&(case, threads): &(&str, usize)| {
        let notes = [FILCH, DDO].map(|other| (other, figures.note(case, MILLISECONDS, (other, threads))));
        let notes = notes.into_iter().filter_map(|(other, note)| Some(format!("{other}: {}", note?)));
        let notes = notes.collect::<Vec<_>>().join("; ");
        if notes.is_empty() {
            Cell::Empty
        } else {
            Cell::Text(notes)
        }
    };
    Columns::of(cases.into_iter().flat_map(|case| [1, THREADS].map(|threads| (case, threads))))
        .name("instance", |&(case, _)| case)
        .number("threads", |&(_, threads)| threads)
        .value("filch (ms)", |row| of(row, MILLISECONDS, FILCH))
        .value("ddo (ms)", |row| of(row, MILLISECONDS, DDO))
        .interval("ddo / filch", |row| ratio(row, DDO))
        // Two serial runs side by side are compared only with two threads.
        .interval("serial-pair / filch", |row| if row.1 == 2 { ratio(row, SERIAL_PAIR) } else { None })
        .value("nodes, filch", |row| of(row, NODES, FILCH))
        .value("nodes, ddo", |row| of(row, NODES, DDO))
        .value("MB, filch", |row| of(row, PEAK_MEGABYTES, FILCH))
        .value("MB, ddo", |row| of(row, PEAK_MEGABYTES, DDO))
        .cell("note", notes)
        .table(Texts::new(
            "solver-all",
            "Every instance",
            "Medians. Ratios with their intervals: above 1, filch is faster. serial-pair: two serial runs of filch at the same \
             time.",
            bench(solver::SUITE, results.full, &[]),
        ))
}
