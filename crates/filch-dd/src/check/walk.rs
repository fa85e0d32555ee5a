//! A random walk through the states of a problem.

use std::fmt::Debug;

use super::{broken, BrokenLaw, Law};
use crate::random::Stream;
use crate::{Cost, Decision, Relaxation, Sense, Value, Variable};

/// The number of states of a layer that are explored.
const WIDTH: usize = 6;
/// The number of states that are visited to find completions of one state.
const BUDGET: usize = 300;

pub(super) fn is_better(sense: Sense, a: Cost, b: Cost) -> bool {
    match sense {
        Sense::Maximise => a > b,
        Sense::Minimise => a < b,
    }
}

/// A state, and how it was reached.
#[derive(Clone)]
pub(super) struct Node<S> {
    pub(super) state: S,
    pub(super) cost: Cost,
    path: Vec<Decision>,
    /// The last arc that skipped nothing: its upper state, decision and cost. `None` at the root.
    arc: Option<(S, Decision, Cost)>,
    /// Whether any state on the way was merged.
    pub(super) relaxed: bool,
}

/// Two states after the same number of decisions.
///
/// Every completion of `less` should be a completion of `more`.
pub(super) struct Pair<'a, S> {
    pub(super) less: &'a Node<S>,
    pub(super) more: &'a Node<S>,
    /// The cost that `more` starts from.
    pub(super) ahead: Cost,
}

pub(super) struct Walk<'a, P: Relaxation> {
    problem: &'a P,
    stream: Stream,
    limit: Cost,
}

impl<'a, P: Relaxation> Walk<'a, P>
where
    P::State: Debug,
{
    pub(super) fn new(problem: &'a P, seed: u64) -> Self {
        Walk { problem, stream: Stream::new(seed, 0), limit: problem.cost_limit().unwrap_or(1 << 62) }
    }

    pub(super) fn run(
        mut self,
        check: impl Fn(&mut Self, usize, &mut Vec<Node<P::State>>) -> Result<(), BrokenLaw>,
    ) -> Result<(), BrokenLaw> {
        let problem = self.problem;
        let (state, cost) = (problem.initial_state(), problem.initial_cost());
        let mut layer = vec![Node { state, cost, path: Vec::new(), arc: None, relaxed: false }];
        let mut decided = vec![false; problem.variables()];
        for depth in 0.. {
            check(&mut self, depth, &mut layer)?;
            let Some(variable) = self.next(depth, layer.iter().map(|node| &node.state))? else { break };
            if std::mem::replace(&mut decided[variable.index()], true) {
                return broken(
                    Law::Order,
                    format!("next_variable returned {variable} after {depth} decisions, but it was decided before"),
                );
            }
            let mut next = Vec::new();
            for node in &layer {
                self.expand(variable, node, &mut next)?;
            }
            self.stream.shuffle(&mut next);
            next.truncate(WIDTH);
            if next.is_empty() {
                break;
            }
            layer = next;
        }
        Ok(())
    }

    /// Returns the next variable.
    fn next<'s>(&self, depth: usize, layer: impl Iterator<Item = &'s P::State>) -> Result<Option<Variable>, BrokenLaw>
    where
        P::State: 's,
    {
        let variables = self.problem.variables();
        match self.problem.next_variable(depth, layer) {
            Some(variable) if variable.index() >= variables || depth >= variables => broken(
                Law::Order,
                format!("next_variable returned {variable} after {depth} decisions, but there are only {variables} variables"),
            )
            .map(|()| None),
            variable => Ok(variable),
        }
    }

    /// Adds all states after a variable is decided.
    fn expand(
        &self,
        variable: Variable,
        node: &Node<P::State>,
        next: &mut Vec<Node<P::State>>,
    ) -> Result<(), BrokenLaw> {
        let (problem, state) = (self.problem, &node.state);
        let values = values(problem, variable, state);
        if values != self::values(problem, variable, state) {
            return broken(Law::Domain, format!("the domain of {variable} in {state:?} differs between two calls"));
        }
        for (at, value) in values.iter().enumerate() {
            if values[..at].contains(value) {
                return broken(
                    Law::Domain,
                    format!("the domain of {variable} in {state:?} has the value {value} twice"),
                );
            }
        }
        if !problem.matters(variable, state) {
            self.check_skip(variable, state, &values)?;
            let mut path = node.path.clone();
            path.push(Decision { variable, value: problem.default_value(variable) });
            next.push(Node { path, ..node.clone() });
            return Ok(());
        }
        for value in values {
            let decision = Decision { variable, value };
            let after = problem.transition(state, decision);
            if after != problem.transition(state, decision) {
                return broken(
                    Law::Domain,
                    format!("the transition from {state:?} with {} differs between two calls", describe(&[decision])),
                );
            }
            let cost = problem.cost(state, &after, decision);
            let Some(total) =
                node.cost.checked_add(cost).filter(|total| total.unsigned_abs() <= self.limit.unsigned_abs())
            else {
                let path = describe(&node.path);
                return broken(
                    Law::Limit,
                    format!(
                        "after {path}, {} adds {cost} to {}, which goes beyond the cost_limit of {}",
                        describe(&[decision]),
                        node.cost,
                        self.limit
                    ),
                );
            };
            let mut path = node.path.clone();
            path.push(decision);
            next.push(Node {
                state: after,
                cost: total,
                path,
                arc: Some((state.clone(), decision, cost)),
                relaxed: node.relaxed,
            });
        }
        Ok(())
    }

    /// Checks that a variable that does not matter can be skipped.
    ///
    /// Its default value changes nothing, and no other value is better.
    fn check_skip(&self, variable: Variable, state: &P::State, values: &[Value]) -> Result<(), BrokenLaw> {
        let problem = self.problem;
        let default = problem.default_value(variable);
        let but = |what: String| broken(Law::Skip, format!("{variable} does not matter in {state:?}, but {what}"));
        if !values.contains(&default) {
            return but(format!("its default value {default} is not in its domain"));
        }
        for &value in values {
            let decision = Decision { variable, value };
            let after = problem.transition(state, decision);
            if after != *state {
                return but(format!("{} leads to {after:?}", describe(&[decision])));
            }
            let cost = problem.cost(state, &after, decision);
            if value == default && cost != 0 || is_better(problem.sense(), cost, 0) {
                return but(format!("{} costs {cost}", describe(&[decision])));
            }
        }
        Ok(())
    }

    /// Merges a few states of a layer, and perhaps replaces them by the merged state.
    pub(super) fn merge_some(&mut self, depth: usize, layer: &mut Vec<Node<P::State>>) -> Result<(), BrokenLaw> {
        let problem = self.problem;
        if depth == 0 {
            return Ok(());
        }
        self.stream.shuffle(layer);
        let some = 1 + self.stream.below(layer.len() as u64) as usize;
        let state = problem.merge(layer[..some].iter().map(|node| &node.state));
        let mut best: Option<Node<P::State>> = None;
        for node in &layer[..some] {
            let Some((from, decision, cost)) = &node.arc else { continue };
            let relaxed = problem.relaxed_cost(from, &node.state, &state, *decision, *cost);
            let ahead = node.cost.saturating_sub(*cost).saturating_add(relaxed);
            let arc = Some((from.clone(), *decision, relaxed));
            let merged = Node { state: state.clone(), cost: ahead, arc, path: node.path.clone(), relaxed: true };
            self.check_covers(depth, &Pair { less: node, more: &merged, ahead }, Law::Merge)?;
            if best.as_ref().is_none_or(|best| is_better(problem.sense(), ahead, best.cost)) {
                best = Some(merged);
            }
        }
        // Some walks continue without the merged state, so that exact states are checked deep down,
        // too.
        if let Some(best) = best.filter(|_| self.stream.chance(500)) {
            layer.drain(..some);
            layer.push(best);
        }
        Ok(())
    }

    /// Checks that no completion of a state is better than its bound.
    pub(super) fn check_bound(&mut self, depth: usize, node: &Node<P::State>) -> Result<(), BrokenLaw> {
        let problem = self.problem;
        let Some(bound) = problem.rough_bound(depth, &node.state) else { return Ok(()) };
        if node.cost.checked_add(bound).is_none_or(|total| total.unsigned_abs() > self.limit.unsigned_abs()) {
            return broken(Law::Limit, format!("the rough bound of {:?} after {depth} decisions is {bound}, which together with the cost so far of {} goes beyond the cost_limit of {}", node.state, node.cost, self.limit));
        }
        let mut budget = BUDGET;
        let mut taken = Vec::new();
        self.complete(depth, &node.state, 0, &mut taken, &mut budget, &mut |taken, cost| match is_better(
            problem.sense(),
            cost,
            bound,
        ) {
            false => Ok(()),
            true => broken(
                Law::Bound,
                format!(
                    "the rough bound of {:?} after {depth} decisions is {bound}, but {} costs {cost}",
                    node.state,
                    describe(taken)
                ),
            ),
        })
    }

    /// Calls `found` with completions of a state until the budget is used up.
    ///
    /// It also passes what each completion adds to the cost.
    fn complete(
        &mut self,
        depth: usize,
        state: &P::State,
        cost: Cost,
        taken: &mut Vec<Decision>,
        budget: &mut usize,
        found: &mut impl FnMut(&[Decision], Cost) -> Result<(), BrokenLaw>,
    ) -> Result<(), BrokenLaw> {
        let Some(variable) = self.next(depth, std::iter::once(state))? else { return found(taken, cost) };
        for (decision, next, more) in self.steps(variable, state) {
            if *budget == 0 {
                return Ok(());
            }
            *budget -= 1;
            taken.push(decision);
            self.complete(depth + 1, &next, cost.saturating_add(more), taken, budget, found)?;
            taken.pop();
        }
        Ok(())
    }

    /// Returns the possible decisions in random order, with the next states and the costs.
    fn steps(&mut self, variable: Variable, state: &P::State) -> Vec<(Decision, P::State, Cost)> {
        let problem = self.problem;
        if !problem.matters(variable, state) {
            let decision = Decision { variable, value: problem.default_value(variable) };
            return vec![(decision, state.clone(), 0)];
        }
        let mut values = values(problem, variable, state);
        self.stream.shuffle(&mut values);
        let step = |value| {
            let decision = Decision { variable, value };
            let next = problem.transition(state, decision);
            let cost = problem.cost(state, &next, decision);
            (decision, next, cost)
        };
        values.into_iter().map(step).collect()
    }

    /// Checks that every completion of `less` is one of `more`, at no worse a cost.
    pub(super) fn check_covers(&mut self, depth: usize, pair: &Pair<'_, P::State>, law: Law) -> Result<(), BrokenLaw> {
        let mut budget = BUDGET;
        let (less, more) = ((&pair.less.state, pair.less.cost), (&pair.more.state, pair.ahead));
        self.check_covers_from(depth, less, more, &mut Vec::new(), &mut budget, pair, law)
    }

    #[allow(clippy::too_many_arguments)]
    fn check_covers_from(
        &mut self,
        depth: usize,
        (less, less_cost): (&P::State, Cost),
        (more, more_cost): (&P::State, Cost),
        taken: &mut Vec<Decision>,
        budget: &mut usize,
        pair: &Pair<'_, P::State>,
        law: Law,
    ) -> Result<(), BrokenLaw> {
        let problem = self.problem;
        let Some(variable) = self.next(depth, [less, more].into_iter())? else {
            if is_better(problem.sense(), less_cost, more_cost) {
                return broken(
                    law,
                    format!(
                        "{}: with {} the first ends at a cost of {less_cost}, and the second at {more_cost}",
                        describe_pair(pair, law),
                        describe(taken)
                    ),
                );
            }
            return Ok(());
        };
        for (decision, next, cost) in self.steps(variable, less) {
            if *budget == 0 {
                return Ok(());
            }
            *budget -= 1;
            taken.push(decision);
            let allowed = match problem.matters(variable, more) {
                true => values(problem, variable, more).contains(&decision.value).then(|| {
                    let after = problem.transition(more, decision);
                    let cost = problem.cost(more, &after, decision);
                    (after, cost)
                }),
                false => (decision.value == problem.default_value(variable)).then(|| (more.clone(), 0)),
            };
            match allowed {
                Some((after, more_by)) => {
                    let (less, more) =
                        ((&next, less_cost.saturating_add(cost)), (&after, more_cost.saturating_add(more_by)));
                    self.check_covers_from(depth + 1, less, more, taken, budget, pair, law)?;
                }
                // It is an error only if there is a completion from here.
                None => {
                    let pair_text = describe_pair(pair, law);
                    let refused = describe(&[decision]);
                    self.complete(
                        depth + 1,
                        &next,
                        less_cost.saturating_add(cost),
                        taken,
                        &mut BUDGET.clone(),
                        &mut |taken, _| {
                            let all = describe(taken);
                            broken(
                                law,
                                format!(
                                    "{pair_text}: {all} completes the first, but the second does not allow {refused}"
                                ),
                            )
                        },
                    )?;
                }
            }
            taken.pop();
        }
        Ok(())
    }
}

fn describe_pair<S: Debug>(pair: &Pair<'_, S>, law: Law) -> String {
    let (less, more) = (&pair.less.state, &pair.more.state);
    let (cost, ahead) = (pair.less.cost, pair.ahead);
    let path = describe(&pair.less.path);
    match law {
        Law::Merge => format!("after {path} the state {less:?} (cost {cost}) was merged into {more:?} (cost {ahead})"),
        _ => format!("the state {less:?} (cost {cost}), after {path}, is dominated by {more:?} (cost {ahead})"),
    }
}

fn values<P: Relaxation>(problem: &P, variable: Variable, state: &P::State) -> Vec<Value> {
    let mut values = Vec::new();
    problem.domain(variable, state, |value| values.push(value));
    values
}

/// Formats decisions for a message.
fn describe(decisions: &[Decision]) -> String {
    match decisions {
        [] => "no decision".into(),
        _ => decisions
            .iter()
            .map(|decision| format!("{}={}", decision.variable, decision.value))
            .collect::<Vec<_>>()
            .join(" "),
    }
}
