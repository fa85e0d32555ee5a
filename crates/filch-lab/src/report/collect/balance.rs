//! Runs the same uneven work with static division and with stealing.
//!
//! This is the load-balance figure of the Blitz notes, from a run. Both strategies begin alike:
//! each worker has the same number of pieces, and later pieces take longer. They differ in what a
//! worker does when it has run out of pieces.

use std::hint::black_box;
use std::ops::Range;
use std::sync::{Barrier, Mutex, OnceLock};
use std::thread;
use std::time::Instant;

use anyhow::Result;
use filch::Pool;

use super::plan::Amount;
use crate::bench::busy::{spin, Calibration};
use crate::sync::{lock, unpoisoned};
use crate::watch;

/// Runs of the same pieces with different strategies.
#[derive(Clone, Debug)]
pub(in crate::report) struct Balance {
    /// The description of the run.
    pub(in crate::report) what: String,
    /// One run for each strategy.
    pub(in crate::report) runs: Vec<StrategyRun>,
}

/// A run with one strategy.
#[derive(Clone, Debug)]
pub(in crate::report) struct StrategyRun {
    /// Its name: `static`, `stealing`.
    pub(in crate::report) name: &'static str,
    /// For each worker, the pieces that it ran.
    pub(in crate::report) workers: Vec<Vec<Piece>>,
    /// From the start to the end of the last worker, in milliseconds.
    pub(in crate::report) total: f64,
    /// The share of that time in which workers were busy, from 0 to 1.
    pub(in crate::report) utilisation: f64,
    /// The utilisation of every run with this strategy, in order. This run is one of them.
    pub(in crate::report) utilisations: Vec<f64>,
}

/// A piece of work that a worker ran.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Piece {
    /// Its start, in milliseconds from the start of the run.
    pub(in crate::report) start: f64,
    /// Its end, in milliseconds from the start of the run.
    pub(in crate::report) end: f64,
    /// Whether it first belonged to another worker.
    pub(in crate::report) stolen: bool,
}

/// The number of pieces that each worker begins with.
const PIECES_A_WORKER: usize = 20;
/// The total duration of the pieces for each worker, in nanoseconds.
const NANOS_A_WORKER: u64 = 40_000_000;

/// Runs both strategies in turn.
pub(super) fn measure(amount: Amount) -> Result<Balance> {
    let calibration = Calibration::measure();
    let pool = super::drawn_pool()?;
    let workers = pool.current_num_threads();
    let nanos = NANOS_A_WORKER / if amount == Amount::Rehearsal { 20 } else { 1 };
    let work = Work::new(workers, nanos * workers as u64, calibration);
    let runs = super::repeat(|| {
        let divided = work.static_division();
        watch::sample();
        let stealing = work.stealing(&pool);
        watch::sample();
        (divided, stealing)
    });
    let (divided, stealing): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
    let what = format!(
        "{} pieces of computing, {PIECES_A_WORKER} of them for each of {workers} workers at the start. The last piece \
         takes {:.0} times as long as the median piece. This is the run with the median time of {} runs.",
        work.steps.len(),
        work.steps.last().copied().unwrap_or(0) as f64 / work.steps[work.steps.len() / 2].max(1) as f64,
        divided.len()
    );
    Ok(Balance { what, runs: vec![median_run(divided), median_run(stealing)] })
}

/// Returns the run with the median time, with the utilisations of all.
fn median_run(runs: Vec<StrategyRun>) -> StrategyRun {
    let utilisations = runs.iter().map(|run| run.utilisation).collect();
    StrategyRun { utilisations, ..super::median_run(runs, |run| run.total) }
}

/// Pieces of work, given as computing steps. Each worker has the same number, in this order.
struct Work {
    workers: usize,
    steps: Vec<u64>,
}

/// The pieces that a worker ran.
type Log = Mutex<Vec<Piece>>;

impl Work {
    /// Makes pieces that take `nanos` together, each in proportion to the square of its number.
    fn new(workers: usize, nanos: u64, calibration: Calibration) -> Work {
        let count = (workers * PIECES_A_WORKER) as u64;
        let squares: u64 = (1..=count).map(|number| number * number).sum();
        let cost = |number: u64| (nanos as f64 * (number * number) as f64 / squares as f64) as u64;
        Work { workers, steps: (1..=count).map(|number| calibration.steps(cost(number))).collect() }
    }

    /// The pieces that a worker begins with.
    fn block(&self, worker: usize) -> Range<usize> {
        worker * PIECES_A_WORKER..(worker + 1) * PIECES_A_WORKER
    }

    fn piece(&self, piece: usize, worker: usize, start: Instant, logs: &[Log]) {
        let millis = || start.elapsed().as_secs_f64() * 1e3;
        let began = millis();
        black_box(spin(black_box(self.steps[piece]), piece as u64));
        let (end, stolen) = (millis(), !self.block(worker).contains(&piece));
        let mut log = lock(&logs[worker]);
        log.push(Piece { start: began, end, stolen });
    }

    /// Each worker runs only its own pieces.
    fn static_division(&self) -> StrategyRun {
        let logs: Vec<Log> = (0..self.workers).map(|_| Log::default()).collect();
        let (together, start) = (Barrier::new(self.workers + 1), OnceLock::new());
        thread::scope(|scope| {
            let (logs, together, start) = (&logs, &together, &start);
            for worker in 0..self.workers {
                scope.spawn(move || {
                    together.wait();
                    together.wait();
                    let start = *start.get_or_init(Instant::now);
                    self.block(worker).for_each(|piece| self.piece(piece, worker, start, logs));
                });
            }
            // All threads exist before the clock starts, as the workers of a pool do.
            together.wait();
            start.get_or_init(Instant::now);
            together.wait();
        });
        StrategyRun::new("static", logs)
    }

    /// Each worker runs its own pieces, and then steals others.
    fn stealing(&self, pool: &Pool) -> StrategyRun {
        let logs: Vec<Log> = (0..self.workers).map(|_| Log::default()).collect();
        let start = Instant::now();
        pool.broadcast(|context| self.halve(self.block(context.index()), start, &logs));
        StrategyRun::new("stealing", logs)
    }

    /// Runs both halves of a range. Another worker may steal the second half.
    fn halve(&self, pieces: Range<usize>, start: Instant, logs: &[Log]) {
        if pieces.len() == 1 {
            // Only a worker of the pool gets here.
            let worker = filch::current_thread_index().unwrap_or(0);
            return self.piece(pieces.start, worker, start, logs);
        }
        let middle = pieces.start + pieces.len() / 2;
        filch::join(|| self.halve(pieces.start..middle, start, logs), || self.halve(middle..pieces.end, start, logs));
    }
}

impl StrategyRun {
    fn new(name: &'static str, logs: Vec<Log>) -> StrategyRun {
        let logs = logs.into_iter().map(|log| unpoisoned(log.into_inner()));
        let workers: Vec<Vec<Piece>> = logs.collect();
        let pieces = || workers.iter().flatten();
        let total = pieces().map(|piece| piece.end).fold(0.0, f64::max);
        let busy: f64 = pieces().map(|piece| piece.end - piece.start).sum();
        let utilisation = if total > 0.0 { busy / (total * workers.len() as f64) } else { 0.0 };
        StrategyRun { name, workers, total, utilisation, utilisations: vec![utilisation] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(workers: usize) -> Work {
        Work::new(workers, 100_000, Calibration::measure())
    }

    fn pieces(run: &StrategyRun) -> usize {
        run.workers.iter().map(Vec::len).sum()
    }

    #[test]
    fn with_static_division_nothing_is_stolen_and_all_workers_have_the_same_number() {
        let run = small(3).static_division();
        assert!(run.workers.iter().all(|pieces| pieces.len() == PIECES_A_WORKER));
        assert!(run.workers.iter().flatten().all(|piece| !piece.stolen));
    }

    #[test]
    fn with_stealing_every_piece_runs_once() {
        let pool = Pool::builder().threads(3).build().unwrap();
        let work = small(3);
        for _ in 0..20 {
            let run = work.stealing(&pool);
            assert_eq!(pieces(&run), 3 * PIECES_A_WORKER);
            assert!(run.utilisation > 0.0 && run.utilisation <= 1.0);
            for pieces in &run.workers {
                // A worker runs one piece at a time.
                assert!(pieces.windows(2).all(|pair| pair[0].end <= pair[1].start));
            }
        }
    }

    #[test]
    fn a_piece_of_another_worker_counts_as_stolen() {
        let (work, start) = (small(2), Instant::now());
        let logs: Vec<Log> = (0..2).map(|_| Log::default()).collect();
        work.piece(0, 0, start, &logs);
        work.piece(PIECES_A_WORKER, 0, start, &logs);
        let run = StrategyRun::new("stealing", logs);
        assert_eq!(run.workers[0].iter().map(|piece| piece.stolen).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn utilisation_is_busy_time_divided_by_total_time() {
        let piece = |start, end| Piece { start, end, stolen: false };
        let run = StrategyRun::new(
            "static",
            vec![Log::new(vec![piece(0.0, 1.0)]), Log::new(vec![piece(0.0, 1.0), piece(1.0, 4.0)])],
        );
        assert_eq!((run.total, run.utilisation), (4.0, 5.0 / 8.0));
        assert_eq!(StrategyRun::new("static", vec![Log::default()]).utilisation, 0.0);
    }

    #[test]
    fn later_pieces_take_longer() {
        let work = small(2);
        assert!(work.steps.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(work.steps[0] < work.steps[39]);
    }
}
