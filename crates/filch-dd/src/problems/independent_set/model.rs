//! The independent set problem as states and decisions.

use std::fmt;

use super::super::bits::{Bits, Words};
use super::super::{invalid, list, taken, Instance, Invalid};
use super::{Graph, Rarest};
use crate::{Cost, Decision, Problem, Relaxation, Value, Variable};

/// An instance, and its model.
///
/// - **Variables**: the vertices; 1 means that the vertex is taken.
/// - **State**: the vertices that can still be taken: those that are undecided and have no
///   neighbour that was taken. What can be taken later depends on nothing else.
/// - **Order**: the vertex that the fewest states of a layer have left comes next. It does not
///   affect the other states, so the layer grows as little as possible. This keeps diagrams narrow.
///   When no state has a vertex left, nothing is left to decide.
/// - A vertex that cannot be taken does not matter: it is left out, which costs nothing and leaves
///   the state as it is.
/// - **Merge**: the union. A vertex that can be taken in one of the states can be taken in the
///   union, for the same weight.
/// - **Bound**: the weight of all vertices that are left. With
///   [`with_clique_cover`](IndependentSet::with_clique_cover), it is the weight of the heaviest
///   vertex left in each clique of a cover, because only one vertex of a clique can be taken.
#[derive(Clone, Debug)]
pub struct IndependentSet<S = Words<4>> {
    graph: Graph,
    /// For each vertex, all vertices but itself and its neighbours.
    ///
    /// These can still be taken after it.
    non_neighbours: Vec<S>,
    weights: Vec<Cost>,
    total: Cost,
    /// Whether all weights are 1, so that the weight of a set is its size.
    unit: bool,
    cover: Vec<WeightedClique<S>>,
}

/// A clique of a cover, its vertices sorted by weight, the heaviest first.
#[derive(Clone, Debug)]
struct WeightedClique<S> {
    members: S,
    heaviest: Vec<(Cost, u32)>,
}

impl<S: Bits> IndependentSet<S> {
    /// Returns the problem for a graph.
    ///
    /// # Panics
    ///
    /// If the graph has more vertices than a set `S` can hold; [`Graph::independent_set`] chooses a
    /// set type that can.
    pub fn new(graph: Graph) -> IndependentSet<S> {
        let vertices = graph.vertices();
        let mut non_neighbours: Vec<S> = (0..vertices).map(|_| S::full(vertices)).collect();
        non_neighbours.iter_mut().enumerate().for_each(|(vertex, non_neighbours)| non_neighbours.remove(vertex));
        for &(a, b) in graph.edges() {
            non_neighbours[a as usize].remove(b as usize);
            non_neighbours[b as usize].remove(a as usize);
        }
        IndependentSet::with_non_neighbours(graph, non_neighbours)
    }

    /// Returns the problem for the complement of a graph.
    ///
    /// [`Clique`](crate::problems::clique::Clique) checks its answers.
    pub(crate) fn of_complement(graph: Graph) -> IndependentSet<S> {
        let vertices = graph.vertices();
        let mut non_neighbours: Vec<S> = (0..vertices).map(|_| S::empty(vertices)).collect();
        for &(a, b) in graph.edges() {
            non_neighbours[a as usize].insert(b as usize);
            non_neighbours[b as usize].insert(a as usize);
        }
        IndependentSet::with_non_neighbours(graph, non_neighbours)
    }

    fn with_non_neighbours(graph: Graph, non_neighbours: Vec<S>) -> IndependentSet<S> {
        let weights = graph.weights().to_vec();
        let unit = weights.iter().all(|&weight| weight == 1);
        IndependentSet { total: weights.iter().sum(), graph, non_neighbours, weights, unit, cover: Vec::new() }
    }

    /// Uses a bound that is tighter but slower to compute.
    ///
    /// The vertices are divided into cliques once, greedily. Each clique counts only with the
    /// heaviest of its vertices that is left.
    pub fn with_clique_cover(mut self) -> IndependentSet<S> {
        let vertices = self.weights.len();
        let mut left = S::full(vertices);
        while let Some(first) = left.first() {
            let mut members = S::empty(vertices);
            members.insert(first);
            left.remove(first);
            // The candidates are still without a clique, and joined to all members. The next member
            // is the candidate with the most neighbours among the candidates.
            let mut joined = left.clone();
            joined.difference_with(&self.non_neighbours[first]);
            loop {
                let neighbours = |&vertex: &usize| {
                    let mut common = joined.clone();
                    common.difference_with(&self.non_neighbours[vertex]);
                    common.count()
                };
                let Some(next) = joined.iter().max_by_key(neighbours) else { break };
                members.insert(next);
                left.remove(next);
                joined.remove(next);
                joined.difference_with(&self.non_neighbours[next]);
            }
            let mut heaviest: Vec<(Cost, u32)> =
                members.iter().map(|vertex| (self.weights[vertex], vertex as u32)).collect();
            heaviest.sort_unstable_by_key(|&(weight, vertex)| (-weight, vertex));
            self.cover.push(WeightedClique { members, heaviest });
        }
        self
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    #[inline]
    fn weight_of(&self, state: &S) -> Cost {
        match self.unit {
            true => state.count() as Cost,
            false => state.iter().map(|vertex| self.weights[vertex]).sum(),
        }
    }

    #[inline]
    fn weight_of_cover(&self, state: &S) -> Cost {
        if self.unit {
            return self.cover.iter().filter(|clique| clique.members.intersects(state)).count() as Cost;
        }
        let heaviest = |clique: &WeightedClique<S>| {
            clique.heaviest.iter().find(|&&(_, vertex)| state.has(vertex as usize)).map_or(0, |&(weight, _)| weight)
        };
        self.cover.iter().map(heaviest).sum()
    }
}

impl<S: Bits> Problem for IndependentSet<S> {
    type State = S;

    fn variables(&self) -> usize {
        self.weights.len()
    }

    fn initial_state(&self) -> S {
        S::full(self.weights.len())
    }

    fn cost_limit(&self) -> Option<Cost> {
        Some(self.total)
    }

    #[inline]
    fn next_variable<'a>(&self, _: usize, layer: impl Iterator<Item = &'a S>) -> Option<Variable>
    where
        S: 'a,
    {
        let mut rarest = Rarest::new();
        layer.for_each(|state| rarest.add(state));
        rarest.find().map(|vertex| Variable(vertex as u32))
    }

    #[inline]
    fn domain(&self, variable: Variable, state: &S, mut decide: impl FnMut(Value)) {
        if state.has(variable.index()) {
            decide(1);
        }
        decide(0);
    }

    #[inline]
    fn transition(&self, state: &S, decision: Decision) -> S {
        let mut next = state.clone();
        if decision.value == 1 {
            next.intersect_with(&self.non_neighbours[decision.variable.index()]);
        } else {
            next.remove(decision.variable.index());
        }
        next
    }

    #[inline]
    fn cost(&self, _: &S, _: &S, decision: Decision) -> Cost {
        decision.value * self.weights[decision.variable.index()]
    }

    #[inline]
    fn matters(&self, variable: Variable, state: &S) -> bool {
        state.has(variable.index())
    }
}

impl<S: Bits> Relaxation for IndependentSet<S> {
    #[inline]
    fn merge<'a>(&self, states: impl Iterator<Item = &'a S>) -> S
    where
        S: 'a,
    {
        let mut all = S::empty(self.weights.len());
        states.for_each(|state| all.union_with(state));
        all
    }

    #[inline]
    fn rough_bound(&self, _: usize, state: &S) -> Option<Cost> {
        Some(if self.cover.is_empty() { self.weight_of(state) } else { self.weight_of_cover(state) })
    }

    #[inline]
    fn rank(&self, state: &S) -> i64 {
        state.count() as i64
    }
}

/// The vertices that are taken, from 0, in ascending order.
///
/// Its text has their numbers from 1, with blanks between: `2 5 9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer(pub Vec<usize>);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, self.0.iter().map(|vertex| vertex + 1))
    }
}

impl Answer {
    /// Returns the weight of the vertices, if each exists and occurs only once.
    pub(crate) fn weight(&self, graph: &Graph) -> Result<Cost, Invalid> {
        let mut seen = vec![false; graph.vertices()];
        for &vertex in &self.0 {
            match seen.get_mut(vertex) {
                None => return invalid(format!("vertex {} is taken, but there are only {}", vertex + 1, seen.len())),
                Some(true) => return invalid(format!("vertex {} is taken twice", vertex + 1)),
                Some(seen) => *seen = true,
            }
        }
        Ok(self.0.iter().map(|&vertex| graph.weights()[vertex]).sum())
    }
}

impl<S: Bits> Instance for IndependentSet<S> {
    type Answer = Answer;

    fn answer(&self, decisions: &[Decision]) -> Result<Answer, Invalid> {
        taken(self.weights.len(), decisions).map(Answer)
    }

    fn check(&self, answer: &Answer) -> Result<Cost, Invalid> {
        let weight = answer.weight(&self.graph)?;
        let mut inside = vec![false; self.graph.vertices()];
        answer.0.iter().for_each(|&vertex| inside[vertex] = true);
        match self.graph.edges().iter().find(|&&(a, b)| inside[a as usize] && inside[b as usize]) {
            Some((a, b)) => invalid(format!("vertices {} and {} are both taken, but an edge joins them", a + 1, b + 1)),
            None => Ok(weight),
        }
    }
}
