//! What a round took: time, and CPU time of all threads of this process.

use std::fmt;
use std::time::{Duration, Instant};

/// One round of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    elapsed: Duration,
    cpu: Duration,
    operations: u64,
    checksum: u64,
}

impl Round {
    /// What the round came to.
    #[cfg(test)]
    pub(crate) fn checksum(&self) -> u64 {
        self.checksum
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Round { elapsed, cpu, operations, checksum } = self;
        write!(f, "done {} {} {operations} {checksum:016x}", elapsed.as_nanos(), cpu.as_nanos())
    }
}

/// Times `work`, which is so many operations. Neither `check`, which makes a checksum of the result, nor its end is timed.
pub(crate) fn timed<T>(operations: u64, work: impl FnOnce() -> T, check: impl FnOnce(&T) -> u64) -> Round {
    let (start, cpu_before) = (Instant::now(), cpu_time());
    let result = work();
    let (elapsed, cpu_after) = (start.elapsed(), cpu_time());
    Round { elapsed, cpu: cpu_after.saturating_sub(cpu_before), operations, checksum: check(&result) }
}

/// Order matters: each word changes what the words before it have come to.
pub(crate) fn checksum(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(0, |sum: u64, word| (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(target_os = "linux")]
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours, which the call fills.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0)),
        _ => Duration::ZERO,
    }
}

/// Not known here; the lab asks for it only on Linux.
#[cfg(not(target_os = "linux"))]
fn cpu_time() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_four_figures() {
        let round =
            Round { elapsed: Duration::from_micros(3), cpu: Duration::from_nanos(5), operations: 7, checksum: 0xabc };
        assert_eq!(round.to_string(), "done 3000 5 7 0000000000000abc");
    }

    #[test]
    fn a_checksum_knows_the_order() {
        assert_ne!(checksum([1, 2]), checksum([2, 1]));
        assert_ne!(checksum([1]), checksum([1, 0]));
    }
}
