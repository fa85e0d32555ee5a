//! Measurements that need a second thread, on a core of its own.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use crossbeam_utils::CachePadded;
use filch_queue::{barrier, chase_lev, Steal};

use crate::bench::pin::Cores;
use crate::stats;

/// The number of wake-ups for a sample.
const WAKES: usize = 15;

/// How long a thread may take to fall asleep before it is woken.
const SLEEP_TIME: Duration = Duration::from_micros(300);

/// The number of barriers for a sample, and the time limit of a sample.
const BARRIERS: usize = 50;
const TIME_LIMIT: Duration = Duration::from_millis(150);

/// The number of steals for a sample.
const STEALS: usize = 500;

/// Times the barrier on behalf of all threads of the process, with another thread busy.
///
/// Returns `None` if the system kept the threads waiting most of the time.
pub(super) fn heavy_barrier_with_a_peer(cores: Cores) -> Result<Option<f64>> {
    let stop = AtomicBool::new(false);
    let turns = CachePadded::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            cores.pin_thief();
            // Relaxed, here and below: a progress counter that publishes no data.
            while !stop.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut nanos = Vec::new();
        let mut refused = false;
        let begin = Instant::now();
        // Only a running peer has to be interrupted, so a call counts only if the peer made
        // progress meanwhile.
        while nanos.len() < BARRIERS && begin.elapsed() < TIME_LIMIT && !refused {
            let before = turns.load(Ordering::Relaxed);
            let start = Instant::now();
            refused = barrier::heavy().is_err();
            let taken = start.elapsed();
            if turns.load(Ordering::Relaxed) != before {
                nanos.push(taken.as_nanos() as f64);
            }
        }
        stop.store(true, Ordering::Relaxed);
        ensure!(!refused, "the kernel refused the barrier for all threads");
        // With only a few calls, the median may be a call during which this thread was preempted.
        Ok(stats::median(&nanos).filter(|_| nanos.len() >= BARRIERS / 2))
    })
}

/// Times a wake-up, from the call to the first instruction of the woken thread.
///
/// The thread sleeps in the kernel. The result is the shortest of several, because a core that runs
/// other programs becomes free only later.
pub(super) fn wake(cores: Cores) -> Result<f64> {
    let epoch = Instant::now();
    let awake_at = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    let nanos: Vec<f64> = thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            cores.pin_thief();
            loop {
                thread::park();
                let now = epoch.elapsed().as_nanos() as u64;
                // Acquire: pairs with the release of the thread that ends the measurement.
                if over.load(Ordering::Acquire) {
                    return;
                }
                // Release: pairs with the acquire of the waker, which may then wake this thread
                // again.
                awake_at.store(now, Ordering::Release);
            }
        });
        let once = |_| {
            // Relaxed: the following unpark orders it.
            awake_at.store(0, Ordering::Relaxed);
            thread::sleep(SLEEP_TIME);
            let start = epoch.elapsed().as_nanos() as u64;
            sleeper.thread().unpark();
            loop {
                // Acquire: see above.
                match awake_at.load(Ordering::Acquire) {
                    0 => thread::yield_now(),
                    awake => break awake.saturating_sub(start) as f64,
                }
            }
        };
        let nanos = (0..WAKES).map(once).collect();
        // Release: see above.
        over.store(true, Ordering::Release);
        sleeper.thread().unpark();
        nanos
    });
    stats::min(&nanos).context("no thread was woken")
}

/// Times a steal of the only task, just pushed by an owner on another core.
///
/// Everything that the thief touches is in the other core's cache.
pub(super) fn steal(cores: Cores) -> Result<f64> {
    let (owner, thief) = chase_lev::new::<usize>();
    // The number of tasks pushed, and the number stolen.
    let pushed = CachePadded::new(AtomicUsize::new(0));
    let stolen = CachePadded::new(AtomicUsize::new(0));
    let nanos = thread::scope(|scope| {
        let (pushed, stolen) = (&*pushed, &*stolen);
        let stealing = scope.spawn(move || {
            cores.pin_thief();
            let mut nanos = Vec::with_capacity(STEALS);
            for task in 0..STEALS {
                // Acquire: pairs with the owner's release, after its push.
                wait_until(|| pushed.load(Ordering::Acquire) > task);
                let start = Instant::now();
                let result = loop {
                    match thief.steal() {
                        Steal::Retry => {}
                        result => break result,
                    }
                };
                nanos.push(start.elapsed().as_nanos() as f64);
                // Release: pairs with the owner's acquire, before its next push.
                stolen.store(task + 1, Ordering::Release);
                if result != Steal::Success(task) {
                    bail!("the thief got {result:?} instead of task {task}");
                }
            }
            Ok(nanos)
        });
        for task in 0..STEALS {
            owner.push(task);
            pushed.store(task + 1, Ordering::Release);
            wait_until(|| stolen.load(Ordering::Acquire) > task || stealing.is_finished());
        }
        stealing.join().unwrap_or_else(|_| bail!("the thread of the thief panicked"))
    })?;
    let stealing = stats::median(&nanos).context("no task was stolen")?;
    Ok((stealing - clock_overhead()).max(0.0))
}

/// The time that reading the clock adds to a measurement.
fn clock_overhead() -> f64 {
    let looks: Vec<f64> = (0..100).map(|_| Instant::now().elapsed().as_nanos() as f64).collect();
    stats::median(&looks).unwrap_or(0.0)
}

/// Waits for another thread. It has a core of its own unless other programs run there.
fn wait_until(mut condition: impl FnMut() -> bool) {
    for turn in 1u32.. {
        if condition() {
            return;
        }
        spin_loop();
        if turn.is_multiple_of(1024) {
            thread::yield_now();
        }
    }
}
