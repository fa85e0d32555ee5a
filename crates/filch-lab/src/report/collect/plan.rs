//! What a report measures, in which order, how much, and how long it takes.
//!
//! It is a single table, so that a quick report stays quick.

use std::time::Duration;

use anyhow::{ensure, Result};
use filch_model::models;

use super::trust::Trust;
use super::{balance, timeline, Found, ModelLine, Models};
use crate::bench::{self, bulk, cilk, fork_join, graphs, queues, rayon, solver, Limit, THREADS};
use crate::lab::{fences, litmus, store_buffer};
use crate::verify;

/// The bound for the litmus test if the store buffer's knee is unknown.
///
/// It is the smallest that the paper found, so that any violation shows.
const SMALLEST_BOUND: usize = 33;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Amount {
    /// One round of the smallest cases. All kinds of results are present, and none means anything.
    Rehearsal,
    /// A short run of each part, in less than three minutes.
    Quick,
    /// Every suite in full.
    Full,
}

/// A suite or an instrument.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Part {
    /// Its name on the command line.
    pub(in crate::report) name: &'static str,
    /// Its duration on a machine with two cores, in seconds: rehearsal, quick, full.
    ///
    /// It is a weight of the progress bar, which is corrected during the run.
    pub(super) seconds: [f64; 3],
    /// Why it is not in a quick report, if so.
    pub(super) not_quick: Option<&'static str>,
    /// Measures it.
    pub(super) measure: fn(&Known) -> Result<Found>,
}

/// The input of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// How much to measure.
    pub(super) amount: Amount,
    /// The number of store buffer entries, if measured before.
    pub(super) entries: Option<usize>,
    /// The bound that queues may trust, according to earlier parts.
    pub(super) trust: Trust,
}

/// All parts, in the order of measurement.
///
/// Parts that others depend on come first, then the papers' programs, then the rest.
pub(in crate::report) const PARTS: [Part; 13] = [
    part("store-buffer", [1.0, 10.0, 18.0], |known| {
        let seconds = known.choose([0.5, 9.0, 17.0]);
        store_buffer::measure(Duration::from_secs_f64(seconds)).map(Found::StoreBuffer)
    }),
    part("litmus", [1.5, 12.0, 600.0], |known| {
        let supposed = known.entries.map_or(SMALLEST_BOUND, |entries| entries + 1);
        let (runs, seconds) = (known.choose([20, 1_000, 20_000]), known.choose([1.0, 11.0, 600.0]));
        litmus::measure(&litmus::Options { supposed, runs, seconds }).map(Found::Litmus)
    }),
    part(fences::SUITE, [1.5, 5.0, 20.0], |known| {
        fences::measure(known.amount != Amount::Full).map(|series| Found::Figures(fences::SUITE, series))
    }),
    part(queues::SUITE, [2.0, 11.0, 210.0], |known| {
        let costs: &[u64] = known.choose([&[0, 100], &queues::TASK_COSTS, &queues::TASK_COSTS]);
        let options = queues::Options {
            quick: known.is_not_full(),
            threads: queues::MOST_THREADS,
            json: None,
            task_costs: costs.to_vec(),
            limit: known.limit(7, 0.0),
        };
        bench::measure_queues(&options).map(|measured| Found::Figures(queues::SUITE, measured.series))
    }),
    part(fork_join::SUITE, [6.0, 31.0, 410.0], |known| {
        let bench::Options { quick, threads, json, cases, limit } =
            known.options(&["tree-1023", "wake", "idle"], &[], known.limit(7, 5.0));
        let options = fork_join::Options { quick, threads, json, cases, limit, plot: None };
        fork_join::run(&options).map(|measured| Found::Figures(fork_join::SUITE, measured.series))
    }),
    part(cilk::SUITE, [6.0, 32.0, 3_600.0], |known| {
        let common = known.options(&["fib", "integrate"], &[], known.limit(7, 1.8));
        let options = cilk::Options { common, bound: known.trust.vouched()? };
        cilk::run(&options).map(|measured| Found::Figures(cilk::SUITE, measured.series))
    }),
    part(graphs::SUITE, [1.0, 15.0, 1_200.0], |known| {
        let options = known.options(&["closure/kgraph-250k"], &[], known.limit(5, 0.8));
        graphs::run(&options).map(|measured| Found::Figures(graphs::SUITE, measured.series))
    }),
    part(bulk::SUITE, [1.5, 7.0, 360.0], |known| {
        let all = ["push", "pop", "steal", "dag/uniform-250k", "dag/skewed-250k"];
        let common = known.options(&["push", "steal/10%", "dag/uniform-250k"], &all, known.limit(7, 1.5));
        let options = bulk::Options { common, largest: false };
        bulk::run(&options).map(|measured| Found::Figures(bulk::SUITE, measured.series))
    }),
    part(solver::SUITE, [0.5, 11.0, 480.0], |known| {
        let common = known.options(&["golomb/7"], &[], known.limit(7, 3.0));
        let options = solver::Options { common, data: None };
        solver::run(&options).map(|measured| Found::Figures(solver::SUITE, measured.series))
    }),
    part("models", [2.0, 8.0, 900.0], |known| {
        let all = models::all();
        let models = if known.amount == Amount::Rehearsal { &all[..6] } else { &all[..] };
        let most = known.choose([1, 4, usize::MAX]);
        verify::summaries(models, known.is_not_full(), most).map(|lines| Found::Models(Models::of(lines)))
    }),
    part("timeline", [0.3, 0.5, 0.5], |known| timeline::measure(known.amount).map(Found::Timeline)),
    part("balance", [0.3, 1.0, 1.0], |known| balance::measure(known.amount).map(Found::Balance)),
    Part {
        not_quick: Some(
            "Programs that use rayon are only in a full report, because cargo has to build them on both cores first: `filch bench rayon --quick`, or `filch report --only rayon`, has \
             them alone.",
        ),
        ..part(rayon::SUITE, [60.0, 90.0, 1_500.0], |known| {
            let options = known.options(&["join-fib"], &[], None);
            rayon::run(&options).map(|measured| Found::Figures(rayon::SUITE, measured.series))
        })
    },
];

/// The sentence about what no report contains.
pub(super) const NEVER: &str =
    "The solver across machines is not part of a report: it needs `mpirun`, and a filch that was built with MPI. `filch bench mpi` measures it.";

const fn part(name: &'static str, seconds: [f64; 3], measure: fn(&Known) -> Result<Found>) -> Part {
    Part { name, seconds, not_quick: None, measure }
}

impl Part {
    /// The expected duration, in seconds.
    pub(super) fn seconds(&self, amount: Amount) -> f64 {
        amount.choose(self.seconds)
    }
}

impl Amount {
    /// Returns the value for a rehearsal, a quick report, or a full report.
    fn choose<T>(self, [rehearsal, quick, full]: [T; 3]) -> T {
        match self {
            Amount::Rehearsal => rehearsal,
            Amount::Quick => quick,
            Amount::Full => full,
        }
    }
}

impl Known {
    fn choose<T>(&self, all: [T; 3]) -> T {
        self.amount.choose(all)
    }

    fn is_not_full(&self) -> bool {
        self.amount != Amount::Full
    }

    /// Returns the limit of a suite; a full report has none. A rehearsal has one round. A quick
    /// report has `rounds` rounds.
    ///
    /// In a quick report, the rounds beyond the minimum take at most `seconds`.
    fn limit(&self, rounds: usize, seconds: f64) -> Option<Limit> {
        let quick = Limit { rounds, time: Duration::from_secs_f64(seconds) };
        self.choose([Some(Limit { rounds: 1, time: Duration::ZERO }), Some(quick), None])
    }

    /// Returns the options of suites that measure pools. `rehearsal` and `quick` are the cases of
    /// these reports.
    ///
    /// An empty list means all cases of the suite.
    fn options(&self, rehearsal: &[&str], quick: &[&str], limit: Option<Limit>) -> bench::Options {
        let cases = self.choose([rehearsal, quick, &[]]);
        bench::Options {
            quick: self.is_not_full(),
            threads: THREADS,
            json: None,
            cases: cases.iter().map(|&case| case.to_owned()).collect(),
            limit,
        }
    }
}

impl Trust {
    /// Returns this trust in the form of the suite whose queues depend on it.
    fn vouched(self) -> Result<Option<cilk::TrustedBound>> {
        match self {
            Trust::Published => Ok(Some(cilk::TrustedBound::default())),
            Trust::Measured(bound) => {
                cilk::TrustedBound::with_reason(bound, "as measured before in this report").map(Some)
            }
            Trust::Raised(bound) => {
                cilk::TrustedBound::with_reason(bound, "for the store buffer that was measured before in this report")
                    .map(Some)
            }
            Trust::Nothing => Ok(None),
        }
    }
}

impl Models {
    fn of(summaries: Vec<(&'static str, verify::Summary)>) -> Models {
        let line = |(model, summary): (&'static str, verify::Summary)| {
            let verify::Summary { searches, states, hold, refuted, surprises } = summary;
            ModelLine { model: model.to_owned(), searches, states, hold, refuted, surprises }
        };
        let listed = models::all().iter().map(|model| model.cases.len()).sum();
        Models { lines: summaries.into_iter().map(line).collect(), listed }
    }
}

/// Returns the parts with these names, in order, and sentences about omissions.
///
/// Without names, these are all parts of the amount.
pub(in crate::report) fn chosen(names: &[String], amount: Amount) -> Result<(Vec<Part>, Vec<String>)> {
    let unknown = names.iter().find(|name| !PARTS.iter().any(|part| part.name == **name));
    let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
    ensure!(
        unknown.is_none(),
        "nothing in a report is called `{}`; there are {}",
        unknown.map_or("", String::as_str),
        known.join(", ")
    );
    if !names.is_empty() {
        let parts = PARTS.into_iter().filter(|part| names.iter().any(|name| name == part.name)).collect();
        let rest = known.iter().filter(|known| !names.iter().any(|name| name == *known)).copied();
        let left_out =
            format!("Only what was asked for was measured, and not {}.", rest.collect::<Vec<_>>().join(", "));
        return Ok((parts, if names.len() < PARTS.len() { vec![left_out] } else { Vec::new() }));
    }
    let (parts, rest): (Vec<Part>, Vec<Part>) =
        PARTS.into_iter().partition(|part| amount == Amount::Full || part.not_quick.is_none());
    let left_out = rest.iter().filter_map(|part| part.not_quick).chain([NEVER]).map(str::to_owned);
    Ok((parts, left_out.collect()))
}

/// Describes the total duration of these parts.
pub(in crate::report) fn estimate(parts: &[Part], amount: Amount) -> String {
    match parts.iter().map(|part| part.seconds(amount)).sum::<f64>() {
        seconds if seconds < 90.0 => format!("{:.0} seconds", seconds.ceil()),
        seconds if seconds < 5_400.0 => format!("{:.1} minutes", seconds / 60.0),
        seconds => format!("{:.1} hours", seconds / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn total(amount: Amount) -> f64 {
        chosen(&[], amount).unwrap().0.iter().map(|part| part.seconds(amount)).sum()
    }

    #[test]
    fn a_quick_report_fits_into_three_minutes() {
        assert!(total(Amount::Quick) < 170.0, "{}", total(Amount::Quick));
        assert!(total(Amount::Rehearsal) < 40.0, "{}", total(Amount::Rehearsal));
    }

    #[test]
    fn queues_stand_on_what_was_measured_and_do_not_run_on_nothing() {
        let published = Some(cilk::TrustedBound::default());
        assert_eq!(Trust::Published.vouched().unwrap(), published);
        for other in [Trust::Measured(73), Trust::Raised(140), Trust::Nothing] {
            assert_ne!(other.vouched().unwrap(), published);
        }
        assert_eq!(Trust::Nothing.vouched().unwrap(), None);
    }

    #[test]
    fn what_it_takes_is_told_in_words() {
        let parts = [PARTS[0], PARTS[1]];
        let of = |seconds| parts.map(|part| Part { seconds: [seconds; 3], ..part });
        assert_eq!(estimate(&of(4.2), Amount::Quick), "9 seconds");
        assert_eq!(estimate(&of(75.0), Amount::Quick), "2.5 minutes");
        assert_eq!(estimate(&of(9_000.0), Amount::Full), "5.0 hours");
    }

    #[test]
    fn every_part_has_a_name_of_its_own_and_takes_time() {
        let names: BTreeSet<&str> = PARTS.iter().map(|part| part.name).collect();
        assert_eq!(names.len(), PARTS.len());
        for part in PARTS {
            let [rehearsal, quick, full] = part.seconds;
            assert!(0.0 < rehearsal && rehearsal <= quick && quick <= full, "{part:?}");
        }
    }

    #[test]
    fn what_must_be_built_is_left_out_of_a_quick_report_and_that_is_said() {
        let names = |amount| -> Vec<&str> { chosen(&[], amount).unwrap().0.iter().map(|part| part.name).collect() };
        assert!(!names(Amount::Quick).contains(&"rayon") && names(Amount::Full).contains(&"rayon"));
        let (_, left_out) = chosen(&[], Amount::Quick).unwrap();
        assert!(left_out[0].contains("`filch bench rayon --quick`") && left_out[1].contains("`filch bench mpi`"));
        assert_eq!(chosen(&[], Amount::Full).unwrap().1.len(), 1);
    }

    #[test]
    fn parts_are_chosen_by_name_in_their_own_order_and_what_is_asked_for_is_there() {
        let (parts, left_out) = chosen(&["rayon".to_owned(), "queues".to_owned()], Amount::Quick).unwrap();
        assert_eq!(parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["queues", "rayon"]);
        assert!(left_out[0].contains("not store-buffer, litmus") && !left_out[0].contains("queues"), "{left_out:?}");
        let refusal = chosen(&["queues".to_owned(), "que".to_owned()], Amount::Full).unwrap_err().to_string();
        assert!(refusal.starts_with("nothing in a report is called `que`; there are store-buffer, "), "{refusal}");
    }
}
