//! A little work at regular times, with idle time in between.
//!
//! The measured figure is the CPU time.

use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{join, Program};
use crate::busy;
use crate::clock::{checksum, timed, Round};

/// The time from one piece of work to the next.
const PERIOD: Duration = Duration::from_millis(4);
const PARTS: u32 = 64;
/// The steps of a part. Together, the parts take about 50 microseconds.
const STEPS_A_PART: u64 = 1_000;

/// `ticks` ticks, each a parallel iterator over its parts.
pub(crate) fn program(ticks: u64) -> Program {
    Box::new(move || {
        round(ticks, || (0..PARTS).into_par_iter().with_max_len(1).map(part).reduce(|| 0, u64::wrapping_add))
    })
}

/// The same ticks without a pool: the cost of the work itself.
pub(crate) fn serial(ticks: u64) -> Program {
    Box::new(move || round(ticks, || (0..PARTS).map(part).fold(0, u64::wrapping_add)))
}

fn round(ticks: u64, work: impl Fn() -> u64) -> Round {
    join::warm_up();
    thread::sleep(10 * PERIOD);
    let all = || {
        let mut next = Instant::now();
        (0..ticks).fold(0, |sum: u64, _| {
            let sum = checksum([sum, work()]);
            // A late tick moves all that follow: otherwise two ticks would follow each other
            // without a pause.
            next = (next + PERIOD).max(Instant::now());
            thread::sleep(next.saturating_duration_since(Instant::now()));
            sum
        })
    };
    timed(ticks, all, |&sum| sum)
}

fn part(place: u32) -> u64 {
    busy::steps(STEPS_A_PART, u64::from(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_the_same_with_and_without_a_pool() {
        assert_eq!(program(2)().checksum(), serial(2)().checksum());
    }
}
