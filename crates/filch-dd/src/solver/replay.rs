//! Replays the decisions of a solution, one by one, with nothing but the problem.
//!
//! Variables that a long arc skipped are not decided again. The replay relies on `matters`, which
//! [`check::laws`](crate::check::laws) tests.

use super::outcome::Solution;
use crate::diagram::Halt;
use crate::model::Model;
use crate::problem::{Cost, Decision, Relaxation, Value, Variable};

/// Replays `path` and returns its cost and the value of every variable.
pub(crate) fn replay<P: Relaxation>(model: &Model<'_, P>, path: &[Decision]) -> Result<Solution, Halt> {
    let mut replay = Replay::new(model);
    for &decision in path {
        replay.take(decision)?;
    }
    Ok(replay.finish())
}

/// Replays a solution that has values of variables, but not the order of the decisions.
pub(crate) fn replay_unordered<P: Relaxation>(model: &Model<'_, P>, decisions: &[Decision]) -> Result<Solution, Halt> {
    let problem = model.problem;
    let mut replay = Replay::new(model);
    let mut given: Vec<Option<Value>> = vec![None; problem.variables()];
    for decision in decisions {
        match given.get_mut(decision.variable.index()) {
            Some(Some(other)) if *other != decision.value => {
                let how = format!("the given solution has two values for {}", decision.variable);
                return Err(Halt::Contradiction(how));
            }
            Some(given) => *given = Some(decision.value),
            None => return Err(Halt::Contradiction(format!("the problem has no variable {}", decision.variable))),
        }
    }
    for depth in 0..problem.variables() {
        let Some(variable) = problem.next_variable(depth, core::iter::once(&replay.state)) else { break };
        let value = match given.get(variable.index()).copied().flatten() {
            Some(value) => value,
            None if !problem.matters(variable, &replay.state) => problem.default_value(variable),
            None => {
                let how = format!("the given solution has no value for {variable}");
                return Err(Halt::Contradiction(how));
            }
        };
        replay.take(Decision { variable, value })?;
    }
    let solution = replay.finish();
    for &Decision { variable, value } in &solution.decisions {
        if let Some(other) = given[variable.index()].filter(|&given| given != value) {
            return Err(Halt::Contradiction(format!(
                "the given solution has {variable} = {other}, but after its other decisions {variable} can only be {value}"
            )));
        }
    }
    Ok(solution)
}

pub(crate) struct Replay<'a, P: Relaxation> {
    problem: &'a P,
    state: P::State,
    cost: Cost,
    values: Vec<Option<Value>>,
}

impl<'a, P: Relaxation> Replay<'a, P> {
    pub(crate) fn new(model: &Model<'a, P>) -> Self {
        let problem = model.problem;
        Replay {
            problem,
            state: problem.initial_state(),
            cost: problem.initial_cost(),
            values: vec![None; problem.variables()],
        }
    }

    pub(crate) fn take(&mut self, decision: Decision) -> Result<(), Halt> {
        let Decision { variable, value } = decision;
        match self.values.get_mut(variable.index()) {
            None => {
                return Err(Halt::Contradiction(format!(
                    "`next_variable` returned {variable}, but there are only {} variables",
                    self.problem.variables()
                )))
            }
            Some(Some(_)) => {
                return Err(Halt::Contradiction(format!("`next_variable` returned {variable} twice on one path")))
            }
            Some(decided) => *decided = Some(value),
        }
        let mut allowed = false;
        self.problem.domain(variable, &self.state, |other| allowed |= other == value);
        if !allowed {
            return Err(Halt::Contradiction(format!(
                "a solution has {variable} = {value}, which is not in the domain of {variable} in the state where it is decided"
            )));
        }
        let next = self.problem.transition(&self.state, decision);
        let cost = self.problem.cost(&self.state, &next, decision);
        self.cost = self.cost.checked_add(cost).ok_or(Halt::Overflow)?;
        self.state = next;
        Ok(())
    }

    /// Returns the state that the decisions led to.
    pub(crate) fn state(&self) -> &P::State {
        &self.state
    }

    /// Returns the cost of the decisions.
    pub(crate) fn cost(&self) -> Cost {
        self.cost
    }

    /// Returns the solution. Variables that were not decided get their default value.
    fn finish(self) -> Solution {
        let decisions = self.values.iter().enumerate().map(|(index, value)| {
            let variable = Variable(index as u32);
            Decision { variable, value: value.unwrap_or_else(|| self.problem.default_value(variable)) }
        });
        Solution { cost: self.cost, decisions: decisions.collect() }
    }
}
