//! What is done with a popped task.

use std::hint::black_box;

use crate::bench::busy;

/// Something to do with each task that also shows, afterwards, that each was there.
///
/// A measuring loop makes its own, so that the state lives in registers: a store for each task would be timed as well, and
/// worse, it would lengthen every wait for a fence.
pub(crate) trait Work {
    /// Ready for the first task. Each will take `steps` steps.
    fn new(steps: u64) -> Self;

    /// Executes one task.
    fn execute(&mut self, task: usize);

    /// The wrapping sum of all tasks executed.
    fn sum(self) -> usize;
}

/// Adds the task up, whatever the number of steps: as close to nothing as can still be checked.
#[derive(Debug)]
pub(crate) struct Sum(usize);

impl Work for Sum {
    #[inline(always)]
    fn new(_steps: u64) -> Sum {
        Sum(0)
    }

    #[inline(always)]
    fn execute(&mut self, task: usize) {
        self.0 = self.0.wrapping_add(task);
    }

    #[inline(always)]
    fn sum(self) -> usize {
        self.0
    }
}

/// Spins. Each task starts from what the one before computed, so that no two overlap.
#[derive(Debug)]
pub(crate) struct Busy {
    steps: u64,
    state: u64,
    sum: usize,
}

impl Work for Busy {
    #[inline(always)]
    fn new(steps: u64) -> Busy {
        Busy { steps, state: 1, sum: 0 }
    }

    #[inline(always)]
    fn execute(&mut self, task: usize) {
        self.state = busy::spin(self.steps, self.state ^ task as u64);
        self.sum = self.sum.wrapping_add(task);
    }

    #[inline(always)]
    fn sum(self) -> usize {
        // Without a reader the compiler would be free to skip the steps.
        black_box(self.state);
        self.sum
    }
}
