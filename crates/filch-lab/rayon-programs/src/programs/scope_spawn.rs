//! Scopes with many small tasks.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rayon::Scope;

use super::{own_pool, Program};
use crate::clock::{checksum, timed, Round};
use crate::random::mix;

/// The result of each task, in a place of its own.
///
/// A sum that all tasks share would be most of their cost.
type Results = [AtomicU64];

/// `tasks` tasks, all spawned by the task that opens the scope.
pub(crate) fn flat(tasks: u64) -> Program {
    let results = empty_results(tasks);
    Box::new(move || {
        round(&results, || {
            rayon::scope(|scope| {
                for task in 0..tasks {
                    let results = &results;
                    scope.spawn(move |_| finish(results, task));
                }
            });
        })
    })
}

/// Like [`flat`], but with `scope_fifo`: the oldest task first.
pub(crate) fn flat_fifo(tasks: u64) -> Program {
    let results = empty_results(tasks);
    Box::new(move || {
        round(&results, || {
            rayon::scope_fifo(|scope| {
                for task in 0..tasks {
                    let results = &results;
                    scope.spawn_fifo(move |_| finish(results, task));
                }
            });
        })
    })
}

/// `tasks` tasks, spawned by all threads that run a parallel iterator inside the scope.
pub(crate) fn by_iterator(tasks: u64) -> Program {
    let results = empty_results(tasks);
    Box::new(move || {
        round(&results, || {
            rayon::scope(|scope| {
                let results = &results;
                (0..tasks).into_par_iter().for_each(|task| scope.spawn(move |_| finish(results, task)));
            });
        })
    })
}

/// `scopes` scopes of `tasks` tasks each, one after the other, called from inside a pool.
pub(crate) fn small(tasks: usize, scopes: u64) -> Result<Program, String> {
    let results = empty_results(tasks as u64 * scopes);
    let pool = own_pool()?;
    Ok(Box::new(move || {
        let all = || {
            for own in results.chunks(tasks) {
                rayon::scope(|scope| own.iter().for_each(|result| scope.spawn(|_| set(result, own.len() as u64))));
            }
        };
        let sum = || checksum(results.iter().map(|result| result.load(Ordering::Relaxed)));
        results.iter().for_each(|result| result.store(0, Ordering::Relaxed));
        pool.install(|| timed(scopes, all, |()| sum()))
    }))
}

/// A tree of tasks with `layers` layers. Each task spawns two more.
pub(crate) fn tree(layers: u32) -> Program {
    let results = empty_results((1 << layers) - 1);
    Box::new(move || round(&results, || rayon::scope(|scope| branch(scope, &results, 0))))
}

fn branch<'scope>(scope: &Scope<'scope>, results: &'scope Results, task: u64) {
    finish(results, task);
    for child in [2 * task + 1, 2 * task + 2] {
        if child < results.len() as u64 {
            scope.spawn(move |scope| branch(scope, results, child));
        }
    }
}

fn finish(results: &Results, task: u64) {
    set(&results[task as usize], mix(task + 1));
}

/// Runs a task. Relaxed is enough, since the end of the scope comes after all tasks.
fn set(result: &AtomicU64, number: u64) {
    result.store(number, Ordering::Relaxed);
}

fn empty_results(tasks: u64) -> Vec<AtomicU64> {
    (0..tasks).map(|_| AtomicU64::new(0)).collect()
}

fn round(results: &Results, work: impl FnOnce()) -> Round {
    results.iter().for_each(|result| result.store(0, Ordering::Relaxed));
    timed(results.len() as u64, work, |()| checksum(results.iter().map(|result| result.load(Ordering::Relaxed))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_run() {
        let all = |tasks: u64| checksum((1..=tasks).map(mix));
        assert_eq!(flat(1_000)().checksum(), all(1_000));
        assert_eq!(flat_fifo(1_000)().checksum(), all(1_000));
        assert_eq!(by_iterator(1_000)().checksum(), all(1_000));
        assert_eq!(tree(10)().checksum(), all(1_023));
        for tasks in [1, 4, 64] {
            let sum = checksum(std::iter::repeat_n(tasks as u64, 25 * tasks));
            assert_eq!(small(tasks, 25).unwrap()().checksum(), sum);
        }
    }
}
