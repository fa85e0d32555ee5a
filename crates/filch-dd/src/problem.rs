//! The traits that describe a problem.
//!
//! A problem is a sequence of decisions, one for each variable. A state is what the decisions so
//! far mean for the ones to come: two sequences that lead to the same state can be completed in the
//! same ways. [`Problem`] describes that, and is enough to enumerate. [`Relaxation`] adds what
//! makes the enumeration short: a state that stands for several, and a quick bound. [`Dominance`]
//! is for problems in which a state can be recognised as no worse than another.

use core::fmt;
use core::hash::Hash;

use serde::{Deserialize, Serialize};

/// The cost or the value of a solution; see [`Problem::sense`].
pub type Cost = i64;

/// The value of a variable.
pub type Value = i64;

/// A variable, by its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variable(pub u32);

impl Variable {
    /// Returns its number as an index.
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

/// A variable and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Decision {
    /// The variable that is decided.
    pub variable: Variable,
    /// The value that it gets.
    pub value: Value,
}

/// Whether the best solution has the greatest or the least cost.
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
    /// States are compared and hashed very often. Small states without pointers are the fastest.
    type State: Clone + Eq + Hash + Send + Sync;

    /// Returns whether the greatest or the least cost is wanted.
    fn sense(&self) -> Sense {
        Sense::Maximise
    }

    /// Returns the number of variables.
    fn variables(&self) -> usize;

    /// Returns the state before any decision.
    fn initial_state(&self) -> Self::State;

    /// Returns the cost before any decision.
    fn initial_cost(&self) -> Cost {
        0
    }

    /// Returns the greatest absolute value that any cost or bound may reach.
    ///
    /// This includes the cost of every sequence of decisions, and every bound on it. `None` if it
    /// is more than 2^62. A search that could overflow is refused before it starts.
    fn cost_limit(&self) -> Option<Cost>;

    /// Returns the variable to decide next, for all states of a layer, after `depth` decisions.
    ///
    /// `None` if nothing is left to decide: then every state of the layer is final.
    ///
    /// The default takes the variables in order. If the choice depends on the states of the layer,
    /// a state must determine which variables are still undecided. The reason is that diagrams with
    /// different choices reach the same state.
    fn next_variable<'a>(&self, depth: usize, layer: impl Iterator<Item = &'a Self::State>) -> Option<Variable>
    where
        Self::State: 'a,
    {
        let _ = layer;
        (depth < self.variables()).then_some(Variable(depth as u32))
    }

    /// Calls `decide` with each value that `variable` can take in `state`.
    ///
    /// If there is none, the state leads to no solution.
    fn domain(&self, variable: Variable, state: &Self::State, decide: impl FnMut(Value));

    /// Returns the state after a decision.
    fn transition(&self, state: &Self::State, decision: Decision) -> Self::State;

    /// Returns what a decision adds to the cost; `next` is the state after it.
    fn cost(&self, state: &Self::State, next: &Self::State, decision: Decision) -> Cost;

    /// Returns whether the variable makes a difference in `state`.
    ///
    /// If not, the variable gets its [`default_value`](Problem::default_value), and its arc skips
    /// the layer. The law, which [`check::laws`](crate::check::laws) tests: the default value is in
    /// the domain and costs nothing, every value leaves the state as it is, and no value improves
    /// the cost.
    fn matters(&self, variable: Variable, state: &Self::State) -> bool {
        let _ = (variable, state);
        true
    }

    /// Returns the value of a variable where it does not [matter](Problem::matters).
    fn default_value(&self, variable: Variable) -> Value {
        let _ = variable;
        0
    }
}

/// What makes a search short: merged states, quick bounds, and a ranking of states.
pub trait Relaxation: Problem {
    /// Returns a state that allows every completion that any of `states` allows.
    ///
    /// No completion may have a worse cost than before. There is at least one state.
    fn merge<'a>(&self, states: impl Iterator<Item = &'a Self::State>) -> Self::State
    where
        Self::State: 'a;

    /// Returns the cost of an arc that leads to `merged` instead of `next`.
    ///
    /// The default leaves the cost as it is.
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

    /// Returns a bound on what can still be added to the cost from `state`.
    ///
    /// `depth` is the number of decisions so far. The bound is no less than the best when
    /// maximising, and no more when minimising. `None` if no bound is known.
    fn rough_bound(&self, depth: usize, state: &Self::State) -> Option<Cost> {
        let _ = (depth, state);
        None
    }

    /// Returns how promising a state is.
    ///
    /// Of two states with the same cost so far, the one with the greater rank is kept. Called once
    /// for each state.
    fn rank(&self, state: &Self::State) -> i64 {
        let _ = state;
        0
    }
}

/// A problem in which a state can be recognised as no worse than another.
///
/// Two states are compared if they come after the same number of decisions and have the same key.
/// One dominates if its cost so far is no worse and each of its coordinates is at least as great. A
/// dominated state need not be explored.
pub trait Dominance: Problem {
    /// What two states must have in common to be compared.
    type Key: Eq + Hash + Send + Sync;

    /// Returns the key of a state, or `None` if it is never compared.
    fn key(&self, state: &Self::State) -> Option<Self::Key>;

    /// Returns the number of coordinates of a state.
    fn coordinates(&self) -> usize;

    /// Returns a coordinate of a state: more is better.
    ///
    /// Every completion of a state with less must also be a completion of a state with more, at no
    /// worse a cost. The same must hold for the states that it leads to: after the same decision,
    /// the state with more still has more.
    fn coordinate(&self, state: &Self::State, index: usize) -> i64;
}
