//! What takes a second thread, on a core of its own.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use crossbeam_utils::CachePadded;
use filch_queue::{barrier, chase_lev, Steal};

use crate::bench::pin::Cores;
use crate::stats;

/// Wake-ups for a sample.
const WAKES: usize = 15;

/// What a thread gets to fall asleep before it is woken.
const NAP: Duration = Duration::from_micros(300);

/// Barriers for a sample, and what it takes at most.
const BARRIERS: usize = 50;
const PATIENCE: Duration = Duration::from_millis(150);

/// Steals for a sample.
const STEALS: usize = 500;

/// The barrier on behalf of all threads of the process, one of which is busy. None if the system
/// kept them waiting most of the time.
pub(super) fn heavy_barrier_with_a_peer(cores: Cores) -> Result<Option<f64>> {
    let stop = AtomicBool::new(false);
    let turns = CachePadded::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            cores.pin_thief();
            // Relaxed, here and below: signs of life, with which nothing is handed over.
            while !stop.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut nanos = Vec::new();
        let mut refused = false;
        let begin = Instant::now();
        // Only a peer that runs has to be interrupted, so a call counts only if the peer got on meanwhile.
        while nanos.len() < BARRIERS && begin.elapsed() < PATIENCE && !refused {
            let before = turns.load(Ordering::Relaxed);
            let start = Instant::now();
            refused = barrier::heavy().is_err();
            let taken = start.elapsed();
            if turns.load(Ordering::Relaxed) != before {
                nanos.push(taken.as_nanos() as f64);
            }
        }
        stop.store(true, Ordering::Relaxed);
        ensure!(!refused, "the kernel refused its barrier");
        // Of a few only, the median may be one that took as long as this thread was kept waiting.
        Ok(stats::median(&nanos).filter(|_| nanos.len() >= BARRIERS / 2))
    })
}

/// From the call that wakes a thread, which sleeps in the kernel, to its first instruction: the shortest of several, because a core that
/// other programs are at comes free only later.
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
                // Acquire: pairs with the release of who ends it.
                if over.load(Ordering::Acquire) {
                    return;
                }
                // Release: pairs with the acquire of the waker, which then may wake again.
                awake_at.store(now, Ordering::Release);
            }
        });
        let once = |_| {
            // Relaxed: the unparking that follows orders it.
            awake_at.store(0, Ordering::Relaxed);
            thread::sleep(NAP);
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
    stats::min(&nanos).context("nothing was woken")
}

/// A steal of the only task, which an owner on another core has just pushed: everything that the thief touches is in the other core's cache.
pub(super) fn steal(cores: Cores) -> Result<f64> {
    let (owner, thief) = chase_lev::new::<usize>();
    // How many tasks were pushed, and how many were stolen.
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
                    bail!("a thief found {result:?} where task {task} was");
                }
            }
            Ok(nanos)
        });
        for task in 0..STEALS {
            owner.push(task);
            pushed.store(task + 1, Ordering::Release);
            wait_until(|| stolen.load(Ordering::Acquire) > task || stealing.is_finished());
        }
        stealing.join().unwrap_or_else(|_| bail!("the thief's thread failed"))
    })?;
    let stealing = stats::median(&nanos).context("nothing was stolen")?;
    Ok((stealing - clock()).max(0.0))
}

/// What looking at the clock adds to a time.
fn clock() -> f64 {
    let looks: Vec<f64> = (0..100).map(|_| Instant::now().elapsed().as_nanos() as f64).collect();
    stats::median(&looks).unwrap_or(0.0)
}

/// Waits for another thread, which has a core of its own unless other programs are at it.
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
