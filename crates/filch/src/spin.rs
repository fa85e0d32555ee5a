//! How long a pause of the CPU is: from 10 to 150 nanoseconds, by CPU.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::sync::spin_loop;

/// The length of a turn, in which waits are counted.
const TURN: Duration = Duration::from_nanos(333);

/// How many pauses make a turn. The initial value is for CPUs with pauses of 40 nanoseconds.
static PAUSES: AtomicU32 = AtomicU32::new(8);

/// The number of pauses that take so many turns.
pub(crate) fn pauses_in(turns: u32) -> u32 {
    // For a checker, a moment is as good as an age.
    if cfg!(any(loom, shuttle)) {
        return 1;
    }
    // Relaxed: a number that stands for itself.
    turns * PAUSES.load(Ordering::Relaxed)
}

/// Measures a pause. Called when a pool is built, and takes some microseconds.
pub(crate) fn measure() {
    const COUNT: u32 = 128;
    if cfg!(any(loom, shuttle)) {
        return;
    }
    let time = || {
        let start = Instant::now();
        (0..COUNT).for_each(|_| spin_loop());
        start.elapsed()
    };
    // The shortest of several: the thread may lose its core in one of them.
    let shortest = (0..4).map(|_| time()).min().unwrap_or(TURN);
    let pauses = TURN.as_nanos() * u128::from(COUNT) / shortest.as_nanos().max(1);
    // Relaxed: as above. The cast is of a number in the range.
    PAUSES.store(pauses.clamp(2, 64) as u32, Ordering::Relaxed);
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_pauses_and_many_turns_have_more() {
        measure();
        assert!(pauses_in(1) >= 2);
        assert_eq!(pauses_in(3), 3 * pauses_in(1));
    }
}
