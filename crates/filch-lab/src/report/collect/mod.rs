//! Measures everything that the page shows.

pub(super) mod balance;
pub(super) mod bound_choice;
mod cpu_time;
pub(super) mod plan;
mod progress;
#[cfg(test)]
mod tests;
pub(super) mod timeline;

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, Context, Result};
use filch::Pool;

use crate::bench::Threads;
use crate::claims::Figures;
use crate::figures::Series;
use crate::lab::{litmus, published, store_buffer};
use crate::machine::Machine;
use crate::sync::lock;
use crate::verify::Summary;
use crate::{date, interrupt, watch};
use cpu_time::CpuTime;
use plan::{Amount, Choices, Inputs, Part};
use progress::Progress;

/// How long a part may take to end after Ctrl-C. A part that takes longer is abandoned; its
/// finished cases are kept.
const GRACE_PERIOD: Duration = Duration::from_secs(5);
/// The usual stack size of a program's main thread: serial programs recurse deeply.
const STACK: usize = 8 << 20;

/// All results of a report.
#[derive(Clone, Debug)]
pub(super) struct Results {
    /// Whether every suite ran in full.
    pub(super) full: bool,
    /// The machine that was measured.
    pub(super) machine: Machine,
    /// The sizes of the suites' pools.
    pub(super) threads: Threads,
    /// When the run began, as text, in UTC.
    pub(super) date: String,
    /// The share of processor time that other machines used, from 0 to 1, if known.
    ///
    /// Figures from a busy machine are less reliable.
    pub(super) other_machines: Option<f64>,
    /// The share of processor time that other processes of this system used.
    pub(super) other_processes: Option<f64>,
    /// The figures of each suite by name, including `lab fences`. A suite that was not run is
    /// absent.
    pub(super) suites: BTreeMap<&'static str, Vec<Series>>,
    /// The result of the store buffer measurement.
    pub(super) store_buffer: Option<store_buffer::Curve>,
    /// The result of the litmus test.
    pub(super) litmus: Option<litmus::Sweep>,
    /// The result of the models.
    pub(super) models: Option<Models>,
    /// A run with its events.
    pub(super) timeline: Option<timeline::Timeline>,
    /// The same work, divided in advance and stolen.
    pub(super) balance: Option<balance::Balance>,
    /// Sentences that say what is missing, and why.
    pub(super) left_out: Vec<String>,
    /// Whether the run was interrupted before all was done.
    pub(super) interrupted: bool,
    /// Suites that failed, of which only some cases are present.
    pub(super) failed: Vec<&'static str>,
}

/// The results of the models.
#[derive(Clone, Debug)]
pub(super) struct Models {
    /// A line for each model.
    pub(super) lines: Vec<Summary>,
    /// The number of all searches, including searches that were not run.
    pub(super) listed: usize,
}

/// The result of a part.
enum PartResult {
    Figures(&'static str, Vec<Series>),
    StoreBuffer(store_buffer::Curve),
    Litmus(litmus::Sweep),
    Models(Models),
    Timeline(timeline::Timeline),
    Balance(balance::Balance),
}

impl PartResult {
    /// Whether the part was interrupted before it had any result.
    fn is_empty(&self) -> bool {
        match self {
            PartResult::Figures(_, series) => series.is_empty(),
            PartResult::StoreBuffer(curve) => curve.points.is_empty(),
            PartResult::Litmus(sweep) => sweep.points.is_empty(),
            PartResult::Models(models) => models.lines.is_empty(),
            PartResult::Timeline(_) | PartResult::Balance(_) => false,
        }
    }
}

impl Results {
    /// Returns empty results.
    pub(super) fn new(amount: Amount, left_out: Vec<String>) -> Results {
        let rehearsal = "This is a rehearsal, one round of the smallest cases: its figures mean nothing.";
        let rehearsal = (amount == Amount::Rehearsal).then(|| rehearsal.to_owned());
        Results {
            full: amount == Amount::Full,
            machine: Machine::here(),
            threads: Threads::default(),
            date: date::now(),
            other_machines: None,
            other_processes: None,
            suites: BTreeMap::new(),
            store_buffer: None,
            litmus: None,
            models: None,
            timeline: None,
            balance: None,
            left_out: rehearsal.into_iter().chain(left_out).collect(),
            interrupted: false,
            failed: Vec::new(),
        }
    }

    /// Returns the figures of a suite; none if it was not run.
    pub(super) fn figures(&self, suite: &str) -> Figures<'_> {
        let series = self.suites.get(suite).map_or(&[][..], Vec::as_slice);
        let is_incomplete = self.interrupted || self.failed.contains(&suite);
        Figures { series, is_quick: !self.full, is_incomplete }
    }

    /// Whether there is nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        self.suites.is_empty()
            && self.store_buffer.is_none()
            && self.litmus.is_none()
            && self.models.is_none()
            && self.timeline.is_none()
            && self.balance.is_none()
    }

    /// Records that the first of these parts was abandoned and the others were not reached.
    fn abandon(&mut self, parts: &[&'static str]) {
        self.interrupted = true;
        let Some((&first, rest)) = parts.split_first() else { return };
        let what =
            if self.add_finished_cases(first) { "only its finished cases are included" } else { "it has no results" };
        self.left_out.push(format!("The run was interrupted during {first}, which did not stop in time: {what}."));
        self.not_reached(rest);
    }

    /// Adds the finished cases of a part, and returns whether there were any.
    fn add_finished_cases(&mut self, part: &'static str) -> bool {
        let kept = watch::kept(part);
        let are_some = !kept.is_empty();
        if are_some {
            self.add(PartResult::Figures(part, kept));
        }
        are_some
    }

    /// Records that the run was interrupted before these parts.
    fn not_reached(&mut self, parts: &[&str]) {
        self.interrupted = true;
        if !parts.is_empty() {
            self.left_out.push(format!("{}: not measured, because the run was interrupted.", parts.join(", ")));
        }
    }

    /// Adds the result of a part, which may have been interrupted.
    ///
    /// A part that fails is left out, with its reason, except for its finished cases.
    fn record(&mut self, name: &'static str, found: Result<PartResult>, is_over: bool) {
        self.interrupted |= is_over;
        let sentence = match found {
            Ok(found) if !found.is_empty() => {
                // The result contains all of them.
                drop(watch::kept(name));
                self.add(found);
                is_over.then(|| format!("The run was interrupted during {name}: its results until then are included."))
            }
            _ if is_over && self.add_finished_cases(name) => {
                Some(format!("The run was interrupted during {name}: its finished cases are included."))
            }
            _ if is_over => Some(format!("The run was interrupted before {name} had any results.")),
            Ok(_) => Some(format!("{name} has no figures.")),
            Err(error) => {
                let reason = format!("{error:#}");
                let reason = reason.trim_end_matches('.');
                Some(if self.add_finished_cases(name) {
                    self.failed.push(name);
                    format!("{name} failed, and only the cases before the failure are included: {reason}.")
                } else {
                    format!("{name} failed, and is left out: {reason}.")
                })
            }
        };
        self.left_out.extend(sentence);
    }

    fn add(&mut self, found: PartResult) {
        match found {
            PartResult::Figures(suite, series) => drop(self.suites.insert(suite, series)),
            PartResult::StoreBuffer(curve) => self.store_buffer = Some(curve),
            PartResult::Litmus(sweep) => self.litmus = Some(sweep),
            PartResult::Models(models) => self.models = Some(models),
            PartResult::Timeline(timeline) => self.timeline = Some(timeline),
            PartResult::Balance(balance) => self.balance = Some(balance),
        }
    }
}

/// The number of runs of a program that is drawn. The run with the median time is shown.
const RUNS: usize = 5;
/// The most workers of such a program: more lanes are not readable.
const MAX_WORKERS: usize = 8;

/// Makes a pool with one worker per core, at least two, so that no worker waits for another's core.
fn drawn_pool() -> Result<Pool> {
    let workers = thread::available_parallelism().map_or(1, usize::from).clamp(2, MAX_WORKERS);
    Pool::builder().threads(workers).build().with_context(|| format!("cannot start a pool of {workers} workers"))
}

/// Runs a program until there are enough runs, or at least one if it is over.
fn repeat<T>(mut run: impl FnMut() -> T) -> Vec<T> {
    (0..RUNS).take_while(|&done| done == 0 || !watch::is_over()).map(|_| run()).collect()
}

/// Returns the run with the median time.
fn median_run<T>(mut runs: Vec<T>, time: impl Fn(&T) -> f64) -> T {
    runs.sort_by(|one, other| time(one).total_cmp(&time(other)));
    runs.swap_remove(runs.len() / 2)
}

/// A message to the waiting thread.
enum Message {
    /// All parts are done, or none is left.
    Done,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// Sends `Done` when the measuring thread ends, however it ends.
struct SendDoneOnDrop(Sender<Message>);

impl Drop for SendDoneOnDrop {
    fn drop(&mut self) {
        // An error means that this thread was abandoned and the receiver is gone.
        let _ = self.0.send(Message::Done);
    }
}

/// The results and the number of finished parts. They share a lock, so that no reader sees a
/// finished part as running.
struct RunState {
    results: Results,
    /// The number of parts that have ended, with any result, or were not reached.
    finished: usize,
}

impl RunState {
    /// Records an interruption before these parts.
    fn skip(&mut self, parts: &[&str]) {
        self.results.not_reached(parts);
        self.finished += parts.len();
    }
}

/// Measures these parts in order.
///
/// After Ctrl-C it returns soon with the results so far. A second Ctrl-C ends the program.
pub(super) fn collect(parts: Vec<Part>, choices: Choices, left_out: Vec<String>) -> Result<Results> {
    let amount = choices.amount;
    let cpu_time = CpuTime::now();
    let results = Results { threads: choices.threads.clone(), ..Results::new(amount, left_out) };
    let state = Arc::new(Mutex::new(RunState { results, finished: 0 }));
    let progress = Progress::begin(parts.iter().map(|part| part.seconds(amount)).collect());
    let (sender, receiver) = mpsc::channel();
    let (bar, interrupted) = (progress.clone(), sender.clone());
    interrupt::handle(move |first| match first {
        None => {
            // This comes first: whatever blocks the message, the run ends.
            watch::end();
            bar.say("Stopping: the page will contain the results so far. Press Ctrl-C again to exit without a page.");
            // An error means that all is done and the receiver is gone.
            let _ = interrupted.send(Message::Interrupted);
        }
        Some(_) => interrupt::leave(),
    })?;

    // On a thread of its own: a part that ignores Ctrl-C cannot keep the page from being written.
    let (filled, bar) = (Arc::clone(&state), progress.clone());
    let names: Vec<&'static str> = parts.iter().map(|part| part.name).collect();
    let run = move || {
        let _done = SendDoneOnDrop(sender);
        measure(&parts, &choices, &filled, |place, part| bar.part(place, part));
    };
    thread::Builder::new().stack_size(STACK).spawn(run).context("cannot start a thread")?;
    if let Ok(Message::Interrupted) = receiver.recv() {
        // The code below checks whether it ended in time.
        let _ = receiver.recv_timeout(GRACE_PERIOD);
    }
    progress.end();
    let mut results = results_so_far(&state, &names);
    let both = cpu_time.zip(CpuTime::now());
    results.other_machines = both.and_then(|(before, after)| before.stolen_until(after));
    results.other_processes = both.and_then(|(before, after)| before.used_by_others_until(after));
    Ok(results)
}

/// Returns the results so far. A part that still runs continues until the program ends, and its
/// result is ignored.
fn results_so_far(state: &Mutex<RunState>, names: &[&'static str]) -> Results {
    let state = lock(state);
    let mut results = state.results.clone();
    if state.finished < names.len() {
        results.abandon(&names[state.finished..]);
    }
    results
}

/// Measures the parts in order, until the run is over. A part that fails is left out, with its
/// reason.
fn measure(parts: &[Part], choices: &Choices, state: &Mutex<RunState>, begin: impl Fn(usize, &'static str)) {
    let from = |place: usize| parts[place..].iter().map(|part| part.name).collect::<Vec<_>>();
    for (place, part) in parts.iter().enumerate() {
        if watch::is_over() {
            return lock(state).skip(&from(place));
        }
        begin(place, part.name);
        let inputs = {
            let results = &lock(state).results;
            let knee = results.store_buffer.as_ref().and_then(|curve| curve.knee);
            let sweep = results.litmus.as_ref();
            let bound = match choices.bound {
                Some(given) => bound_choice::choose_given(given, sweep),
                None => bound_choice::choose(knee, sweep, published::are_all),
            };
            Inputs { choices: choices.clone(), entries: knee.map(|knee| knee.entries), bound }
        };
        let found = panic::catch_unwind(AssertUnwindSafe(|| (part.measure)(&inputs)));
        let found = found.unwrap_or_else(|payload| Err(anyhow!("it panicked: {}", panic_message(&*payload))));
        let mut state = lock(state);
        let is_over = watch::is_over();
        state.results.record(part.name, found, is_over);
        state.finished += 1;
        if is_over {
            return state.skip(&from(place + 1));
        }
    }
}

/// Returns the message of a panic.
fn panic_message(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or(payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
