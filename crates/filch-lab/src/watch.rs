//! What the program is at, for whoever waits for it, and whether it should come to an end.
//!
//! One run a process, so there is one of it: Ctrl-C is for the process, too. Suites say which case they begin, and look between samples whether they are
//! to go on; what they have measured until then is kept. Whoever shows how far it is does so from the thread that measures, between two samples: a thread of its own
//! would wake up beside them, and be counted where idle threads are.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use crate::figures::Series;
use crate::say;

/// What there is to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// A case begins.
    Case {
        /// How many are over.
        done: usize,
        /// How many there are.
        total: usize,
        /// Which it is.
        name: &'a str,
    },
    /// A sample is over.
    Sample,
    /// Something else that takes a while.
    Remark(&'a str),
}

/// Hears of all of it.
type Listener = Box<dyn FnMut(Event<'_>) + Send>;

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);
static OVER: AtomicBool = AtomicBool::new(false);
static KEPT: Mutex<BTreeMap<&'static str, Vec<Series>>> = Mutex::new(BTreeMap::new());

/// One case after the other, each of which is told of, until there are no more or it [is over](is_over).
pub(crate) fn each<C: Display>(cases: &[C]) -> impl Iterator<Item = &C> {
    let begin = |&(done, name): &(usize, &C)| case(done, cases.len(), name);
    cases.iter().enumerate().take_while(|_| !is_over()).inspect(begin).map(|(_, case)| case)
}

/// The next case begins: `done` of `total` are over. Without a [listener](listen) it is said on standard error.
fn case(done: usize, total: usize, name: impl Display) {
    let name = name.to_string();
    if !tell(Event::Case { done, total, name: &name }) {
        say(&format!("[{}/{total}] {name}", done + 1));
    }
}

/// A sample is over, and the next has not begun.
pub(crate) fn sample() {
    tell(Event::Sample);
}

/// Something goes on that takes a while and is no case. Without a [listener](listen) it is said on standard error.
pub(crate) fn remark(text: &str) {
    if !tell(Event::Remark(text)) {
        say(text);
    }
}

/// Whether somebody listens.
fn tell(event: Event<'_>) -> bool {
    let mut listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    listener.as_mut().is_some_and(|listener| {
        listener(event);
        true
    })
}

/// From now on this is told of cases, and they are not said any more; or, with `None`, they are.
pub(crate) fn listen(listener: Option<Listener>) {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = listener;
}

/// A case of a suite is over, and this is what it came to: what comes after it can fail, or never end, and must not cost it.
pub(crate) fn keep(suite: &'static str, series: &[Series]) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).entry(suite).or_default().extend_from_slice(series);
}

/// Takes what was [kept](keep) of a suite.
pub(crate) fn kept(suite: &str) -> Vec<Series> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).remove(suite).unwrap_or_default()
}

/// Whatever measures is to end with what it has.
pub(crate) fn end() {
    // Relaxed: nothing is handed over by it.
    OVER.store(true, Ordering::Relaxed);
}

/// Whether what measures is to end with what it has.
pub(crate) fn is_over() -> bool {
    // Relaxed: see `end`.
    OVER.load(Ordering::Relaxed)
}

/// The same, but a failure counts as nothing once it [is over](is_over): whatever was ended in the middle fails in some way, and must not cost what was measured before it.
pub(crate) fn or_over<T: Default>(result: Result<T>) -> Result<T> {
    if is_over() {
        Ok(result.unwrap_or_default())
    } else {
        result
    }
}
