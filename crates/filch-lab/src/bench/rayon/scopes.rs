//! The part `scopes`: tasks of scopes and spawned jobs, and their allocations.
//!
//! It includes programs that need such tasks to be cheap.

use super::cases::{Kind, MILLIS_A_RUN, NANOS_A_DIRECTORY, NANOS_A_SCOPE, NANOS_A_SPAWN, NANOS_A_TASK};

/// The name that selects the part, in place of a case's.
const PART: &str = "scopes";

/// A case: its name, how it is measured, and its description.
type Described = (&'static str, Kind, &'static str);

/// The cases that only this part has, in the order of measuring and printing.
pub(super) const CASES: [Described; 17] = [
    ("scope-100k", Kind::Time(NANOS_A_TASK), "a scope with 100,000 small tasks, all spawned by one task"),
    ("scope-fifo-100k", Kind::Time(NANOS_A_TASK), "the same with `scope_fifo`"),
    (
        "scope-par-iter-100k",
        Kind::Time(NANOS_A_TASK),
        "a scope with 100,000 small tasks, spawned by a parallel iterator inside it",
    ),
    (
        "spawn-tree-17",
        Kind::Time(NANOS_A_TASK),
        "a scope with a tree of 17 layers of small tasks, each spawned by its parent",
    ),
    ("scope-of-1", Kind::Time(NANOS_A_SCOPE), "scopes of one small task, one after the other, inside a pool"),
    ("scope-of-4", Kind::Time(NANOS_A_SCOPE), "scopes of four small tasks, one after the other, inside a pool"),
    ("scope-of-64", Kind::Time(NANOS_A_SCOPE), "the same with 64 tasks"),
    ("spawn-inside-100k", Kind::Time(NANOS_A_SPAWN), "100,000 jobs spawned by a worker, until all have run"),
    (
        "spawn-outside-1",
        Kind::Time(NANOS_A_SPAWN),
        "100,000 jobs spawned by a thread outside the pool, until all have run",
    ),
    ("spawn-outside-4", Kind::Time(NANOS_A_SPAWN), "the same by four threads, a quarter of the jobs each"),
    ("par-bridge", Kind::Time(MILLIS_A_RUN), "`par_bridge` over 200,000 numbers, 30 ns of work each"),
    ("max-len-1", Kind::Time(MILLIS_A_RUN), "a million numbers, split down to single ones by `with_max_len(1)`"),
    (
        "walk",
        Kind::Time(NANOS_A_DIRECTORY),
        "2,000 directories (100 in a quick run) of five files, a task for each directory",
    ),
    (
        "scope-allocations/scope-100k",
        Kind::Allocations,
        "the allocations of a task of five words in a scope with 100,000 tasks, after a first round",
    ),
    ("scope-allocations/spawn-tree-17", Kind::Allocations, "the same for tasks that spawn tasks"),
    ("scope-allocations/scope-of-4", Kind::Allocations, "the same in scopes of four tasks"),
    ("scope-allocations/spawn-inside-100k", Kind::Allocations, "the same for jobs spawned by a worker"),
];

/// The other cases of this part.
const SHARED: [&str; 3] = ["par-iter-sum-10m", "map-collect-10m", "par-sort-10m"];

/// Replaces the name of the part with those of its cases.
pub(super) fn expanded(name: &str) -> Vec<String> {
    match name {
        PART => SHARED.into_iter().chain(CASES.map(|(case, ..)| case)).map(str::to_owned).collect(),
        _ => vec![name.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;

    #[test]
    fn the_name_of_the_part_selects_its_cases_and_no_others() {
        let names = expanded(PART);
        assert_eq!(expanded("life"), ["life"]);
        let known: Vec<&str> = cases::all().iter().map(|case| case.name).collect();
        assert_eq!(names.len(), SHARED.len() + CASES.len());
        for name in &names {
            // A name selects the cases that begin with it.
            let selected: Vec<&&str> = known.iter().filter(|case| case.starts_with(name)).collect();
            assert_eq!(selected, [name]);
        }
        assert!(!known.iter().any(|case| case.starts_with(PART)));
    }

    #[test]
    fn allocations_are_counted_where_the_name_says_so() {
        for (name, kind, _) in CASES {
            assert_eq!(name.starts_with("scope-allocations/"), kind == Kind::Allocations, "{name}");
        }
    }
}
