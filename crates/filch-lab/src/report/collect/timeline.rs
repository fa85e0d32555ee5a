//! A real run of the runtime: which worker ran which job, and when.
//!
//! The closures of the program record it: when each began and ended, on which worker, and whether
//! another worker had forked it. The runtime has a recorder of its own, the feature `trace`. But
//! that feature would add the recorder to every steal, sleep and share of the runtime that is
//! measured in the same program. And the recorder does not see a job that its own worker runs.

use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use filch::{Pool, Worker};

use super::plan::Amount;
use crate::bench::busy::{spin, Calibration};
use crate::figures::grouped;
use crate::watch;

/// Workers as lanes, their jobs as bars, steals as arrows.
#[derive(Clone, Debug)]
pub(in crate::report) struct Timeline {
    /// The description of the run.
    pub(in crate::report) what: String,
    /// A lane for each worker.
    pub(in crate::report) lanes: Vec<Vec<Bar>>,
    /// The stolen jobs.
    pub(in crate::report) steals: Vec<Steal>,
}

/// A period in which a worker ran a job.
#[derive(Clone, Debug)]
pub(in crate::report) struct Bar {
    /// `job` if its own worker ran it, `stolen` if another did.
    pub(in crate::report) kind: &'static str,
    /// Its start, in microseconds from the start of the run.
    pub(in crate::report) start: f64,
    /// Its end, in microseconds from the start of the run.
    pub(in crate::report) end: f64,
    /// The number of bars that it is nested in.
    pub(in crate::report) depth: usize,
}

/// A job that moved from one worker to another.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Steal {
    /// The worker that forked it.
    pub(in crate::report) victim: usize,
    /// The worker that stole it.
    pub(in crate::report) thief: usize,
    /// When the thief began it, in microseconds.
    pub(in crate::report) at: f64,
}

/// The number of runs. The run with the median time is shown.
const RUNS: usize = 5;
/// The most workers: more lanes are not readable.
const MOST_WORKERS: usize = 8;
/// The duration of the smallest job, in nanoseconds.
const LEAF: u64 = 10_000;
/// The number of leaves for each worker: ten milliseconds.
const LEAVES_A_WORKER: u64 = 1_000;

/// Runs an uneven tree of jobs with one worker per core, at least two.
pub(super) fn measure(amount: Amount) -> Result<Timeline> {
    let workers = super::workers(MOST_WORKERS);
    let leaves = if amount == Amount::Rehearsal { 40 } else { LEAVES_A_WORKER } * workers as u64;
    let steps = Calibration::measure().steps(LEAF);
    let context = || format!("a pool of {workers} workers could not be started");
    let pool = Pool::builder().threads(workers).build().with_context(context)?;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        if watch::is_over() && !runs.is_empty() {
            break;
        }
        runs.push(run(&pool, leaves, steps));
        watch::sample();
    }
    runs.sort_by(|one, other| one.length().total_cmp(&other.length()));
    let count = runs.len();
    let Recorded { lanes, steals } = runs.swap_remove(count / 2);
    let jobs: usize = lanes.iter().map(Vec::len).sum();
    let what = format!(
        "A tree of {} jobs on {workers} workers, split unevenly at every fork, with {} microseconds of computing at each of its {} leaves. Of {count} runs, the one whose time is \
         in the middle. Each bar is one closure of a `join`, from its first instruction to its last, with all that it forked and waited for; the closures wrote it down themselves, and the \
         runtime is the same as everywhere on this page.",
        grouped(jobs),
        LEAF / 1000,
        grouped(leaves as usize)
    );
    Ok(Timeline { what, lanes, steals })
}

/// The recording of a run.
struct Recorded {
    lanes: Vec<Vec<Bar>>,
    steals: Vec<Steal>,
}

impl Recorded {
    fn length(&self) -> f64 {
        self.lanes.iter().flatten().map(|bar| bar.end).fold(0.0, f64::max)
    }
}

/// The recording of one worker. Only this worker writes during the run, so its lock is always free.
#[derive(Default)]
struct Book {
    bars: Vec<Bar>,
    steals: Vec<Steal>,
    /// The number of bars that have begun and not ended.
    open: usize,
}

/// The recordings of all workers.
struct Record {
    start: Instant,
    books: Vec<Mutex<Book>>,
}

impl Record {
    fn book(&self, worker: usize) -> MutexGuard<'_, Book> {
        self.books[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1e6
    }

    /// Records a job of the worker. `victim` is the worker that forked it, if another.
    fn job(&self, worker: &mut Worker, victim: Option<usize>, work: impl FnOnce(&mut Worker)) {
        let index = worker.index();
        let bar = {
            let mut book = self.book(index);
            let start = self.now();
            let kind = if victim.is_some() { "stolen" } else { "job" };
            let depth = book.open;
            book.bars.push(Bar { kind, start, end: start, depth });
            book.steals.extend(victim.map(|victim| Steal { victim, thief: index, at: start }));
            book.open += 1;
            book.bars.len() - 1
        };
        work(worker);
        let mut book = self.book(index);
        book.bars[bar].end = self.now();
        book.open -= 1;
    }
}

fn run(pool: &Pool, leaves: u64, steps: u64) -> Recorded {
    let books = (0..pool.threads()).map(|_| Mutex::default()).collect();
    let record = Record { start: Instant::now(), books };
    pool.with_worker(|worker| record.job(worker, None, |worker| grow(&record, worker, leaves, steps)));
    let books = record.books.into_iter().map(|book| book.into_inner().unwrap_or_else(PoisonError::into_inner));
    let (lanes, steals): (Vec<_>, Vec<_>) = books.map(|book| (book.bars, book.steals)).unzip();
    Recorded { lanes, steals: steals.concat() }
}

/// Runs a tree with `leaves` leaves.
///
/// The split depends only on the number of leaves, so that each run has the same tree.
fn grow(record: &Record, worker: &mut Worker, leaves: u64, steps: u64) {
    if leaves <= 1 {
        black_box(spin(black_box(steps), leaves));
        return;
    }
    // From 1 to 8 tenths, by the upper bits of a product that scatters them.
    let share = 1 + (leaves.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61);
    let one = (leaves * share / 10).clamp(1, leaves - 1);
    let victim = worker.index();
    worker.join_context(
        |worker, _| record.job(worker, None, |worker| grow(record, worker, one, steps)),
        |worker, context| {
            let victim = context.migrated().then_some(victim);
            record.job(worker, victim, |worker| grow(record, worker, leaves - one, steps));
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_a_bar_and_lies_within_the_one_that_it_says() {
        let pool = Pool::builder().threads(2).build().unwrap();
        let Recorded { lanes, steals } = run(&pool, 300, 200);
        assert_eq!(lanes.len(), 2);
        // A tree with n leaves has n - 1 forks, of two jobs each, plus the first job.
        assert_eq!(lanes.iter().map(Vec::len).sum::<usize>(), 2 * 299 + 1);
        let stolen = lanes.iter().flatten().filter(|bar| bar.kind == "stolen").count();
        assert_eq!(stolen, steals.len());
        for steal in &steals {
            assert_ne!(steal.victim, steal.thief);
            assert!(lanes[steal.thief].iter().any(|bar| bar.kind == "stolen" && bar.start == steal.at));
        }
        for lane in &lanes {
            let mut around: Vec<&Bar> = Vec::new();
            for bar in lane {
                assert!(bar.start <= bar.end);
                around.truncate(bar.depth);
                assert_eq!(around.len(), bar.depth);
                assert!(around.iter().all(|outer| outer.start <= bar.start && bar.end <= outer.end));
                around.push(bar);
            }
        }
    }

    #[test]
    fn a_page_can_hold_it() {
        assert!(2 * LEAVES_A_WORKER * MOST_WORKERS as u64 <= 20_000);
    }

    #[test]
    fn a_rehearsal_has_all_of_it() {
        let timeline = measure(Amount::Rehearsal).unwrap();
        assert!(timeline.lanes.len() >= 2);
        assert!(timeline.what.contains("wrote it down themselves"));
    }
}
