//! How searches start, end early, and are refused.

mod tiny;

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use filch::explore::Cancel;
use filch_dd::{
    Cost, Cutset, Decision, Outcome, Problem, Relaxation, Sense, Solution, SolveError, SolveStatus, Solver, Value,
    Variable, Width,
};
use tiny::{brute_force, Dice, IndependentSet, Jobs, Knapsack};

/// An instance that takes many diagrams of width 2, and some time.
fn heavy(seed: u64) -> IndependentSet {
    let mut dice = Dice::new(seed);
    let mut neighbours = vec![0u32; 26];
    for one in 0..26 {
        for other in 0..one {
            if dice.roll(5) == 0 {
                neighbours[one] |= 1 << other;
                neighbours[other] |= 1 << one;
            }
        }
    }
    let weights = (0..26).map(|_| 5 + dice.roll(9) as Cost).collect();
    IndependentSet { weights, neighbours, long_arcs: true, rough: true }
}

fn best_of(problem: &IndependentSet) -> Cost {
    Solver::new(problem).width(Width::Fixed(500)).solve().unwrap().best.unwrap().cost
}

/// Checks that the best cost lies between the solution found and the bound.
fn assert_contains_best(outcome: &Outcome, best: Cost, sense: Sense) {
    let (low, high) = match sense {
        Sense::Maximise => (outcome.best.as_ref().map(|found| found.cost), outcome.bound),
        Sense::Minimise => (outcome.bound, outcome.best.as_ref().map(|found| found.cost)),
    };
    assert!(low.is_none_or(|low| low <= best) && high.is_none_or(|high| high >= best), "{outcome:?} for {best}");
}

#[test]
fn a_node_limit_ends_a_search_with_a_valid_gap() {
    for seed in 0..4 {
        let problem = heavy(seed);
        let best = best_of(&problem);
        for threads in [1, 2] {
            for cutset in [Cutset::LastExactLayer, Cutset::Frontier] {
                let mut last_gap = f64::INFINITY;
                for limit in [0, 1, 2, 5, 20] {
                    let solver = Solver::new(&problem).width(Width::Fixed(2)).cutset(cutset);
                    let outcome = solver.threads(threads).node_limit(limit).solve().unwrap();
                    assert_contains_best(&outcome, best, Sense::Maximise);
                    if outcome.status == SolveStatus::Optimal {
                        assert_eq!(outcome.gap(), Some(0.0));
                        continue;
                    }
                    assert_eq!(outcome.status, SolveStatus::NodeLimit);
                    assert_eq!(outcome.statistics.explored, limit);
                    if let (Some(gap), 1) = (outcome.gap(), threads) {
                        assert!(gap > 0.0 && gap <= last_gap, "{gap} after {last_gap}");
                        last_gap = gap;
                    }
                }
                assert!(last_gap.is_finite() || threads == 2, "no search ended with a gap");
            }
        }
    }
}

#[test]
fn a_node_limit_ends_a_minimising_search_with_a_valid_gap() {
    let mut early = 0;
    for seed in 0..40 {
        let problem = Jobs::random(seed, false, true);
        let best = brute_force(&problem).unwrap();
        for limit in [1, 2, 3] {
            let outcome = Solver::new(&problem).width(Width::Fixed(1)).node_limit(limit).solve().unwrap();
            assert_contains_best(&outcome, best, Sense::Minimise);
            early += u32::from(outcome.status == SolveStatus::NodeLimit);
        }
    }
    assert!(early > 5, "only {early} searches ended early");
}

#[test]
fn a_passed_deadline_or_a_cancellation_ends_a_search_at_once() {
    let problem = heavy(1);
    for threads in [1, 2] {
        let solver = || Solver::new(&problem).width(Width::Fixed(2)).threads(threads);
        let outcome = solver().time_limit(Duration::ZERO).solve().unwrap();
        assert_eq!((outcome.status, outcome.best, outcome.bound), (SolveStatus::TimedOut, None, None));
        let outcome = solver().deadline(Instant::now()).time_limit(Duration::from_secs(3600)).solve().unwrap();
        assert_eq!(outcome.status, SolveStatus::TimedOut);
        let cancel = Cancel::new();
        cancel.cancel();
        let outcome = solver().cancel(&cancel).solve().unwrap();
        assert_eq!((outcome.status, outcome.statistics.explored), (SolveStatus::Cancelled, 0));
    }
}

#[test]
fn a_callback_for_a_solution_can_cancel_the_search() {
    let problem = heavy(2);
    let best = best_of(&problem);
    for threads in [1, 2] {
        let cancel = Cancel::new();
        let outcome = Solver::new(&problem)
            .width(Width::Fixed(2))
            .threads(threads)
            .cancel(&cancel)
            .on_incumbent(|_| cancel.cancel())
            .solve()
            .unwrap();
        assert_eq!(outcome.status, SolveStatus::Cancelled);
        assert!(outcome.best.is_some(), "the reported solution is in the outcome");
        assert_contains_best(&outcome, best, Sense::Maximise);
    }
}

#[test]
fn progress_is_reported_with_a_valid_bound_that_never_rises() {
    for seed in 0..3 {
        let problem = heavy(seed);
        let best = best_of(&problem);
        for threads in [1, 2] {
            let mut reported = 0;
            let lowest = AtomicI64::new(Cost::MAX);
            let solver = Solver::new(&problem).width(Width::Fixed(2)).threads(threads);
            let outcome = solver.on_progress(Duration::ZERO, |progress| {
                reported += 1;
                if let Some(bound) = progress.bound {
                    assert!(bound >= best, "{progress:?}: the best is {best}");
                    let before = lowest.fetch_min(bound, Ordering::Relaxed);
                    assert!(bound <= before, "{progress:?} after {before}");
                    assert!(progress.best.is_none_or(|found| found <= bound), "{progress:?}");
                }
            });
            assert_eq!(outcome.solve().unwrap().best.map(|found| found.cost), Some(best));
            assert!(reported > 3, "progress was reported only {reported} times");
        }
    }
}

#[test]
fn a_search_with_one_thread_is_repeatable() {
    let problem = heavy(3);
    let run = || {
        let outcome = Solver::new(&problem).width(Width::Fixed(3)).cutset(Cutset::Frontier).solve().unwrap();
        let statistics = outcome.statistics;
        (outcome.best, statistics.explored, statistics.diagram_nodes, statistics.most_open)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_known_solution_is_checked_and_saves_work() {
    let problem = heavy(0);
    let solver = || Solver::new(&problem).width(Width::Fixed(2));
    let first = solver().solve().unwrap();
    let best = first.best.unwrap();
    let mut reported = Vec::new();
    let again = solver().start_from(best.clone()).on_incumbent(|found| reported.push(found.cost)).solve().unwrap();
    assert_eq!((again.best, again.status), (Some(best.clone()), SolveStatus::Optimal));
    assert!(again.statistics.explored <= first.statistics.explored);
    assert_eq!(reported, [best.cost]);

    let lies = Solution { cost: best.cost + 1000, ..best.clone() };
    assert_eq!(solver().start_from(lies).solve().unwrap().best.map(|found| found.cost), Some(best.cost));
    let everything = (0..26).map(|vertex| Decision { variable: Variable(vertex), value: 1 }).collect();
    let refused = solver().start_from(Solution { cost: 0, decisions: everything }).solve();
    assert!(matches!(&refused, Err(SolveError::Contradiction(how)) if how.contains("can only be 0")), "{refused:?}");
    let refused = solver().start_from(Solution { cost: 0, decisions: Vec::new() }).solve();
    assert!(matches!(&refused, Err(SolveError::Contradiction(how)) if how.contains("has no value for")), "{refused:?}");
}

#[test]
fn a_width_or_a_number_of_threads_of_0_is_refused() {
    let problem = Knapsack::random(1, false, true);
    assert_eq!(Solver::new(&problem).width(Width::Fixed(0)).solve(), Err(SolveError::NoWidth));
    assert_eq!(Solver::new(&problem).width(Width::Unassigned { factor: 0 }).solve(), Err(SolveError::NoWidth));
    assert_eq!(Solver::new(&problem).threads(0).solve(), Err(SolveError::NoThreads));
}

/// Adds a given amount with each decision, and answers as its fields say.
struct Steps {
    variables: usize,
    step: Cost,
    limit: Option<Cost>,
    /// Whether the cost of a decision changes with every call.
    fickle: Option<AtomicI64>,
    /// The number of decisions after which nothing is left to decide.
    enough: usize,
    sense: Sense,
}

impl Steps {
    fn new(variables: usize, step: Cost, limit: Option<Cost>) -> Self {
        Steps { variables, step, limit, fickle: None, enough: variables, sense: Sense::Maximise }
    }
}

impl Problem for Steps {
    type State = u32;
    fn sense(&self) -> Sense {
        self.sense
    }
    fn variables(&self) -> usize {
        self.variables
    }
    fn initial_state(&self) -> u32 {
        0
    }
    fn initial_cost(&self) -> Cost {
        3
    }
    fn cost_limit(&self) -> Option<Cost> {
        self.limit
    }
    fn next_variable<'a>(&self, depth: usize, _: impl Iterator<Item = &'a u32>) -> Option<Variable> {
        (depth < self.enough).then_some(Variable(depth as u32))
    }
    fn domain(&self, _: Variable, _: &u32, mut decide: impl FnMut(Value)) {
        decide(0);
        decide(1);
    }
    fn transition(&self, state: &u32, decision: Decision) -> u32 {
        state + decision.value as u32
    }
    fn cost(&self, _: &u32, _: &u32, decision: Decision) -> Cost {
        let fickle = self.fickle.as_ref().map_or(0, |looks| looks.fetch_add(1, Ordering::Relaxed));
        decision.value * self.step + fickle
    }
    fn default_value(&self, _: Variable) -> Value {
        -1
    }
}

impl Relaxation for Steps {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a u32>) -> u32 {
        states.copied().max().unwrap()
    }
}

#[test]
fn a_cost_limit_that_is_too_high_is_refused_and_an_overflow_ends_the_search() {
    let solve =
        |problem: &Steps| Solver::new(problem).width(Width::Fixed(2)).solve().map(|outcome| outcome.best.unwrap().cost);
    assert_eq!(solve(&Steps::new(5, 10, None)), Err(SolveError::CostTooGreat));
    assert_eq!(solve(&Steps::new(5, 10, Some(Cost::MAX))), Err(SolveError::CostTooGreat));
    assert_eq!(solve(&Steps::new(5, 10, Some(53))), Ok(53));
    assert_eq!(solve(&Steps::new(3, 1 << 60, Some(1 << 62))), Ok((3 << 60) + 3));
    // The cost exceeds the limit that the problem promised.
    for (step, sense) in [(Cost::MAX / 2, Sense::Maximise), (Cost::MIN / 2, Sense::Minimise)] {
        for threads in [1, 2] {
            let problem = Steps { sense, ..Steps::new(5, step, Some(1)) };
            let refused = Solver::new(&problem).width(Width::Fixed(2)).threads(threads).solve();
            assert_eq!(refused, Err(SolveError::Overflow), "{step} {sense:?}");
        }
    }
}

#[test]
fn a_problem_that_contradicts_itself_is_an_error() {
    let problem = Steps { fickle: Some(AtomicI64::new(0)), ..Steps::new(5, 10, Some(1000)) };
    for threads in [1, 2] {
        let refused = Solver::new(&problem).width(Width::Fixed(2)).threads(threads).solve();
        assert!(matches!(&refused, Err(SolveError::Contradiction(how)) if how.contains("one by one")), "{refused:?}");
    }
}

#[test]
fn a_problem_without_variables_has_one_solution() {
    for threads in [1, 2] {
        let outcome = Solver::new(&Steps::new(0, 1, Some(10))).threads(threads).solve().unwrap();
        assert_eq!(outcome.best, Some(Solution { cost: 3, decisions: Vec::new() }));
        assert_eq!((outcome.status, outcome.bound), (SolveStatus::Optimal, Some(3)));
    }
}

#[test]
fn variables_that_are_not_decided_get_their_default() {
    let problem = Steps { enough: 2, ..Steps::new(4, 10, Some(100)) };
    let best = Solver::new(&problem).width(Width::Fixed(1)).solve().unwrap().best.unwrap();
    assert_eq!(best.cost, 23);
    assert_eq!(best.decisions.iter().map(|decision| decision.value).collect::<Vec<_>>(), [1, 1, -1, -1]);
}

#[test]
fn a_given_pool_is_used() {
    let problem = heavy(2);
    let pool = filch::Pool::builder().threads(2).build().unwrap();
    let outcome = Solver::new(&problem).width(Width::Fixed(2)).pool(&pool).solve().unwrap();
    assert_eq!(outcome.best.map(|found| found.cost), Some(best_of(&problem)));
    assert_eq!(outcome.statistics.workers.len(), 2);
}

#[test]
fn a_panic_in_a_problem_resumes_in_the_caller() {
    struct Trap;
    impl Problem for Trap {
        type State = u32;
        fn variables(&self) -> usize {
            3
        }
        fn initial_state(&self) -> u32 {
            0
        }
        fn cost_limit(&self) -> Option<Cost> {
            Some(1)
        }
        fn domain(&self, variable: Variable, _: &u32, mut decide: impl FnMut(Value)) {
            assert!(variable.0 < 2, "on purpose");
            decide(0);
        }
        fn transition(&self, state: &u32, _: Decision) -> u32 {
            *state
        }
        fn cost(&self, _: &u32, _: &u32, _: Decision) -> Cost {
            0
        }
    }
    impl Relaxation for Trap {
        fn merge<'a>(&self, states: impl Iterator<Item = &'a u32>) -> u32 {
            states.copied().max().unwrap()
        }
    }
    for threads in [1, 2] {
        let panicked = std::panic::catch_unwind(|| Solver::new(&Trap).threads(threads).solve());
        assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
