//! Scopes with many small tasks.

use std::sync::atomic::AtomicU64;

use rayon::prelude::*;
use rayon::Scope;

use super::{own_pool, results, Program};
use crate::clock::timed;
use crate::random::mix;

/// A program of `count` tasks, all spawned by `spawn`, each of which leaves a result.
fn tasks(count: usize, spawn: impl Fn(&Vec<AtomicU64>) + 'static) -> Program {
    let results = results::empty(count);
    Box::new(move || {
        results::clear(&results);
        timed(count as u64, || spawn(&results), |()| results::sum(&results))
    })
}

/// `count` tasks, all spawned by the task that opens the scope.
pub(crate) fn flat(count: u64) -> Program {
    tasks(count as usize, move |results| {
        rayon::scope(|scope| (0..count).for_each(|task| scope.spawn(move |_| finish(results, task))));
    })
}

/// Like [`flat`], but with `scope_fifo`: the oldest task first.
pub(crate) fn flat_fifo(count: u64) -> Program {
    tasks(count as usize, move |results| {
        rayon::scope_fifo(|scope| (0..count).for_each(|task| scope.spawn_fifo(move |_| finish(results, task))));
    })
}

/// `count` tasks, spawned by all threads that run a parallel iterator inside the scope.
pub(crate) fn by_iterator(count: u64) -> Program {
    tasks(count as usize, move |results| {
        rayon::scope(|scope| (0..count).into_par_iter().for_each(|task| scope.spawn(move |_| finish(results, task))));
    })
}

/// `scopes` scopes of `tasks` tasks each, one after the other, called from inside a pool.
pub(crate) fn small(tasks: usize, scopes: u64) -> Result<Program, String> {
    let results = results::empty(tasks * scopes as usize);
    let pool = own_pool()?;
    Ok(Box::new(move || {
        let all = || {
            for own in results.chunks(tasks) {
                rayon::scope(|scope| {
                    own.iter().for_each(|result| scope.spawn(|_| results::add(result, own.len() as u64)))
                });
            }
        };
        results::clear(&results);
        pool.install(|| timed(scopes, all, |()| results::sum(&results)))
    }))
}

/// A tree of tasks with `layers` layers. Each task spawns two more.
pub(crate) fn tree(layers: u32) -> Program {
    tasks((1 << layers) - 1, |results| rayon::scope(|scope| branch(scope, results, 0)))
}

fn branch<'scope>(scope: &Scope<'scope>, results: &'scope [AtomicU64], task: u64) {
    finish(results, task);
    for child in [2 * task + 1, 2 * task + 2] {
        if child < results.len() as u64 {
            scope.spawn(move |scope| branch(scope, results, child));
        }
    }
}

fn finish(results: &[AtomicU64], task: u64) {
    results::add(&results[task as usize], mix(task + 1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::checksum;

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
