//! Made-up figures of every suite, with the suites' real names, for tests.

use std::collections::{BTreeMap, BTreeSet};

use super::bulk::{NANOS_A_NODE, NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL, NANOS_A_TASK};
use super::{bulk, cilk, fork_join, graphs, mpi, queues, rayon, solver};
use crate::figures::Series;

/// What each suite's smoke run must have measured: cases and implementations, by the suite's name.
///
/// CI checks real runs against this list.
fn smoke() -> BTreeMap<&'static str, (Vec<&'static str>, Vec<&'static str>)> {
    let source = include_str!("../../../../xtask/src/steps/smoke/suites.rs");
    let list = |part: &'static str, start: &str| -> Vec<&'static str> {
        let list = part.split_once(start).and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
        list.split('"').skip(1).step_by(2).collect()
    };
    let suites = source.split("    Suite {").skip(1);
    let named = |part: &'static str| {
        let name = part.split_once("name: \"")?.1.split_once('"')?.0;
        Some((name, (list(part, "cases: &["), list(part, "impls: &["))))
    };
    suites.filter_map(named).collect()
}

fn series(case: &str, name: &'static str, threads: usize, unit: &'static str) -> Series {
    // Figures differ in size, and none is the same in all rounds.
    let base = 1.0 + (case.len() + 3 * name.len() + 5 * threads) as f64 / 7.0;
    let samples = (0..7).map(|round| base * (1.0 + f64::from(round) / 100.0)).collect();
    Series { case: case.to_owned(), name, threads, unit, samples, note: None }
}

/// The cases about the sleep of threads, which are never measured with one thread.
const SLEEPERS: [&str; 3] = ["idle", "tick", "tick-serial"];

/// Returns every case with every name, in all units, with one thread and with two.
///
/// Cases about sleep have only two.
pub(crate) fn suite(cases: &[&str], names: &[&'static str], units: impl Fn(&str) -> Vec<&'static str>) -> Vec<Series> {
    let mut all = Vec::new();
    for case in cases {
        for &name in names {
            for unit in units(case) {
                let counts: &[usize] = if SLEEPERS.contains(case) { &[2] } else { &[1, 2] };
                all.extend(counts.iter().map(|&threads| series(case, name, threads, unit)));
            }
        }
    }
    all
}

/// Returns figures of all that the claims need, by suite.
pub(crate) fn figures() -> BTreeMap<&'static str, Vec<Series>> {
    let smoke = smoke();
    let of = |name: &str, units: &dyn Fn(&str) -> Vec<&'static str>| {
        let (cases, names) = &smoke[name];
        suite(cases, names, units)
    };
    let mut suites = BTreeMap::new();
    let of_queues = {
        let (cases, names) = &smoke[queues::SUITE];
        let costs = queues::TASK_COSTS.map(|cost| queues::Case::TaskCost(cost).to_string());
        // The smoke run does not check all that claims need.
        let cases: Vec<&str> =
            cases.iter().copied().chain(["push-grow"]).chain(costs.iter().map(|case| &**case)).collect();
        let more = ["floor-lock", "ff_the-untrusted", "ff_cl-untrusted", "thep-untrusted"];
        let names: Vec<&'static str> = names.iter().copied().chain(more).collect();
        suite(&cases, &names, |_| vec![queues::NANOS_AN_OPERATION])
    };
    suites.insert(queues::SUITE, of_queues);
    suites.insert(fork_join::SUITE, {
        let (cases, names) = &smoke[fork_join::SUITE];
        let names: Vec<&'static str> = names.iter().copied().chain(["serial-pair", "serial-call-pair"]).collect();
        // The smoke run leaves out long cases.
        let long = ["fib-38", "tree-16m", "queens-13", "tick-serial"];
        let cases: Vec<&str> = cases.iter().copied().chain(long).collect();
        let (wide, cases): (Vec<&str>, Vec<&str>) = cases.into_iter().partition(|case| case.starts_with("wide-"));
        let mut all = suite(&cases, &names, |case| match case {
            "idle" => vec![fork_join::POOL_CPU_MILLIS_A_SECOND, "cpu-ms/s", "switches/s"],
            "tick" | "tick-serial" => vec![fork_join::EXTRA_CPU_MICROS_A_TICK],
            "wake" => vec![fork_join::NANOS_A_WAKE],
            case if case.starts_with("scope") => vec![fork_join::NANOS_A_TASK],
            case if case.starts_with("quicksort") => vec![fork_join::MILLIS_A_SORT],
            _ => vec![fork_join::NANOS_A_JOIN],
        });
        for case in wide {
            for name in ["filch", "filch-any", "rayon"] {
                let unit = fork_join::MILLIS_A_RUN;
                all.extend(fork_join::WIDTHS.map(|threads| series(case, name, threads, unit)));
            }
        }
        all
    });
    suites.insert(
        rayon::SUITE,
        of(rayon::SUITE, &|case| match case {
            "idle" => vec![rayon::CPU_MILLIS_A_SECOND],
            "tick" => vec![rayon::EXTRA_CPU_MICROS_A_TICK],
            case if case.starts_with("join") => vec!["ns/join"],
            case if case.starts_with("scope-allocations/") => vec!["allocations/task"],
            "small-50-installed" | "outside/small-50" => vec!["ns/call", "cpu-us/call"],
            case if case.starts_with(rayon::OUTSIDE) => {
                vec!["us/call", "p99-us/call", "cpu-us/call"]
            }
            _ => vec!["ms/run"],
        }),
    );
    let vertices = [graphs::NANOS_A_VERTEX, graphs::REDUNDANT, graphs::STOLEN];
    suites.insert(graphs::SUITE, {
        let mut all = of(graphs::SUITE, &|_| vertices.to_vec());
        all.extend(suite(&["memory/random-10m-30m"], &["split"], |_| {
            vec!["bytes/edge", "bytes/vertex", "queued-tasks"]
        }));
        all
    });
    suites.insert(bulk::SUITE, {
        // The smoke run has one share, and a report several.
        let (cases, names) = &smoke[bulk::SUITE];
        let steals = [false, true].into_iter().flat_map(|busy| {
            let of = move |fill, percent| bulk::Case::Steal { percent, fill, busy }.to_string();
            bulk::Fill::ALL.into_iter().flat_map(move |fill| bulk::SHARES.map(move |share| of(fill, share)))
        });
        let others = cases.iter().filter(|case| !case.starts_with("thieves"));
        let cases: BTreeSet<String> = others.map(|&case| case.to_owned()).chain(steals).collect();
        let cases: Vec<&str> = cases.iter().map(|case| &**case).collect();
        let mut all = suite(&cases, names, |case| match case.split('/').next() {
            Some("push") => vec![NANOS_A_PUSH],
            Some("pop") => vec![NANOS_A_POP],
            Some("steal") => vec![NANOS_A_STEAL],
            _ => vec![NANOS_A_NODE],
        });
        for emptying in bulk::emptyings() {
            let case = bulk::Case::Thieves(emptying).to_string();
            for unit in [NANOS_A_TASK, bulk::ATTEMPTS_A_STEAL, bulk::REFUSED] {
                all.extend(names.iter().map(|name| series(&case, name, emptying.threads(), unit)));
            }
        }
        all
    });
    let solver_units = [solver::MILLISECONDS, solver::NODES, solver::PEAK_MEGABYTES];
    suites.insert(solver::SUITE, of(solver::SUITE, &|_| solver_units.to_vec()));
    let cilk_units = [cilk::MILLIS_A_RUN, cilk::STEALS_A_RUN];
    suites.insert(cilk::SUITE, of(cilk::SUITE, &|_| cilk_units.to_vec()));
    let ranks = ["filch", "serial-pair", "filch-checkpoints", "mpi-1-rank", "mpi-2-ranks"];
    suites.insert(mpi::SUITE, suite(&["misp/random-100-20%"], &ranks, |_| vec!["ms"]));
    suites
}
