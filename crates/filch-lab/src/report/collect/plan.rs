//! What a report measures, in which order, how much, and how long it takes.
//!
//! It is a single table, so that a quick report stays quick.

use std::time::Duration;

use anyhow::{ensure, Result};
use filch_model::models;

use super::bound_choice::BoundChoice;
use super::{balance, timeline, Models, PartResult};
use crate::bench::bound::{NoBound, TrustedBound, Vouched};
use crate::bench::bulk::{self, Bulk};
use crate::bench::cilk::{self, Cilk};
use crate::bench::fork_join::{self, ForkJoin};
use crate::bench::graphs::{self, Graphs};
use crate::bench::queues::{self, Queues};
use crate::bench::rayon::{self, Rayon};
use crate::bench::solver::{self, Solver};
use crate::bench::{self, Limit, Options, Suite, Threads};
use crate::figures::Series;
use crate::lab::{fences, litmus, store_buffer};
use crate::{figures, verify};

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
    pub(super) measure: fn(&Inputs) -> Result<PartResult>,
}

/// What the user chose for all parts.
#[derive(Clone, Debug)]
pub(in crate::report) struct Choices {
    /// How much to measure.
    pub(in crate::report) amount: Amount,
    /// The sizes of the suites' pools.
    pub(in crate::report) threads: Threads,
    /// The bound that the user vouches for.
    pub(in crate::report) bound: Option<usize>,
    /// The number of nodes of further graphs in the suite `bulk`.
    pub(in crate::report) nodes: Option<usize>,
}

/// The input of a part.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    /// What the user chose.
    pub(super) choices: Choices,
    /// The number of store buffer entries, if measured before.
    pub(super) entries: Option<usize>,
    /// The bound that queues may trust, according to the user or to earlier parts.
    pub(super) bound: BoundChoice,
}

/// All parts, in the order of measurement.
///
/// Parts that others depend on come first, then the papers' programs, then the rest.
pub(in crate::report) const PARTS: [Part; 13] = [
    part("store-buffer", [1.0, 10.0, 18.0], |inputs| {
        let seconds = inputs.choose([0.5, 9.0, 17.0]);
        store_buffer::measure(Duration::from_secs_f64(seconds)).map(PartResult::StoreBuffer)
    }),
    part("litmus", [1.5, 12.0, 600.0], |inputs| {
        let supposed = inputs.entries.map_or(SMALLEST_BOUND, |entries| entries + 1);
        let (runs, seconds) = (inputs.choose([20, 1_000, 20_000]), inputs.choose([1.0, 11.0, 600.0]));
        litmus::measure(&litmus::Options { supposed, runs, seconds }).map(PartResult::Litmus)
    }),
    part(fences::SUITE, [1.5, 5.0, 20.0], |inputs| {
        fences::measure(inputs.choices.amount != Amount::Full).map(|series| PartResult::Figures(fences::SUITE, series))
    }),
    part(queues::SUITE, [2.0, 8.0, 210.0], |inputs| {
        let costs: &[u64] = inputs.choose([&[0, 100], &queues::TASK_COSTS, &queues::TASK_COSTS]);
        inputs.suite(Queues::new(costs, inputs.bound.vouched()?), &[], &[], inputs.limit(12, 0.0))
    }),
    part(fork_join::SUITE, [7.0, 25.0, 450.0], |inputs| {
        inputs.suite(ForkJoin::default(), &["tree-1023", "wake", "idle"], &[], inputs.limit(9, 4.0))
    }),
    part(cilk::SUITE, [6.0, 10.0, 10_800.0], |inputs| {
        inputs.suite(Cilk::new(inputs.bound.vouched()?), &["fib", "integrate"], &[], inputs.limit(7, 1.8))
    }),
    part(graphs::SUITE, [1.0, 9.0, 1_200.0], |inputs| {
        inputs.suite(Graphs::new(inputs.bound.vouched()?), &["closure/kgraph-250k"], &[], inputs.limit(9, 1.0))
    }),
    part(bulk::SUITE, [1.5, 7.0, 360.0], |inputs| {
        let all = ["push", "pop", "steal", "dag/uniform-250k", "dag/skewed-250k"];
        let smallest = ["push", "steal/10%", "dag/uniform-250k"];
        let mut series = inputs.series(&mut Bulk::default(), &smallest, &all, inputs.limit(13, 1.5))?;
        if let Some(nodes) = inputs.choices.nodes {
            series.extend(inputs.series_of_graphs(nodes, &series)?);
        }
        Ok(PartResult::Figures(bulk::SUITE, series))
    }),
    part(solver::SUITE, [0.5, 11.0, 480.0], |inputs| {
        inputs.suite(Solver::default(), &["golomb/7"], &[], inputs.limit(7, 3.0))
    }),
    part("models", [2.0, 10.0, 900.0], |inputs| {
        let all = models::all();
        let models = if inputs.choices.amount == Amount::Rehearsal { &all[..6] } else { &all[..] };
        let most = inputs.choose([1, 3, usize::MAX]);
        let lines = verify::summaries(models, inputs.is_not_full(), most)?;
        Ok(PartResult::Models(Models { lines, listed: all.iter().map(|model| model.cases.len()).sum() }))
    }),
    part("timeline", [0.3, 0.5, 0.5], |inputs| timeline::measure(inputs.choices.amount).map(PartResult::Timeline)),
    part("balance", [0.3, 1.5, 1.5], |inputs| balance::measure(inputs.choices.amount).map(PartResult::Balance)),
    Part {
        not_quick: Some(
            "Programs that use rayon are only in a full report, because cargo has to build them first. \
             `filch-lab bench rayon --quick` or `filch-lab report --only rayon` measures them alone.",
        ),
        ..part(rayon::SUITE, [60.0, 90.0, 1_500.0], |inputs| inputs.suite(Rayon::default(), &["join-fib"], &[], None))
    },
];

/// The sentence about the suite that no report contains.
pub(super) const NOT_IN_REPORTS: &str =
    "The solver across machines is not part of a report, because it needs `mpirun` \
                                         and a build with MPI. `filch-lab bench mpi` measures it.";

const fn part(name: &'static str, seconds: [f64; 3], measure: fn(&Inputs) -> Result<PartResult>) -> Part {
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

impl Inputs {
    fn choose<T>(&self, all: [T; 3]) -> T {
        self.choices.amount.choose(all)
    }

    fn is_not_full(&self) -> bool {
        self.choices.amount != Amount::Full
    }

    /// Returns the limit of a suite; a full report has none. A rehearsal has one round. A quick
    /// report has `rounds` rounds.
    ///
    /// In a quick report, the rounds beyond the minimum take at most `seconds`.
    fn limit(&self, rounds: usize, seconds: f64) -> Option<Limit> {
        let quick = Limit { rounds, time: Duration::from_secs_f64(seconds) };
        self.choose([Some(Limit { rounds: 1, time: Duration::ZERO }), Some(quick), None])
    }

    /// Measures a suite. `rehearsal` and `quick` are the cases of these reports.
    ///
    /// An empty list means all cases of the suite.
    fn suite<S: Suite>(
        &self,
        mut suite: S,
        rehearsal: &[&str],
        quick: &[&str],
        limit: Option<Limit>,
    ) -> Result<PartResult> {
        self.series(&mut suite, rehearsal, quick, limit).map(|series| PartResult::Figures(S::NAME, series))
    }

    /// Measures a suite like [`suite`](Inputs::suite), and returns its figures.
    fn series<S: Suite>(
        &self,
        suite: &mut S,
        rehearsal: &[&str],
        quick: &[&str],
        limit: Option<Limit>,
    ) -> Result<Vec<Series>> {
        let cases = self.choose([rehearsal, quick, &[]]);
        let cases = cases.iter().map(|&case| case.to_owned()).collect();
        let options = Options { cases, limit, ..self.choices.options() };
        bench::measure(suite, &options).map(|measured| measured.series)
    }

    /// Measures the graphs of this many nodes, if they have no figures yet.
    fn series_of_graphs(&self, nodes: usize, before: &[Series]) -> Result<Vec<Series>> {
        let mut graphs = graphs_of(nodes);
        let is_measured = |case: &bulk::Case| before.iter().any(|series| series.case == case.to_string());
        if graphs.cases(&self.choices.options())?.iter().all(is_measured) {
            return Ok(Vec::new());
        }
        self.series(&mut graphs, &[], &[], None)
    }
}

/// The suite `bulk` with nothing but graphs of this many nodes.
fn graphs_of(nodes: usize) -> Bulk {
    Bulk { nodes: Some(nodes), ..Bulk::default() }
}

impl Choices {
    /// No choice but the amount.
    #[cfg(test)]
    pub(super) fn of(amount: Amount) -> Choices {
        Choices { amount, threads: Threads::default(), bound: None, nodes: None }
    }

    /// Checks that the machine has the memory for the chosen graphs, before anything is measured.
    pub(in crate::report) fn check(&self) -> Result<()> {
        let Some(nodes) = self.nodes else { return Ok(()) };
        let (mut graphs, options) = (graphs_of(nodes), self.options());
        graphs.prepare(&graphs.cases(&options)?, &options)
    }

    /// The options of a suite with all of its cases.
    fn options(&self) -> Options {
        let quick = self.amount != Amount::Full;
        Options { quick, threads: self.threads.clone(), json: None, cases: Vec::new(), limit: None }
    }
}

impl BoundChoice {
    /// Converts the bound for the suites whose queues depend on it.
    fn vouched(self) -> Result<Vouched> {
        self.vouched_if(NoBound::unless_in_store_buffer_here())
    }

    /// Converts the bound. `is_possible` is an error on a CPU without a known bound.
    ///
    /// There, the user can still vouch for one.
    fn vouched_if(self, is_possible: Result<(), NoBound>) -> Result<Vouched> {
        let bound = match self {
            BoundChoice::Unknown => return Ok(Err(NoBound::refuted())),
            BoundChoice::GivenIsRefuted(bound) => return Ok(Err(NoBound::given_is_refuted(bound))),
            BoundChoice::Given(bound) => return Ok(Ok(TrustedBound::given(bound)?)),
            BoundChoice::Published => TrustedBound::published(),
            BoundChoice::Measured(bound) => TrustedBound::with_reason(bound, "as measured before in this report")?,
            BoundChoice::Raised(bound) => {
                TrustedBound::with_reason(bound, "for the store buffer that was measured before in this report")?
            }
        };
        Ok(is_possible.map(|()| bound))
    }
}

/// Returns the parts with these names, in order, and sentences about omissions.
///
/// Without names, these are all parts of the amount.
pub(in crate::report) fn select(names: &[String], amount: Amount) -> Result<(Vec<Part>, Vec<String>)> {
    let unknown = names.iter().find(|name| !PARTS.iter().any(|part| part.name == **name));
    let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
    ensure!(
        unknown.is_none(),
        "no part of the report is named `{}`; the parts are {}",
        unknown.map_or("", String::as_str),
        known.join(", ")
    );
    if !names.is_empty() {
        let parts = PARTS.into_iter().filter(|part| names.iter().any(|name| name == part.name)).collect();
        let rest = known.iter().filter(|known| !names.iter().any(|name| name == *known)).copied();
        let left_out =
            format!("Only the selected parts were measured. Left out: {}.", rest.collect::<Vec<_>>().join(", "));
        return Ok((parts, if names.len() < PARTS.len() { vec![left_out] } else { Vec::new() }));
    }
    let (parts, rest): (Vec<Part>, Vec<Part>) =
        PARTS.into_iter().partition(|part| amount == Amount::Full || part.not_quick.is_none());
    let left_out = rest.iter().filter_map(|part| part.not_quick).chain([NOT_IN_REPORTS]).map(str::to_owned);
    Ok((parts, left_out.collect()))
}

/// Describes the total duration of these parts. Each further number of threads adds about half.
pub(in crate::report) fn estimate(parts: &[Part], amount: Amount, threads: &Threads) -> String {
    let sizes = threads.counts().len().max(2) as f64 / 2.0;
    figures::lasting(parts.iter().map(|part| sizes * part.seconds(amount)).sum())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn total(amount: Amount) -> f64 {
        select(&[], amount).unwrap().0.iter().map(|part| part.seconds(amount)).sum()
    }

    #[test]
    fn a_quick_report_fits_into_three_minutes() {
        assert!(total(Amount::Quick) < 170.0, "{}", total(Amount::Quick));
        assert!(total(Amount::Rehearsal) < 40.0, "{}", total(Amount::Rehearsal));
    }

    #[test]
    fn queues_use_the_chosen_bound_and_do_not_run_without_one() {
        let published = Ok(TrustedBound::published());
        let vouched = |choice: BoundChoice| choice.vouched_if(Ok(())).unwrap();
        assert_eq!(vouched(BoundChoice::Published), published);
        for other in [BoundChoice::Measured(73), BoundChoice::Raised(140)] {
            assert!(vouched(other).is_ok_and(|bound| Ok(bound) != published));
        }
        assert_eq!(vouched(BoundChoice::Unknown), Err(NoBound::refuted()));
        for choice in [BoundChoice::Published, BoundChoice::Measured(73), BoundChoice::Raised(140)] {
            assert!(choice.vouched_if(Err(NoBound::refuted())).unwrap().is_err());
        }
        let given = BoundChoice::Given(81).vouched_if(Err(NoBound::refuted())).unwrap();
        assert_eq!(given, Ok(TrustedBound::given(81).unwrap()));
        let refuted = vouched(BoundChoice::GivenIsRefuted(81)).unwrap_err().to_string();
        assert_eq!(refuted, "a load overtook more than the 81 stores of --bound");
    }

    #[test]
    fn graphs_that_were_measured_are_not_measured_again() {
        let choices = Choices { nodes: Some(2_500_000), ..Choices::of(Amount::Full) };
        let inputs = Inputs { choices, entries: None, bound: BoundChoice::Published };
        let before = ["dag/uniform-2.5m", "dag/skewed-2.5m"]
            .map(|case| Series { case: case.to_owned(), ..crate::figures::tests::series("bulk", &[1.0]) });
        assert!(inputs.series_of_graphs(2_500_000, &before).unwrap().is_empty());
    }

    #[test]
    fn a_small_graph_passes_the_check_of_memory() {
        let small = Choices { nodes: Some(1_000), ..Choices::of(Amount::Full) };
        assert!(small.check().is_ok() && Choices::of(Amount::Quick).check().is_ok());
    }

    #[test]
    fn an_estimate_has_a_suitable_unit() {
        let parts = [PARTS[0], PARTS[1]];
        let of = |seconds| parts.map(|part| Part { seconds: [seconds; 3], ..part });
        let two = Threads::default();
        assert_eq!(estimate(&of(4.2), Amount::Quick, &two), "9 seconds");
        assert_eq!(estimate(&of(75.0), Amount::Quick, &two), "2.5 minutes");
        assert_eq!(estimate(&of(9_000.0), Amount::Full, &two), "5.0 hours");
        assert_eq!(estimate(&of(9_000.0), Amount::Full, &Threads::up_to(8)), "10.0 hours");
    }

    #[test]
    fn part_names_are_unique_and_durations_are_positive() {
        let names: BTreeSet<&str> = PARTS.iter().map(|part| part.name).collect();
        assert_eq!(names.len(), PARTS.len());
        for part in PARTS {
            let [rehearsal, quick, full] = part.seconds;
            assert!(0.0 < rehearsal && rehearsal <= quick && quick <= full, "{part:?}");
        }
    }

    #[test]
    fn a_quick_report_leaves_out_parts_that_must_be_built_and_says_so() {
        let names = |amount| -> Vec<&str> { select(&[], amount).unwrap().0.iter().map(|part| part.name).collect() };
        assert!(!names(Amount::Quick).contains(&"rayon") && names(Amount::Full).contains(&"rayon"));
        let (_, left_out) = select(&[], Amount::Quick).unwrap();
        assert!(
            left_out[0].contains("`filch-lab bench rayon --quick`") && left_out[1].contains("`filch-lab bench mpi`")
        );
        assert_eq!(select(&[], Amount::Full).unwrap().1.len(), 1);
    }

    #[test]
    fn selected_parts_keep_the_order_of_the_list() {
        let (parts, left_out) = select(&["rayon".to_owned(), "queues".to_owned()], Amount::Quick).unwrap();
        assert_eq!(parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["queues", "rayon"]);
        assert!(
            left_out[0].contains("Left out: store-buffer, litmus") && !left_out[0].contains("queues"),
            "{left_out:?}"
        );
        let refusal = select(&["queues".to_owned(), "que".to_owned()], Amount::Full).unwrap_err().to_string();
        assert!(refusal.starts_with("no part of the report is named `que`; the parts are store-buffer, "), "{refusal}");
    }
}
