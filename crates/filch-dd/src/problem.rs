//! What a user says of a problem.
//!
//! A problem is a sequence of decisions, one a variable. What the decisions so far mean for the ones to come is a state; two sequences
//! that lead to the same state can be completed in the same ways. [`Problem`] says that much, and is enough to enumerate. [`Relaxation`] adds
//! what makes the enumeration short: a state that stands for several, and a bound that is quick to have. [`Dominance`] is for problems in
//! which one state can be seen to be no worse than another.

use core::fmt;
use core::hash::Hash;

use serde::{Deserialize, Serialize};

/// What a solution costs or is worth; see [`Problem::sense`].
pub type Cost = i64;

/// What a variable is decided to be.
pub type Value = i64;

/// A variable, by its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variable(pub u32);

impl Variable {
    /// Its number, to index with.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

/// One variable decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Decision {
    /// Which one.
    pub variable: Variable,
    /// To what.
    pub value: Value,
}

/// Whether the best solution is the one that costs most or least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sense {
    /// The best solution has the greatest cost.
    Maximise,
    /// The best solution has the least cost.
    Minimise,
}

/// A problem as states and decisions.
pub trait Problem: Sync {
    /// What the decisions so far mean for the ones to come.
    ///
    /// States are compared and hashed a great deal. Small ones without pointers are the fastest.
    type State: Clone + Eq + Hash + Send + Sync;

    /// Which end of the costs is wanted.
    fn sense(&self) -> Sense {
        Sense::Maximise
    }

    /// How many variables there are.
    fn variables(&self) -> usize;

    /// The state before any decision.
    fn initial_state(&self) -> Self::State;

    /// What is counted before any decision.
    fn initial_cost(&self) -> Cost {
        0
    }

    /// The greatest amount that the cost of any sequence of decisions, or any bound on it, may come to, with either sign; `None` if
    /// it is more than 2^62. A search that could overflow is refused before it starts.
    fn cost_limit(&self) -> Option<Cost>;

    /// Which variable is decided next, for all states of a layer, after `depth` decisions. `None` if nothing is left to decide: then
    /// every state of the layer is final.
    ///
    /// The default takes them in order. If the choice depends on the states of the layer, a state must determine which variables are still to be decided: the same state is reached in diagrams that chose differently.
    fn next_variable<'a>(&self, depth: usize, layer: impl Iterator<Item = &'a Self::State>) -> Option<Variable>
    where
        Self::State: 'a,
    {
        let _ = layer;
        (depth < self.variables()).then_some(Variable(depth as u32))
    }

    /// The values that `variable` can take in `state`: calls `decide` with each. None at all means that the state leads to no solution.
    fn domain(&self, variable: Variable, state: &Self::State, decide: impl FnMut(Value));

    /// The state after a decision.
    fn transition(&self, state: &Self::State, decision: Decision) -> Self::State;

    /// What a decision adds to the cost, where `next` is the state after it.
    fn cost(&self, state: &Self::State, next: &Self::State, decision: Decision) -> Cost;

    /// Whether the variable makes a difference in `state`. If not, it gets its [`default_value`](Problem::default_value), which must be in its domain, cost nothing and leave the
    /// state as it is, and no other value may lead to anything better: an arc that skips the layer. Searches take this at its word; [`check::laws`](crate::check::laws) tries it.
    fn matters(&self, variable: Variable, state: &Self::State) -> bool {
        let _ = (variable, state);
        true
    }

    /// What a variable is where it does not [matter](Problem::matters).
    fn default_value(&self, variable: Variable) -> Value {
        let _ = variable;
        0
    }
}

/// What makes a search short: states that stand for several, quick bounds, and which states look good.
pub trait Relaxation: Problem {
    /// A state that allows every completion that any of `states` allows, at no worse a cost. There is at least one.
    fn merge<'a>(&self, states: impl Iterator<Item = &'a Self::State>) -> Self::State
    where
        Self::State: 'a;

    /// The cost of an arc that is led to `merged` instead of `next`. The default leaves it as it is.
    fn relaxed_cost(
        &self,
        state: &Self::State,
        next: &Self::State,
        merged: &Self::State,
        decision: Decision,
        cost: Cost,
    ) -> Cost {
        let _ = (state, next, merged, decision);
        cost
    }

    /// A bound on what can still be added to the cost from `state`, after `depth` decisions: no less than the best when maximising, no more when
    /// minimising. `None` if there is no telling.
    fn rough_bound(&self, depth: usize, state: &Self::State) -> Option<Cost> {
        let _ = (depth, state);
        None
    }

    /// How promising a state is, of two with the same cost so far: the greater is kept. Asked once for each state.
    fn rank(&self, state: &Self::State) -> i64 {
        let _ = state;
        0
    }
}

/// A problem in which one state can be seen to be no worse than another.
///
/// Of two states after the same number of decisions with the same key, one dominates if its cost so far is no worse and each of its coordinates is at least as
/// great. A dominated state need not be looked at.
pub trait Dominance: Problem {
    /// What two states must have alike to be compared.
    type Key: Eq + Hash + Send + Sync;

    /// The key of a state, or `None` if it is compared with nobody.
    fn key(&self, state: &Self::State) -> Option<Self::Key>;

    /// How many coordinates states have.
    fn coordinates(&self) -> usize;

    /// One of them: more is better, in the sense that every completion of a state with less is one of a state with more, at no worse a cost, and leads from there to states of which the same can be said: with the
    /// same decision, the one with more stays the one with more.
    fn coordinate(&self, state: &Self::State, index: usize) -> i64;
}
