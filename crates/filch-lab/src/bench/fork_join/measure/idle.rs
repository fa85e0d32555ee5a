//! The cost of a pool while it is idle.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::warm_pool;
use crate::bench::contenders::Contender;
use crate::bench::cpu;

/// The time that a pool has to fall asleep before it is watched.
///
/// The case `tick` shows the cost of falling asleep.
const SETTLING: Duration = Duration::from_millis(60);

/// The cost of an idle pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// CPU time of the whole process, in milliseconds per second.
    ///
    /// It includes the thread that watches, which sleeps.
    pub(crate) cpu_millis: f64,
    /// CPU time of all other threads, in milliseconds per second.
    pub(crate) pool_cpu_millis: f64,
    /// Context switches of the pool's threads per second.
    pub(crate) switches: f64,
}

/// Watches a pool for the given time after it has worked a bit.
pub(crate) fn idle<C: Contender>(threads: usize, watch: Duration) -> Result<Idle> {
    let _pool = warm_pool::<C>(threads)?;
    thread::sleep(SETTLING);

    let before = Reading::take()?;
    thread::sleep(watch);
    let after = Reading::take()?;

    let seconds = after.instant.duration_since(before.instant).as_secs_f64();
    let cpu = after.cpu.saturating_sub(before.cpu);
    let watcher = after.watcher.saturating_sub(before.watcher);
    Ok(Idle {
        cpu_millis: cpu.as_secs_f64() * 1e3 / seconds,
        pool_cpu_millis: cpu.saturating_sub(watcher).as_secs_f64() * 1e3 / seconds,
        switches: after.switches.saturating_sub(before.switches) as f64 / seconds,
    })
}

struct Reading {
    instant: Instant,
    cpu: Duration,
    watcher: Duration,
    switches: u64,
}

impl Reading {
    /// Reads all figures, always in this order, so that the cost of reading cancels out.
    fn take() -> Result<Reading> {
        Ok(Reading {
            watcher: cpu::time_of_this_thread()?,
            cpu: cpu::time()?,
            switches: cpu::switches_of_others()?,
            instant: Instant::now(),
        })
    }
}
