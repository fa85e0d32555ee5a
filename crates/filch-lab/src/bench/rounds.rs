//! Rounds. Each takes one sample of everybody, starting one further along the list each time, so that a noisy moment hurts all
//! of them alike and none is always the first after it.

use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};

use crate::report::Series;

/// How much to measure: so many rounds, or as many as there is time for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How many rounds are wanted.
    pub(crate) rounds: usize,
    /// How many there are whatever they take.
    pub(crate) at_least: usize,
    /// What the others may take.
    pub(crate) time: Duration,
}

impl Effort {
    /// Whether another round should follow `done` rounds that took `elapsed`.
    fn wants_another(self, done: usize, elapsed: Duration) -> bool {
        let one_more = || elapsed.mul_f64((done + 1) as f64 / done as f64);
        done < self.at_least.max(1) || (done < self.rounds && one_more() <= self.time)
    }
}

/// Somebody to take samples of.
pub(crate) struct Runner<'a> {
    /// The name that plots know it by.
    pub(crate) name: &'static str,
    /// How many threads take part.
    pub(crate) threads: usize,
    /// Takes a sample: one figure for each unit of the case.
    pub(crate) measure: Box<dyn Fn() -> Result<Vec<f64>> + 'a>,
}

/// All rounds of a case: a series for each runner and unit.
pub(crate) fn interleave(
    case: &str,
    units: &[&'static str],
    runners: &[Runner<'_>],
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
        runners.iter().map(|runner| units.iter().map(|unit| series(runner, unit)).collect()).collect();

    let start = Instant::now();
    let mut round = 0;
    while effort.wants_another(round, start.elapsed()) {
        for turn in 0..runners.len() {
            let index = (round + turn) % runners.len();
            let Runner { name, threads, measure } = &runners[index];
            let context = || format!("{name} with {threads} threads failed in round {} of {case}", round + 1);
            let figures = measure().with_context(context)?;
            ensure!(figures.len() == units.len(), "{name} has not one figure for each unit of {case}");
            for (series, figure) in all[index].iter_mut().zip(figures) {
                series.samples.push(figure);
            }
        }
        round += 1;
    }
    Ok(all.into_iter().flatten().collect())
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
    fn a_failure_says_whose_and_where() {
        let runner = Runner { name: "rayon", threads: 2, measure: Box::new(|| bail!("wrong")) };
        let error = format!("{:#}", interleave("fib-38", &["ns/join"], &[runner], EFFORT).unwrap_err());
        assert_eq!(error, "rayon with 2 threads failed in round 1 of fib-38: wrong");
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
