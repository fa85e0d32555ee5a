//! What is done with a popped task.

use std::hint::black_box;

use crate::bench::busy;

/// Work for each task that also shows afterwards that each task was there.
///
/// A measuring loop makes its own instance, so that the state lives in registers. A store for each
/// task would be timed as well, and would also lengthen every wait for a fence.
pub(crate) trait Work {
    /// Makes the work for tasks of `steps` steps each.
    fn new(steps: u64) -> Self;

    /// Executes a task.
    fn execute(&mut self, task: usize);

    /// The wrapping sum of all tasks executed.
    fn sum(self) -> usize;
}

/// Adds up the tasks, whatever the number of steps.
///
/// This is the least work that can still be checked.
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

/// Spins. Each task starts from the result of the task before, so that no two overlap.
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
