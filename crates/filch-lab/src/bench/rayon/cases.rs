//! The cases: what is measured, and in which unit.

use std::fmt;

use super::published::Published;
use crate::bench::cpu;

/// What a figure counts, and how many nanoseconds make one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) nanos: f64,
}

/// Time, by the number of runs.
pub(crate) const MILLIS_A_RUN: Unit = Unit { name: "ms/run", nanos: 1e6 };
/// Time, by the number of generations.
const MICROS_A_GENERATION: Unit = Unit { name: "us/generation", nanos: 1e3 };
/// Time, by the number of joins.
pub(crate) const NANOS_A_JOIN: Unit = Unit { name: "ns/join", nanos: 1.0 };
/// The same, for joins that take long.
const MICROS_A_JOIN: Unit = Unit { name: "us/join", nanos: 1e3 };
/// Time, by the number of scopes.
const NANOS_A_SCOPE: Unit = Unit { name: "ns/scope", nanos: 1.0 };
/// Time, by the number of parallel iterators.
pub(crate) const NANOS_A_CALL: Unit = Unit { name: "ns/call", nanos: 1.0 };
/// Time, by the number of tasks.
const NANOS_A_SPAWN: Unit = Unit { name: "ns/spawn", nanos: 1.0 };
/// CPU time of the process while it has nothing to do.
pub(crate) const CPU_MILLIS_A_SECOND: &str = "cpu-ms/s";
/// CPU time of the process, by the number of ticks.
pub(crate) const CPU_MICROS_A_TICK: &str = "cpu-us/tick";
/// The same beyond the work itself.
pub(crate) const EXTRA_CPU_MICROS_A_TICK: &str = "extra-cpu-us/tick";

/// How a case is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// By the time that one of our programs takes.
    Time(Unit),
    /// By the CPU time that a process takes which has nothing to do.
    Idle,
    /// By the CPU time that a process takes which has little to do.
    Tick,
    /// By the time that a published program takes from its start to its end.
    Published(Published),
}

/// Something to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What it is, for people.
    pub(crate) description: &'static str,
    pub(crate) kind: Kind,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Case {
    /// Whether the program was published by others.
    pub(crate) fn is_published(&self) -> bool {
        matches!(self.kind, Kind::Published(_))
    }
}

/// All cases, in the order in which they are measured and printed. What the operating system does not tell is left out.
pub(crate) fn all() -> Vec<Case> {
    let case = |name, kind, description| Case { name, description, kind };
    let time = |name, unit, description| case(name, Kind::Time(unit), description);
    let mut cases = vec![
        time("par-iter-sum-10m", MILLIS_A_RUN, "the sum of ten million numbers"),
        time("map-collect-10m", MILLIS_A_RUN, "a new list from ten million numbers"),
        time("par-sort-10m", MILLIS_A_RUN, "`par_sort_unstable` of ten million random numbers"),
        time("par-chunks-matmul", MILLIS_A_RUN, "the product of two matrices, by rows"),
        time("n-body", MILLIS_A_RUN, "a thousand bodies, each looking at all others in each step"),
        time(
            "life",
            MICROS_A_GENERATION,
            "the game of life on 64 rows of 64 cells, each generation called from outside",
        ),
        time("life-large", MICROS_A_GENERATION, "the same on 2,048 rows of 2,048 cells"),
        time("sieve", MILLIS_A_RUN, "the primes below fifty million, by segments"),
        time("tsp", MILLIS_A_RUN, "the shortest trip through 13 cities, by joins while more than 6 are left"),
        time("str-split", MILLIS_A_RUN, "the lines and the words of twenty million letters"),
        time(
            "join-tree-16m",
            NANOS_A_JOIN,
            "the sum of a binary tree that lies in memory as it is walked, a join a node",
        ),
        time("join-fib", NANOS_A_JOIN, "nothing but joins"),
        time("small-50", NANOS_A_CALL, "a parallel iterator over 50 elements, called from outside the pool"),
        time("small-50-installed", NANOS_A_CALL, "the same, called from inside a pool"),
        time("join-outside-200us", MICROS_A_JOIN, "a join of two closures of 200 us, called from outside the pool"),
        time("join-outside-2ms", MICROS_A_JOIN, "the same with closures of 2 ms"),
        time("scope-of-4", NANOS_A_SCOPE, "scopes of four small tasks, one after the other"),
        time("scope-spawn", NANOS_A_SPAWN, "a scope with many small tasks, all spawned by one"),
        time("scope-spawn-tree", NANOS_A_SPAWN, "a scope with many small tasks, each spawned by another"),
        case("idle", Kind::Idle, "a process that has worked and has nothing to do any more"),
        case("tick", Kind::Tick, "50 us of work in 64 parts, called from outside the pool each 4 ms"),
    ];
    for published in Published::ALL {
        cases.push(case(published.case(), Kind::Published(published), published.description()));
    }
    cases.retain(|case| cpu::IS_KNOWN || !matches!(case.kind, Kind::Idle | Kind::Tick));
    cases
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
}
