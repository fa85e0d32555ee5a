//! Tests whether loads overtake more stores than a bound says.
//!
//! This repeats figures 8 and 9 of *Fence-Free Work Stealing on Bounded TSO Processors*.
//!
//! A worker and a thief [race](race) to empty a queue. The worker has no fence, and the thief
//! assumes delta pops hidden. If together they do not have exactly the initial number of tasks,
//! more pops were hidden. [`plan`] chooses the deltas and the numbers of stores between pops,
//! [`cores`] the placements. [`sweep`] runs the races, [`verdict`] draws the conclusion, and
//! [`evidence`] says how strong it is.

mod arguments;
mod autosave;
mod calibrate;
mod cores;
mod counts;
mod draw;
mod emulation;
pub(crate) mod evidence;
mod plan;
mod progress;
mod race;
mod start;
mod state;
mod sweep;
mod text;
mod verdict;

use std::time::{Duration, Instant};

use anyhow::{ensure, Result};
use serde::{Deserialize, Serialize};

pub(crate) use arguments::Arguments;
pub(crate) use emulation::emulator_here;

use crate::figures;
use crate::lab::kinds;
use crate::machine::Machine;
use crate::{interrupt, print, say, watch};
use arguments::RUNS;
use autosave::Autosave;
use calibrate::Calibrator;
use cores::Topology;
use counts::Counts;
use state::{State, StoredPoint};
use sweep::Task;

/// The time limit of the first races, from which the time of the others is estimated.
const SAMPLE: Duration = Duration::from_secs(5);

/// Options of a sweep.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The bound under test: the entries of the store buffer, plus one.
    pub(crate) supposed: usize,
    /// How often each point near the line is run in each placement. Other points have a tenth.
    pub(crate) runs: u64,
    /// The time limit.
    pub(crate) seconds: f64,
}

/// Where worker and thief run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Placement {
    /// Wherever the operating system puts them.
    Unpinned,
    /// On two hardware threads of one core.
    SameCore,
    /// On two cores.
    DifferentCores,
}

/// The result for a number of stores and a delta.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Point {
    /// L: stores between two pops.
    pub(crate) stores: usize,
    /// How many pops the thief assumed hidden.
    pub(crate) delta: usize,
    /// Where the threads ran.
    pub(crate) placement: Placement,
    /// The number of runs.
    pub(crate) runs: u64,
    /// The number of runs in which tasks were taken twice, or lost.
    pub(crate) incorrect: u64,
}

/// The conclusion of a sweep about the bound under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// No run was incorrect that should have been correct. That proves nothing, and lowers nothing.
    Stands,
    /// The bound is at least this: runs were incorrect that should have been correct. They had an L
    /// of at least 1.
    Raised(usize),
    /// No useful bound explains the results.
    Refuted,
}

/// All points, and the verdict.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Sweep {
    /// The bound under test.
    pub(crate) supposed: usize,
    /// All points with at least one run.
    pub(crate) points: Vec<Point>,
    /// The largest `delta * (stores + 1)` of an incorrect run.
    ///
    /// Only runs with at least one store between pops count. The load overtook one more store than
    /// this.
    pub(crate) largest_violation: Option<usize>,
    /// The conclusion.
    pub(crate) verdict: Verdict,
}

impl Sweep {
    fn new(supposed: usize, counts: &Counts) -> Sweep {
        let largest_violation = counts.largest_violation();
        let verdict = verdict::judge(supposed, largest_violation);
        Sweep { supposed, points: counts.points(), largest_violation, verdict }
    }
}

/// Runs the sweep, until it [is over](crate::watch::is_over).
pub(crate) fn measure(options: &Options) -> Result<Sweep> {
    emulation::real_cpu()?;
    let limit = Duration::try_from_secs_f64(options.seconds).ok();
    let task = task(options.supposed, options.runs, limit)?;
    Ok(Sweep::new(options.supposed, &sweep::sweep(&task, &Counts::default(), |_, _| watch::sample())))
}

/// Returns the task for this machine.
fn task(supposed: usize, runs: u64, limit: Option<Duration>) -> Result<Task> {
    let topology = Topology::here();
    ensure!(
        topology.threads() != 1,
        "this process may use only one hardware thread: worker and thief never run at the same time, so the test cannot show anything"
    );
    Ok(Task { sites: topology.sites(), supposed, runs, limit, is_over: watch::is_over })
}

/// Runs `filch-lab lab litmus`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { bound, seconds, state, json, plot, calibrate, .. } = arguments;
    let cpu = emulation::real_cpu()?;
    [state, json, plot, calibrate].into_iter().flatten().try_for_each(|path| figures::check_writable(path))?;
    let machine = Machine::here();
    let earlier = start::resumed_state(arguments, &cpu)?;
    // Fails before anything is measured if there is no place to race.
    task(2, 1, None)?;
    let calibrator = calibrate.as_ref().map(|path| Calibrator::new(path, &cpu)).transpose()?;
    if calibrator.is_some() {
        kinds::ensure_all_measurable()?;
    }
    let measure = || {
        let entries = start::measure_entries()?;
        calibrator.as_ref().map_or(Ok(()), |calibrator| calibrator.ensure_whole(entries))?;
        Ok(entries)
    };
    let (before, supposed) = start::initial_state(earlier, *bound, calibrator.is_some(), measure)?;
    let entries = before.entries;
    let mut task = task(supposed, arguments.runs.unwrap_or(RUNS), *seconds)?;
    if calibrator.is_some() && arguments.runs.is_none() {
        task.runs = evidence::runs_to_trust(supposed, task.sites.iter().map(|site| site.placement)).max(RUNS);
    }
    interrupt::ends_measuring("Stopping with the counts so far; a second Ctrl-C stops at once.")?;

    if sweep::is_done(&task, &before.counts) {
        say("All these runs were made before; give a larger --runs for more.");
    }
    let begin = Instant::now();
    let (sampled, left) = sweep::sample(&task, &before.counts, SAMPLE);
    let before = State { counts: sampled, ..before };
    if !left.is_zero() {
        say(&text::expected_time(left, task.limit.is_some(), state.is_some()));
    }
    task.limit = task.limit.map(|limit| limit.saturating_sub(begin.elapsed()));
    let (counts, saved) = sweep_with_progress(&task, &before, state.as_deref().map(|path| Autosave::new(path, &cpu)));
    // The report is printed first: a file that cannot be written must not lose it.
    print(&text::report(&cpu, supposed, entries, &counts))?;
    let json = json.as_ref().map_or(Ok(()), |path| {
        let (sweep, places) = (Sweep::new(supposed, &counts), state::points(&counts));
        figures::write_json(path, &Json { machine: &machine, cpu: cpu.to_string(), entries, sweep: &sweep, places })
    });
    let plot = plot.as_ref().map_or(Ok(()), |path| draw::write(path, supposed, &counts.points(), &cpu.brand));
    let calibrated = calibrator.map_or(Ok(()), |calibrator| calibrator.store(*bound, entries, &counts));
    combine_failures([calibrated, saved, json, plot])
}

/// Combines all failures into one error.
fn combine_failures<const N: usize>(results: [Result<()>; N]) -> Result<()> {
    let failures: Vec<String> = results.into_iter().filter_map(|result| Some(format!("{:#}", result.err()?))).collect();
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

/// The content of the file of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    machine: &'a Machine,
    cpu: String,
    /// The entries of the store buffer, if they were measured.
    entries: Option<usize>,
    #[serde(flatten)]
    sweep: &'a Sweep,
    /// The same points, separately for each kind of core.
    places: Vec<StoredPoint>,
}

/// Runs the sweep with a progress bar.
///
/// Returns the counts, including the earlier ones, and whether they could be saved.
fn sweep_with_progress(task: &Task, before: &State, mut autosave: Option<Autosave<'_>>) -> (Counts, Result<()>) {
    let bar = progress::bar();
    let counts = sweep::sweep(task, &before.counts, |counts, share| {
        progress::show(&bar, share, counts.total().incorrect);
        if let Some(autosave) = &mut autosave {
            autosave.save_if_due(before, counts);
        }
    });
    bar.finish_and_clear();
    let saved = autosave.map_or(Ok(()), |autosave| autosave.save(before, &counts));
    (counts, saved)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::lab::calibration::Cpu;
    use crate::lab::litmus::cores::Site;

    #[test]
    fn a_file_that_cannot_be_written_does_not_lose_the_counts() {
        let task = Task { sites: vec![Site::anywhere()], supposed: 73, runs: 1, limit: None, is_over: || false };
        let before = State { supposed: 73, entries: Some(72), counts: Counts::default() };
        let cpu = Cpu::ice_lake();
        let (counts, saved) =
            sweep_with_progress(&task, &before, Some(Autosave::new(Path::new("no/where/state.json"), &cpu)));
        assert!(counts.total().runs > 100);
        assert!(format!("{:#}", saved.unwrap_err()).contains("the counts were not saved"));
    }
}
