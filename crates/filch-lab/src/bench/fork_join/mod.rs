//! The `fork-join` suite: what a join costs, how well two workers share, and what a pool costs that has little or nothing to do.
//!
//! Every sample starts a pool of its own and ends it. Threads are not pinned: where they run is up to the runtime and the
//! operating system, as it is for its users.

mod cases;
mod contenders;
mod goals;
mod measure;
mod plan;
mod rounds;
mod work;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{bail, Result};

use crate::report::{self, Series};
use crate::say;
use cases::Case;
use plan::Plan;

pub(crate) use cases::NANOS_A_JOIN;

/// The suite's name.
pub(crate) const SUITE: &str = "fork-join";

/// How many threads a pool has, unless told otherwise.
pub(crate) const THREADS: usize = 2;

/// The most threads that a user may ask for.
pub(crate) const MOST_THREADS: usize = 1024;

/// What a user may choose.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Fewer rounds.
    pub(crate) quick: bool,
    /// How many threads pools have, besides those of one thread.
    pub(crate) threads: usize,
    /// Where the figures go, besides being printed.
    pub(crate) json: Option<PathBuf>,
    /// How the names of the cases begin that are wanted; all, if there are none.
    pub(crate) cases: Vec<String>,
    /// Where a drawing of them goes.
    pub(crate) plot: Option<PathBuf>,
}

impl Options {
    /// A quick run of everything.
    pub(crate) fn quick() -> Options {
        Options { quick: true, threads: THREADS, json: None, cases: Vec::new(), plot: None }
    }
}

/// What a run found out.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The figures.
    pub(crate) series: Vec<Series>,
    /// The same for people.
    pub(crate) text: String,
}

/// Runs the suite. The calling thread must not be pinned: pools inherit it.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL };
    let cases = wanted(plan.cases(), &options.cases)?;

    let mut text = String::new();
    let speed = if options.quick { "quick" } else { "full" };
    writeln!(text, "Suite {SUITE}, {speed}: every sample in a fresh pool.")?;
    let mut all = Vec::new();
    for (done, &case) in cases.iter().enumerate() {
        say(&format!("[{}/{}] {case}", done + 1, cases.len()));
        let series = case.measure(&plan, options.threads)?;
        let rounds = series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
        writeln!(text, "\n{case}: {}. {rounds} {}.", case.description(), if rounds == 1 { "round" } else { "rounds" })?;
        text.push_str(&tables(&series));
        all.extend(series);
    }
    if !super::cpu::IS_KNOWN {
        writeln!(text, "\nCases that need the CPU time of the process were left out: it is measured only on Linux.")?;
    }
    text.push('\n');
    text.push_str(&goals::summary(&all));
    Ok(Measured { series: all, text })
}

/// The cases whose names begin as one of the names that were asked for. One that no case begins with is an error.
fn wanted(mut cases: Vec<Case>, names: &[String]) -> Result<Vec<Case>> {
    if let Some(unknown) = names.iter().find(|name| !cases.iter().any(|case| case.to_string().starts_with(*name))) {
        let known: Vec<String> = cases.iter().map(Case::to_string).collect();
        bail!("no case begins with `{unknown}`; there are {}", known.join(", "));
    }
    cases.retain(|case| names.is_empty() || names.iter().any(|name| case.to_string().starts_with(name)));
    Ok(cases)
}

/// A table for each unit and number of threads of a case. Those who always use one thread are in all of them, to compare with.
fn tables(series: &[Series]) -> String {
    let mut units: Vec<&str> = Vec::new();
    for series in series {
        if !units.contains(&series.unit) {
            units.push(series.unit);
        }
    }
    let mut text = String::new();
    for unit in units {
        let of_unit: Vec<&Series> = series.iter().filter(|series| series.unit == unit).collect();
        let pools = of_unit.iter().filter(|series| !series.name.starts_with("serial"));
        let counts: BTreeSet<usize> = pools.map(|series| series.threads).collect();
        for threads in counts {
            let table: Vec<&Series> = of_unit
                .iter()
                .copied()
                .filter(|series| {
                    series.threads == threads || (series.name.starts_with("serial") && series.threads == 1)
                })
                .collect();
            let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
            text.push_str(&format!("\n  {unit}, {threads}\n"));
            text.push_str(&report::comparison(&table, &["serial", "serial-call", "chili", "rayon"]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_chosen_by_how_their_names_begin() {
        let names = |chosen: &[&str]| {
            let chosen: Vec<String> = chosen.iter().map(|&name| name.to_owned()).collect();
            wanted(Plan::FULL.cases(), &chosen).map(|cases| cases.iter().map(Case::to_string).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), Plan::FULL.cases().len());
        assert_eq!(names(&["fib", "wake"]).unwrap(), ["fib-38", "wake"]);
        assert!(names(&["fob"]).unwrap_err().to_string().contains("no case begins with `fob`; there are fib-38"));
    }

    #[test]
    fn there_is_a_table_for_each_unit_and_number_of_threads() {
        let series = |name, threads, unit| Series {
            case: "fib-38".to_owned(),
            name,
            threads,
            unit,
            samples: vec![1.0],
            note: None,
        };
        let text = tables(&[
            series("serial", 1, "ns/join"),
            series("rayon", 1, "ns/join"),
            series("rayon", 2, "ns/join"),
            series("serial-pair", 2, "ns/join"),
            series("rayon", 2, "cpu-us/call"),
        ]);
        let headings: Vec<&str> = text.lines().filter(|line| line.contains(", ")).map(str::trim).collect();
        assert_eq!(headings, ["ns/join, 1 thread", "ns/join, 2 threads", "cpu-us/call, 2 threads"]);
        assert_eq!(text.matches("serial ").count(), 4, "{text}");
        assert_eq!(text.matches("serial-pair").count(), 1);
    }
}
