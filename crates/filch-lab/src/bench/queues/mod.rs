//! The `queues` suite: the cost of push, pop and steal on all queues.
//!
//! Each case is measured in rounds. A round measures every contender once. Each round starts one
//! further along the list, so that noise affects all contenders alike and none is always the first
//! after it.

mod cases;
mod claims;
mod contenders;
mod floors;
mod limit_study;
mod plan;
mod theft;
mod work;

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::busy::Calibration;
use super::pin::Cores;
use super::{Limit, Measured};
use crate::figures::{self, Series};
use crate::watch;
use cases::Setup;
use contenders::Entry;
use plan::Plan;
use theft::Theft;

pub(crate) use cases::Case;
pub(crate) use claims::{steal_cost, verdicts};

/// The suite's name.
pub(crate) const SUITE: &str = "queues";

/// The unit of time per operation.
pub(crate) const NANOS_AN_OPERATION: &str = "ns/op";

/// The largest number of threads: the owner and one thief.
pub(crate) const MAX_THREADS: usize = 2;

/// The default task costs of the limit study, in nanoseconds.
pub(crate) const TASK_COSTS: [u64; 8] = [0, 1, 3, 10, 30, 100, 300, 1000];

/// The largest task cost that a user may ask for, in nanoseconds.
///
/// A sample is at least a burst of such tasks, for each queue and round.
pub(crate) const MAX_TASK_COST: u64 = 1_000_000;

/// Options of the suite.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Whether to use smaller counts and fewer rounds.
    pub(crate) quick: bool,
    /// The number of threads. 1 leaves out the case that needs a thief's thread.
    pub(crate) threads: usize,
    /// The file that the figures are written to, besides being printed.
    pub(crate) json: Option<PathBuf>,
    /// The task costs of the limit study, in nanoseconds.
    pub(crate) task_costs: Vec<u64>,
    /// The most that the suite may measure, if it is one of several.
    ///
    /// All its rounds are short, so their time is not limited.
    pub(crate) limit: Option<Limit>,
}

/// Runs the suite on the calling thread and pins that thread.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    let cores = Cores::choose();
    let pinned = cores.pin_owner();
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL }.within(options.limit);
    let setup = Setup { plan, calibration: Calibration::measure(), cores };
    let entries = contenders::all();
    let cases = Plan::cases(options.threads, &options.task_costs);

    let mut series = Vec::new();
    for &case in watch::each(&cases) {
        let measured = measure_case(case, &entries, &setup)?;
        watch::keep(SUITE, &measured);
        series.extend(measured);
    }

    let mut text = String::new();
    let speed = if options.quick { "quick" } else { "full" };
    writeln!(
        text,
        "Suite {SUITE}, {speed}: {} rounds, queues of {} tasks where one is filled. All figures are nanoseconds per operation.",
        plan.rounds, plan.tasks
    )?;
    if !pinned {
        writeln!(text, "Threads could not be pinned to two cores, so the figures scatter more.")?;
    }
    for &case in cases.iter().filter(|case| !matches!(case, Case::TaskCost(_))) {
        let name = case.to_string();
        let of_case: Vec<&Series> = series.iter().filter(|series| series.case == name).collect();
        // Measuring ended before this case.
        if of_case.is_empty() {
            continue;
        }
        writeln!(text, "\n{name}: {}\n", case.operation())?;
        text.push_str(&figures::comparison(&of_case, &["crossbeam-lifo", "chase_lev", "idempotent::lifo"]));
    }
    if options.threads < MAX_THREADS {
        writeln!(text, "\n{} was left out: it needs 2 threads.", Case::PushUnderTheft)?;
    }
    text.push('\n');
    text.push_str(&limit_study::summary(&series, &cases, &entries, setup.calibration));
    Ok(Measured { series, text })
}

/// Measures all rounds of a case, interleaved.
///
/// A contender that takes no part in the case has no series. A round does not count if measuring
/// [was over](watch::is_over) before its end.
fn measure_case(case: Case, entries: &[Entry], setup: &Setup) -> Result<Vec<Series>> {
    let mut samples = vec![Vec::new(); entries.len()];
    let mut thefts = vec![None::<Theft>; entries.len()];
    let mut whole = 0;
    'rounds: for round in 0..setup.plan.rounds {
        for turn in 0..entries.len() {
            if watch::is_over() {
                break 'rounds;
            }
            let index = (round + turn) % entries.len();
            let entry = &entries[index];
            let sample = (entry.measure)(case, setup)
                .with_context(|| format!("{} failed in round {} of {case}", entry.name, round + 1))?;
            let Some(sample) = sample else { continue };
            samples[index].push(sample.nanos);
            if let Some(theft) = sample.theft {
                thefts[index].get_or_insert_with(Theft::default).add(theft);
            }
            watch::sample();
        }
        whole += 1;
    }
    samples.iter_mut().for_each(|samples| samples.truncate(whole));

    let series = entries.iter().zip(samples).zip(thefts).filter(|((_, samples), _)| !samples.is_empty());
    Ok(series
        .map(|((entry, samples), theft)| Series {
            case: case.to_string(),
            name: entry.name,
            threads: case.threads(),
            unit: NANOS_AN_OPERATION,
            samples,
            note: note((entry.note)(case), theft),
        })
        .collect())
}

/// Joins a note about a contender with what a thief did to it.
fn note(known: Option<String>, theft: Option<Theft>) -> Option<String> {
    let theft = theft.map(|Theft { pushed, stolen, repeated }| {
        let share = 100.0 * stolen as f64 / pushed as f64;
        match repeated {
            0 => format!("{stolen} stolen ({share:.1} %)"),
            _ => format!("{stolen} stolen ({share:.1} %), {repeated} repeats"),
        }
    });
    let parts: Vec<String> = known.into_iter().chain(theft).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_joins_a_remark_and_the_thefts() {
        let theft = Theft { pushed: 1000, stolen: 25, repeated: 0 };
        assert_eq!(note(None, None), None);
        assert_eq!(note(Some("membarrier".to_owned()), None).unwrap(), "membarrier");
        assert_eq!(note(Some("delta 32".to_owned()), Some(theft)).unwrap(), "delta 32, 25 stolen (2.5 %)");
        let repeated = Theft { repeated: 3, ..theft };
        assert_eq!(note(None, Some(repeated)).unwrap(), "25 stolen (2.5 %), 3 repeats");
    }
}
