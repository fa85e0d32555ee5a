//! The maximum (weighted) clique problem.
//!
//! Wanted is the heaviest set of vertices of a graph in which each two are joined by an edge.
//!
//! A clique is an independent set of the complement, the graph that has exactly the missing edges.
//! So the model is that of [`independent_set`](super::independent_set), and so are the
//! [format](super::independent_set#the-format) and the generator. Answers are checked in the graph
//! as it was given.
//!
//! ```
//! use filch_dd::problems::clique::{self, Answer, Clique};
//! use filch_dd::problems::Instance;
//!
//! let graph = clique::read(b"p edge 4 4\ne 1 2\ne 2 3\ne 3 1\ne 3 4\n")?;
//! let problem: Clique = Clique::new(graph);
//! assert_eq!(problem.check(&Answer(vec![0, 1, 2])), Ok(3));
//! assert_eq!(problem.check(&Answer(vec![0, 3])).unwrap_err().to_string(), "vertices 1 and 4 are both taken, but no edge joins them");
//! # Ok::<(), filch_dd::problems::ReadError>(())
//! ```

use super::bits::{Bits, Words};
use super::independent_set::IndependentSet;
use super::{invalid, Instance, Invalid};
use crate::{Cost, Decision, Problem, Relaxation, Value, Variable};

pub use super::independent_set::{random, read, Answer, Graph};

/// An instance, and its model: the [`IndependentSet`] of the complement.
#[derive(Clone, Debug)]
pub struct Clique<S = Words<4>>(IndependentSet<S>);

impl<S: Bits> Clique<S> {
    /// Returns the problem for a graph.
    ///
    /// # Panics
    ///
    /// If the graph has more vertices than a set `S` can hold; [`Graph::clique`] chooses a set type
    /// that can.
    pub fn new(graph: Graph) -> Clique<S> {
        Clique(IndependentSet::of_complement(graph))
    }

    /// Uses [a tighter bound](IndependentSet::with_clique_cover).
    pub fn with_clique_cover(self) -> Clique<S> {
        Clique(self.0.with_clique_cover())
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        self.0.graph()
    }
}

impl<S: Bits> Problem for Clique<S> {
    type State = S;

    fn variables(&self) -> usize {
        self.0.variables()
    }

    fn initial_state(&self) -> S {
        self.0.initial_state()
    }

    fn cost_limit(&self) -> Option<Cost> {
        self.0.cost_limit()
    }

    #[inline]
    fn next_variable<'a>(&self, depth: usize, layer: impl Iterator<Item = &'a S>) -> Option<Variable>
    where
        S: 'a,
    {
        self.0.next_variable(depth, layer)
    }

    #[inline]
    fn domain(&self, variable: Variable, state: &S, decide: impl FnMut(Value)) {
        self.0.domain(variable, state, decide)
    }

    #[inline]
    fn transition(&self, state: &S, decision: Decision) -> S {
        self.0.transition(state, decision)
    }

    #[inline]
    fn cost(&self, state: &S, next: &S, decision: Decision) -> Cost {
        self.0.cost(state, next, decision)
    }

    #[inline]
    fn matters(&self, variable: Variable, state: &S) -> bool {
        self.0.matters(variable, state)
    }
}

impl<S: Bits> Relaxation for Clique<S> {
    #[inline]
    fn merge<'a>(&self, states: impl Iterator<Item = &'a S>) -> S
    where
        S: 'a,
    {
        self.0.merge(states)
    }

    #[inline]
    fn rough_bound(&self, depth: usize, state: &S) -> Option<Cost> {
        self.0.rough_bound(depth, state)
    }

    #[inline]
    fn rank(&self, state: &S) -> i64 {
        self.0.rank(state)
    }
}

impl<S: Bits> Instance for Clique<S> {
    type Answer = Answer;

    fn answer(&self, decisions: &[Decision]) -> Result<Answer, Invalid> {
        self.0.answer(decisions)
    }

    fn check(&self, answer: &Answer) -> Result<Cost, Invalid> {
        let weight = answer.weight(self.graph())?;
        for (at, &a) in answer.0.iter().enumerate() {
            if let Some(b) = answer.0[..at].iter().find(|&&b| !self.graph().has_edge(a, b)) {
                let (a, b) = (a.min(*b), a.max(*b));
                return invalid(format!("vertices {} and {} are both taken, but no edge joins them", a + 1, b + 1));
            }
        }
        Ok(weight)
    }
}
