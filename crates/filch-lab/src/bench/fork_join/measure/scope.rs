//! A scope that spawns many small tasks.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use anyhow::{ensure, Result};

use super::warm_pool;
use crate::bench::contenders::{Contender, Tasks};

/// The nanoseconds per task of `calls` scopes of `tasks` tasks each, from inside the pool.
///
/// A tenth as many scopes run before, to warm up. Each task counts its own runs.
pub(crate) fn scope<C: Contender<Fork: Tasks>>(threads: usize, tasks: usize, calls: usize) -> Result<f64> {
    let pool = warm_pool::<C>(threads)?;
    let warm_up = calls.div_ceil(10);
    let counts: Vec<AtomicU32> = (0..tasks).map(|_| AtomicU32::new(0)).collect();
    let elapsed = C::enter(&pool, |_| {
        (0..warm_up).for_each(|_| run::<C::Fork>(&counts));
        let start = Instant::now();
        (0..calls).for_each(|_| run::<C::Fork>(&counts));
        start.elapsed()
    });
    let expected = warm_up + calls;
    for (task, count) in counts.into_iter().map(AtomicU32::into_inner).enumerate() {
        ensure!(count as usize == expected, "task {task} ran {count} times in {expected} scopes");
    }
    Ok(elapsed.as_nanos() as f64 / (calls * tasks) as f64)
}

/// Runs a scope with a task for each count.
#[inline(never)]
fn run<F: Tasks>(counts: &[AtomicU32]) {
    F::scope(|scope| {
        for count in black_box(counts) {
            // Relaxed: the end of the scope orders all counts before they are read.
            F::spawn(scope, move |_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::faulty::{Doubling, Losing};
    use crate::bench::contenders::{Filch, Rayon, Serial};

    #[test]
    fn all_contenders_are_timed() {
        for nanos in [scope::<Serial>(1, 100, 20), scope::<Filch>(2, 100, 20), scope::<Rayon>(2, 100, 20)] {
            assert!(nanos.unwrap() > 0.0);
        }
    }

    #[test]
    fn a_task_that_is_lost_or_runs_twice_is_an_error() {
        let counts = [AtomicU32::new(0), AtomicU32::new(0)];
        let ran = || [0, 1].map(|task: usize| counts[task].swap(0, Ordering::Relaxed));
        run::<<Losing as crate::bench::contenders::Runtime>::Fork>(&counts);
        assert_eq!(ran(), [0, 0]);
        run::<<Doubling as crate::bench::contenders::Runtime>::Fork>(&counts);
        assert_eq!(ran(), [2, 2]);
    }
}
