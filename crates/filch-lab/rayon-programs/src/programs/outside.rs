//! Calls into a pool from threads outside it.
//!
//! The calls come from the main thread, in a row or after pauses, and from several threads at a
//! time.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use rayon::ThreadPoolBuilder;

use super::{build_pool, repeated, small, Amount, Program};
use crate::busy::{self, STEPS_A_MICRO};
use crate::clock::{checksum, timed, timed_each};

/// The number of threads that call at the same time.
const CALLERS: u64 = 4;

/// The stack size of a worker in a pool of its own.
const STACK: usize = 4 << 20;

/// The program with that name and its input, or `None` if it does not exist.
pub(super) fn named(name: &str, amount: Amount) -> Result<Option<Program>, String> {
    let (micros, millis) = (Duration::from_micros, Duration::from_millis);
    Ok(Some(match name {
        "small-50" => in_a_row(amount.of(20_000, 1_000), sum(50)),
        "small-50-after-100us" => after(micros(100), amount.of(500, 50), sum(50)),
        "small-50-after-1ms" => after(millis(1), amount.of(100, 15), sum(50)),
        "small-50-after-5ms" => after(millis(5), amount.of(30, 5), sum(50)),
        "join-empty" => in_a_row(amount.of(20_000, 1_000), join_empty),
        "join-empty-after-100us" => after(micros(100), amount.of(500, 50), join_empty),
        "join-empty-after-1ms" => after(millis(1), amount.of(100, 15), join_empty),
        "join-empty-after-5ms" => after(millis(5), amount.of(30, 5), join_empty),
        "join-20us" => one_by_one(amount.of(1_000, 200), join(20)),
        "join-200us" => one_by_one(amount.of(300, 50), join(200)),
        "join-2ms" => one_by_one(amount.of(100, 10), join(2_000)),
        "join-200us-after-1ms" => after(millis(1), amount.of(100, 15), join(200)),
        "join-2ms-after-1ms" => after(millis(1), amount.of(50, 6), join(2_000)),
        "callers-4-small-50" => at_once(amount.of(2_500, 250), sum(50)),
        "callers-4-join-200us" => at_once(amount.of(50, 10), join(200)),
        "pool-with-handlers" => in_a_row(amount.of(20_000, 1_000), in_own_pool(50)?),
        "sum-200k" => in_a_row(amount.of(1_000, 200), sum(200_000)),
        _ => return Ok(None),
    }))
}

/// `calls` calls, timed together.
fn in_a_row(calls: u64, call: impl Fn(u64) -> u64 + 'static) -> Program {
    repeated(calls, move || all(0..calls, &call), |&sum| sum)
}

/// `calls` calls in a row, each timed.
fn one_by_one(calls: u64, call: impl Fn(u64) -> u64 + 'static) -> Program {
    after(Duration::ZERO, calls, call)
}

/// `calls` calls with a pause before each, which is not timed.
fn after(pause: Duration, calls: u64, call: impl Fn(u64) -> u64 + 'static) -> Program {
    Box::new(move || timed_each(calls, pause, &call))
}

/// Several threads that make `calls` calls each, timed together.
fn at_once(calls: u64, call: impl Fn(u64) -> u64 + Sync + 'static) -> Program {
    Box::new(move || {
        let start = Barrier::new(CALLERS as usize + 1);
        thread::scope(|scope| {
            let caller = |number: u64| {
                let (start, call) = (&start, &call);
                scope.spawn(move || {
                    start.wait();
                    all(number * calls..(number + 1) * calls, call)
                })
            };
            let callers: Vec<_> = (0..CALLERS).map(caller).collect();
            let work = || {
                start.wait();
                checksum(callers.into_iter().map(|caller| caller.join().expect("no call panics")))
            };
            timed(CALLERS * calls, work, |&sum| sum)
        })
    })
}

fn all(calls: Range<u64>, call: impl Fn(u64) -> u64) -> u64 {
    calls.fold(0, |sum, number| checksum([sum, call(number)]))
}

/// A call that adds up `elements` elements.
fn sum(elements: u64) -> impl Fn(u64) -> u64 + Sync {
    let numbers: Vec<u64> = (0..elements).collect();
    move |call| small::sum(&numbers, call)
}

/// Like `sum`, but in a pool with handlers and its own stack size.
fn in_own_pool(elements: u64) -> Result<impl Fn(u64) -> u64, String> {
    let pool = build_pool(ThreadPoolBuilder::new().stack_size(STACK).start_handler(ignore).exit_handler(ignore))?;
    let numbers: Vec<u64> = (0..elements).collect();
    Ok(move |call| pool.install(|| small::sum(&numbers, call)))
}

/// A handler for the start and the end of a worker.
fn ignore(index: usize) {
    black_box(index);
}

/// A call that only enters the pool and forks. Its closures return a number to check.
fn join_empty(call: u64) -> u64 {
    let (a, b) = rayon::join(|| call, || !call);
    checksum([a, b])
}

/// A call with two halves, each of which computes for about `micros` microseconds.
fn join(micros: u64) -> impl Fn(u64) -> u64 + Sync {
    let half = move |seed| busy::steps(micros * STEPS_A_MICRO, seed);
    move |call| {
        let (a, b) = rayon::join(|| half(call), || half(!call));
        checksum([a, b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_do_not_depend_on_pauses_between_calls() {
        let row = in_a_row(10, sum(50))().checksum();
        assert_eq!(one_by_one(10, sum(50))().checksum(), row);
        assert_eq!(after(Duration::from_micros(10), 10, sum(50))().checksum(), row);
        assert_eq!(in_a_row(10, in_own_pool(50).unwrap())().checksum(), row);
        assert_ne!(in_a_row(11, sum(50))().checksum(), row);
    }

    #[test]
    fn several_callers_share_the_calls() {
        let parts = (0..CALLERS).map(|number| all(5 * number..5 * (number + 1), join(1)));
        assert_eq!(at_once(5, join(1))().checksum(), checksum(parts));
    }

    #[test]
    fn both_halves_run_in_each_call() {
        let half = |seed| busy::steps(STEPS_A_MICRO, seed);
        assert_eq!(join(1)(3), checksum([half(3), half(!3)]));
        assert_eq!(join_empty(3), checksum([3, !3]));
    }
}
