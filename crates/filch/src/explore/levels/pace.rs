//! How long the tasks of a worker take, and what follows: the size of its claims, and whether a
//! level is worth sharing.
//!
//! The worker measures its own tasks. It looks at the clock after one task, and then less and less
//! often while tasks are short: after at most 1,024 tasks or 32 levels. So a level of a few short
//! tasks costs no look at all.

use std::time::{Duration, Instant};

/// The most tasks between two looks at the clock, if the exploration has no limits.
const TASKS_PER_LOOK: u32 = 1024;
/// The most tasks between two looks, if it has limits.
const TASKS_PER_LIMIT_CHECK: u32 = 16;
/// What a level counts for, in tasks, on the way to the next look.
const LEVEL: u32 = 32;
/// If the tasks between two looks took longer, the next look comes after one task.
const SHORT: Duration = Duration::from_micros(100);
/// A level is not shared if what is left of it takes less time, in nanoseconds.
const ALONE: f64 = 2_000.0;
/// A level is not worth waking a worker if what is left of it takes less time, in nanoseconds.
const ASLEEP: f64 = 10_000.0;
/// The least and the most time of a claim, in nanoseconds, if there are enough tasks.
const CLAIM: (f64, f64) = (1_000.0, 20_000.0);
/// The most tasks of a claim. No other worker can take these, even if they take longer than those
/// before.
const MAX_CLAIM: f64 = 2_048.0;

/// Returns the tasks that are left until the next look, after the end of a level.
#[inline(always)]
pub(super) fn after_level(left: u32) -> u32 {
    left.saturating_sub(LEVEL)
}

/// The speed of a worker.
#[derive(Debug)]
pub(super) struct Pace {
    /// Tasks until the next look, while the worker runs none.
    pub(super) left: u32,
    granted: u32,
    /// Nanoseconds a task; `None` before the first look.
    cost: Option<f64>,
    /// The number of tasks that a worker runs alone, if no other is awake to help.
    pub(super) alone: usize,
    last: Instant,
    tasks: u64,
}

impl Pace {
    pub(super) fn new() -> Pace {
        // Before the first look, a level of two tasks is shared: they may take long.
        Pace { left: 1, granted: 1, cost: None, alone: 1, last: Instant::now(), tasks: 0 }
    }

    /// Begins to measure, after a time without a task. The worker has run this many tasks.
    pub(super) fn resume(&mut self, tasks: u64) {
        (self.last, self.tasks) = (Instant::now(), tasks);
    }

    /// Measures. The worker has run this many tasks. Returns the time, and the tasks until the next
    /// look.
    #[cold]
    #[inline(never)]
    pub(super) fn look(&mut self, tasks: u64, has_limits: bool) -> (Instant, u32) {
        let now = Instant::now();
        let elapsed = now - self.last;
        if tasks > self.tasks {
            let cost = elapsed.as_nanos() as f64 / (tasks - self.tasks) as f64;
            let cost = self.cost.map_or(cost, |before| (before + cost) / 2.0).max(0.1);
            self.cost = Some(cost);
            // A single task is never shared: the owner runs it itself.
            self.alone = ((ALONE / cost) as usize).max(1);
        }
        let most = if has_limits { TASKS_PER_LIMIT_CHECK } else { TASKS_PER_LOOK };
        self.granted = if elapsed > SHORT { 1 } else { most.min(2 * self.granted) };
        (self.last, self.tasks) = (now, tasks);
        (now, self.granted)
    }

    /// Returns the number of other workers that are worth waking for this many tasks. One, before
    /// the first look.
    pub(super) fn useful_sleepers(&self, tasks: usize) -> usize {
        self.cost.map_or(1, |cost| (cost * tasks as f64 / ASLEEP) as usize).min(tasks)
    }

    /// Returns whether it knows how long tasks take.
    pub(super) fn has_measured(&self) -> bool {
        self.cost.is_some()
    }

    /// Returns the size of the next claim, if about this many tasks are left for these workers.
    pub(super) fn claim(&self, left: usize, workers: usize) -> usize {
        let Some(cost) = self.cost else { return 1 };
        let share = left as f64 / (4 * workers) as f64;
        share.clamp(CLAIM.0 / cost, CLAIM.1 / cost).clamp(1.0, MAX_CLAIM) as usize
    }
}
