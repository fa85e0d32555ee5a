//! The progress of the program, and whether it should end.
//!
//! There is one run in a process, so this state is global: Ctrl-C also applies to the process.
//! Suites report which case they begin, and check between samples whether to continue; what they
//! have measured until then is kept. Progress is displayed by the measuring thread, between two
//! samples: a thread of its own would wake up beside the samples, and be counted wherever idle
//! threads are measured.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use anyhow::Result;

use crate::figures::Series;
use crate::say;
use crate::sync::lock;

/// A progress event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// A case begins.
    Case {
        /// The number of finished cases.
        done: usize,
        /// The number of all cases.
        total: usize,
        /// The name of the case.
        name: &'a str,
    },
    /// A sample is finished.
    Sample,
    /// Another activity that takes a while.
    Remark(&'a str),
}

/// Receives all events.
type Listener = Box<dyn FnMut(Event<'_>) + Send>;

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);
static OVER: AtomicBool = AtomicBool::new(false);
static KEPT: Mutex<BTreeMap<&'static str, Vec<Series>>> = Mutex::new(BTreeMap::new());

/// Iterates over the cases and reports each, until the end or until it [is over](is_over).
pub(crate) fn each<C: Display>(cases: &[C]) -> impl Iterator<Item = &C> {
    let begin = |&(done, name): &(usize, &C)| case(done, cases.len(), name);
    cases.iter().enumerate().take_while(|_| !is_over()).inspect(begin).map(|(_, case)| case)
}

/// Reports that the next case begins: `done` of `total` are finished. Without a [listener](listen)
/// it prints on standard error.
fn case(done: usize, total: usize, name: impl Display) {
    let name = name.to_string();
    if !notify(Event::Case { done, total, name: &name }) {
        say(&format!("[{}/{total}] {name}", done + 1));
    }
}

/// Reports that a sample is finished, and the next has not begun.
pub(crate) fn sample() {
    notify(Event::Sample);
}

/// Reports another activity that takes a while. Without a [listener](listen) it prints on standard
/// error.
pub(crate) fn remark(text: &str) {
    if !notify(Event::Remark(text)) {
        say(text);
    }
}

/// Sends an event to the listener. Returns whether there is a listener.
fn notify(event: Event<'_>) -> bool {
    let mut listener = lock(&LISTENER);
    listener.as_mut().is_some_and(|listener| {
        listener(event);
        true
    })
}

/// Sets the listener, which replaces the output on standard error. `None` restores the output.
pub(crate) fn listen(listener: Option<Listener>) {
    *lock(&LISTENER) = listener;
}

/// Keeps the result of a finished case of a suite.
///
/// A later case can fail, or never end, and must not lose this result.
pub(crate) fn keep(suite: &'static str, series: &[Series]) {
    lock(&KEPT).entry(suite).or_default().extend_from_slice(series);
}

/// Takes what was [kept](keep) of a suite.
pub(crate) fn kept(suite: &str) -> Vec<Series> {
    lock(&KEPT).remove(suite).unwrap_or_default()
}

/// Tells all measurements to end with their results so far.
pub(crate) fn end() {
    // Relaxed: it publishes no data.
    OVER.store(true, Ordering::Relaxed);
}

/// Whether measurements should end with their results so far.
pub(crate) fn is_over() -> bool {
    // Relaxed: see `end`.
    OVER.load(Ordering::Relaxed)
}

/// Returns the result, or the default instead of an error once it [is over](is_over).
///
/// A measurement that is interrupted fails in some way, and must not lose what was measured before
/// it.
pub(crate) fn or_over<T: Default>(result: Result<T>) -> Result<T> {
    if is_over() {
        Ok(result.unwrap_or_default())
    } else {
        result
    }
}
