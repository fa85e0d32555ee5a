//! The number of allocations of a task whose closure captures five words.
//!
//! The first round is warm-up: queues grow, and cores may keep memory for the next round.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::Scope;

use super::spawn::Jobs;
use super::{own_pool, Program};
use crate::clock::{checksum, counted, Round};
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
        self.results[self.place].store(result(self.seed, self.salt), Ordering::Relaxed);
    }
}

/// `tasks` tasks, all spawned by the task that opens the scope.
fn flat(tasks: usize) -> Program {
    let results = empty_results(tasks);
    Box::new(move || {
        round(&results, || {
            rayon::scope(|scope| {
                for place in 0..tasks {
                    let task = Task::new(&results, place);
                    spawn(scope, move |_| task.run());
                }
            });
        })
    })
}

/// A tree of tasks with `layers` layers. Each task spawns two more.
fn tree(layers: u32) -> Program {
    let results = empty_results((1 << layers) - 1);
    Box::new(move || round(&results, || rayon::scope(|scope| branch(scope, Task::new(&results, 0)))))
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

/// `scopes` scopes of `tasks` tasks each, one after the other, called from inside a pool.
fn small(tasks: usize, scopes: usize) -> Result<Program, String> {
    let results = empty_results(tasks * scopes);
    let pool = own_pool()?;
    Ok(Box::new(move || {
        let all = || {
            for first in (0..results.len()).step_by(tasks) {
                rayon::scope(|scope| {
                    for place in first..first + tasks {
                        let task = Task::new(&results, place);
                        spawn(scope, move |_| task.run());
                    }
                });
            }
        };
        round(&results, || pool.install(all))
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

fn empty_results(tasks: usize) -> Vec<AtomicU64> {
    (0..tasks).map(|_| AtomicU64::new(0)).collect()
}

fn round(results: &[AtomicU64], work: impl FnOnce()) -> Round {
    results.iter().for_each(|result| result.store(0, Ordering::Relaxed));
    counted(results.len() as u64, work, |()| checksum(results.iter().map(|result| result.load(Ordering::Relaxed))))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn an_unknown_name_has_no_program() {
        assert!(named("scope-101k").unwrap().is_none());
    }
}
