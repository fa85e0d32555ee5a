//! The result of a simulated run.

use core::fmt;
use core::time::Duration;

use super::tree::Size;

/// The result of a simulated run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The time from the start until the coordinator knew that all work is done.
    pub elapsed: Duration,
    /// The nodes and the work of all ranks together.
    pub done: Size,
    /// The number of threads of all ranks.
    pub threads: usize,
    /// The number of messages that the coordinator handled.
    pub messages: u64,
    /// The number of these messages of each kind, in the order of [`Kind::ALL`](super::Kind::ALL).
    pub kinds: Vec<u64>,
    /// How long the coordinator was busy with them.
    pub busy: Duration,
    /// How long they waited for the coordinator.
    pub queueing: TimeSummary,
    /// How long ranks without nodes waited for nodes.
    pub hunger: TimeSummary,
    /// The number of orders to give nodes away.
    pub orders: u64,
    /// The number of orders that were refused.
    pub refused: u64,
    /// The number of nodes that were moved.
    pub moved: u64,
}

impl Outcome {
    /// Returns the speed-up over one thread.
    #[must_use]
    pub fn speed_up(&self) -> f64 {
        self.done.work as f64 / (self.elapsed.as_nanos() as f64).max(1.0)
    }

    /// Returns the share of all threads' time that went into nodes.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        self.speed_up() / self.threads as f64
    }

    /// Returns the share of the time for which the coordinator was busy.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        self.busy.as_secs_f64() / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Returns the number of messages that the coordinator handled per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.messages as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Error from a simulated run whose result is invalid.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// No event is left, and the run is not over.
    Stuck {
        /// The time of the last event.
        at: Duration,
        /// The number of nodes processed by then.
        done: u64,
        /// The number of nodes of the tree.
        nodes: u64,
    },
    /// The run ended, but the processed nodes are not those of the tree.
    Lost {
        /// The number of processed nodes.
        done: u64,
        /// The number of nodes of the tree.
        nodes: u64,
    },
    /// The protocol reported a failure.
    Protocol(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Stuck { at, done, nodes } => write!(
                f,
                "the simulated run is stuck after {:.3} s, with {done} of {nodes} nodes done: a message was lost",
                at.as_secs_f64()
            ),
            Failure::Lost { done, nodes } => {
                write!(f, "the simulated run ended with {done} of {nodes} nodes done, or with nodes done twice")
            }
            Failure::Protocol(why) => write!(f, "the simulated run failed: {why}"),
        }
    }
}

impl std::error::Error for Failure {}

/// The mean and the tail of many times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeSummary {
    /// The number of times.
    pub count: u64,
    /// Their mean, in nanoseconds.
    pub mean: f64,
    /// Their ninth decile, accurate to a few percent, in nanoseconds.
    pub ninth: f64,
    /// The greatest, in nanoseconds.
    pub most: u64,
}

/// A histogram of times. Its classes are a sixteenth of their size wide, so it stays small.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    classes: Vec<u64>,
    count: u64,
    sum: u128,
    most: u64,
}

const STEPS: u32 = 4;

impl Histogram {
    pub(super) fn new() -> Histogram {
        Histogram { classes: vec![0; (64 << STEPS) as usize], count: 0, sum: 0, most: 0 }
    }

    pub(super) fn add(&mut self, time: u64) {
        self.classes[Self::class(time)] += 1;
        self.count += 1;
        self.sum += u128::from(time);
        self.most = self.most.max(time);
    }

    fn class(time: u64) -> usize {
        let digits = 64 - time.leading_zeros();
        if digits <= STEPS {
            return time as usize;
        }
        let below = digits - 1 - STEPS;
        (((below + 1) << STEPS) as u64 + ((time >> below) & ((1 << STEPS) - 1))) as usize
    }

    /// Returns the middle of a class.
    fn middle(class: usize) -> f64 {
        let (high, low) = (class >> STEPS, class & ((1 << STEPS) - 1));
        if high == 0 {
            return low as f64;
        }
        let width = 2f64.powi(high as i32 - 1);
        ((1 << STEPS) as f64 + low as f64 + 0.5) * width
    }

    pub(super) fn summary(&self) -> TimeSummary {
        let wanted = self.count - self.count / 10;
        let mut seen = 0;
        let ninth = self.classes.iter().position(|&count| {
            seen += count;
            seen >= wanted && count > 0
        });
        TimeSummary {
            count: self.count,
            mean: if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 },
            ninth: ninth.map_or(0.0, Self::middle),
            most: self.most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_exact_and_the_ninth_decile_nearly_so() {
        let mut times = Histogram::new();
        (1..=100_000u64).for_each(|time| times.add(time * 1_000));
        let summary = times.summary();
        assert_eq!((summary.count, summary.most), (100_000, 100_000_000));
        assert!((summary.mean - 50_000_500.0).abs() < 1.0, "{summary:?}");
        assert!((summary.ninth / 90_000_000.0 - 1.0).abs() < 0.05, "{summary:?}");
        let mut small = Histogram::new();
        [0, 1, 2, 3].into_iter().for_each(|time| small.add(time));
        assert_eq!(small.summary().ninth, 3.0);
        assert_eq!(Histogram::new().summary(), TimeSummary::default());
    }
}
