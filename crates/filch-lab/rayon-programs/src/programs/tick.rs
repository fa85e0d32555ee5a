//! A little work at regular times, with nothing in between. What counts is the CPU time that this takes.

use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{join, Program};
use crate::busy;
use crate::clock::{checksum, timed, Round};

/// From one piece of work to the next.
const PERIOD: Duration = Duration::from_millis(4);
const PARTS: u32 = 64;
/// Together, the parts take some 50 microseconds.
const STEPS_A_PART: u64 = 1_000;

/// So many ticks, the parts of each by a parallel iterator.
pub(crate) fn program(ticks: u64) -> Program {
    Box::new(move || {
        round(ticks, || (0..PARTS).into_par_iter().with_max_len(1).map(part).reduce(|| 0, u64::wrapping_add))
    })
}

/// The same without a pool: what the work itself takes.
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
            // A tick that came too late moves all that follow: two in a row would be no pause.
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
    fn with_and_without_a_pool_it_comes_to_the_same() {
        assert_eq!(program(2)().checksum(), serial(2)().checksum());
    }
}
