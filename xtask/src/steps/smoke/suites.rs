//! The suites, and the measurements that each must have.

use std::collections::BTreeSet;

use anyhow::{bail, ensure, Context as _, Result};
use serde_json::Value;

/// The measurements that a suite must have.
pub(in crate::steps) struct Suite {
    pub(super) name: &'static str,
    /// Options that select the cases, if some cases take too long here.
    ///
    /// A bound is given to the suites whose queues rely on one. The default leaves these queues out
    /// on CPUs of AMD, and the code of all queues must run somewhere. No figure of a smoke run is
    /// used.
    pub(super) options: &'static str,
    impls: &'static [&'static str],
    cases: &'static [&'static str],
    /// Numbers of threads that rows must have, if the options ask for some.
    threads: &'static [u64],
    /// Units that allow zero and negative numbers, such as CPU time beyond the work itself.
    any_number: &'static [&'static str],
}

pub(super) const SUITES: [Suite; 7] = [
    Suite {
        name: "queues",
        options: "--bound 128 --threads 1,2,4",
        impls: &[
            "chase_lev",
            "the",
            "ff_the",
            "ff_cl",
            "thep",
            "asymmetric",
            "idempotent::lifo",
            "idempotent::fifo",
            "idempotent::double_ended",
            "crossbeam-lifo",
            "crossbeam-fifo",
            "st3-lifo",
        ],
        cases: &["burst-64", "push-then-pop", "pop-only", "steal", "push-under-theft"],
        threads: &[1, 2],
        any_number: &[],
    },
    Suite {
        name: "fork-join",
        options: "--case tree-1023 --case tree-32767 --case quicksort --case skewed --case scope --case idle --case tick --case wake --case wide",
        impls: &[
            "serial",
            "serial-call",
            "filch-worker",
            "filch",
            "filch-any",
            "filch-maybe",
            "filch-fenced",
            "filch-no-raid",
            "engine-barrier",
            "engine-events",
            "rayon",
            "chili",
        ],
        cases: &[
            "tree-1023",
            "tree-32767",
            "tree-32767-gap",
            "quicksort-1m",
            "skewed",
            "scope-10k",
            "idle",
            "tick",
            "wake",
            "wide-balanced",
            "wide-skewed",
            "wide-comb",
            "wide-scopes",
            "wide-nested-scopes",
            "wide-explore",
        ],
        threads: &[],
        any_number: &["cpu-ms/s", "pool-cpu-ms/s", "switches/s", "extra-cpu-us/tick"],
    },
    Suite {
        name: "rayon",
        options: "",
        impls: &["rayon", "filch", "filch-in-place"],
        cases: &[
            "par-iter-sum-10m",
            "map-collect-10m",
            "par-sort-10m",
            "par-chunks-matmul",
            "n-body",
            "life",
            "life-large",
            "sieve",
            "tsp",
            "str-split",
            "outside/small-50",
            "outside/small-50-after-100us",
            "outside/small-50-after-1ms",
            "outside/small-50-after-5ms",
            "outside/join-empty",
            "outside/join-empty-after-100us",
            "outside/join-empty-after-1ms",
            "outside/join-empty-after-5ms",
            "outside/join-20us",
            "outside/join-200us",
            "outside/join-2ms",
            "outside/join-200us-after-1ms",
            "outside/join-2ms-after-1ms",
            "outside/callers-4-small-50",
            "outside/callers-4-join-200us",
            "outside/pool-with-handlers",
            "outside/sum-200k",
            "join-tree-16m",
            "join-fib",
            "small-50-installed",
            "scope-100k",
            "scope-fifo-100k",
            "spawn-tree-17",
            "scope-of-1",
            "scope-of-4",
            "scope-of-64",
            "spawn-inside-100k",
            "spawn-outside-1",
            "spawn-outside-4",
            "par-bridge",
            "max-len-1",
            "scope-allocations/scope-100k",
            "scope-allocations/spawn-tree-17",
            "scope-allocations/scope-of-4",
            "scope-allocations/spawn-inside-100k",
            "walk",
            "scope-spawn",
            "scope-spawn-tree",
            "idle",
            "tick",
        ],
        threads: &[],
        any_number: &["cpu-ms/s", "extra-cpu-us/tick", "allocations/task"],
    },
    Suite {
        name: "graphs",
        options: "--bound 128 --threads 1,2,4",
        impls: &[
            "serial",
            "split",
            "chase_lev",
            "the",
            "asymmetric",
            "ff_the",
            "ff_cl",
            "thep",
            "ff_the-untrusted",
            "ff_cl-untrusted",
            "thep-untrusted",
            "idempotent::lifo",
            "idempotent::fifo",
            "idempotent::double_ended",
            "crossbeam-lifo",
            "levels",
            "levels-prefetch",
            "crossbeam-pool",
            "rayon-spawn",
            "rayon-frontier",
            "serial-pair",
            "chase_lev-rows",
            "idempotent::lifo-rows",
        ],
        cases: &[
            "closure/kgraph-250k",
            "closure/kgraph-250k/unsorted",
            "closure/kgraph-250k/pointers",
            "closure/ring-250k",
            "closure/torus-250k",
            "closure/torus-250k/unsorted",
            "closure/torus-250k/pointers",
            "closure/random-250k-750k",
            "closure/random-250k-750k/unsorted",
            "closure/random-250k-750k/pointers",
            "spanning-tree/kgraph-250k",
            "spanning-tree/kgraph-250k/unsorted",
            "spanning-tree/ring-250k",
            "spanning-tree/torus-250k",
            "spanning-tree/torus-250k/unsorted",
            "spanning-tree/random-250k-750k",
            "spanning-tree/random-250k-750k/unsorted",
            "shortest-paths/kgraph-250k",
            "shortest-paths/torus-250k",
            "shortest-paths/random-250k-750k",
        ],
        threads: &[1, 2, 4],
        any_number: &["% redundant", "% stolen"],
    },
    Suite {
        name: "bulk",
        options: "--threads 1,2,4 --case push --case pop --case steal/30% --case thieves --case dag/uniform-250k --case dag/skewed-250k",
        impls: &[
            "bulk",
            "bulk-batches",
            "bulk-published",
            "bulk-published-early",
            "bulk-try-lock",
            "chase_lev",
            "crossbeam-lifo",
            "mutex-deque",
            "serial",
            "serial-pair",
        ],
        cases: &[
            "push/1",
            "push/128",
            "push/512",
            "push/1024",
            "push/single",
            "pop",
            "pop/singles",
            "pop/batches-of-4",
            "steal/30%",
            "steal/30%/singles",
            "steal/30%/batches-of-4",
            "steal/30%/busy",
            "steal/30%/singles/busy",
            "thieves/2",
            "thieves/2/batches-of-100",
            "thieves/4",
            "thieves/4/batches-of-100",
            "thieves/2/busy",
            "thieves/2/batches-of-100/busy",
            "thieves/4/busy",
            "thieves/4/batches-of-100/busy",
            "dag/uniform-250k",
            "dag/skewed-250k",
        ],
        threads: &[1, 2, 4],
        any_number: &["refused"],
    },
    Suite {
        name: "solver",
        options: "--case misp/random-100-50% --case knapsack/strongly-correlated-50 --case golomb/7 --case tsptw/random-25-300",
        impls: &["filch", "filch-chase_lev", "filch-mutex", "ddo", "serial-pair"],
        cases: &["misp/random-100-50%", "knapsack/strongly-correlated-50", "golomb/7", "tsptw/random-25-300"],
        threads: &[],
        any_number: &[],
    },
    Suite {
        name: "cilk",
        options: "--bound 128",
        impls: &[
            "serial",
            "the",
            "chase_lev",
            "asymmetric",
            "ff_cl",
            "ff_the",
            "thep",
            "ff_the-4",
            "thep-4",
            "thep-inf",
            "central",
            "sharing",
            "static",
            "filch-worker",
            "filch",
            "rayon",
        ],
        cases: &[
            "fib-30",
            "jacobi-256",
            "quicksort-100k",
            "matmul-256",
            "integrate-200",
            "knapsack-24",
            "cholesky-1000",
            "heat-512x128",
            "lu-256",
            "strassen-256",
            "fft-131k",
            "uts-t1-small",
            "uts-t3-small",
            "queens-11",
        ],
        threads: &[],
        // A run may have no steals and no aborts.
        any_number: &["steals/run", "aborts/run"],
    },
];

/// The suite that needs MPI.
pub(in crate::steps) const MPI: Suite = Suite {
    name: "mpi",
    options: "",
    impls: &["filch", "filch-checkpoints", "mpi-1-rank", "mpi-2-ranks"],
    cases: &["misp/random-100-20%"],
    threads: &[],
    // A single process sends nothing.
    any_number: &["transfers"],
};

impl Suite {
    /// Checks every row, and that each implementation and each case has rows. Returns the number of
    /// rows.
    pub(super) fn check(&self, json: &str) -> Result<usize> {
        let rows: Value = serde_json::from_str(json).context("not valid JSON")?;
        let Some(rows) = rows.as_array() else {
            bail!("not an array of rows");
        };
        for (number, row) in rows.iter().enumerate() {
            self.check_row(row).with_context(|| format!("row {number} is wrong: {row}"))?;
        }
        all_present(rows, "impl", self.impls)?;
        all_present(rows, "case", self.cases)?;
        let has = |count: &u64| rows.iter().any(|row| row["threads"] == *count);
        if let Some(missing) = self.threads.iter().find(|count| !has(count)) {
            bail!("no row has `threads`: {missing}");
        }
        Ok(rows.len())
    }

    fn check_row(&self, row: &Value) -> Result<()> {
        for key in ["suite", "case", "impl", "unit"] {
            ensure!(
                row[key].as_str().is_some_and(|text| !text.is_empty()),
                "`{key}` must be a string that is not empty"
            );
        }
        ensure!(row["suite"] == self.name, "`suite` must be `{}`", self.name);
        for key in ["threads", "rounds"] {
            ensure!(row[key].as_u64().is_some_and(|n| n > 0), "`{key}` must be a positive integer");
        }
        let any_number = self.any_number.iter().any(|unit| row["unit"] == *unit);
        let number = |key: &str| match row[key].as_f64() {
            Some(value) if value.is_finite() && (any_number || value > 0.0) => Ok(value),
            _ if any_number => bail!("`{key}` must be a finite number"),
            _ => bail!("`{key}` must be a finite positive number"),
        };
        let (min, median, p90) = (number("min")?, number("median")?, number("p90")?);
        ensure!(min <= median && median <= p90, "`min`, `median` and `p90` must be in ascending order");
        Ok(())
    }
}

fn all_present(rows: &[Value], key: &str, expected: &[&str]) -> Result<()> {
    let present: BTreeSet<&str> = rows.iter().filter_map(|row| row[key].as_str()).collect();
    let missing: Vec<&str> = expected.iter().copied().filter(|name| !present.contains(name)).collect();
    ensure!(missing.is_empty(), "no row has this {key}: {}", missing.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(case: &str, imp: &str) -> Value {
        let threads = if case == "push-under-theft" { 2 } else { 1 };
        json!({
            "suite": "queues", "case": case, "impl": imp, "threads": threads, "unit": "ns/op",
            "median": 2.5, "min": 2.0, "p90": 3.0, "rounds": 15
        })
    }

    const QUEUES: &Suite = &SUITES[0];
    const FORK_JOIN: &Suite = &SUITES[1];

    fn all_rows() -> Vec<Value> {
        QUEUES.cases.iter().flat_map(|case| QUEUES.impls.iter().map(|imp| row(case, imp))).collect()
    }

    fn verdict(rows: Vec<Value>) -> Result<usize> {
        QUEUES.check(&Value::Array(rows).to_string())
    }

    #[test]
    fn a_cpu_time_may_be_zero_but_a_join_must_take_time() {
        let row = |unit: &str, median: f64| {
            json!({
                "suite": "fork-join", "case": "idle", "impl": "filch", "threads": 2, "unit": unit,
                "median": median, "min": median, "p90": median, "rounds": 5
            })
        };
        assert!(FORK_JOIN.check_row(&row("cpu-ms/s", 0.0)).is_ok());
        assert!(FORK_JOIN.check_row(&row("extra-cpu-us/tick", -1.0)).is_ok());
        assert!(FORK_JOIN.check_row(&row("ns/join", 0.0)).is_err());
        assert!(FORK_JOIN.check_row(&row("switches/s", f64::NAN)).is_err());
    }

    #[test]
    fn a_complete_table_passes() {
        assert_eq!(verdict(all_rows()).unwrap(), 60);
    }

    #[test]
    fn a_missing_queue_or_case_is_named() {
        let no_thep = all_rows().into_iter().filter(|row| row["impl"] != "thep").collect();
        assert!(verdict(no_thep).unwrap_err().to_string().contains("thep"));
        let no_steal = all_rows().into_iter().filter(|row| row["case"] != "steal").collect();
        assert!(verdict(no_steal).unwrap_err().to_string().contains("steal"));
        assert!(verdict(Vec::new()).is_err());
    }

    #[test]
    fn a_missing_number_of_threads_is_named() {
        let with = |threads: u64| {
            let mut rows = all_rows();
            rows.iter_mut().for_each(|row| row["threads"] = threads.into());
            verdict(rows).unwrap_err().to_string()
        };
        assert_eq!((with(1), with(2)), ("no row has `threads`: 2".to_owned(), "no row has `threads`: 1".to_owned()));
    }

    #[test]
    fn a_bad_value_is_rejected_under_every_key() {
        let bad = [
            ("suite", json!("fork-join")),
            ("case", json!("")),
            ("impl", json!(7)),
            ("unit", Value::Null),
            ("threads", json!(0)),
            ("threads", json!(1.5)),
            ("rounds", json!(0)),
            ("median", json!(0.0)),
            ("median", json!(-1.0)),
            // A number that is not finite is written as null.
            ("min", Value::Null),
            ("p90", json!("3.0")),
            ("min", json!(2.75)),
            ("p90", json!(2.25)),
        ];
        for (key, value) in bad {
            let mut rows = all_rows();
            rows[31][key] = value.clone();
            let error = verdict(rows).expect_err(&format!("`{key}`: {value} should be rejected"));
            assert!(format!("{error:#}").contains(&format!("`{key}`")), "{error:#} does not name `{key}`");
        }
    }

    #[test]
    fn a_missing_key_is_rejected() {
        for key in ["suite", "case", "impl", "threads", "unit", "median", "min", "p90", "rounds"] {
            let mut rows = all_rows();
            rows[0].as_object_mut().unwrap().remove(key);
            assert!(verdict(rows).is_err(), "a row without `{key}` should be rejected");
        }
    }

    #[test]
    fn json_that_is_not_an_array_is_rejected() {
        assert!(QUEUES.check("{}").is_err());
        assert!(QUEUES.check("[{]").is_err());
        assert!(QUEUES.check("").is_err());
    }
}
