//! Times every length of sequence, repeatedly.
//!
//! A sweep runs each length once and takes well under a millisecond. Sweeps are distributed over
//! the rounds in turn, and for each length a round keeps the shortest time: a disturbance only ever
//! makes a sequence slower.
//!
//! This matters beyond interrupts and other programs. If two hardware threads share a core, each
//! has half of the store buffer while both are awake, and all of it only while the other sleeps.
//! Such moments last for several sweeps, so the distribution gives every round some of them.

use std::ops::RangeInclusive;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure, Context, Result};
use core_affinity::CoreId;

use super::sequence::Sequences;
use super::{core_name, Places};
use crate::lab::kinds::Kind;
use crate::watch;

/// The number of rounds.
const ROUNDS: usize = 24;

/// How long the CPU may take to reach its full clock speed.
const WARM_UP: Duration = Duration::from_millis(100);

/// Times sequences of `stores` stores for about `time` on a core of this kind, if there is one.
///
/// Returns, for each round, the shortest time of each length.
pub(super) fn sweep(
    stores: RangeInclusive<usize>,
    places: Places,
    (kind, core): (Kind, Option<usize>),
    time: Duration,
) -> Result<Vec<Vec<f64>>> {
    let mut sequences = Sequences::new(stores, places)?;
    // A thread of its own, because it stays pinned.
    let measured = thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            // An unpinned thread measures as well, only with more disturbance, unless it may be on
            // a core of another kind.
            let is_pinned = core.is_some_and(|id| core_affinity::set_for_current(CoreId { id }));
            (is_pinned || kind == Kind::Any).then(|| repeat(&mut sequences, time))
        });
        measuring.join().map_err(|_| anyhow!("the measuring thread panicked"))
    });
    let rounds =
        measured?.with_context(|| format!("the system does not allow pinning a thread to a {}", core_name(kind)))?;
    ensure!(rounds.iter().flatten().all(|time| time.is_finite()), "interrupted before anything was measured");
    Ok(rounds)
}

fn repeat(sequences: &mut Sequences, time: Duration) -> Vec<Vec<f64>> {
    let mut rounds = vec![vec![f64::INFINITY; sequences.len()]; ROUNDS];
    let begin = Instant::now();
    while begin.elapsed() < WARM_UP.min(time / 10) {
        (0..sequences.len()).for_each(|which| {
            sequences.time(which);
        });
    }
    for sweep in 0.. {
        // Every round has at least one sweep, however little time there is.
        if watch::is_over() || (sweep >= ROUNDS && begin.elapsed() >= time) {
            break;
        }
        let round = &mut rounds[sweep % ROUNDS];
        for (which, shortest) in round.iter_mut().enumerate() {
            *shortest = shortest.min(sequences.time(which));
        }
    }
    rounds
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_a_time_for_each_length() {
        let rounds = sweep(10..=13, Places::Lines, (Kind::Any, None), Duration::ZERO).unwrap();
        assert_eq!(rounds.len(), ROUNDS);
        assert!(rounds.iter().all(|round| round.len() == 4 && round.iter().all(|&time| time > 0.0)));
    }
}
