//! The Cilk programs on every scheduler: the runtime, the engines and rayon.

use super::claim::{Bound, Claim, Criterion};
use super::items::{bars, bench, figure, has_figures, name, table, text, value, Texts};
use super::ratio::Figures;
use super::rounds::Rounds;
use crate::bench::cilk::{MILLIS_A_RUN, STEALS_A_RUN};
use crate::bench::{cilk, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Cell, Item, Section, Verdict};

pub(super) const ID: &str = "cilk";

/// The baseline of all comparisons: Cilk's queue, with its fence.
pub(super) const THE: &str = "the";
pub(super) const THEP: &str = "thep";

/// The schedulers that run on one engine, each with a queue of this project.
const ENGINES: [&str; 9] =
    ["the", "chase_lev", "asymmetric", "ff_cl", "ff_the", "thep", "ff_the-4", "thep-4", "thep-inf"];
const RUNTIME: [&str; 2] = ["filch-worker", "filch"];
const RAYON: &str = "rayon";

/// The programs that were run, in the order of the suite.
pub(super) fn programs<'a>(figures: Figures<'a>) -> Vec<&'a str> {
    figures.cases(MILLIS_A_RUN)
}

/// All programs of the suite, whether they were run or not.
pub(super) fn all_programs(results: &Results) -> Vec<String> {
    cilk::case_names(!results.full)
}

/// Whether a program is in table 1 of the paper.
pub(super) fn is_of_the_paper(case: &str) -> bool {
    !["uts", "queens"].contains(&case.split('-').next().unwrap_or(case))
}

/// Returns the ratio of two schedulers' times in a program, with `count` threads each.
pub(super) fn ratio(figures: Figures<'_>, case: &str, over: &str, under: &str, count: usize) -> Option<Rounds> {
    figures.ratio(case, MILLIS_A_RUN, (over, count), (under, count))
}

/// Returns this ratio for each of these programs, for a mean.
pub(super) fn ratios<C: AsRef<str>>(
    figures: Figures<'_>,
    cases: &[C],
    over: &str,
    under: &str,
    count: usize,
) -> Vec<Option<Rounds>> {
    cases.iter().map(|case| ratio(figures, case.as_ref(), over, under, count)).collect()
}

pub(super) fn verdicts(results: &Results) -> Vec<Verdict> {
    let figures = Figures::of(results, cilk::SUITE);
    let cases = all_programs(results);
    let claim = |text: &str| Claim::of_filch(ID, text);
    // The engine with the worst result for the runtime.
    let engines = |count: usize| {
        // With one thread there are no thieves, so delta makes no difference.
        let engines = ENGINES.iter().filter(|name| count > 1 || !name.contains('-'));
        let means = engines.map(|other| {
            let label = format!("{} / {other}, {}:", RUNTIME[0], threads(count));
            Criterion::mean(label, &ratios(figures, &cases, RUNTIME[0], other, count), Bound::AtMost(1.0))
        });
        Criterion::largest(means, Bound::AtMost(1.0))
    };
    let rayon = |count: usize| {
        let label = format!("{}:", threads(count));
        Criterion::mean(label, &ratios(figures, &cases, RUNTIME[0], RAYON, count), Bound::AtMost(1.0))
    };
    vec![
        claim("Over all Cilk programs (geometric mean), the default runtime is at least as fast as the fastest engine with a queue.")
            .judged("", [1, THREADS].map(engines).to_vec()),
        claim("Over all Cilk programs (geometric mean), the default runtime is at least as fast as rayon.").judged("filch-worker / rayon", [1, THREADS].map(rayon).to_vec()),
    ]
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: ID,
        title: "The Cilk programs on every scheduler".to_owned(),
        items: vec![
            text(
                "The eleven programs of table 1 of the fence-free paper, two unbalanced trees (UTS) and n queens, in sizes for this \
                 run. Every result is checked. One engine runs them with each queue that returns every task exactly once. The \
                 runtime of filch has no such queue. It and rayon are shown for comparison.",
            ),
            text(
                "Two programs differ from the paper's. integrate halves an interval until the area changes by less than 1e-8; \
                 Cilk's program uses 1e-9. It has half as many joins of the same kind. In cholesky, the nonzero elements of \
                 the matrix are within an eighth of the rows from the diagonal, as in a matrix that a solver has reordered. \
                 The paper does not describe the positions in its matrix.",
            ),
            drawing(results),
            all_cases(results, 1),
            all_cases(results, THREADS),
            steals(results),
        ],
    }
}

fn drawing(results: &Results) -> Item {
    let figures = Figures::of(results, cilk::SUITE);
    let names = ["chase_lev", "asymmetric", THEP, RUNTIME[0], RUNTIME[1], RAYON];
    let chart = bars("time, the = 1", Some(1.0), &programs(figures), &names, |case, other| {
        ratio(figures, case, other, THE, THREADS)
    });
    figure(
        Texts {
            id: "cilk-schedulers",
            title: format!("Engines, the runtime and rayon, {}", threads(THREADS)),
            caption: "Run time relative to the engine with Cilk's queue (the). Lower is better.".to_owned(),
            command: bench(cilk::SUITE, results.full, &[]),
        },
        chart,
    )
}

/// Returns a table with a row for each program and a column for each scheduler.
///
/// The textbook's schedulers are left out: they are in the section of the Blitz notes.
fn all_cases(results: &Results, count: usize) -> Item {
    let figures = Figures::of(results, cilk::SUITE);
    let cases = programs(figures);
    let names = ["serial", "chase_lev", "asymmetric", "ff_cl", "ff_the", THEP];
    let names: Vec<&str> = names.into_iter().chain(RUNTIME).chain([RAYON]).collect();
    let own = |other: &str| if other == "serial" { 1 } else { count };
    let row = |case: &&str| -> Vec<Cell> {
        let ratio = |other: &&str| figures.ratio(case, MILLIS_A_RUN, (other, own(other)), (THE, count));
        let time = value(figures.figure(case, MILLIS_A_RUN, (THE, count)));
        [name(*case), time].into_iter().chain(names.iter().map(|other| value(ratio(other)))).collect()
    };
    let header: Vec<&str> = ["program", "the (ms)"].into_iter().chain(names.iter().copied()).collect();
    table(
        Texts {
            id: if count == 1 { "cilk-table-one" } else { "cilk-table-several" },
            title: format!("Every program, {}", threads(count)),
            caption:
                "Milliseconds with Cilk's queue (the), and the time of the others relative to it. serial always has one thread. \
                 Medians."
                    .to_owned(),
            command: bench(cilk::SUITE, results.full, &[]),
        },
        &header,
        cases.iter().map(row).filter(|row| has_figures(row)).collect(),
    )
}

/// Returns how often thieves of each engine succeeded.
fn steals(results: &Results) -> Item {
    let figures = Figures::of(results, cilk::SUITE);
    let names = [THE, "chase_lev", "asymmetric", "ff_cl", THEP, "thep-4", "thep-inf", "ff_the", "ff_the-4"];
    let row = |case: &&str| -> Vec<Cell> {
        let steals = |other: &&str| value(figures.figure(case, STEALS_A_RUN, (other, THREADS)));
        std::iter::once(name(*case)).chain(names.iter().map(steals)).collect()
    };
    let header: Vec<&str> = std::iter::once("program").chain(names).collect();
    table(
        Texts {
            id: "cilk-steals",
            title: format!("Steals per run, {}", threads(THREADS)),
            caption: "Medians. If thieves of ff_the steal almost nothing, its delta is too large for the few jobs that are queued \
                      at a time."
                .to_owned(),
            command: bench(cilk::SUITE, results.full, &[]),
        },
        &header,
        programs(figures).iter().map(row).filter(|row| has_figures(row)).collect(),
    )
}
