//! Rounds of samples.
//!
//! Each round takes one sample of every runner. Each round starts one further along the list, so
//! that noise affects all runners alike and no runner is always the first after it.

use std::borrow::Borrow;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};

use crate::figures::Series;
use crate::watch;

/// How much to measure: a number of rounds, or fewer if time runs out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The number of rounds wanted.
    pub(crate) rounds: usize,
    /// The number of rounds that are made however long they take.
    pub(crate) at_least: usize,
    /// The time limit for the rounds after the first `at_least`.
    pub(crate) time: Duration,
}

/// The limit of a suite that is run together with other suites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// The largest number of rounds of a case.
    pub(crate) rounds: usize,
    /// The time limit for rounds beyond the fewest.
    pub(crate) time: Duration,
}

impl Effort {
    /// This number of rounds, however long they take.
    pub(crate) fn exactly(rounds: usize) -> Effort {
        Effort { rounds, at_least: rounds, time: Duration::ZERO }
    }

    /// The same effort, cut down to the limit.
    pub(crate) fn within(self, limit: Option<Limit>) -> Effort {
        let Some(Limit { rounds, time }) = limit else { return self };
        Effort { rounds: self.rounds.min(rounds), at_least: self.at_least.min(rounds), time: self.time.min(time) }
    }

    /// Whether another round should follow `done` rounds that took `elapsed`.
    fn wants_another(self, done: usize, elapsed: Duration) -> bool {
        let one_more = || elapsed.mul_f64((done + 1) as f64 / done as f64);
        done < self.at_least.max(1) || (done < self.rounds && one_more() <= self.time)
    }
}

/// A contender to take samples of.
pub(crate) struct Runner<'a> {
    /// Its name in plots.
    pub(crate) name: &'static str,
    /// The number of threads.
    pub(crate) threads: usize,
    /// Takes a sample: one figure for each unit of the case.
    pub(crate) measure: Box<dyn Fn() -> Result<Vec<f64>> + 'a>,
}

/// Measures all rounds of a case.
///
/// The result has a series for each runner and unit, all of equal length.
///
/// A round does not count if measuring [was over](watch::is_over) before its end: some runners
/// would have a sample that the others lack. If that is the first round, there are no series.
pub(crate) fn interleave<'a>(
    case: &str,
    units: &[&'static str],
    runners: &[impl Borrow<Runner<'a>>],
    effort: Effort,
) -> Result<Vec<Series>> {
    let series = |runner: &Runner<'_>, &unit: &&'static str| Series {
        case: case.to_owned(),
        name: runner.name,
        threads: runner.threads,
        unit,
        samples: Vec::new(),
        note: None,
    };
    let mut all: Vec<Vec<Series>> =
        runners.iter().map(|runner| units.iter().map(|unit| series(runner.borrow(), unit)).collect()).collect();

    let start = Instant::now();
    let mut round = 0;
    'rounds: while effort.wants_another(round, start.elapsed()) {
        for turn in 0..runners.len() {
            let index = (round + turn) % runners.len();
            let Runner { name, threads, measure } = runners[index].borrow();
            let context = || format!("{name} with {threads} threads failed in round {} of {case}", round + 1);
            let figures =
                if watch::is_over() { None } else { watch::or_over(measure().map(Some)).with_context(context)? };
            let Some(figures) = figures else { break 'rounds };
            ensure!(figures.len() == units.len(), "{name} does not have one figure for each unit of {case}");
            for (series, figure) in all[index].iter_mut().zip(figures) {
                series.samples.push(figure);
            }
            watch::sample();
        }
        round += 1;
    }
    let mut all: Vec<Series> = all.into_iter().flatten().collect();
    all.iter_mut().for_each(|series| series.samples.truncate(round));
    all.retain(|series| !series.samples.is_empty());
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use anyhow::bail;

    use super::*;

    const EFFORT: Effort = Effort { rounds: 3, at_least: 3, time: Duration::ZERO };

    #[test]
    fn every_round_starts_with_the_next() {
        let order = RefCell::new(Vec::new());
        let order = &order;
        let runner = |name| Runner {
            name,
            threads: 1,
            measure: Box::new(move || {
                order.borrow_mut().push(name);
                Ok(vec![1.0, 2.0])
            }),
        };
        let series = interleave("fib-38", &["ns/join", "cpu-us/call"], &[runner("a"), runner("b")], EFFORT).unwrap();
        assert_eq!(*order.borrow(), ["a", "b", "b", "a", "a", "b"]);
        assert_eq!(series.len(), 4);
        assert_eq!((series[3].name, series[3].unit), ("b", "cpu-us/call"));
        assert_eq!(series[3].samples, [2.0; 3]);
    }

    #[test]
    fn a_failure_names_the_runner_and_the_round() {
        let runner = Runner { name: "rayon", threads: 2, measure: Box::new(|| bail!("wrong")) };
        let error = format!("{:#}", interleave("fib-38", &["ns/join"], &[runner], EFFORT).unwrap_err());
        assert_eq!(error, "rayon with 2 threads failed in round 1 of fib-38: wrong");
    }

    #[test]
    fn a_limit_never_adds_rounds_or_time() {
        let effort = Effort { rounds: 15, at_least: 5, time: Duration::from_secs(20) };
        let of = |effort: Effort| (effort.rounds, effort.at_least, effort.time);
        assert_eq!(of(effort.within(None)), of(effort));
        let limit = Limit { rounds: 1, time: Duration::ZERO };
        assert_eq!(of(effort.within(Some(limit))), (1, 1, Duration::ZERO));
        let limit = Limit { rounds: 100, time: Duration::from_secs(100) };
        assert_eq!(of(effort.within(Some(limit))), of(effort));
    }

    #[test]
    fn rounds_end_when_the_next_would_take_too_long() {
        let effort = Effort { rounds: 10, at_least: 2, time: Duration::from_secs(5) };
        assert!(effort.wants_another(0, Duration::ZERO));
        assert!(effort.wants_another(1, Duration::from_secs(100)));
        assert!(effort.wants_another(4, Duration::from_secs(4)));
        assert!(!effort.wants_another(4, Duration::from_millis(4_100)));
        assert!(!effort.wants_another(10, Duration::ZERO));
    }
}
