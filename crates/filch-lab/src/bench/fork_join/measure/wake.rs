//! The time it takes to wake a sleeping pool.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::warm_pool;
use crate::bench::contenders::Contender;
use crate::stats;

/// The median time from entering an idle pool to the first instruction inside, in nanoseconds.
///
/// The pool has been idle for `pause`.
pub(crate) fn wake<C: Contender>(threads: usize, wakes: usize, pause: Duration) -> Result<f64> {
    let pool = warm_pool::<C>(threads)?;
    let nanos: Vec<f64> = (0..wakes)
        .map(|_| {
            thread::sleep(pause);
            let start = Instant::now();
            let inside = C::enter(&pool, |_| Instant::now());
            inside.duration_since(start).as_nanos() as f64
        })
        .collect();
    stats::median(&nanos).context("there were no wake-ups")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::{Filch, Rayon};

    #[test]
    fn waking_takes_time() {
        let pause = Duration::from_millis(1);
        assert!(wake::<Filch>(2, 3, pause).unwrap() > 0.0);
        assert!(wake::<Rayon>(2, 3, pause).unwrap() > 0.0);
        assert!(wake::<Filch>(2, 0, pause).is_err());
    }
}
