//! The graph of all states of a machine, in breadth-first order.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use super::{Claim, Counterexample};
use crate::machine::{Action, Machine, State};

/// Every reachable state of a machine, by number, and the steps between them.
pub struct Graph {
    /// The index in `steps` where the steps of each state begin.
    begins: Vec<usize>,
    steps: Vec<(Action, u32)>,
    /// The step that first led to each state, and its previous state.
    parents: Vec<Option<(u32, Action)>>,
    /// States in which all threads have ended.
    over: Vec<State>,
}

impl Graph {
    /// Explores a machine.
    pub fn of(machine: &Machine) -> Self {
        Graph::up_to(machine, |_| false).0
    }

    /// Explores a machine breadth-first, up to the first matching state. Returns the number of that
    /// state, if there is one.
    fn up_to(machine: &Machine, mut is_target: impl FnMut(&State) -> bool) -> (Self, Option<u32>) {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let initial = machine.initial().clone();
        let mut numbers = HashMap::from([(hasher.hash_one(&initial), 0u32)]);
        let mut graph = Graph { begins: vec![0], steps: Vec::new(), parents: vec![None], over: Vec::new() };
        let mut pending = VecDeque::from([initial]);
        let mut number = 0;
        while let Some(state) = pending.pop_front() {
            if is_target(&state) {
                return (graph, Some(number));
            }
            machine.each_action(&state, |action| {
                let next = machine.after(&state, action);
                let fresh = graph.parents.len() as u32;
                let target = *numbers.entry(hasher.hash_one(&next)).or_insert(fresh);
                if target == fresh {
                    graph.parents.push(Some((number, action)));
                    pending.push_back(next);
                }
                graph.steps.push((action, target));
            });
            graph.begins.push(graph.steps.len());
            if machine.is_over(&state) {
                graph.over.push(state);
            }
            number += 1;
        }
        (graph, None)
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Returns whether there are no states. There is always at least one.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The states in which all threads have ended and all buffers are empty.
    pub fn over(&self) -> &[State] {
        &self.over
    }

    pub(super) fn steps_of(&self, state: u32) -> &[(Action, u32)] {
        &self.steps[self.begins[state as usize]..self.begins[state as usize + 1]]
    }

    /// The shortest path to a state.
    pub(super) fn path_to(&self, mut state: u32) -> Vec<Action> {
        let mut path = Vec::new();
        while let Some((from, action)) = self.parents[state as usize] {
            path.push(action);
            state = from;
        }
        path.reverse();
        path
    }
}

/// The shortest run to a state that breaks a claim, if there is one.
pub(super) fn shortest(machine: &Machine) -> Option<Counterexample> {
    let mut broken = None;
    let (graph, found) = Graph::up_to(machine, |state| {
        broken = Claim::broken_in(machine, state);
        broken.is_some()
    });
    let (claim, state) = (broken?, found?);
    Some(Counterexample { claim, steps: graph.path_to(state), repeats_from: None })
}
