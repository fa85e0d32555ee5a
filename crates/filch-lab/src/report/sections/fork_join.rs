//! Fork and join, compared with rayon and chili.

use super::items::{bars, bench, figure, has_figures, interval, name, table, text, value, Texts};
use crate::bench::fork_join::{
    fib, EXTRA_CPU_MICROS_A_TICK, MILLIS_A_RUN, MILLIS_A_SORT, NANOS_A_JOIN, NANOS_A_WAKE, POOL_CPU_MILLIS_A_SECOND,
    WIDTHS,
};
use crate::bench::{fork_join, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Item, Section};

const ID: &str = "fork-join";

/// The implementations that are drawn.
const NAMES: [&str; 7] = ["serial", "serial-call", "filch-worker", "filch", "filch-maybe", "rayon", "chili"];
/// The cases that are measured in time per join, besides [`fib`].
const CASES: [&str; 5] = ["tree-1023", "tree-32767", "tree-16m", "queens-13", "skewed"];

/// All cases that are measured in time per join.
fn cases(results: &Results) -> Vec<&str> {
    [fib(results.figures(fork_join::SUITE))].into_iter().chain(CASES).collect()
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: ID,
        title: "Fork and join, compared with rayon and chili".to_owned(),
        items: vec![
            text(
                "`serial` is plain recursion. `serial-call` is the same through calls that cannot be inlined. Both run on one thread. \
                 `filch-worker` passes the worker along. `filch` is `join` with rayon's signature. `filch-maybe` makes no job if \
                 enough are queued, as chili always does.",
            ),
            drawing(results, 1),
            drawing(results, THREADS),
            all_cases(results, 1),
            all_cases(results, THREADS),
            little_work(results),
            optimisations(results),
            many_workers(results),
        ],
    }
}

fn drawing(results: &Results, count: usize) -> Item {
    let figures = results.figures(fork_join::SUITE);
    // A serial implementation runs on one thread, and is shown beside all others.
    let own = |other: &str| if other.starts_with("serial") { 1 } else { count };
    let chart = bars("nanoseconds per join", None, &cases(results), &NAMES, |case, other| {
        figures.figure(case, NANOS_A_JOIN, (other, own(other)))
    });
    let id = if count == 1 { "fork-join-one" } else { "fork-join-several" };
    figure(
        Texts {
            id,
            title: format!("Cost of a join, {}", threads(count)),
            caption: "Lower is better. fib has nothing but joins. The nodes of the trees are at random places in memory. queens and \
                      skewed are searches with work between joins."
                .to_owned(),
            command: bench(fork_join::SUITE, results.full, &["fib", "tree", "queens", "skewed"]),
        },
        chart,
    )
}

/// Returns a table of all implementations, with a row for each case.
fn all_cases(results: &Results, count: usize) -> Item {
    let figures = results.figures(fork_join::SUITE);
    // A serial implementation runs on one thread, and is shown beside all others.
    let own = |other: &str| if other.starts_with("serial") { 1 } else { count };
    let row = |case: &str, unit: &'static str| {
        let mut row = vec![name(case)];
        row.extend(NAMES.map(|other| value(figures.figure(case, unit, (other, own(other))))));
        row.extend(["rayon", "chili"].map(|peer| value(figures.ratio(case, unit, (peer, count), ("filch", count)))));
        row
    };
    let cases = [NANOS_A_JOIN, MILLIS_A_SORT]
        .into_iter()
        .flat_map(|unit| figures.cases(unit).into_iter().map(move |case| (case, unit)));
    let mut header = vec!["case"];
    header.extend(NAMES);
    header.extend(["rayon / filch", "chili / filch"]);
    table(
        Texts {
            id: if count == 1 { "fork-join-table-one" } else { "fork-join-table-several" },
            title: format!("Every case, {}", threads(count)),
            caption: "Medians: nanoseconds per join, and milliseconds per run of quicksort. The last columns are ratios: above 1, filch is faster.".to_owned(),
            command: bench(fork_join::SUITE, results.full, &[]),
        },
        &header,
        cases.map(|(case, unit)| row(case, unit)).filter(|row| has_figures(row)).collect(),
    )
}

/// Returns the table of pools with little or nothing to do.
fn little_work(results: &Results) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let micros = |other: &str| figures.figure("wake", NANOS_A_WAKE, (other, THREADS))?.map(|nanos| nanos / 1e3);
    let row = |other: &str| {
        vec![
            name(other),
            interval(micros(other)),
            interval(figures.figure("tick", EXTRA_CPU_MICROS_A_TICK, (other, THREADS))),
            interval(figures.figure("tick-serial", EXTRA_CPU_MICROS_A_TICK, (other, THREADS))),
            interval(figures.figure("idle", POOL_CPU_MILLIS_A_SECOND, (other, THREADS))),
            interval(figures.figure("tree-32767-gap", NANOS_A_JOIN, (other, THREADS))),
        ]
    };
    table(
        Texts {
            id: "fork-join-idle",
            title: "Pools with little to do".to_owned(),
            caption: "wake: from the call into a sleeping pool to the first instruction inside; in chili the caller runs it itself. \
                      tick: CPU time beyond 50 us of work every millisecond. idle: CPU time of a pool without work. gap: a tree of \
                      32,767 nodes, each time after an idle millisecond."
                .to_owned(),
            command: bench(fork_join::SUITE, results.full, &["wake", "tick", "idle", "tree-32767-gap"]),
        },
        &["who", "wake (us)", "tick, 64 parts (us)", "tick, one part (us)", "idle (ms/s)", "after a gap (ns/join)"],
        ["filch", "rayon", "chili"].map(row).into_iter().filter(|row| has_figures(row)).collect(),
    )
}

/// Returns the table with each optimisation switched off.
fn optimisations(results: &Results) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let row = |case: &&str| {
        let ratio = |other, count| interval(figures.ratio(case, NANOS_A_JOIN, (other, count), ("filch-worker", count)));
        vec![
            name(*case),
            ratio("filch-fenced", 1),
            ratio("filch-fenced", THREADS),
            ratio("filch-no-raid", 1),
            ratio("filch-no-raid", THREADS),
        ]
    };
    let several = threads(THREADS);
    table(
        Texts {
            id: "fork-join-tricks",
            title: "Each optimisation switched off".to_owned(),
            caption: "Time relative to filch-worker. fenced: the owner executes the fence. no raids: thieves wait until the owner shares.".to_owned(),
            command: bench(fork_join::SUITE, results.full, &["fib", "tree", "queens", "skewed"]),
        },
        &["case", "fenced, 1 thread", &format!("fenced, {several}"), "no raids, 1 thread", &format!("no raids, {several}")],
        cases(results).iter().map(row).filter(|row| has_figures(row)).collect(),
    )
}

/// Returns the table of programs whose leaves sleep.
///
/// It has a row for each case and number of workers.
fn many_workers(results: &Results) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let row = |case: &str, count: usize| {
        let mut row = vec![name(format!("{case}, {count} workers"))];
        let millis = |other| value(figures.figure(case, MILLIS_A_RUN, (other, count)));
        row.extend(["filch", "filch-any", "rayon"].map(millis));
        let ratio = |other| interval(figures.ratio(case, MILLIS_A_RUN, ("filch", count), (other, count)));
        row.extend(["filch-any", "rayon"].map(ratio));
        row
    };
    let rows = figures.cases(MILLIS_A_RUN).into_iter().flat_map(|case| WIDTHS.map(|count| row(case, count)));
    table(
        Texts {
            id: "fork-join-wide",
            title: "Many workers".to_owned(),
            caption: "Milliseconds per run of programs whose leaves sleep for 2 ms. In filch, a waiting worker runs only work that its \
                      wait needs. In filch-any it runs any work, as in rayon. The last columns are ratios: above 1, filch is slower."
                .to_owned(),
            command: bench(fork_join::SUITE, results.full, &["wide"]),
        },
        &["case", "filch (ms)", "filch-any (ms)", "rayon (ms)", "filch / filch-any", "filch / rayon"],
        rows.filter(|row| has_figures(row)).collect(),
    )
}
