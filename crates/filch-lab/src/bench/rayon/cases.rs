//! The cases: what is measured, and in which unit.

use std::fmt;

use super::outside::{self, Figure};
use super::published::Published;
use super::scopes;
use super::variant::Variant;
use crate::bench::cpu;

/// A unit and its length in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) nanos: f64,
}

/// Time per run.
pub(crate) const MILLIS_A_RUN: Unit = Unit { name: "ms/run", nanos: 1e6 };
/// Time per generation.
const MICROS_A_GENERATION: Unit = Unit { name: "us/generation", nanos: 1e3 };
/// Time per join.
pub(crate) const NANOS_A_JOIN: Unit = Unit { name: "ns/join", nanos: 1.0 };
/// Time per scope.
pub(super) const NANOS_A_SCOPE: Unit = Unit { name: "ns/scope", nanos: 1.0 };
/// Time of a call into a pool.
pub(crate) const NANOS_A_CALL: Unit = Unit { name: "ns/call", nanos: 1.0 };
/// Time of a call into a pool, for calls that take long.
pub(crate) const MICROS_A_CALL: Unit = Unit { name: "us/call", nanos: 1e3 };
/// The time that 99 of 100 calls do not exceed.
pub(crate) const P99_MICROS_A_CALL: Unit = Unit { name: "p99-us/call", nanos: 1e3 };
/// CPU time of the process per call.
pub(crate) const CPU_MICROS_A_CALL: Unit = Unit { name: "cpu-us/call", nanos: 1e3 };
/// Time per task of a scope.
pub(super) const NANOS_A_TASK: Unit = Unit { name: "ns/task", nanos: 1.0 };
/// Time per task or job.
pub(super) const NANOS_A_SPAWN: Unit = Unit { name: "ns/spawn", nanos: 1.0 };
/// Time per directory.
pub(super) const NANOS_A_DIRECTORY: Unit = Unit { name: "ns/directory", nanos: 1.0 };
/// The unit of allocations per task.
pub(crate) const ALLOCATIONS_A_TASK: &str = "allocations/task";
/// The unit of the process's CPU time while it is idle.
pub(crate) const CPU_MILLIS_A_SECOND: &str = "cpu-ms/s";
/// The unit of the process's CPU time per tick.
pub(crate) const CPU_MICROS_A_TICK: &str = "cpu-us/tick";
/// The unit of the process's CPU time per tick, without the work itself.
pub(crate) const EXTRA_CPU_MICROS_A_TICK: &str = "extra-cpu-us/tick";

/// How a case is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// By the time of one of filch's programs.
    Time(Unit),
    /// By figures of the calls that one of filch's programs makes from outside the pool.
    Calls(&'static [Figure]),
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
    /// The variants that are compared.
    pub(crate) variants: &'static [Variant],
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

/// All cases, in the order in which they are measured and printed.
///
/// Cases that need figures unknown to the operating system are left out.
pub(crate) fn all() -> Vec<Case> {
    let case = |name, kind, description| Case { name, description, kind, variants: Variant::CORES };
    let time = |name, unit, description| case(name, Kind::Time(unit), description);
    let in_place = |case: Case| Case { variants: Variant::ALL, ..case };
    // All of these call from the main thread.
    let mut cases = Vec::from(
        [
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
        ]
        .map(in_place),
    );
    cases.extend(outside::CASES.map(|(name, figures, text)| in_place(case(name, Kind::Calls(figures), text))));
    cases.extend([
        time(
            "join-tree-16m",
            NANOS_A_JOIN,
            "the sum of a binary tree that lies in memory as it is walked, a join a node",
        ),
        time("join-fib", NANOS_A_JOIN, "nothing but joins"),
        time("small-50-installed", NANOS_A_CALL, "a parallel iterator over 50 elements, called from inside a pool"),
    ]);
    cases.extend(scopes::CASES.map(|(name, kind, text)| case(name, kind, text)));
    cases.extend([
        time("scope-spawn", NANOS_A_SPAWN, "a scope with many small tasks, all spawned by one task"),
        time("scope-spawn-tree", NANOS_A_SPAWN, "a scope with many small tasks, each spawned by another task"),
        in_place(case("idle", Kind::Idle, "an idle process, after some work")),
        in_place(case("tick", Kind::Tick, "50 us of work in 64 parts, called from outside the pool each 4 ms")),
    ]);
    for published in Published::ALL {
        cases.push(case(published.case(), Kind::Published(published), published.description()));
    }
    cases.retain(|case| cpu::IS_SUPPORTED || !matches!(case.kind, Kind::Idle | Kind::Tick));
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

    #[test]
    fn cases_that_call_from_outside_include_in_place() {
        for case in all() {
            let is_in_place = case.variants.contains(&Variant::InPlace);
            match case.name {
                "life" | "par-sort-10m" | "idle" | "tick" => assert!(is_in_place, "{case}"),
                "small-50-installed" | "program/tokei" => assert!(!is_in_place, "{case}"),
                name if name.starts_with(outside::PREFIX) => assert!(is_in_place, "{case}"),
                _ => {}
            }
            assert!(Variant::CORES.iter().all(|variant| case.variants.contains(variant)), "{case}");
        }
    }
}
