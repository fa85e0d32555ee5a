//! Busy work that takes a given time without reading the clock.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The time that one step of [`spin`] takes on this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    nanos_per_step: f64,
}

impl Calibration {
    /// Measures a step of [`spin`], inlined.
    pub(crate) fn measure() -> Calibration {
        Calibration::of(spin)
    }

    /// Measures a function that spins.
    ///
    /// Takes the fastest of several runs, since every disturbance makes a run slower.
    pub(crate) fn of(spin: impl Fn(u64, u64) -> u64) -> Calibration {
        const RUNS: u32 = 20;
        const STEPS: u64 = 500_000;

        let mut fastest = Duration::MAX;
        let mut state = 1;
        for _ in 0..RUNS {
            let start = Instant::now();
            state = spin(black_box(STEPS), state);
            fastest = fastest.min(start.elapsed());
        }
        black_box(state);
        Calibration::from_run(STEPS, fastest)
    }

    fn from_run(steps: u64, elapsed: Duration) -> Calibration {
        // A clock too coarse to time the run must not make a step free: `steps` divides by the
        // result.
        Calibration { nanos_per_step: (elapsed.as_nanos() as f64 / steps as f64).max(1e-3) }
    }

    /// The number of steps whose time is closest to `nanos`.
    pub(crate) fn steps(self, nanos: u64) -> u64 {
        (nanos as f64 / self.nanos_per_step).round() as u64
    }

    /// The nanoseconds that one step takes.
    pub(crate) fn nanos_per_step(self) -> f64 {
        self.nanos_per_step
    }
}

/// Takes `steps` steps, each of which needs the result of the step before.
///
/// A rotation and an exclusive or have no closed form for the compiler to find, and take a cycle
/// each.
#[inline]
pub(crate) fn spin(steps: u64, mut state: u64) -> u64 {
    for _ in 0..steps {
        state = state.rotate_left(5) ^ 0x9e37_79b9_7f4a_7c15;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spin_takes_exactly_the_given_steps() {
        assert_eq!(spin(0, 7), 7);
        for (first, second) in [(0, 1), (1, 1), (3, 5), (100, 17)] {
            assert_eq!(spin(first + second, 7), spin(second, spin(first, 7)));
        }
        assert_ne!(spin(1, 7), 7);
    }

    #[test]
    fn steps_are_proportional_to_the_time_wanted() {
        let calibration = Calibration::from_run(1_000, Duration::from_nanos(700));
        assert_eq!(calibration.steps(0), 0);
        assert_eq!(calibration.steps(7), 10);
        assert_eq!(calibration.steps(700), 1_000);
        assert_eq!(calibration.steps(7_000), 10_000);
    }

    #[test]
    fn a_coarse_clock_does_not_make_a_task_endless() {
        let calibration = Calibration::from_run(1_000, Duration::ZERO);
        assert_eq!(calibration.steps(0), 0);
        assert!(calibration.steps(1) <= 1_000);
    }
}
