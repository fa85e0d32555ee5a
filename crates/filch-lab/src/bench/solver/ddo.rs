//! The peer, with literally the same model: its traits delegate to filch's.
//!
//! filch's bounds may depend on the number of decisions made, which ddo's states do not know. A
//! state therefore carries its depth here.

use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicU64};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ddo::{
    DecisionCallback, DominanceChecker, EmptyDominanceChecker, MaxUB, NoDupFringe, SimpleDominanceChecker, Solver,
    SubProblem, TimeBudget, WidthHeuristic,
};
use filch_dd::{Cost, Decision, Dominance, Problem, Relaxation, Sense, Variable, Width};

use super::settings::{Method, Settings};

/// A problem of filch's as a ddo model.
struct Model<'a, P>(&'a P);

/// A state and the number of decisions before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StateAt<S> {
    depth: u32,
    state: S,
}

impl<P: Problem> Model<'_, P> {
    /// The sign that turns a cost into ddo's value: ddo always maximises.
    #[inline]
    fn sign(&self) -> isize {
        match self.0.sense() {
            Sense::Maximise => 1,
            Sense::Minimise => -1,
        }
    }
}

#[inline]
fn to_filch(decision: ddo::Decision) -> Decision {
    Decision { variable: Variable(decision.variable.id() as u32), value: decision.value as i64 }
}

impl<P: Problem> ddo::Problem for Model<'_, P> {
    type State = StateAt<P::State>;

    fn nb_variables(&self) -> usize {
        self.0.variables()
    }

    fn initial_state(&self) -> Self::State {
        StateAt { depth: 0, state: self.0.initial_state() }
    }

    fn initial_value(&self) -> isize {
        self.sign() * self.0.initial_cost() as isize
    }

    fn transition(&self, at: &Self::State, decision: ddo::Decision) -> Self::State {
        StateAt { depth: at.depth + 1, state: self.0.transition(&at.state, to_filch(decision)) }
    }

    fn transition_cost(&self, at: &Self::State, next: &Self::State, decision: ddo::Decision) -> isize {
        self.sign() * self.0.cost(&at.state, &next.state, to_filch(decision)) as isize
    }

    fn next_variable(&self, depth: usize, layer: &mut dyn Iterator<Item = &Self::State>) -> Option<ddo::Variable> {
        self.0.next_variable(depth, layer.map(|at| &at.state)).map(|variable| ddo::Variable(variable.index()))
    }

    fn for_each_in_domain(&self, variable: ddo::Variable, at: &Self::State, decide: &mut dyn DecisionCallback) {
        let own = Variable(variable.id() as u32);
        if self.0.matters(own, &at.state) {
            let decide = |value| decide.apply(ddo::Decision { variable, value: value as isize });
            self.0.domain(own, &at.state, decide);
        } else {
            decide.apply(ddo::Decision { variable, value: self.0.default_value(own) as isize });
        }
    }

    fn is_impacted_by(&self, variable: ddo::Variable, at: &Self::State) -> bool {
        self.0.matters(Variable(variable.id() as u32), &at.state)
    }
}

impl<P: Relaxation> ddo::Relaxation for Model<'_, P> {
    type State = StateAt<P::State>;

    fn merge(&self, states: &mut dyn Iterator<Item = &Self::State>) -> Self::State {
        let mut depth = 0;
        let state = self.0.merge(states.map(|at| {
            depth = at.depth;
            &at.state
        }));
        StateAt { depth, state }
    }

    fn relax(
        &self,
        at: &Self::State,
        next: &Self::State,
        merged: &Self::State,
        decision: ddo::Decision,
        cost: isize,
    ) -> isize {
        let cost = (self.sign() * cost) as Cost;
        let cost = self.0.relaxed_cost(&at.state, &next.state, &merged.state, to_filch(decision), cost);
        self.sign() * cost as isize
    }

    fn fast_upper_bound(&self, at: &Self::State) -> isize {
        let bound = self.0.rough_bound(at.depth as usize, &at.state);
        bound.map_or(isize::MAX, |bound| self.sign() * bound as isize)
    }
}

impl<P: Relaxation> ddo::StateRanking for Model<'_, P> {
    type State = StateAt<P::State>;

    fn compare(&self, a: &Self::State, b: &Self::State) -> Ordering {
        self.0.rank(&a.state).cmp(&self.0.rank(&b.state))
    }
}

impl<P: Dominance> ddo::Dominance for Model<'_, P> {
    type State = StateAt<P::State>;
    type Key = P::Key;

    fn get_key(&self, at: Arc<Self::State>) -> Option<P::Key> {
        self.0.key(&at.state)
    }

    fn nb_dimensions(&self, _: &Self::State) -> usize {
        self.0.coordinates()
    }

    fn get_coordinate(&self, at: &Self::State, index: usize) -> isize {
        self.0.coordinate(&at.state, index) as isize
    }

    fn use_value(&self) -> bool {
        true
    }
}

/// The same width as filch's.
///
/// ddo asks for it once for each explored node, so it also counts the nodes.
struct CountingWidth {
    width: Width,
    variables: usize,
    explored: AtomicU64,
}

impl<S> WidthHeuristic<S> for CountingWidth {
    fn max_width(&self, node: &SubProblem<S>) -> usize {
        // Relaxed: it is read after the threads have ended.
        self.explored.fetch_add(1, atomic::Ordering::Relaxed);
        match self.width {
            Width::Fixed(width) => width,
            Width::Unassigned { factor } => (self.variables.saturating_sub(node.path.len()) * factor).max(1),
        }
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Solved {
    /// The cost of the best solution.
    pub(crate) cost: Option<Cost>,
    /// Whether it is proven optimal.
    pub(crate) proven: bool,
    /// The number of explored nodes.
    pub(crate) explored: u64,
    /// The time of the run.
    pub(crate) elapsed: Duration,
}

/// Solves a problem without dominance.
pub(crate) fn solve<P: Relaxation>(problem: &P, settings: Settings, threads: usize, limit: Duration) -> Solved {
    run(problem, settings, threads, limit, &EmptyDominanceChecker::default())
}

/// Solves a problem with its dominance.
pub(crate) fn solve_with_dominance<P: Relaxation + Dominance>(
    problem: &P,
    settings: Settings,
    threads: usize,
    limit: Duration,
) -> Solved {
    run(problem, settings, threads, limit, &SimpleDominanceChecker::new(Model(problem), problem.variables()))
}

fn run<P: Relaxation>(
    problem: &P,
    settings: Settings,
    threads: usize,
    limit: Duration,
    dominance: &(dyn DominanceChecker<State = StateAt<P::State>> + Send + Sync),
) -> Solved {
    let model = Model(problem);
    let width = CountingWidth { width: settings.width, variables: problem.variables(), explored: AtomicU64::new(0) };
    let start = Instant::now();
    let cutoff = TimeBudget::new(limit);
    let mut fringe = NoDupFringe::new(MaxUB::new(&model));
    macro_rules! solve {
        (parallel $solver:ident) => {
            ddo::$solver::custom(&model, &model, &model, &width, dominance, &cutoff, &mut fringe, threads).maximize()
        };
        (serial $solver:ident) => {
            ddo::$solver::custom(&model, &model, &model, &width, dominance, &cutoff, &mut fringe).maximize()
        };
    }
    // Only the solvers that the cases need: each is compiled for each problem.
    let completion = match (threads, settings.method) {
        (1, Method::LastExactLayer) => solve!(serial SeqNoCachingSolverLel),
        (1, Method::CachedFrontier) => solve!(serial SeqCachingSolverFc),
        (_, Method::LastExactLayer) => solve!(parallel ParNoCachingSolverLel),
        (_, Method::CachedFrontier) => solve!(parallel ParCachingSolverFc),
    };
    let elapsed = start.elapsed();
    Solved {
        cost: completion.best_value.map(|value| (model.sign() * value) as Cost),
        proven: completion.is_exact,
        explored: width.explored.into_inner(),
        elapsed,
    }
}
