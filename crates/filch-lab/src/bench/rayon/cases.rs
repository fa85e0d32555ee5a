//! The cases: what is measured, and in which units.

use std::fmt;

use super::figure::{
    Figure, ALLOCATIONS, CPU, CPU_MICROS_A_TICK, IDLE_CPU, MEDIAN_MICROS, MEDIAN_NANOS, MICROS_A_CALL,
    MICROS_A_GENERATION, MILLIS_A_RUN, NANOS_A_CALL, NANOS_A_DIRECTORY, NANOS_A_JOIN, NANOS_A_SCOPE, NANOS_A_SPAWN,
    NANOS_A_TASK, P99,
};
use super::published::Published;
use super::variant::Variant;

/// The prefix of the names of calls from outside the pool.
pub(crate) const OUTSIDE: &str = "outside/";

/// The name that selects the part about tasks of scopes, in place of a case's.
const SCOPES: &str = "scopes";

/// How a case is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// By the time of one of filch's programs.
    Time,
    /// By the calls that one of filch's programs makes from outside the pool.
    Calls,
    /// By the allocations of one of filch's programs.
    Allocations,
    /// By the CPU time of an idle process.
    Idle,
    /// By the CPU time of a process with little work.
    Tick,
    /// By the time of a published program from its start to its end.
    Published(Published),
}

/// A case to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// A description of the case.
    pub(crate) description: &'static str,
    pub(crate) kind: Kind,
    pub(crate) figures: &'static [Figure],
    /// The variants that are compared.
    pub(crate) variants: &'static [Variant],
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Case {
    /// Whether the case is about the sleep of threads.
    pub(crate) fn is_sleep(&self) -> bool {
        matches!(self.kind, Kind::Idle | Kind::Tick)
    }
}

const fn time(name: &'static str, figures: &'static [Figure], description: &'static str) -> Case {
    Case { name, description, kind: Kind::Time, figures, variants: Variant::CORES }
}

const fn calls(name: &'static str, figures: &'static [Figure], description: &'static str) -> Case {
    Case { kind: Kind::Calls, ..time(name, figures, description) }
}

const fn allocations(name: &'static str, description: &'static str) -> Case {
    Case { kind: Kind::Allocations, ..time(name, &[ALLOCATIONS], description) }
}

/// Programs, all of which call from the main thread.
const PROGRAMS: [Case; 10] = [
    time("par-iter-sum-10m", &[MILLIS_A_RUN], "the sum of ten million numbers"),
    time("map-collect-10m", &[MILLIS_A_RUN], "a new list from ten million numbers"),
    time("par-sort-10m", &[MILLIS_A_RUN], "`par_sort_unstable` of ten million random numbers"),
    time("par-chunks-matmul", &[MILLIS_A_RUN], "the product of two matrices, by rows"),
    time("n-body", &[MILLIS_A_RUN], "a thousand bodies, each looking at all others in each step"),
    time(
        "life",
        &[MICROS_A_GENERATION],
        "the game of life on 64 rows of 64 cells, each generation called from outside",
    ),
    time("life-large", &[MICROS_A_GENERATION], "the same on 2,048 rows of 2,048 cells"),
    time("sieve", &[MILLIS_A_RUN], "the primes below fifty million, by segments"),
    time("tsp", &[MILLIS_A_RUN], "the shortest trip through 13 cities, by joins while more than 6 are left"),
    time("str-split", &[MILLIS_A_RUN], "the lines and the words of twenty million letters"),
];

/// Calls from outside the pool.
const CALLS: [Case; 17] = [
    calls(
        "outside/small-50",
        &[NANOS_A_CALL, CPU],
        "a parallel iterator over 50 elements, called from outside the pool, call after call",
    ),
    calls("outside/small-50-after-100us", &[MEDIAN_NANOS], "the same call after a pause of 100 us"),
    calls(
        "outside/small-50-after-1ms",
        &[MEDIAN_NANOS, CPU],
        "the same call after a pause of 1 ms; the CPU time includes that of the pause",
    ),
    calls("outside/small-50-after-5ms", &[MEDIAN_NANOS], "the same call after a pause of 5 ms"),
    calls(
        "outside/join-empty",
        &[NANOS_A_CALL],
        "a join of two closures that do nothing, called from outside, call after call",
    ),
    calls("outside/join-empty-after-100us", &[MEDIAN_NANOS], "the same call after a pause of 100 us"),
    calls("outside/join-empty-after-1ms", &[MEDIAN_NANOS], "the same call after a pause of 1 ms"),
    calls("outside/join-empty-after-5ms", &[MEDIAN_NANOS], "the same call after a pause of 5 ms"),
    calls(
        "outside/join-20us",
        &[MEDIAN_MICROS, P99],
        "a join of two closures of about 20 us each, called from outside, call after call",
    ),
    calls("outside/join-200us", &[MEDIAN_MICROS, P99], "the same with closures of about 200 us"),
    calls("outside/join-2ms", &[MEDIAN_MICROS, P99], "the same with closures of about 2 ms"),
    calls("outside/join-200us-after-1ms", &[MEDIAN_MICROS], "closures of about 200 us, after a pause of 1 ms"),
    calls("outside/join-2ms-after-1ms", &[MEDIAN_MICROS], "closures of about 2 ms, after a pause of 1 ms"),
    calls(
        "outside/callers-4-small-50",
        &[NANOS_A_CALL],
        "four threads outside the pool that add up 50 elements at the same time; the time is divided by the calls of all four",
    ),
    calls("outside/callers-4-join-200us", &[MICROS_A_CALL], "the same with joins of two closures of about 200 us"),
    calls(
        "outside/pool-with-handlers",
        &[NANOS_A_CALL],
        "a parallel iterator over 50 elements, installed in a pool with start and exit handlers and stacks of 4 MiB",
    ),
    calls("outside/sum-200k", &[MICROS_A_CALL], "the sum of 200,000 numbers, called from outside, call after call"),
];

const JOINS: [Case; 3] = [
    time(
        "join-tree-16m",
        &[NANOS_A_JOIN],
        "the sum of a binary tree that lies in memory as it is walked, a join a node",
    ),
    time("join-fib", &[NANOS_A_JOIN], "nothing but joins"),
    time("small-50-installed", &[NANOS_A_CALL], "a parallel iterator over 50 elements, called from inside a pool"),
];

/// The cases that only the part `scopes` has: tasks of scopes and spawned jobs, and their
/// allocations.
///
/// It includes programs that need such tasks to be cheap.
pub(super) const TASKS: [Case; 17] = [
    time("scope-100k", &[NANOS_A_TASK], "a scope with 100,000 small tasks, all spawned by one task"),
    time("scope-fifo-100k", &[NANOS_A_TASK], "the same with `scope_fifo`"),
    time(
        "scope-par-iter-100k",
        &[NANOS_A_TASK],
        "a scope with 100,000 small tasks, spawned by a parallel iterator inside it",
    ),
    time(
        "spawn-tree-17",
        &[NANOS_A_TASK],
        "a scope with a tree of 17 layers of small tasks, each spawned by its parent",
    ),
    time("scope-of-1", &[NANOS_A_SCOPE], "scopes of one small task, one after the other, inside a pool"),
    time("scope-of-4", &[NANOS_A_SCOPE], "scopes of four small tasks, one after the other, inside a pool"),
    time("scope-of-64", &[NANOS_A_SCOPE], "the same with 64 tasks"),
    time("spawn-inside-100k", &[NANOS_A_SPAWN], "100,000 jobs spawned by a worker, until all have run"),
    time("spawn-outside-1", &[NANOS_A_SPAWN], "100,000 jobs spawned by a thread outside the pool, until all have run"),
    time("spawn-outside-4", &[NANOS_A_SPAWN], "the same by four threads, a quarter of the jobs each"),
    time("par-bridge", &[MILLIS_A_RUN], "`par_bridge` over 200,000 numbers, 30 ns of work each"),
    time("max-len-1", &[MILLIS_A_RUN], "a million numbers, split down to single ones by `with_max_len(1)`"),
    time(
        "walk",
        &[NANOS_A_DIRECTORY],
        "2,000 directories (100 in a quick run) of five files, a task for each directory",
    ),
    allocations(
        "scope-allocations/scope-100k",
        "the allocations of a task of five words in a scope with 100,000 tasks, after a first round",
    ),
    allocations("scope-allocations/spawn-tree-17", "the same for tasks that spawn tasks"),
    allocations("scope-allocations/scope-of-4", "the same in scopes of four tasks"),
    allocations("scope-allocations/spawn-inside-100k", "the same for jobs spawned by a worker"),
];

/// The other cases of the part `scopes`.
const SHARED: [&str; 3] = ["par-iter-sum-10m", "map-collect-10m", "par-sort-10m"];

const SPAWNS: [Case; 2] = [
    time("scope-spawn", &[NANOS_A_SPAWN], "a scope with many small tasks, all spawned by one task"),
    time("scope-spawn-tree", &[NANOS_A_SPAWN], "a scope with many small tasks, each spawned by another task"),
];

/// Processes with little work or none.
const SLEEPERS: [Case; 2] = [
    Case { kind: Kind::Idle, ..time("idle", &[IDLE_CPU], "an idle process, after some work") },
    Case {
        kind: Kind::Tick,
        ..time("tick", &[CPU_MICROS_A_TICK], "50 us of work in 64 parts, called from outside the pool each 4 ms")
    },
];

/// All cases, in the order in which they are measured and printed.
///
/// Cases that need figures unknown to the operating system are left out.
pub(crate) fn all() -> Vec<Case> {
    let in_place = |case: Case| Case { variants: Variant::ALL, ..case };
    let published = |published: Published| Case {
        kind: Kind::Published(published),
        ..time(published.case(), &[MILLIS_A_RUN], published.description())
    };
    let called_from_outside = PROGRAMS.into_iter().chain(CALLS).map(in_place);
    let inside = JOINS.into_iter().chain(TASKS).chain(SPAWNS);
    called_from_outside
        .chain(inside)
        .chain(SLEEPERS.map(in_place))
        .chain(Published::ALL.map(published))
        .filter(|case| case.figures.iter().any(Figure::is_supported))
        .collect()
}

/// Replaces the name of the part `scopes` with those of its cases.
pub(super) fn expanded(name: &str) -> Vec<String> {
    match name {
        SCOPES => SHARED.into_iter().chain(TASKS.map(|case| case.name)).map(str::to_owned).collect(),
        _ => vec![name.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let cases = all();
        for (place, case) in cases.iter().enumerate() {
            assert!(cases[..place].iter().all(|earlier| earlier.name != case.name), "{case} is there twice");
        }
    }

    #[test]
    fn cases_that_call_from_outside_include_in_place() {
        for case in all() {
            let is_in_place = case.variants.contains(&Variant::InPlace);
            match case.name {
                "life" | "par-sort-10m" | "idle" | "tick" => assert!(is_in_place, "{case}"),
                "small-50-installed" | "program/tokei" => assert!(!is_in_place, "{case}"),
                name if name.starts_with(OUTSIDE) => assert!(is_in_place, "{case}"),
                _ => {}
            }
            assert!(Variant::CORES.iter().all(|variant| case.variants.contains(variant)), "{case}");
        }
    }

    #[test]
    fn every_call_from_outside_is_selected_by_the_same_prefix_and_has_units_of_its_own() {
        for Case { name, figures, .. } in CALLS {
            assert!(name.starts_with(OUTSIDE), "{name}");
            assert!(!figures.is_empty(), "{name}");
            for (place, figure) in figures.iter().enumerate() {
                assert!(figures[..place].iter().all(|earlier| earlier.unit != figure.unit), "{name}");
            }
        }
    }

    #[test]
    fn the_name_of_a_part_selects_its_cases_and_no_others() {
        let names = expanded(SCOPES);
        assert_eq!(expanded("life"), ["life"]);
        let known: Vec<&str> = all().iter().map(|case| case.name).collect();
        assert_eq!(names.len(), SHARED.len() + TASKS.len());
        for name in &names {
            // A name selects the cases that begin with it.
            let selected: Vec<&&str> = known.iter().filter(|case| case.starts_with(name)).collect();
            assert_eq!(selected, [name]);
        }
        assert!(!known.iter().any(|case| case.starts_with(SCOPES)));
    }

    #[test]
    fn allocations_are_counted_where_the_name_says_so() {
        for case in TASKS {
            assert_eq!(case.name.starts_with("scope-allocations/"), case.kind == Kind::Allocations, "{case}");
        }
    }
}
