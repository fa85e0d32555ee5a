//! The cost of a mark by a plain store, an exchange, or a compare-and-exchange. Marks tell which
//! vertices were seen.
//!
//! Reaches every vertex of a torus from one of them, with each kind of mark. Each kind runs once on
//! a queue that gives a task exactly once (Chase-Lev) and once on a queue that gives it at least
//! once (idempotent LIFO). The rounds are interleaved, so that a noisy machine affects all in the
//! same way; what counts is the ratio.
//!
//! ```text
//! cargo run --release -p filch --example price_of_a_mark -- [WIDTH [ROUNDS]]
//! ```
//!
//! The torus has WIDTH times WIDTH vertices, a million by default.

use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use filch::explore::{Explore, Promise};
use filch::queue::{ChaseLev, Kind, Lifo};

/// Returns the four neighbours of each vertex, stored like those of any graph.
///
/// The next vertex in the row comes last. A worker that takes the youngest task first walks along
/// the rows, and what it touches is in the cache. So the marks determine the time, and not the
/// memory.
fn torus(width: u32) -> Vec<[u32; 4]> {
    let vertex = |row: u32, column: u32| row % width * width + column % width;
    let neighbours = |row, column| {
        [
            vertex(row + width - 1, column),
            vertex(row + 1, column),
            vertex(row, column + width - 1),
            vertex(row, column + 1),
        ]
    };
    (0..width).flat_map(|row| (0..width).map(move |column| neighbours(row, column))).collect()
}

/// A way to mark a vertex. Returns whether the caller goes on from the vertex.
trait Mark: Sync {
    const NAME: &'static str;
    fn mark(seen: &AtomicU8) -> bool;
}

/// Two workers may both find the vertex unmarked, and both go on.
struct Store;

impl Mark for Store {
    const NAME: &'static str = "load, then store";

    #[inline(always)]
    fn mark(seen: &AtomicU8) -> bool {
        let is_new = seen.load(Ordering::Relaxed) == 0;
        if is_new {
            seen.store(1, Ordering::Relaxed);
        }
        is_new
    }
}

/// One of all workers that try goes on. Most find the vertex marked, and need no exchange to see
/// that.
struct Swap;

impl Mark for Swap {
    const NAME: &'static str = "load, then swap";

    #[inline(always)]
    fn mark(seen: &AtomicU8) -> bool {
        seen.load(Ordering::Relaxed) == 0 && seen.swap(1, Ordering::Relaxed) == 0
    }
}

struct CompareExchange;

impl Mark for CompareExchange {
    const NAME: &'static str = "load, then compare_exchange";

    #[inline(always)]
    fn mark(seen: &AtomicU8) -> bool {
        seen.load(Ordering::Relaxed) == 0 && seen.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

struct SwapWithoutLoad;

impl Mark for SwapWithoutLoad {
    const NAME: &'static str = "swap without a load";

    #[inline(always)]
    fn mark(seen: &AtomicU8) -> bool {
        seen.swap(1, Ordering::Relaxed) == 0
    }
}

/// Visits everything that can be reached from vertex 0. Returns how long it took.
fn explore_torus<M, P, K>(torus: &[[u32; 4]], seen: &[AtomicU8], explore: Explore<'_, P, K>) -> Duration
where
    M: Mark,
    K: Kind<u32>,
    P: Promise<u32, K>,
{
    seen.iter().for_each(|seen| seen.store(0, Ordering::Relaxed));
    let start = Instant::now();
    M::mark(&seen[0]);
    let _ = explore.run([0], |vertex, worker| {
        for &neighbour in &torus[vertex as usize] {
            if M::mark(&seen[neighbour as usize]) {
                worker.push(neighbour);
            }
        }
    });
    let took = start.elapsed();
    assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) == 1), "the exploration did not reach every vertex");
    took
}

/// The times of one kind of mark on one queue, from all rounds.
struct Times {
    /// In nanoseconds for each vertex.
    best: f64,
    median: f64,
    /// The median of the time relative to `swap` on Chase-Lev in the same round.
    ratio: f64,
}

/// The times of one kind of mark, on each queue.
struct Row {
    name: &'static str,
    queues: [Times; 2],
}

fn measure(torus: &[[u32; 4]], workers: usize, rounds: usize) -> Vec<Row> {
    let seen: Vec<AtomicU8> = torus.iter().map(|_| AtomicU8::new(0)).collect();
    let marks: [(&'static str, fn(&[[u32; 4]], &[AtomicU8], usize) -> [Duration; 2]); 4] = [
        (Store::NAME, both_queues::<Store>),
        (Swap::NAME, both_queues::<Swap>),
        (CompareExchange::NAME, both_queues::<CompareExchange>),
        (SwapWithoutLoad::NAME, both_queues::<SwapWithoutLoad>),
    ];
    let mut times = marks.map(|_| [Vec::new(), Vec::new()]);
    for _ in 0..rounds {
        for ((_, run), times) in marks.iter().zip(&mut times) {
            for (took, times) in run(torus, &seen, workers).into_iter().zip(times) {
                times.push(took.as_secs_f64() * 1e9 / torus.len() as f64);
            }
        }
    }
    let swap =
        marks.iter().position(|(name, _)| *name == Swap::NAME).map(|at| times[at][0].clone()).unwrap_or_default();
    let summarize = |times: Vec<f64>| Times {
        best: times.iter().copied().fold(f64::INFINITY, f64::min),
        ratio: median(times.iter().zip(&swap).map(|(time, swap)| time / swap).collect()),
        median: median(times),
    };
    marks.iter().zip(times).map(|((name, _), times)| Row { name, queues: times.map(summarize) }).collect()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn both_queues<M: Mark>(torus: &[[u32; 4]], seen: &[AtomicU8], workers: usize) -> [Duration; 2] {
    [
        explore_torus::<M, _, _>(torus, seen, Explore::exactly_once().queue(ChaseLev).workers(workers)),
        explore_torus::<M, _, _>(torus, seen, Explore::at_least_once().queue(Lifo).workers(workers)),
    ]
}

fn print(rows: &[Row], workers: usize) {
    println!(
        "\n{workers} worker(s), ns per vertex: best, median, and median ratio to swap on Chase-Lev in the same round"
    );
    println!("{:<32} {:^26} {:^26}", "mark", "exactly once, Chase-Lev", "at least once, LIFO");
    for Row { name, queues } in rows {
        let [exactly, at_least] =
            queues.each_ref().map(|Times { best, median, ratio }| format!("{best:>8.2} {median:>8.2} {ratio:>8.2}"));
        println!("{name:<32} {exactly} {at_least}");
    }
}

fn main() -> ExitCode {
    let mut numbers = env::args().skip(1).map(|arg| arg.parse::<u32>().ok().filter(|number| *number > 0));
    let (Some(width), Some(rounds)) = (numbers.next().unwrap_or(Some(1000)), numbers.next().unwrap_or(Some(15))) else {
        eprintln!("error: the width and the number of rounds must be positive integers");
        return ExitCode::FAILURE;
    };
    if width > 1 << 15 {
        eprintln!("error: width {width} is too large: give at most 32768");
        return ExitCode::FAILURE;
    }
    let torus = torus(width);
    println!("torus of {} vertices, {rounds} rounds", torus.len());
    let mut workers = vec![1, filch::current_num_threads()];
    workers.dedup();
    for workers in workers {
        print(&measure(&torus, workers, rounds as usize), workers);
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_a_torus_are_mutual() {
        let torus = torus(7);
        for (vertex, neighbours) in torus.iter().enumerate() {
            assert!(neighbours.iter().all(|n| torus[*n as usize].contains(&(vertex as u32))));
        }
    }

    #[test]
    fn every_mark_reaches_every_vertex_on_both_queues() {
        for workers in [1, 2] {
            let rows = measure(&torus(60), workers, 3);
            assert_eq!(rows.len(), 4);
            assert!(rows
                .iter()
                .flat_map(|row| &row.queues)
                .all(|f| 0.0 < f.best && f.best <= f.median && f.ratio > 0.0));
            assert_eq!(rows[1].queues[0].ratio, 1.0);
        }
    }
}
