//! Fork and join, compared with rayon and chili.

use super::items::{as_named, bars, bench, figure, text, Columns};
use crate::bench::fork_join::{
    EXTRA_CPU_MICROS_A_TICK, MILLIS_A_RUN, MILLIS_A_SORT, NANOS_A_JOIN, NANOS_A_TASK, NANOS_A_WAKE,
    POOL_CPU_MILLIS_A_SECOND, WIDTHS,
};
use crate::bench::{fork_join, THREADS};
use crate::figures::threads;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

/// The implementations that are drawn.
const NAMES: [&str; 7] = ["serial", "serial-call", "filch-worker", "filch", "filch-maybe", "rayon", "chili"];

/// All cases that are measured in time per join, without gaps between the runs.
fn cases(results: &Results) -> Vec<&str> {
    let mut cases = results.figures(fork_join::SUITE).cases(NANOS_A_JOIN);
    cases.retain(|case| !case.ends_with("-gap"));
    cases
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: "fork-join",
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

/// The number of threads: a serial implementation runs on one, and is shown beside all others.
fn own_count(name: &str, count: usize) -> usize {
    if name.starts_with("serial") {
        1
    } else {
        count
    }
}

fn drawing(results: &Results, count: usize) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let chart = bars("nanoseconds per join", &as_named(&cases(results)), &as_named(&NAMES), |case, other| {
        figures.figure(case, NANOS_A_JOIN, (other, own_count(other, count)))
    });
    let texts = Texts::new(
        if count == 1 { "fork-join-one" } else { "fork-join-several" },
        format!("Cost of a join, {}", threads(count)),
        "Lower is better. fib has nothing but joins. The nodes of the trees are at random places in memory. queens and \
         skewed are searches with work between joins.",
        bench(fork_join::SUITE, results.full, &["fib", "tree", "queens", "skewed"]),
    );
    figure(texts, chart)
}

/// Returns a table of all implementations, with a row for each case.
fn all_cases(results: &Results, count: usize) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let cases = [NANOS_A_JOIN, MILLIS_A_SORT, NANOS_A_TASK]
        .into_iter()
        .flat_map(|unit| figures.cases(unit).into_iter().map(move |case| (case, unit)));
    let ratio = |&(case, unit): &(&str, &str), peer: &str| figures.ratio(case, unit, (peer, count), ("filch", count));
    Columns::of(cases)
        .name("case", |&(case, _)| case)
        .values(&NAMES, |&(case, unit), other| figures.figure(case, unit, (other, own_count(other, count))))
        .value("rayon / filch", |row| ratio(row, "rayon"))
        .value("chili / filch", |row| ratio(row, "chili"))
        .table(Texts::new(
            if count == 1 { "fork-join-table-one" } else { "fork-join-table-several" },
            format!("Every case, {}", threads(count)),
            "Medians: nanoseconds per join or per task of a scope, and milliseconds per run of quicksort. The last columns are ratios: above 1, filch is faster.",
            bench(fork_join::SUITE, results.full, &[]),
        ))
}

/// Returns the table of pools with little or nothing to do.
fn little_work(results: &Results) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let figure = |case: &str, unit, other: &str| figures.figure(case, unit, (other, THREADS));
    Columns::of(["filch", "rayon", "chili"])
        .name("who", |who| *who)
        .interval("wake (us)", |who| figure("wake", NANOS_A_WAKE, who)?.map(|nanos| nanos / 1e3))
        .interval("tick, 64 parts (us)", |who| figure("tick", EXTRA_CPU_MICROS_A_TICK, who))
        .interval("tick, one part (us)", |who| figure("tick-serial", EXTRA_CPU_MICROS_A_TICK, who))
        .interval("idle (ms/s)", |who| figure("idle", POOL_CPU_MILLIS_A_SECOND, who))
        .interval("after a gap (ns/join)", |who| figure("tree-32767-gap", NANOS_A_JOIN, who))
        .table(Texts::new(
            "fork-join-idle",
            "Pools with little to do",
            "wake: from the call into a sleeping pool to the first instruction inside; in chili the caller runs it itself. \
             tick: CPU time beyond 50 us of work every millisecond. idle: CPU time of a pool without work. gap: a tree of \
             32,767 nodes, each time after an idle millisecond.",
            bench(fork_join::SUITE, results.full, &["wake", "tick", "idle", "tree-32767-gap"]),
        ))
}

/// Returns the table with each optimisation switched off.
fn optimisations(results: &Results) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let ratio = |case: &str, other, count| figures.ratio(case, NANOS_A_JOIN, (other, count), ("filch-worker", count));
    let several = threads(THREADS);
    Columns::of(cases(results))
        .name("case", |case| *case)
        .interval("fenced, 1 thread", |case| ratio(case, "filch-fenced", 1))
        .interval(&format!("fenced, {several}"), |case| ratio(case, "filch-fenced", THREADS))
        .interval("no raids, 1 thread", |case| ratio(case, "filch-no-raid", 1))
        .interval(&format!("no raids, {several}"), |case| ratio(case, "filch-no-raid", THREADS))
        .table(Texts::new(
            "fork-join-tricks",
            "Each optimisation switched off",
            "Time relative to filch-worker. fenced: the owner executes the fence. no raids: thieves wait until the owner shares.",
            bench(fork_join::SUITE, results.full, &["fib", "tree", "queens", "skewed"]),
        ))
}

/// Returns the table of programs whose leaves sleep.
///
/// It has a row for each case and number of workers.
fn many_workers(results: &Results) -> Item {
    let figures = results.figures(fork_join::SUITE);
    let cases = figures.cases(MILLIS_A_RUN);
    let millis = |&(case, count): &(&str, usize), other| figures.figure(case, MILLIS_A_RUN, (other, count));
    let ratio =
        |&(case, count): &(&str, usize), other| figures.ratio(case, MILLIS_A_RUN, ("filch", count), (other, count));
    Columns::of(cases.into_iter().flat_map(|case| WIDTHS.map(|count| (case, count))))
        .name("case", |(case, count)| format!("{case}, {count} workers"))
        .value("filch (ms)", |row| millis(row, "filch"))
        .value("filch-any (ms)", |row| millis(row, "filch-any"))
        .value("rayon (ms)", |row| millis(row, "rayon"))
        .interval("filch / filch-any", |row| ratio(row, "filch-any"))
        .interval("filch / rayon", |row| ratio(row, "rayon"))
        .table(Texts::new(
            "fork-join-wide",
            "Many workers",
            "Milliseconds per run of programs whose leaves sleep for 2 ms. In filch, a waiting worker runs only work that its \
             wait needs. In filch-any it runs any work, as in rayon. The last columns are ratios: above 1, filch is slower.",
            bench(fork_join::SUITE, results.full, &["wide"]),
        ))
}
