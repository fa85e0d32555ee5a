//! Threads that work at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, Context, Result};
use crossbeam_utils::Backoff;

/// The time in which a thread worked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
}

impl Span {
    /// From the first start to the last end.
    pub(crate) fn of_all(spans: &[Span]) -> Result<Span> {
        let start = spans.iter().map(|span| span.start).min().context("no thread ran")?;
        Ok(Span { start, end: spans.iter().fold(start, |end, span| end.max(span.end)) })
    }

    /// Its length.
    pub(crate) fn elapsed(self) -> Duration {
        self.end.duration_since(self.start)
    }
}

/// Gives each item to a thread of its own, and returns the results in the items' order.
///
/// `name` is what a thread runs, for the error if it panics.
pub(crate) fn on_threads<T: Send, R: Send>(
    name: &str,
    items: impl IntoIterator<Item = T>,
    run: impl Fn(T) -> R + Sync,
) -> Result<Vec<R>> {
    let run = &run;
    thread::scope(|scope| {
        let threads: Vec<_> = items.into_iter().map(|item| scope.spawn(move || run(item))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("{name} panicked"))).collect()
    })
}

/// Like [`on_threads`], but all threads start together and are timed.
pub(crate) fn timed_on_threads<T: Send, R: Send>(
    name: &str,
    items: impl ExactSizeIterator<Item = T>,
    run: impl Fn(T) -> R + Sync,
) -> Result<(Duration, Vec<R>)> {
    let barrier = Barrier::new(items.len());
    let done = on_threads(name, items, |item| {
        barrier.wait();
        let start = Instant::now();
        let result = run(item);
        (Span { start, end: Instant::now() }, result)
    })?;
    let (spans, results): (Vec<Span>, Vec<R>) = done.into_iter().unzip();
    Ok((Span::of_all(&spans)?.elapsed(), results))
}

/// The number of workers that have work or search for it.
///
/// A worker that is not counted has an empty queue and does not steal: at 0 no work is left.
pub(crate) struct ActiveWorkers(AtomicUsize);

impl ActiveWorkers {
    /// All workers are active at first.
    pub(crate) fn new(workers: usize) -> ActiveWorkers {
        ActiveWorkers(AtomicUsize::new(workers))
    }

    /// Waits until there may be work. Returns false if all work is done.
    pub(crate) fn wait_for_work(&self, may_find_work: impl Fn() -> bool) -> bool {
        // Release: a worker that sees the end sees all work done before. Acquire: this worker sees
        // the work of the others.
        self.0.fetch_sub(1, Ordering::AcqRel);
        let backoff = Backoff::new();
        loop {
            if self.0.load(Ordering::Acquire) == 0 {
                return false;
            }
            if may_find_work() {
                self.0.fetch_add(1, Ordering::AcqRel);
                return true;
            }
            backoff.snooze();
        }
    }
}
