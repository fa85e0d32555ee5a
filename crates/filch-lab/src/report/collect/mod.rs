//! Measures all that the page shows.

pub(super) mod balance;
mod clock;
pub(super) mod plan;
mod progress;
#[cfg(test)]
mod tests;
pub(super) mod timeline;
pub(super) mod trust;

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, Context, Result};

use crate::figures::Series;
use crate::lab::{litmus, published, store_buffer};
use crate::machine::Machine;
use crate::{date, interrupt, watch};
use clock::Processors;
use plan::{Amount, Known, Part};
use progress::Progress;

/// How long a part may take to end after Ctrl-C. One that takes longer is left behind with what it has.
const GRACE: Duration = Duration::from_secs(5);
/// As much as a program's first thread usually has: serial programs recurse deeply.
const STACK: usize = 8 << 20;

/// All that was found out.
#[derive(Clone, Debug)]
pub(super) struct Results {
    /// Whether every suite ran in full.
    pub(super) full: bool,
    /// Of what.
    pub(super) machine: Machine,
    /// When it began, for people, in UTC.
    pub(super) date: String,
    /// The share of the processors' time that other machines had meanwhile, from 0 to 1, where the system tells: a figure from a busy machine is worth less.
    pub(super) stolen: Option<f64>,
    /// The same of other processes of this system.
    pub(super) others: Option<f64>,
    /// The figures of each suite by its name, the prices of `lab fences` among them. A suite that was not run has none.
    pub(super) suites: BTreeMap<&'static str, Vec<Series>>,
    /// The store buffer.
    pub(super) store_buffer: Option<store_buffer::Curve>,
    /// The litmus test.
    pub(super) litmus: Option<litmus::Sweep>,
    /// What the models came to.
    pub(super) models: Option<Models>,
    /// A run with its events.
    pub(super) timeline: Option<timeline::Timeline>,
    /// The same work, divided in advance and stolen.
    pub(super) balance: Option<balance::Balance>,
    /// What is missing, and why: each a sentence.
    pub(super) left_out: Vec<String>,
    /// Whether it was ended before all was done.
    pub(super) interrupted: bool,
    /// Suites that failed before they were done, and of which only some cases are here.
    pub(super) failed: Vec<&'static str>,
}

/// What the models came to.
#[derive(Clone, Debug)]
pub(super) struct Models {
    /// A line for each model: its name, the searches, the states looked at, claims that hold, flaws that were refuted, and how many came out other than listed.
    pub(super) lines: Vec<ModelLine>,
    /// How many searches there are in all, those among them that were not made.
    pub(super) listed: usize,
}

/// All searches of one model.
#[derive(Clone, Debug)]
pub(super) struct ModelLine {
    /// The model.
    pub(super) model: String,
    /// How many cases were searched.
    pub(super) searches: usize,
    /// How many states they have.
    pub(super) states: u64,
    /// How many cases keep their claims.
    pub(super) hold: usize,
    /// How many flawed cases were refuted, as they should be.
    pub(super) refuted: usize,
    /// How many came out other than listed.
    pub(super) surprises: usize,
}

/// What a part came to.
enum Found {
    Figures(&'static str, Vec<Series>),
    StoreBuffer(store_buffer::Curve),
    Litmus(litmus::Sweep),
    Models(Models),
    Timeline(timeline::Timeline),
    Balance(balance::Balance),
}

impl Found {
    /// Whether it was ended before there was anything.
    fn is_empty(&self) -> bool {
        match self {
            Found::Figures(_, series) => series.is_empty(),
            Found::StoreBuffer(curve) => curve.points.is_empty(),
            Found::Litmus(sweep) => sweep.points.is_empty(),
            Found::Models(models) => models.lines.is_empty(),
            Found::Timeline(_) | Found::Balance(_) => false,
        }
    }
}

impl Results {
    /// Nothing yet.
    pub(super) fn new(amount: Amount, left_out: Vec<String>) -> Results {
        let rehearsal = "This is a rehearsal, one round of the smallest cases: its figures mean nothing.";
        let rehearsal = (amount == Amount::Rehearsal).then(|| rehearsal.to_owned());
        Results {
            full: amount == Amount::Full,
            machine: Machine::here(),
            date: date::now(),
            stolen: None,
            others: None,
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

    /// Whether cases of this suite may be missing of which nobody knows.
    pub(super) fn is_part(&self, suite: &str) -> bool {
        self.interrupted || self.failed.contains(&suite)
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

    /// The first of these parts did not hear that it is to end, and the others were not reached.
    fn leave_behind(&mut self, parts: &[&'static str]) {
        self.interrupted = true;
        let Some((&first, rest)) = parts.split_first() else { return };
        let what = if self.add_kept(first) { "only its cases that were over are" } else { "nothing of it is" };
        self.left_out.push(format!("It was ended in the middle of {first}, which did not end in time: {what} here."));
        self.not_reached(rest);
    }

    /// Adds the cases of a part that were over, and says whether there were any.
    fn add_kept(&mut self, part: &'static str) -> bool {
        let kept = watch::kept(part);
        let are_some = !kept.is_empty();
        if are_some {
            self.add(Found::Figures(part, kept));
        }
        are_some
    }

    /// It was over before these.
    fn not_reached(&mut self, parts: &[&str]) {
        self.interrupted = true;
        if !parts.is_empty() {
            self.left_out.push(format!("It was ended before {} could be measured.", parts.join(", ")));
        }
    }

    /// Takes what a part came to, which may have been ended in the middle. What fails is left out, with its reason, but for its cases that were over.
    fn take(&mut self, name: &'static str, found: Result<Found>, is_over: bool) {
        self.interrupted |= is_over;
        let sentence = match found {
            Ok(found) if !found.is_empty() => {
                // All of them are in what was found.
                drop(watch::kept(name));
                self.add(found);
                is_over.then(|| format!("It was ended in the middle of {name}: what it had found until then is here."))
            }
            _ if is_over && self.add_kept(name) => {
                Some(format!("It was ended in the middle of {name}: its cases that were over are here."))
            }
            _ if is_over => Some(format!("It was ended before {name} had found anything.")),
            Ok(_) => Some(format!("{name} has no figures.")),
            Err(error) => {
                let reason = format!("{error:#}");
                let reason = reason.trim_end_matches('.');
                Some(if self.add_kept(name) {
                    self.failed.push(name);
                    format!("{name} failed before it was done, and only its cases before that are here: {reason}.")
                } else {
                    format!("{name} failed, and is left out: {reason}.")
                })
            }
        };
        self.left_out.extend(sentence);
    }

    fn add(&mut self, found: Found) {
        match found {
            Found::Figures(suite, series) => drop(self.suites.insert(suite, series)),
            Found::StoreBuffer(curve) => self.store_buffer = Some(curve),
            Found::Litmus(sweep) => self.litmus = Some(sweep),
            Found::Models(models) => self.models = Some(models),
            Found::Timeline(timeline) => self.timeline = Some(timeline),
            Found::Balance(balance) => self.balance = Some(balance),
        }
    }
}

/// How many workers to show: as many as there are cores, so that none waits for another's, but at least two, and no more than so many.
fn workers(most: usize) -> usize {
    thread::available_parallelism().map_or(1, usize::from).clamp(2, most)
}

/// Something happened that the thread that waits must know of.
enum Message {
    /// All parts are done, or none is left.
    Done,
    /// It is to end.
    Interrupted,
}

/// Says that the thread that measures has ended, however it has.
struct AtTheEnd(Sender<Message>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        // Nobody waits for it any more if it was left behind.
        let _ = self.0.send(Message::Done);
    }
}

/// What is measured, and how far that is: together, so that nobody sees a part that has ended and is said to be at work.
struct Measuring {
    results: Results,
    /// How many parts have ended, whatever came of them, or were not reached.
    over: usize,
}

impl Measuring {
    /// It is over, and these are not begun any more.
    fn end_before(&mut self, parts: &[&str]) {
        self.results.not_reached(parts);
        self.over += parts.len();
    }
}

/// Measures these parts one after the other. After Ctrl-C it comes back soon with what there is; a second Ctrl-C ends the program.
pub(super) fn collect(parts: Vec<Part>, amount: Amount, left_out: Vec<String>) -> Result<Results> {
    let processors = Processors::now();
    let measuring = Arc::new(Mutex::new(Measuring { results: Results::new(amount, left_out), over: 0 }));
    let progress = Progress::begin(parts.iter().map(|part| part.seconds(amount)).collect());
    let (tell, told) = mpsc::channel();
    let (bar, interrupted) = (progress.clone(), tell.clone());
    interrupt::handle(move |first| match first {
        None => {
            // First of all: whatever is in the way of saying so, it ends.
            watch::end();
            bar.say("Ending: the page is written with what is done so far. Once more ends it at once, without a page.");
            // Nobody waits for it any more if all is done.
            let _ = interrupted.send(Message::Interrupted);
        }
        Some(_) => interrupt::leave(),
    })?;

    // On a thread of its own, so that no part that does not hear of Ctrl-C can keep the page from being written.
    let (filled, bar) = (Arc::clone(&measuring), progress.clone());
    let names: Vec<&'static str> = parts.iter().map(|part| part.name).collect();
    let run = move || {
        let _at_the_end = AtTheEnd(tell);
        measure(&parts, amount, &filled, |place, part| bar.part(place, part));
    };
    thread::Builder::new().stack_size(STACK).spawn(run).context("a thread could not be started")?;
    if let Ok(Message::Interrupted) = told.recv() {
        // Whether it ended in time is seen below.
        let _ = told.recv_timeout(GRACE);
    }
    progress.end();
    let mut results = come_to(&measuring, &names);
    let both = processors.zip(Processors::now());
    results.stolen = both.and_then(|(before, after)| before.stolen_until(after));
    results.others = both.and_then(|(before, after)| before.others_until(after));
    Ok(results)
}

/// What there is now. A part that is still at work goes on until the program ends, and nobody looks at what comes of it.
fn come_to(measuring: &Mutex<Measuring>, names: &[&'static str]) -> Results {
    let measuring = lock(measuring);
    let mut results = measuring.results.clone();
    if measuring.over < names.len() {
        results.leave_behind(&names[measuring.over..]);
    }
    results
}

fn lock(measuring: &Mutex<Measuring>) -> MutexGuard<'_, Measuring> {
    measuring.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Measures one part after the other, until it is over. What fails is left out, with its reason.
fn measure(parts: &[Part], amount: Amount, measuring: &Mutex<Measuring>, begin: impl Fn(usize, &'static str)) {
    let from = |place: usize| parts[place..].iter().map(|part| part.name).collect::<Vec<_>>();
    for (place, part) in parts.iter().enumerate() {
        if watch::is_over() {
            return lock(measuring).end_before(&from(place));
        }
        begin(place, part.name);
        let known = {
            let results = &lock(measuring).results;
            let knee = results.store_buffer.as_ref().and_then(|curve| curve.knee);
            let trust = trust::trust(knee, results.litmus.as_ref(), published::are_all);
            Known { amount, entries: knee.map(|knee| knee.entries), trust }
        };
        let found = panic::catch_unwind(AssertUnwindSafe(|| (part.measure)(&known)));
        let found = found.unwrap_or_else(|payload| Err(anyhow!("it panicked: {}", words(&*payload))));
        let mut measuring = lock(measuring);
        let is_over = watch::is_over();
        measuring.results.take(part.name, found, is_over);
        measuring.over += 1;
        if is_over {
            return measuring.end_before(&from(place + 1));
        }
    }
}

/// What a panic says.
fn words(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or(payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a word")
}
