//! How much a sample has: in a quick run and in a full run.

use std::time::Duration;

use super::cases::WIDTHS;

/// Counts and sizes of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The approximate number of joins in a sample. A tree is summed repeatedly to reach it.
    pub(crate) joins_a_sample: u64,
    /// Scopes per sample.
    pub(crate) scopes: usize,
    /// Runs per sample, each after a gap.
    pub(crate) gaps: usize,
    /// The time for which an idle pool is watched.
    pub(crate) watch: Duration,
    /// Ticks per sample.
    pub(crate) ticks: u32,
    /// Wake-ups per sample.
    pub(crate) wakes: usize,
    /// The time for which a pool is idle before it is woken.
    pub(crate) pause: Duration,
    /// The numbers of workers for programs whose leaves sleep.
    pub(crate) widths: &'static [usize],
    /// The number of leaves per worker in such a program.
    pub(crate) leaves_a_worker: usize,
}

impl Plan {
    /// For published figures.
    pub(crate) const FULL: Plan = Plan {
        joins_a_sample: 2_000_000,
        scopes: 50,
        gaps: 60,
        watch: Duration::from_secs(1),
        ticks: 100,
        wakes: 40,
        pause: Duration::from_millis(5),
        widths: &WIDTHS,
        leaves_a_worker: 24,
    };

    /// For a first look. Wide cases have fewer workers.
    pub(crate) const QUICK: Plan = Plan {
        joins_a_sample: 500_000,
        scopes: 10,
        gaps: 30,
        watch: Duration::from_millis(80),
        ticks: 30,
        wakes: 14,
        pause: Duration::from_millis(3),
        widths: &[WIDTHS[0]],
        leaves_a_worker: 4,
    };
}
