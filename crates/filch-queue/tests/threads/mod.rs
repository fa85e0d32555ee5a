//! Helpers for the tests on real threads.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;

/// Runs one test at a time. An owner and a thief should have a core each.
pub(crate) fn run_alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn tasks_per_queue() -> usize {
    match std::env::var("FILCH_STRESS_TASKS") {
        Ok(tasks) => tasks.replace('_', "").parse().expect("FILCH_STRESS_TASKS must be a number of tasks"),
        Err(_) => 10_000_000,
    }
}

/// Calls `run` until a task was stolen, and returns its result.
///
/// It calls it more than once only if no thief was there in time: another virtual machine may use
/// the thief's core.
pub(crate) fn until_stolen<R>(tasks: usize, mut run: impl FnMut() -> (R, usize)) -> R {
    let tested = (0..20).map(|_| run()).find(|&(_, stolen)| stolen > 0 || tasks < 100_000);
    tested.expect("no thief stole a task, so nothing was tested").0
}

/// The random number generator xorshift64*.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number in the range.
    pub(crate) fn roll(&mut self, range: Range<usize>) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as usize;
        range.start + high % range.len()
    }
}

/// Sets the flag when the owner is done, even if the owner panics.
pub(crate) struct Done<'a>(pub(crate) &'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

pub(crate) fn join<R>(thread: ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|cause| resume_unwind(cause))
}
