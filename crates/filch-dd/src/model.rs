//! A problem as the engine sees it: always a maximisation.
//!
//! The costs of a problem that minimises change their sign here, and only here. An amount that
//! cannot be negated or added becomes [`Overflow`].

use foldhash::fast::FixedState;
use std::hash::BuildHasher;

use crate::problem::{Cost, Decision, Relaxation, Sense, Value, Variable};

/// A cost overflowed 64 bits: the problem does not keep to its own limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

/// No bound is known, so there is no pruning by it.
pub(crate) const UNKNOWN: Cost = Cost::MAX;

pub(crate) struct Model<'a, P> {
    pub(crate) problem: &'a P,
    minimise: bool,
}

impl<P> Clone for Model<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Model<'_, P> {}

/// Returns a hash that is the same in every run.
///
/// So searches with one thread are repeatable.
#[inline]
pub(crate) fn hash_of<T: core::hash::Hash>(value: &T) -> u64 {
    FixedState::with_seed(0).hash_one(value)
}

impl<'a, P: Relaxation> Model<'a, P> {
    pub(crate) fn new(problem: &'a P) -> Self {
        Model { problem, minimise: problem.sense() == Sense::Minimise }
    }

    /// Converts a cost from the problem's sense to the engine's, or back.
    #[inline]
    pub(crate) fn convert_sense(&self, cost: Cost) -> Result<Cost, Overflow> {
        if self.minimise {
            cost.checked_neg().ok_or(Overflow)
        } else {
            Ok(cost)
        }
    }

    /// Returns what a decision adds to the cost.
    #[inline]
    pub(crate) fn cost(&self, state: &P::State, next: &P::State, decision: Decision) -> Result<Cost, Overflow> {
        self.convert_sense(self.problem.cost(state, next, decision))
    }

    /// Returns the cost of an arc that leads to `merged` instead of `next`.
    #[inline]
    pub(crate) fn relaxed_cost(
        &self,
        state: &P::State,
        next: &P::State,
        merged: &P::State,
        decision: Decision,
        cost: Cost,
    ) -> Result<Cost, Overflow> {
        self.convert_sense(self.problem.relaxed_cost(state, next, merged, decision, self.convert_sense(cost)?))
    }

    /// Returns the most that can still be added to the cost, or [`UNKNOWN`].
    #[inline]
    pub(crate) fn rough_bound(&self, depth: usize, state: &P::State) -> Result<Cost, Overflow> {
        match self.problem.rough_bound(depth, state) {
            Some(bound) => self.convert_sense(bound),
            None => Ok(UNKNOWN),
        }
    }

    /// Returns the decision for a variable that does not matter.
    pub(crate) fn default_decision(&self, variable: Variable) -> Decision {
        Decision { variable, value: self.default_value(variable) }
    }

    fn default_value(&self, variable: Variable) -> Value {
        self.problem.default_value(variable)
    }
}

/// Returns the bound of a node: its cost plus the most that can be added.
///
/// It is [`UNKNOWN`] if `rough` is.
#[inline]
pub(crate) fn bound_of(cost: Cost, rough: Cost) -> Result<Cost, Overflow> {
    if rough == UNKNOWN {
        Ok(UNKNOWN)
    } else {
        cost.checked_add(rough).ok_or(Overflow)
    }
}

#[inline]
pub(crate) fn add(cost: Cost, more: Cost) -> Result<Cost, Overflow> {
    cost.checked_add(more).ok_or(Overflow)
}
