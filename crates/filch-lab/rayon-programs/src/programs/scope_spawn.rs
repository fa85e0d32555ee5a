//! Scopes with many small tasks.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::Scope;

use super::Program;
use crate::clock::{checksum, timed, Round};
use crate::random::mix;

/// What each task comes to, in a place of its own: a sum that all of them share would be most of what they cost.
type Results = [AtomicU64];

/// So many tasks, all spawned by the one that opens the scope.
pub(crate) fn flat(tasks: u64) -> Program {
    let results = no_results(tasks);
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

/// So many scopes of four tasks each, one after the other, called from inside the pool.
pub(crate) fn small(scopes: u64) -> Program {
    let results = no_results(4 * scopes);
    Box::new(move || {
        let all = || {
            for four in results.chunks(4) {
                rayon::scope(|scope| four.iter().for_each(|result| scope.spawn(|_| set(result, four.len() as u64))));
            }
        };
        let sum = || checksum(results.iter().map(|result| result.load(Ordering::Relaxed)));
        results.iter().for_each(|result| result.store(0, Ordering::Relaxed));
        rayon::join(|| timed(scopes, all, |()| sum()), || ()).0
    })
}

/// Tasks that spawn two more each, so many layers deep.
pub(crate) fn tree(layers: u32) -> Program {
    let results = no_results((1 << layers) - 1);
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

/// A task. Relaxed is enough, since the end of the scope comes after all of them.
fn set(result: &AtomicU64, number: u64) {
    result.store(number, Ordering::Relaxed);
}

fn no_results(tasks: u64) -> Vec<AtomicU64> {
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
        assert_eq!(tree(10)().checksum(), all(1_023));
        assert_eq!(small(25)().checksum(), checksum([4; 100]));
    }
}
