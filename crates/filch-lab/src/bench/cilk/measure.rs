//! Rounds of a case, with fewer and fewer entrants.
//!
//! First come rounds of all entrants, then rounds without entrants that take too long, then without
//! slow entrants, then of the closest pair alone.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::entrants::Entrant;
use super::MILLIS_A_RUN;
use crate::bench::rounds::{interleave, Effort, Runner};
use crate::bench::Options;
use crate::figures::Series;
use crate::watch;

/// The longest first sample, in milliseconds, of a slow entrant that gets a second.
///
/// Its exact time does not matter, and a sample can take minutes.
const TOO_LONG: f64 = 5_000.0;

/// The rounds of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The rounds of most entrants, and the time limit of all rounds but those of the pair.
    pub(super) effort: Effort,
    /// The number of rounds of slow entrants.
    slow_rounds: usize,
    /// The time limit of further rounds of the closest pair after that.
    pub(super) pair_time: Duration,
}

impl Plan {
    /// The plan of a run with this effort, within the limit of the options.
    pub(super) fn of(options: &Options, effort: Effort) -> Plan {
        let pair_time = options.choose(Duration::from_millis(300), Duration::from_secs(60));
        Plan {
            effort,
            slow_rounds: options.choose(2, 3).min(effort.rounds),
            pair_time: options.limit.map_or(pair_time, |limit| pair_time.min(limit.time)),
        }
    }
}

/// Measures all rounds of a case: the times, and after them the thefts.
///
/// An entrant with fewer rounds has the first of them, so that the n-th samples of all are from the
/// same round.
pub(super) fn rounds(case: &str, entrants: Vec<Entrant<'_>>, plan: &Plan) -> Result<Vec<Series>> {
    let start = Instant::now();
    let Plan { effort: Effort { rounds, at_least, time }, slow_rounds, pair_time } = *plan;

    let all: Vec<&Runner<'_>> = entrants.iter().map(|entrant| &entrant.runner).collect();
    let mut times = interleave(case, &[MILLIS_A_RUN], &all, Effort::exactly(1))?;
    let (wanted, too_long) = entrants
        .iter()
        .zip(&times)
        .map(|(entrant, series)| (&entrant.runner, if entrant.is_slow() { series.median() } else { 0.0 }))
        .partition::<Vec<_>, _>(|&(_, millis)| millis <= TOO_LONG);
    // Their time does not count against the time of the others.
    let excess = Duration::from_secs_f64(too_long.iter().map(|(_, millis)| millis / 1e3).sum());
    let elapsed = || start.elapsed().saturating_sub(excess);
    let left = |of: Duration| of.saturating_sub(elapsed());
    // The average time of an entrant in a round, so that no round starts without enough time left.
    let one = elapsed() / u32::try_from(wanted.len().max(1))?;

    let effort = Effort { rounds: slow_rounds.saturating_sub(1), at_least: 0, time: left(time / 3) };
    more_rounds(case, &mut times, wanted.into_iter().map(|(runner, _)| runner).collect(), effort, one)?;
    let done = most_rounds(&times);

    let without_slow = entrants.iter().filter(|entrant| !entrant.is_slow()).map(|entrant| &entrant.runner).collect();
    let effort =
        Effort { rounds: rounds.saturating_sub(done), at_least: at_least.saturating_sub(done), time: left(time) };
    more_rounds(case, &mut times, without_slow, effort, one)?;

    let pair: Vec<&Runner<'_>> =
        entrants.iter().filter(|entrant| entrant.is_the_or_thep()).map(|entrant| &entrant.runner).collect();
    // If one of them is left out, the other has no counterpart for a close comparison.
    if pair.iter().any(|runner| runner.name != pair[0].name) {
        let rounds = rounds.saturating_sub(most_rounds(&times));
        more_rounds(case, &mut times, pair, Effort { rounds, at_least: 0, time: left(time).max(pair_time) }, one)?;
    }

    for (series, entrant) in times.iter_mut().zip(&entrants) {
        series.note = entrant.note.clone();
    }
    // Thefts of an incomplete round do not count, as its times do not. Without a complete round
    // there are none.
    let thefts = times.iter().zip(&entrants).flat_map(|(series, entrant)| entrant.thefts(case, series.samples.len()));
    let thefts: Vec<Series> = thefts.collect();
    times.extend(thefts);
    Ok(times)
}

/// The largest number of rounds of any series.
fn most_rounds(times: &[Series]) -> usize {
    times.iter().map(|series| series.samples.len()).max().unwrap_or(0)
}

/// Measures further rounds of some entrants, if there is time for one.
///
/// Each of them takes about `one`.
fn more_rounds(
    case: &str,
    times: &mut [Series],
    runners: Vec<&Runner<'_>>,
    effort: Effort,
    one: Duration,
) -> Result<()> {
    let is_time = one * u32::try_from(runners.len())? < effort.time;
    if effort.rounds == 0 || !(is_time || effort.at_least > 0) || watch::is_over() {
        return Ok(());
    }
    for more in interleave(case, &[MILLIS_A_RUN], &runners, effort)? {
        let runner = (more.name, more.threads);
        times.iter_mut().filter(|series| (series.name, series.threads) == runner).for_each(|series| {
            series.samples.extend(&more.samples);
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan with these time limits, in seconds.
    fn plan(time: u64, pair_time: u64) -> Plan {
        let effort = Effort { rounds: 5, at_least: 3, time: Duration::from_secs(time) };
        Plan { effort, slow_rounds: 2, pair_time: Duration::from_secs(pair_time) }
    }

    fn measured(plan: &Plan) -> Vec<(&'static str, usize)> {
        measured_at(plan, ["serial", "the", "thep", "central"].map(|name| (name, 1.0)).into())
    }

    /// The number of rounds of entrants whose samples take the given milliseconds.
    fn measured_at(plan: &Plan, entrants: Vec<(&'static str, f64)>) -> Vec<(&'static str, usize)> {
        let entrant = |(name, millis)| {
            let measure = Box::new(move || Ok(vec![millis]));
            Entrant::new(Runner { name, threads: 1, measure }, Some(name.to_owned()))
        };
        let times = rounds("fib-5", entrants.into_iter().map(entrant).collect(), plan).unwrap();
        assert!(times.iter().all(|series| series.note.as_deref() == Some(series.name)));
        times.iter().map(|series| (series.name, series.samples.len())).collect()
    }

    #[test]
    fn slow_entrants_stop_first_and_the_pair_last() {
        let plan = plan(100, 1);
        assert_eq!(measured(&plan), [("serial", 5), ("the", 5), ("thep", 5), ("central", 2)]);
    }

    #[test]
    fn a_slow_entrant_with_a_long_first_round_has_no_second() {
        let plan = plan(100, 1);
        let entrants = vec![("the", 6_000.0), ("central", 90_000.0), ("sharing", 4_000.0)];
        assert_eq!(measured_at(&plan, entrants), [("the", 5), ("central", 1), ("sharing", 2)]);
    }

    #[test]
    fn without_time_only_the_required_rounds_are_made() {
        let plan = plan(0, 0);
        assert_eq!(measured(&plan), [("serial", 3), ("the", 3), ("thep", 3), ("central", 1)]);
    }

    #[test]
    fn the_pair_has_time_of_its_own() {
        let plan = plan(0, 100);
        assert_eq!(measured(&plan), [("serial", 3), ("the", 5), ("thep", 5), ("central", 1)]);
        let alone = ["serial", "the", "central"].map(|name| (name, 1.0)).into();
        assert_eq!(measured_at(&plan, alone), [("serial", 3), ("the", 3), ("central", 1)]);
    }
}
