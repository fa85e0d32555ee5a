//! The start of a sweep: earlier counts, the bound, and the measured store buffer.

use std::time::Duration;

use anyhow::{bail, ensure, Result};

use super::counts::Counts;
use super::state::State;
use super::Arguments;
use crate::lab::calibration::{Cpu, LARGEST_BOUND};
use crate::lab::store_buffer::{self, SURE};
use crate::say;

/// How long the store buffer is measured.
const MEASURING_TIME: Duration = Duration::from_secs(6);

/// Returns the state to resume from, if `--resume` was given.
pub(super) fn resumed_state(arguments: &Arguments, cpu: &Cpu) -> Result<Option<State>> {
    let Some(path) = &arguments.state else { return Ok(None) };
    if !arguments.resume {
        ensure!(
            !path.exists(),
            "{} already exists; resume from it with --resume, or give another file",
            path.display()
        );
        return Ok(None);
    }
    State::read(path, cpu).map(Some)
}

/// Returns the state for the file of `--state`, and the bound to test this time.
///
/// The two differ if earlier counts are examined under another bound. The counts do not depend on
/// the bound, and the known size of the store buffer is kept.
pub(super) fn initial_state(
    earlier: Option<State>,
    bound: Option<usize>,
    is_calibration: bool,
    entries: impl FnOnce() -> Result<usize>,
) -> Result<(State, usize)> {
    // A calibration is for every program on this CPU. It depends on the measured store buffer of
    // this machine, whatever bound is given. A larger bound is less in doubt.
    let measured = if is_calibration || (earlier.is_none() && bound.is_none()) { Some(entries()?) } else { None };
    let state = earlier.unwrap_or_else(|| State {
        supposed: bound.unwrap_or(State::LEAST_BOUND),
        entries: None,
        counts: Counts::default(),
    });
    let entries = state.entries.max(measured);
    let least = entries.map_or(State::LEAST_BOUND, |entries| entries + 1);
    if is_calibration {
        if bound.is_some_and(|bound| bound != least) {
            say(&format!("With --calibrate, the bound that follows from the store buffer is tested: S = {least}."));
        }
        return Ok((State { supposed: least, entries, ..state }, least));
    }
    let state = State { supposed: state.supposed.max(least), entries, ..state };
    let supposed = bound.unwrap_or(state.supposed);
    Ok((state, supposed))
}

/// Measures the number of entries of the store buffer.
pub(super) fn measure_entries() -> Result<usize> {
    say(&format!("Measuring the store buffer: about {} seconds.", MEASURING_TIME.as_secs()));
    let Some(knee) = store_buffer::measure(MEASURING_TIME)?.knee else {
        bail!(
            "the store buffer shows no knee, so there is no bound to test; try again when the machine is less busy, or give a bound with --bound, without --calibrate"
        );
    };
    ensure!(
        knee.confidence >= SURE,
        "the store buffer shows a knee at {} entries in only {:.0} % of the resampled rounds; try again when the machine is less busy, or give a bound with --bound, without --calibrate",
        knee.entries,
        100.0 * knee.confidence
    );
    say(&format!("The store buffer has {} entries.", knee.entries));
    ensure!(knee.entries < LARGEST_BOUND, "no store buffer has {} entries", knee.entries);
    Ok(knee.entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::counts::tests::{counts, key};

    #[test]
    fn the_bound_is_measured_resumed_or_given() {
        for (earlier, bound, is_calibration, measured, expected) in [
            // Without a bound the store buffer gives one.
            (None, None, false, Some(72), (73, Some(72), 73)),
            // A given bound is tested, except for a calibration.
            (None, Some(2), false, None, (2, None, 2)),
            (None, Some(2), true, Some(72), (73, Some(72), 73)),
            (None, Some(128), true, Some(72), (73, Some(72), 73)),
            // Testing earlier counts under another bound keeps the measured entries.
            (Some((73, Some(72))), Some(40), false, None, (73, Some(72), 40)),
            // A calibration from earlier counts measures the store buffer again.
            (Some((40, None)), None, true, Some(72), (73, Some(72), 73)),
            (Some((57, Some(56))), Some(40), true, Some(72), (73, Some(72), 73)),
            (Some((73, Some(72))), None, true, Some(56), (73, Some(72), 73)),
        ] {
            let counts = counts(&[(key(1, 30), 10, 1)]);
            let earlier = earlier.map(|(supposed, entries)| State { supposed, entries, counts: counts.clone() });
            let kept = if earlier.is_some() { counts } else { Counts::default() };
            let measure = || Ok(measured.expect("the store buffer should not be measured"));
            let (state, supposed) = initial_state(earlier, bound, is_calibration, measure).unwrap();
            assert_eq!((state.supposed, state.entries, supposed), expected);
            assert_eq!(state.counts, kept);
        }
        assert!(initial_state(None, Some(128), true, || bail!("no knee")).is_err());
    }
}
