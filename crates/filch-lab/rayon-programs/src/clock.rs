//! The measurements of a round: time, and CPU time of all threads of this process.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use crate::allocator;

/// One round of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    elapsed: Duration,
    cpu: Duration,
    operations: u64,
    checksum: u64,
    /// The times of single calls, if they were timed one by one.
    calls: Option<Calls>,
    /// The number of allocations, if they were counted.
    allocations: Option<u64>,
}

/// The times of single calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Calls {
    median: Duration,
    p99: Duration,
}

impl Calls {
    /// Ranks the calls. Returns `None` if there are none.
    fn of(mut times: Vec<Duration>) -> Option<Calls> {
        times.sort_unstable();
        // The shortest time that at least `percent` of a hundred calls do not exceed.
        let ranked = |percent: usize| times.get((times.len() * percent).div_ceil(100).checked_sub(1)?).copied();
        Some(Calls { median: ranked(50)?, p99: ranked(99)? })
    }
}

impl Round {
    /// The checksum of the round's result.
    #[cfg(test)]
    pub(crate) fn checksum(&self) -> u64 {
        self.checksum
    }

    /// The number of allocations, if they were counted.
    #[cfg(test)]
    pub(crate) fn allocations(&self) -> Option<u64> {
        self.allocations
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Round { elapsed, cpu, operations, checksum, calls, allocations } = self;
        write!(f, "done {} {} {operations} {checksum:016x}", elapsed.as_nanos(), cpu.as_nanos())?;
        calls.map_or(Ok(()), |Calls { median, p99 }| write!(f, " {} {}", median.as_nanos(), p99.as_nanos()))?;
        allocations.map_or(Ok(()), |count| write!(f, " allocations {count}"))
    }
}

/// Times `work`, which makes `operations` operations.
///
/// `check` makes a checksum of the result. Neither `check` nor dropping the result is timed.
pub(crate) fn timed<T>(operations: u64, work: impl FnOnce() -> T, check: impl FnOnce(&T) -> u64) -> Round {
    let (start, cpu_before) = (Instant::now(), cpu_time());
    let result = work();
    let (elapsed, cpu_after) = (start.elapsed(), cpu_time());
    let cpu = cpu_after.saturating_sub(cpu_before);
    Round { elapsed, cpu, operations, checksum: check(&result), calls: None, allocations: None }
}

/// Like [`timed`], and counts the allocations of `work` on all threads. Counting takes time.
pub(crate) fn counted<T>(operations: u64, work: impl FnOnce() -> T, check: impl FnOnce(&T) -> u64) -> Round {
    let mut allocations = None;
    let count = || {
        let (result, count) = allocator::counting(work);
        allocations = Some(count);
        result
    };
    let round = timed(operations, count, check);
    Round { allocations, ..round }
}

/// Times `calls` calls one by one. The pause before each is not timed.
///
/// The CPU time is that of the whole process, from the first call to the end of the pause after the
/// last. It includes what the pool does after a call until it sleeps, and what the caller needs to
/// sleep and to wake up.
pub(crate) fn timed_each(calls: u64, pause: Duration, call: impl Fn(u64) -> u64) -> Round {
    let sleep_between_calls = || {
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    };
    sleep_between_calls();
    let mut times = Vec::with_capacity(calls as usize);
    let cpu_before = cpu_time();
    let sum = (0..calls).fold(0, |sum, number| {
        let start = Instant::now();
        let result = call(number);
        times.push(start.elapsed());
        sleep_between_calls();
        checksum([sum, result])
    });
    let cpu = cpu_time().saturating_sub(cpu_before);
    let elapsed = times.iter().sum();
    Round { elapsed, cpu, operations: calls, checksum: sum, calls: Calls::of(times), allocations: None }
}

/// A checksum that depends on the order of the words.
pub(crate) fn checksum(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(0, |sum: u64, word| (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(target_os = "linux")]
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local timespec, which the call fills.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0)),
        _ => Duration::ZERO,
    }
}

/// Not known on this operating system; the lab asks for it only on Linux.
#[cfg(not(target_os = "linux"))]
fn cpu_time() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_four_figures_and_more_if_calls_are_timed_or_allocations_are_counted() {
        let nanos = Duration::from_nanos;
        let (elapsed, cpu) = (nanos(3_000), nanos(5));
        let plain = Round { elapsed, cpu, operations: 7, checksum: 0xabc, calls: None, allocations: None };
        assert_eq!(plain.to_string(), "done 3000 5 7 0000000000000abc");
        let calls = Some(Calls { median: nanos(400), p99: nanos(900) });
        assert_eq!(Round { calls, ..plain }.to_string(), "done 3000 5 7 0000000000000abc 400 900");
        let counted = Round { allocations: Some(21), ..plain };
        assert_eq!(counted.to_string(), "done 3000 5 7 0000000000000abc allocations 21");
    }

    #[test]
    fn calls_are_ranked() {
        let calls = |count: u64| Calls::of((1..=count).rev().map(Duration::from_nanos).collect());
        let of = |median, p99| Some(Calls { median: Duration::from_nanos(median), p99: Duration::from_nanos(p99) });
        assert_eq!(calls(0), None);
        assert_eq!(calls(1), of(1, 1));
        assert_eq!(calls(5), of(3, 5));
        assert_eq!(calls(200), of(100, 198));
    }

    #[test]
    fn a_pause_does_not_change_the_result() {
        let round = |pause| timed_each(5, pause, |call| call);
        let (paused, in_a_row) = (round(Duration::from_micros(10)), round(Duration::ZERO));
        assert_eq!((paused.operations, paused.checksum), (5, in_a_row.checksum));
        assert!(paused.calls.is_some() && in_a_row.calls.is_some());
    }

    #[test]
    fn a_checksum_depends_on_the_order() {
        assert_ne!(checksum([1, 2]), checksum([2, 1]));
        assert_ne!(checksum([1]), checksum([1, 0]));
    }
}
