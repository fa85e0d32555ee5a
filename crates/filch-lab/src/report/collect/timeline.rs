//! A real run of the runtime: which worker ran which job, and when.
//!
//! The closures of the program record it: when each began and ended, on which worker, and whether
//! another worker had forked it. The runtime has a recorder of its own, the feature `trace`. But
//! that feature would add the recorder to every steal, sleep and share of the runtime that is
//! measured in the same program. And the recorder does not see a job that its own worker runs.

use std::hint::black_box;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use anyhow::Result;
use filch::{Pool, Worker};

use super::plan::Amount;
use crate::bench::busy::{spin, Calibration};
use crate::figures::grouped;
use crate::sync::{lock, unpoisoned};
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

/// The duration of the smallest job, in nanoseconds.
const LEAF: u64 = 10_000;
/// The number of leaves for each worker: ten milliseconds.
const LEAVES_A_WORKER: u64 = 1_000;

/// Runs an uneven tree of jobs with one worker per core, at least two.
pub(super) fn measure(amount: Amount) -> Result<Timeline> {
    let steps = Calibration::measure().steps(LEAF);
    let pool = super::drawn_pool()?;
    let workers = pool.current_num_threads();
    let leaves = if amount == Amount::Rehearsal { 40 } else { LEAVES_A_WORKER } * workers as u64;
    let runs = super::repeat(|| {
        let run = run(&pool, leaves, steps);
        watch::sample();
        run
    });
    let count = runs.len();
    let Recording { lanes, steals } = super::median_run(runs, Recording::length);
    let jobs: usize = lanes.iter().map(Vec::len).sum();
    let what = format!(
        "A tree of {} jobs on {workers} workers. Every fork splits unevenly, and each of the {} leaves computes for {} \
         microseconds. This is the run with the median time of {count} runs. Each bar is one closure of a `join`, \
         including all that it forked and waited for. The closures record their own times; the runtime is the same \
         as in the other sections.",
        grouped(jobs),
        grouped(leaves as usize),
        LEAF / 1000
    );
    Ok(Timeline { what, lanes, steals })
}

/// The recording of a run.
struct Recording {
    lanes: Vec<Vec<Bar>>,
    steals: Vec<Steal>,
}

impl Recording {
    fn length(&self) -> f64 {
        self.lanes.iter().flatten().map(|bar| bar.end).fold(0.0, f64::max)
    }
}

/// The recording of one worker. Only this worker writes during the run, so its lock is always free.
#[derive(Default)]
struct WorkerLog {
    bars: Vec<Bar>,
    steals: Vec<Steal>,
    /// The number of bars that have begun and not ended.
    open: usize,
}

/// The recordings of all workers.
struct Recorder {
    start: Instant,
    logs: Vec<Mutex<WorkerLog>>,
}

impl Recorder {
    fn log(&self, worker: usize) -> MutexGuard<'_, WorkerLog> {
        lock(&self.logs[worker])
    }

    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1e6
    }

    /// Records a job of the worker. `victim` is the worker that forked it, if another.
    fn job(&self, worker: &mut Worker, victim: Option<usize>, work: impl FnOnce(&mut Worker)) {
        let index = worker.index();
        let bar = {
            let mut log = self.log(index);
            let start = self.now();
            let kind = if victim.is_some() { "stolen" } else { "job" };
            let depth = log.open;
            log.bars.push(Bar { kind, start, end: start, depth });
            log.steals.extend(victim.map(|victim| Steal { victim, thief: index, at: start }));
            log.open += 1;
            log.bars.len() - 1
        };
        work(worker);
        let mut log = self.log(index);
        log.bars[bar].end = self.now();
        log.open -= 1;
    }
}

fn run(pool: &Pool, leaves: u64, steps: u64) -> Recording {
    let logs = (0..pool.current_num_threads()).map(|_| Mutex::default()).collect();
    let recorder = Recorder { start: Instant::now(), logs };
    pool.with_worker(|worker| recorder.job(worker, None, |worker| run_tree(&recorder, worker, leaves, steps)));
    let logs = recorder.logs.into_iter().map(|log| unpoisoned(log.into_inner()));
    let (lanes, steals): (Vec<_>, Vec<_>) = logs.map(|log| (log.bars, log.steals)).unzip();
    Recording { lanes, steals: steals.concat() }
}

/// Runs a tree with `leaves` leaves.
///
/// The split depends only on the number of leaves, so that each run has the same tree.
fn run_tree(recorder: &Recorder, worker: &mut Worker, leaves: u64, steps: u64) {
    if leaves <= 1 {
        black_box(spin(black_box(steps), leaves));
        return;
    }
    // From 1 to 8 tenths, by the upper bits of a product that scatters them.
    let share = 1 + (leaves.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61);
    let one = (leaves * share / 10).clamp(1, leaves - 1);
    let victim = worker.index();
    worker.join_context(
        |worker, _| recorder.job(worker, None, |worker| run_tree(recorder, worker, one, steps)),
        |worker, context| {
            let victim = context.migrated().then_some(victim);
            recorder.job(worker, victim, |worker| run_tree(recorder, worker, leaves - one, steps));
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_a_bar_within_its_parent() {
        let pool = Pool::builder().threads(2).build().unwrap();
        let Recording { lanes, steals } = run(&pool, 300, 200);
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
    fn a_timeline_is_small_enough_for_a_page() {
        assert!(2 * LEAVES_A_WORKER * super::super::MAX_WORKERS as u64 <= 20_000);
    }

    #[test]
    fn a_rehearsal_has_a_complete_timeline() {
        let timeline = measure(Amount::Rehearsal).unwrap();
        assert!(timeline.lanes.len() >= 2);
        assert!(timeline.what.contains("record their own times"));
    }
}
