//! Work that keeps a thread busy for a number of steps, independent of the clock.

use std::hint::black_box;

/// The approximate number of steps that a thread takes in a microsecond.
pub(crate) const STEPS_A_MICRO: u64 = 1_500;

/// Takes `count` steps, each of which needs the one before.
///
/// The compiler finds no closed form for it. It is never inlined, so that the work is the same
/// wherever it runs. A loop that watches the clock would end on time even if its thread is
/// preempted: threads that share a core would seem to compute at full speed.
#[inline(never)]
pub(crate) fn steps(count: u64, seed: u64) -> u64 {
    (0..black_box(count)).fold(seed, |state, _| state.rotate_left(5) ^ 0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other() {
        assert_eq!(steps(0, 7), 7);
        assert_eq!(steps(5, 7), steps(2, steps(3, 7)));
        assert_ne!(steps(5, 7), steps(6, 7));
    }
}
