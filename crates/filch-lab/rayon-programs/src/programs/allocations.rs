//! The number of allocations of a task whose closure captures five words.
//!
//! The first round is warm-up: queues grow, and cores may keep memory for the next round.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use rayon::Scope;

use super::spawn::Jobs;
use super::{own_pool, results, Program};
use crate::clock::counted;
use crate::random::mix;

/// The program with that name, or `None` if it does not exist.
pub(super) fn named(name: &str) -> Result<Option<Program>, String> {
    Ok(Some(match name {
        "scope-100k" => flat(100_000),
        "spawn-tree-17" => tree(17),
        "scope-of-4" => small(4, 25_000)?,
        "spawn-inside-100k" => inside(100_000)?,
        _ => return Ok(None),
    }))
}

/// Fails to compile unless a closure captures five words.
const fn check_size<F>() {
    assert!(size_of::<F>() == 5 * size_of::<usize>());
}

fn spawn<'scope, F>(scope: &Scope<'scope>, task: F)
where
    F: FnOnce(&Scope<'scope>) + Send + 'scope,
{
    const { check_size::<F>() };
    scope.spawn(task);
}

fn spawn_job<F: FnOnce() + Send + 'static>(job: F) {
    const { check_size::<F>() };
    rayon::spawn(job);
}

/// The captures of a task's closure.
#[derive(Clone, Copy)]
struct Task<'a> {
    results: &'a [AtomicU64],
    place: usize,
    seed: usize,
    salt: usize,
}

/// The result of a task.
fn result(seed: usize, salt: usize) -> u64 {
    mix(seed as u64) ^ salt as u64
}

impl<'a> Task<'a> {
    fn new(results: &'a [AtomicU64], place: usize) -> Task<'a> {
        Task { results, place, seed: place + 1, salt: !place }
    }

    fn run(self) {
        results::add(&self.results[self.place], result(self.seed, self.salt));
    }
}

/// A program that counts the allocations of `count` tasks, all spawned by `spawn`.
fn tasks(count: usize, spawn: impl Fn(&[AtomicU64]) + 'static) -> Program {
    let results = results::empty(count);
    Box::new(move || {
        results::clear(&results);
        counted(count as u64, || spawn(&results), |()| results::sum(&results))
    })
}

/// `count` tasks, all spawned by the task that opens the scope.
fn flat(count: usize) -> Program {
    tasks(count, |results| one_scope(results, 0..results.len()))
}

/// A scope of a task for each of `places`.
fn one_scope(results: &[AtomicU64], places: Range<usize>) {
    rayon::scope(|scope| {
        for place in places {
            let task = Task::new(results, place);
            spawn(scope, move |_| task.run());
        }
    });
}

/// A tree of tasks with `layers` layers. Each task spawns two more.
fn tree(layers: u32) -> Program {
    tasks((1 << layers) - 1, |results| rayon::scope(|scope| branch(scope, Task::new(results, 0))))
}

fn branch<'scope>(scope: &Scope<'scope>, task: Task<'scope>) {
    task.run();
    for place in [2 * task.place + 1, 2 * task.place + 2] {
        if place < task.results.len() {
            let child = Task::new(task.results, place);
            spawn(scope, move |scope| branch(scope, child));
        }
    }
}

/// `scopes` scopes of `size` tasks each, one after the other, called from inside a pool.
fn small(size: usize, scopes: usize) -> Result<Program, String> {
    let pool = own_pool()?;
    Ok(tasks(size * scopes, move |results| {
        let firsts = (0..results.len()).step_by(size);
        pool.install(|| firsts.for_each(|first| one_scope(results, first..first + size)));
    }))
}

/// `count` jobs, spawned by a worker, that no call waits for.
fn inside(count: usize) -> Result<Program, String> {
    let (jobs, pool) = (Jobs::leaked(count), own_pool()?);
    let spawn = move |place: usize| {
        let words = [place, place + 1, !place, 0];
        spawn_job(move || {
            let [place, seed, salt, zero] = words;
            jobs.finish(place, result(seed, salt) ^ zero as u64);
        });
    };
    Ok(Box::new(move || jobs.counted_round(|| pool.install(|| (0..count).for_each(spawn)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::checksum;

    #[test]
    fn every_task_is_run_and_allocations_are_counted() {
        let all = |tasks: usize| checksum((0..tasks).map(|place| result(place + 1, !place)));
        let programs =
            [(flat(1_000), 1_000), (tree(10), 1_023), (small(4, 25).unwrap(), 100), (inside(1_000).unwrap(), 1_000)];
        for (mut program, tasks) in programs {
            let round = program();
            assert_eq!(round.checksum(), all(tasks));
            assert!(round.allocations().is_some());
        }
    }
}
