//! The Cilk programs on every scheduler: the runtime, the engines and rayon.

use super::items::{as_named, bars, bench, figure, text, Columns};
use crate::bench::cilk::{ratio, MILLIS_A_RUN, RAYON, RUNTIME, STEALS_A_RUN, THE, THEP};
use crate::bench::{cilk, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: "cilk",
        title: "The Cilk programs on every scheduler".to_owned(),
        items: vec![
            text(
                "The eleven programs of table 1 of the fence-free paper, two unbalanced trees (UTS) and n queens, in sizes for this \
                 run; their differences from table 1 are beside figure 10. Every result is checked. One engine runs them with each queue that returns every task exactly once. The \
                 runtime of filch has no such queue. It and rayon are shown for comparison.",
            ),
            drawing(results),
            all_cases(results, 1),
            all_cases(results, THREADS),
            steals(results),
        ],
    }
}

fn drawing(results: &Results) -> Item {
    let figures = results.figures(cilk::SUITE);
    let cases = as_named(&figures.cases(MILLIS_A_RUN));
    let names = as_named(&["chase_lev", "asymmetric", THEP, RUNTIME[0], RUNTIME[1], RAYON]);
    let chart = bars("time, the = 1", &cases, &names, |case, other| ratio(figures, case, other, THE, THREADS));
    let texts = Texts::new(
        "cilk-schedulers",
        format!("Engines, the runtime and rayon, {}", threads(THREADS)),
        "Run time relative to the engine with Cilk's queue (the). Lower is better.",
        bench(cilk::SUITE, results.full, &[]),
    );
    figure(texts, chart)
}

/// Returns a table with a row for each program and a column for each scheduler.
///
/// The textbook's schedulers are left out: they are in the section of the Blitz notes.
fn all_cases(results: &Results, count: usize) -> Item {
    let figures = results.figures(cilk::SUITE);
    let own = |other: &str| if other == "serial" { 1 } else { count };
    let ratio = |case: &&str, other: &str| figures.ratio(case, MILLIS_A_RUN, (other, own(other)), (THE, count));
    Columns::of(figures.cases(MILLIS_A_RUN))
        .name("program", |case| *case)
        .value("the (ms)", |case| figures.figure(case, MILLIS_A_RUN, (THE, count)))
        .values(&["serial", "chase_lev", "asymmetric", "ff_cl", "ff_the", THEP], ratio)
        .values(&RUNTIME, ratio)
        .values(&[RAYON], ratio)
        .table(Texts::new(
            if count == 1 { "cilk-table-one" } else { "cilk-table-several" },
            format!("Every program, {}", threads(count)),
            "Milliseconds with Cilk's queue (the), and the time of the others relative to it. serial always has one thread. \
             Medians.",
            bench(cilk::SUITE, results.full, &[]),
        ))
}

/// Returns how often thieves of each engine succeeded.
fn steals(results: &Results) -> Item {
    let figures = results.figures(cilk::SUITE);
    let names = [THE, "chase_lev", "asymmetric", "ff_cl", THEP, "thep-4", "thep-inf", "ff_the", "ff_the-4"];
    Columns::of(figures.cases(MILLIS_A_RUN))
        .name("program", |case| *case)
        .values(&names, |case, other| figures.figure(case, STEALS_A_RUN, (other, THREADS)))
        .table(Texts::new(
            "cilk-steals",
            format!("Steals per run, {}", threads(THREADS)),
            "Medians. If thieves of ff_the steal almost nothing, its delta is too large for the few jobs that are queued \
             at a time.",
            bench(cilk::SUITE, results.full, &[]),
        ))
}
