//! The `queues` suite: the cost of push, pop and steal on all queues.
//!
//! Every case runs on a thread that is pinned to a core.

mod cases;
mod claims;
mod contenders;
mod floors;
mod limit_study;
mod plan;
mod theft;
mod work;

use std::cell::Cell;

use anyhow::{Context, Result};
use clap::{Arg, Args};

use super::bound::{BoundOptions, Vouched};
use super::busy::Calibration;
use super::pin::{on_pinned_thread, Cores};
use super::rounds::{interleave, Effort, Runner};
use super::{Options, Suite};
use crate::figures::{self, Series};
use cases::Setup;
use plan::Plan;
use theft::Theft;

pub(crate) use cases::Case;
pub(crate) use claims::{steal_cost, verdicts};

/// The suite's name.
pub(crate) const SUITE: &str = "queues";

/// The unit of time per operation.
pub(crate) const NANOS_AN_OPERATION: &str = "ns/op";

/// The largest number of threads: the owner and one thief.
const MAX_THREADS: usize = 2;

/// The default task costs of the limit study, in nanoseconds.
pub(crate) const TASK_COSTS: [u64; 8] = [0, 1, 3, 10, 30, 100, 300, 1000];

/// The largest task cost that a user may ask for, in nanoseconds.
///
/// A sample is at least a burst of such tasks, for each queue and round.
const MAX_TASK_COST: u64 = 1_000_000;

/// The suite.
#[derive(Args, Debug)]
pub(crate) struct Queues {
    /// Set the task costs of the limit study, in nanoseconds.
    #[arg(long = "task-cost", value_name = "NS,NS,...", value_delimiter = ',', value_parser = task_cost,
          default_values_t = TASK_COSTS)]
    pub(crate) task_costs: Vec<u64>,

    #[command(flatten)]
    bound: BoundOptions,

    /// What the run depends on, once it is prepared.
    #[arg(skip)]
    prepared: Option<Prepared>,
}

/// What the run depends on.
#[derive(Debug)]
struct Prepared {
    /// The cost of a step of a task.
    calibration: Calibration,
    /// The bound of this run.
    vouched: Vouched,
}

impl Queues {
    /// The suite with these costs in the limit study, and this bound.
    ///
    /// Without a bound, the queues that trust one run without a thief.
    pub(crate) fn new(task_costs: &[u64], vouched: Vouched) -> Queues {
        Queues { task_costs: task_costs.to_vec(), bound: BoundOptions::found(vouched), prepared: None }
    }
}

impl Suite for Queues {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &["crossbeam-lifo", "chase_lev", "idempotent::lifo"];
    type Case = Case;

    fn cases(&self, options: &Options) -> Result<Vec<Case>> {
        Ok(Plan::cases(options.threads.most(), &self.task_costs))
    }

    fn effort(&self, _: &Case, options: &Options) -> Effort {
        // Six rounds are the fewest that give a 95 % interval. With twelve, the interval leaves out
        // two disturbed rounds on each side.
        Effort::exactly(options.choose(12, 15))
    }

    fn check(&self, _: &Options) -> Result<()> {
        self.bound.vouched().map(|_| ())
    }

    fn prepare(&mut self, _: &[Case], _: &Options) -> Result<()> {
        let calibration = on_pinned_thread(Cores::pin_owner, |_| Calibration::measure());
        self.prepared = Some(Prepared { calibration, vouched: self.bound.vouched()? });
        Ok(())
    }

    fn measure(&mut self, &case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        let Prepared { calibration, vouched } = self.prepared.as_ref().context("the suite was not prepared")?;
        on_pinned_thread(Cores::pin_owner, |cores| {
            let bound = contenders::bound(vouched);
            let setup = Setup { plan: Plan::of(options), calibration: *calibration, cores, bound };
            measure_case(case, &setup, vouched, effort)
        })
    }

    fn introduction(&self, options: &Options) -> String {
        let scatter = if Cores::choose().are_two() {
            ""
        } else {
            "\nThreads could not be pinned to two cores, so the figures scatter more."
        };
        let left_out = match &self.prepared {
            Some(Prepared { vouched: Err(why), .. }) => {
                let queues = contenders::trusting().join(", ");
                format!("\n{queues} are left out of {}: {why}.", Case::PushUnderTheft)
            }
            _ => String::new(),
        };
        let ignored = match options.threads.counts().iter().filter(|&&count| count > MAX_THREADS).count() {
            0 => "",
            _ => "\nThis suite has at most 2 threads, the owner and one thief. Larger numbers count as 2.",
        };
        format!("queues of {} tasks where one is filled.{scatter}{left_out}{ignored}", Plan::of(options).tasks)
    }

    fn description(&self, case: &Case) -> String {
        case.operation().to_owned()
    }

    fn tables(&self, case: &Case, series: &[Series]) -> String {
        match case {
            // The limit study has a table of all of them.
            Case::TaskCost(_) => String::new(),
            _ => figures::tables(series, Self::PEERS),
        }
    }

    fn conclusion(&self, options: &Options, series: &[Series]) -> String {
        let left_out = if options.threads.most() < MAX_THREADS {
            format!("\n{} was left out: it needs 2 threads.\n", Case::PushUnderTheft)
        } else {
            String::new()
        };
        let study = self.prepared.as_ref().map(|prepared| limit_study::summary(series, prepared.calibration));
        format!("{left_out}\n{}", study.unwrap_or_default())
    }
}

/// Measures all rounds of a case. A contender that takes no part in the case has no series.
fn measure_case(case: Case, setup: &Setup, vouched: &Vouched, effort: Effort) -> Result<Vec<Series>> {
    let mut entries = contenders::all();
    entries.retain(|entry| entry.is_measured(case, vouched));
    let thefts: Vec<Cell<Option<Theft>>> = entries.iter().map(|_| Cell::default()).collect();
    let runners = entries.iter().zip(&thefts).map(|(entry, thefts)| {
        let measure = move || {
            let sample = (entry.measure)(case, setup)?;
            if let Some(theft) = sample.theft {
                let mut all = thefts.get().unwrap_or_default();
                all.add(theft);
                thefts.set(Some(all));
            }
            Ok(vec![sample.nanos])
        };
        Runner { name: entry.name, threads: case.threads(), measure: Box::new(measure) }
    });
    let runners: Vec<Runner<'_>> = runners.collect();
    let mut series = interleave(&case.to_string(), &[NANOS_AN_OPERATION], &runners, effort)?;
    for (series, (entry, theft)) in series.iter_mut().zip(entries.iter().zip(&thefts)) {
        series.note = note((entry.note)(case, vouched), theft.get());
    }
    Ok(series)
}

/// Says what the option `--threads` means here.
pub(crate) fn threads_argument(threads: Arg) -> Arg {
    threads.help("Use up to 2 threads, an owner and a thief; 1 leaves out the case that needs a thief").long_help(
        "Use up to 2 threads, an owner and a thief; 1 leaves out the case that needs a thief.\n\n\
             A list may have larger numbers, as for other suites. They count as 2.",
    )
}

fn task_cost(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(cost) if cost <= MAX_TASK_COST => Ok(cost),
        Ok(_) => Err(format!("a task may cost at most {MAX_TASK_COST} ns here")),
        Err(_) => Err("this is not a whole number of nanoseconds; an example is 0,10,100".to_owned()),
    }
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
