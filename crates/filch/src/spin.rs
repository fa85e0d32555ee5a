//! Short times: the length of a CPU pause, and a cheap clock.
//!
//! A pause takes from 10 to 150 nanoseconds, depending on the CPU. The clock is cheaper than that
//! of the system.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::sync::spin_loop;

/// The length of a turn, the unit of waits.
const TURN: Duration = Duration::from_nanos(333);

/// The number of pauses in a turn. The initial value is for CPUs with pauses of 40 nanoseconds.
static PAUSES: AtomicU32 = AtomicU32::new(8);

/// The number of clock ticks in a turn; 0 if there is no such clock.
static TICKS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of pauses in `turns` turns.
pub(crate) fn pauses_in(turns: u32) -> u32 {
    // For a checker, all waits are equally long.
    if cfg!(any(loom, shuttle)) {
        return 1;
    }
    // Relaxed: the number orders nothing.
    turns * PAUSES.load(Ordering::Relaxed)
}

/// Returns the clock of the CPU, if there is one. For estimates only: two cores may disagree.
#[inline]
pub(crate) fn ticks() -> Option<u64> {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle))))]
    // SAFETY: the instruction exists on every such CPU. Linux can forbid it to a process; then
    // calls of the system's clock fail as well.
    return Some(unsafe { std::arch::x86_64::_rdtsc() });
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle)))))]
    None
}

/// Returns whether at most `turns` turns lie between two times, as far as is known.
#[inline]
pub(crate) fn is_within(turns: u32, start: Option<u64>, end: Option<u64>) -> bool {
    // Relaxed: as in `pauses_in`.
    let most = u64::from(turns) * TICKS.load(Ordering::Relaxed);
    start.zip(end).is_some_and(|(start, end)| end.wrapping_sub(start) < most)
}

/// Measures pauses and ticks. Called when a pool is built, and takes some microseconds.
pub(crate) fn measure() {
    const COUNT: u32 = 128;
    if cfg!(any(loom, shuttle)) {
        return;
    }
    let time = || {
        let (start, first) = (Instant::now(), ticks());
        (0..COUNT).for_each(|_| spin_loop());
        let passed = ticks().zip(first).map_or(0, |(last, first)| last.wrapping_sub(first));
        (start.elapsed(), passed)
    };
    // The shortest of several: the thread may lose its core in one of them.
    let (shortest, passed) = (0..4).map(|_| time()).min().unwrap_or((TURN, 0));
    // Relaxed: as above. The cast is of a small number.
    let ticks = TURN.as_nanos() * u128::from(passed) / shortest.as_nanos().max(1);
    TICKS.store(ticks as u64, Ordering::Relaxed);
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
