//! Programs whose leaves sleep, in pools of more workers than the machine has cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Result};

use super::warm_pool;
use crate::bench::contenders::{Contender, Tasks};
use crate::bench::work::Shape;

/// The time for which a leaf sleeps.
const LEAF: Duration = Duration::from_millis(2);

/// The time that the workers of other pools have to fall asleep before a run.
const SETTLING: Duration = Duration::from_millis(5);

/// A pool that stays for all rounds of a case.
///
/// Starting so many threads takes long.
pub(crate) struct Wide<C: Contender> {
    pool: C::Pool,
    shape: Shape,
    leaves: usize,
}

impl<C: Contender<Fork: Tasks>> Wide<C> {
    /// Starts a pool and runs the program once.
    pub(crate) fn start(shape: Shape, threads: usize, leaves: usize) -> Result<Wide<C>> {
        let wide = Wide { pool: warm_pool::<C>(threads)?, shape, leaves };
        wide.run()?;
        Ok(wide)
    }

    /// The time of a run from inside the pool, in milliseconds.
    pub(crate) fn run(&self) -> Result<f64> {
        let Wide { pool, shape, leaves } = self;
        let done = AtomicUsize::new(0);
        let leaf = || {
            thread::sleep(LEAF);
            // Relaxed: the end of the run orders all counts before they are read.
            done.fetch_add(1, Ordering::Relaxed);
        };
        thread::sleep(SETTLING);
        let elapsed = C::enter(pool, |_| {
            let start = Instant::now();
            shape.run::<C::Fork>(*leaves, &leaf);
            start.elapsed()
        });
        let done = done.into_inner();
        ensure!(done == *leaves, "{done} leaves ran instead of {leaves}");
        Ok(elapsed.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::faulty::{Doubling, Losing};
    use crate::bench::contenders::{Filch, FilchAny, Rayon};

    #[test]
    fn a_leaf_that_is_lost_or_runs_twice_is_an_error() {
        for shape in Shape::ALL {
            for planted in [
                Wide::<Losing> { pool: (), shape, leaves: 4 }.run(),
                Wide::<Doubling> { pool: (), shape, leaves: 4 }.run(),
            ] {
                let error = planted.expect_err(shape.name()).to_string();
                assert!(error.contains("instead of 4"), "{}: {error}", shape.name());
            }
        }
    }

    #[test]
    fn a_run_takes_no_less_than_its_leaves_divided_by_the_workers() {
        for shape in Shape::ALL {
            for millis in [
                Wide::<Filch>::start(shape, 4, 8).and_then(|wide| wide.run()),
                Wide::<FilchAny>::start(shape, 4, 8).and_then(|wide| wide.run()),
                Wide::<Rayon>::start(shape, 4, 8).and_then(|wide| wide.run()),
            ] {
                assert!(millis.unwrap() >= 4.0, "{}", shape.name());
            }
        }
    }
}
