//! The shape of a suite, its options, and the driver that measures it.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, Context, Error, Result};
use clap::Args;

use super::rounds::{Effort, Limit};
use super::{claims_of, Threads};
use crate::claims::Figures;
use crate::figures::{self, Series};
use crate::machine::Machine;
use crate::{interrupt, print, watch};

/// The options of all suites.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Measure less: fewer rounds, and only small inputs. Takes well under a minute.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Measure at most N rounds of each case.
    ///
    /// One round shows that everything works, but not how much the figures scatter.
    #[arg(long = "rounds", value_name = "N", value_parser = most_rounds)]
    pub(crate) limit: Option<Limit>,

    /// Use pools of these numbers of threads, and of 1 thread as well. The claims are for 2.
    #[arg(long, value_name = "N,N,...", default_value_t, value_parser = Threads::parse)]
    pub(crate) threads: Threads,

    /// Also write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Measure only cases whose names begin with NAME; may be given several times.
    #[arg(long = "case", value_name = "NAME")]
    pub(crate) cases: Vec<String>,
}

impl Options {
    /// Returns the value for a quick run or for a full run.
    pub(crate) fn choose<T>(&self, quick: T, full: T) -> T {
        if self.quick {
            quick
        } else {
            full
        }
    }
}

fn most_rounds(text: &str) -> Result<Limit, String> {
    match text.parse() {
        Ok(0) => Err("at least one round is needed; give 1 or more".to_owned()),
        Ok(rounds) => Ok(Limit { rounds, time: Duration::MAX }),
        Err(_) => Err("this is not a number of rounds; an example is 3".to_owned()),
    }
}

/// A suite, with the options that no other suite has.
pub(crate) trait Suite {
    /// Its name on the command line.
    const NAME: &'static str;
    /// The contenders that tables compare all others with.
    const PEERS: &'static [&'static str];

    /// A case to measure. It is displayed as its name.
    type Case: Display;

    /// All cases, in the order in which they are measured and printed.
    fn cases(&self, options: &Options) -> Result<Vec<Self::Case>>;

    /// Whether a case is measured if it is not the only kind that was asked for.
    fn includes(&self, _case: &Self::Case, _options: &Options) -> bool {
        true
    }

    /// The names of wanted cases that a name on the command line stands for.
    fn expand(&self, name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    /// The rounds of a case. The driver cuts them down to the limit of the options.
    fn effort(&self, case: &Self::Case, options: &Options) -> Effort;

    /// Checks whether the suite can run, before anything else happens.
    fn check(&self, _options: &Options) -> Result<()> {
        Ok(())
    }

    /// Prepares what the selected cases need.
    fn prepare(&mut self, _cases: &[Self::Case], _options: &Options) -> Result<()> {
        Ok(())
    }

    /// Measures all rounds of a case.
    ///
    /// The calling thread is not pinned, because pools and processes inherit its affinity.
    fn measure(&mut self, case: &Self::Case, options: &Options, effort: Effort) -> Result<Vec<Series>>;

    /// What the figures are, for people.
    fn introduction(&self, options: &Options) -> String;

    /// A description of a case that was just measured.
    fn description(&self, case: &Self::Case) -> String;

    /// The tables of a case. A case without a table is not printed.
    fn tables(&self, _case: &Self::Case, series: &[Series]) -> String {
        figures::tables(series, Self::PEERS)
    }

    /// What follows the tables of all cases.
    fn conclusion(&self, _options: &Options, _series: &[Series]) -> String {
        String::new()
    }

    /// Writes other files than JSON.
    fn write(&self, _series: &[Series], _machine: &Machine) -> Result<()> {
        Ok(())
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The figures.
    pub(crate) series: Vec<Series>,
    /// The same figures as text for people.
    pub(crate) text: String,
}

/// Measures the suite, writes its figures, and prints them with the verdicts on its claims.
///
/// Ctrl-C ends it with the figures so far. Figures from before a failure are also written and
/// printed.
pub(crate) fn run<S: Suite>(suite: &mut S, options: &Options) -> Result<()> {
    if let Some(path) = &options.json {
        figures::check_writable(path)?;
    }
    suite.check(options)?;
    let machine = Machine::here();
    interrupt::ends_measuring(
        "Stopping after this sample, with the figures so far. Press Ctrl-C again to stop at once, without them.",
    )?;
    let (Measured { series, text }, failure) = or_completed_cases(S::NAME, measure(suite, options))?;

    // Write before printing: a reader that closes the pipe early still gets the file. Keep an
    // existing file rather than replace it with one without figures.
    if !(series.is_empty() && watch::is_over()) {
        if let Some(path) = &options.json {
            figures::write_json(path, &figures::rows(S::NAME, &series, &machine))?;
        }
        suite.write(&series, &machine)?;
    }
    let is_incomplete = failure.is_some() || watch::is_over() || !options.cases.is_empty();
    let claims = claims_of(S::NAME, Figures { series: &series, is_quick: options.quick, is_incomplete });
    let end = if watch::is_over() { "\nInterrupted: not all cases were measured.\n" } else { "" };
    print(&format!("{machine}\n\n{text}\n{claims}{end}"))?;
    failure.map_or(Ok(()), Err)
}

/// Measures the selected cases of a suite.
pub(crate) fn measure<S: Suite>(suite: &mut S, options: &Options) -> Result<Measured> {
    let cases = select(suite, options)?;
    suite.prepare(&cases, options)?;
    let speed = options.choose("quick", "full");
    let mut text = format!("Suite {}, {speed}: {}\n", S::NAME, suite.introduction(options));
    let mut all = Vec::new();
    for case in watch::each(&cases) {
        let effort = suite.effort(case, options).within(options.limit);
        let series = watch::or_over(suite.measure(case, options, effort));
        let series = series.with_context(|| format!("{case} could not be measured"))?;
        watch::keep(S::NAME, &series);
        let tables = suite.tables(case, &series);
        if !tables.is_empty() {
            let rounds = match series.iter().map(|series| series.samples.len()).max() {
                Some(1) => "1 round".to_owned(),
                rounds => format!("{} rounds", rounds.unwrap_or(0)),
            };
            text.push_str(&format!("\n{case}: {}. {rounds}.\n{tables}", suite.description(case)));
        }
        all.extend(series);
    }
    text.push_str(&suite.conclusion(options, &all));
    Ok(Measured { series: all, text })
}

/// The cases whose names start with a wanted name.
///
/// Cases that the suite does not include are left out, unless the names match nothing else. Returns
/// an error if no case starts with one of the names.
pub(super) fn select<S: Suite>(suite: &S, options: &Options) -> Result<Vec<S::Case>> {
    let mut cases = suite.cases(options)?;
    let names: Vec<String> = options.cases.iter().flat_map(|name| suite.expand(name)).collect();
    let begins = |case: &S::Case, name: &String| case.to_string().starts_with(name);
    if let Some(unknown) = names.iter().find(|name| !cases.iter().any(|case| begins(case, name))) {
        let known: Vec<String> = cases.iter().map(S::Case::to_string).collect();
        bail!("no case begins with `{unknown}`; there are {}", known.join(", "));
    }
    cases.retain(|case| names.is_empty() || names.iter().any(|name| begins(case, name)));
    if names.is_empty() || cases.iter().any(|case| suite.includes(case, options)) {
        cases.retain(|case| suite.includes(case, options));
    }
    Ok(cases)
}

/// Returns the result, or the cases that were complete before a failure.
///
/// The failure is returned as well, unless the end of the measurement caused it.
fn or_completed_cases(suite: &'static str, measured: Result<Measured>) -> Result<(Measured, Option<Error>)> {
    let kept = watch::kept(suite);
    match measured {
        Ok(measured) => Ok((measured, None)),
        Err(error) if kept.is_empty() && !watch::is_over() => Err(error),
        Err(error) => {
            let mut text = format!("Suite {suite}, incomplete.\n");
            for of_case in kept.chunk_by(|one, other| one.case == other.case) {
                text.push_str(&format!("\n{}\n{}", of_case[0].case, figures::tables(of_case, &[])));
            }
            Ok((Measured { series: kept, text }, (!watch::is_over()).then_some(error)))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use anyhow::anyhow;

    use super::*;
    use crate::figures::tests::series;

    /// Options of a run with two threads.
    pub(in crate::bench) fn options(quick: bool, names: &[&str]) -> Options {
        let cases = names.iter().map(|&name| name.to_owned()).collect();
        Options { quick, limit: None, threads: Threads::default(), json: None, cases }
    }

    /// The names of the selected cases, or the error.
    pub(in crate::bench) fn selected<S: Suite>(
        suite: &S,
        quick: bool,
        names: &[&str],
    ) -> std::result::Result<Vec<String>, String> {
        let cases = select(suite, &options(quick, names)).map_err(|error| error.to_string())?;
        Ok(cases.iter().map(S::Case::to_string).collect())
    }

    #[test]
    fn cases_before_a_failure_are_shown_and_the_failure_is_returned() {
        let refusal = or_completed_cases("fails at once", Err(anyhow!("no memory"))).unwrap_err();
        assert_eq!(refusal.to_string(), "no memory");

        let other = Series { case: "burst-8".to_owned(), ..series("thep", &[3.0]) };
        watch::keep("fails later", &[series("the", &[7.0]), series("thep", &[8.0])]);
        watch::keep("fails later", &[other]);
        let (measured, failure) = or_completed_cases("fails later", Err(anyhow!("no memory"))).unwrap();
        assert_eq!(failure.unwrap().to_string(), "no memory");
        assert_eq!(measured.series.len(), 3);
        let places = ["burst-64\n", "7.00", "8.00", "burst-8\n", "3.00"].map(|text| measured.text.find(text).unwrap());
        assert!(places.is_sorted(), "{}", measured.text);
    }
}
