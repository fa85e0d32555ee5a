//! The guarantees of one diagram, checked by enumeration below its root and its cutset.

use super::{Compiled, Diagram, Halt, Host, Task};
use crate::cache::Cache;
use crate::model::Model;
use crate::problem::{Cost, Decision, Problem, Relaxation};
use crate::solver::{Cutset, OpenNode, Step, Trail};
use crate::tiny::{best_below, Dice, IndependentSet, Jobs, Knapsack};

/// Keeps the solutions, and raises its floor with them or not.
struct RecordingHost {
    floor: Cost,
    raise: bool,
    found: Vec<(Cost, Vec<Decision>)>,
    layers: usize,
    stop_after: usize,
}

impl RecordingHost {
    fn new(floor: Cost, raise: bool) -> Self {
        RecordingHost { floor, raise, found: Vec::new(), layers: 0, stop_after: usize::MAX }
    }
}

impl Host for RecordingHost {
    fn floor(&self) -> Cost {
        self.floor
    }

    fn stop(&mut self) -> bool {
        self.layers += 1;
        self.layers > self.stop_after
    }

    fn found(&mut self, cost: Cost, decisions: &[Decision]) -> Result<(), Halt> {
        assert!(cost > self.floor, "a solution that is no better than the floor was reported");
        if self.raise {
            self.floor = cost;
        }
        self.found.push((cost, decisions.to_vec()));
        Ok(())
    }
}

fn root<P: Relaxation>(problem: &P) -> OpenNode<P::State> {
    let cost = Model::new(problem).convert_sense(problem.initial_cost()).unwrap();
    OpenNode {
        state: problem.initial_state(),
        cost,
        bound: Cost::MAX,
        depth: 0,
        step: Step::ROOT,
        trail: Trail::root(),
    }
}

/// Returns the best cost that an open node can reach, in the engine's sense.
fn best_of<P: Relaxation>(problem: &P, open: &OpenNode<P::State>) -> Option<Cost> {
    let model = Model::new(problem);
    let cost = model.convert_sense(open.cost).unwrap();
    best_below(problem, open.depth as usize, &open.state, cost).map(|best| model.convert_sense(best).unwrap())
}

/// Takes decisions from the problem's initial state. Returns the state and cost there.
fn retrace<P: Relaxation>(problem: &P, path: &[Decision]) -> (P::State, Cost) {
    let (mut state, mut cost) = (problem.initial_state(), problem.initial_cost());
    for &decision in path {
        let mut allowed = false;
        problem.domain(decision.variable, &state, |value| allowed |= value == decision.value);
        assert!(allowed, "{decision:?} is not allowed where it is taken");
        let next = problem.transition(&state, decision);
        cost += problem.cost(&state, &next, decision);
        state = next;
    }
    (state, Model::new(problem).convert_sense(cost).unwrap())
}

fn path_to<S>(open: &OpenNode<S>) -> Vec<Decision> {
    let mut path = Vec::new();
    open.trail.walk_up(open.step, |decision| path.push(decision));
    path.reverse();
    path
}

/// Builds diagrams from the root down, one below the other, and checks each.
fn check<P: Relaxation>(problem: &P, what: &str, dice: &mut Dice)
where
    P::State: core::fmt::Debug,
{
    let mut diagram = Diagram::new();
    for cutset in [Cutset::LastExactLayer, Cutset::Frontier] {
        for round in 0..12 {
            let width = 1 + dice.roll(5) as usize;
            let eager = dice.roll(2) == 0;
            let raise = dice.roll(2) == 0;
            let what = format!("{what}, {cutset:?}, width {width}, eager {eager}, raise {raise}, round {round}");
            let cached = dice.roll(2) == 0;
            let mut open = root(problem);
            loop {
                let best = best_of(problem, &open);
                // A floor below the best, as searches have it, or none.
                let floor = match best {
                    Some(best) if dice.roll(2) == 0 => best - 1 - dice.roll(3) as Cost,
                    _ => Cost::MIN,
                };
                let model = Model::new(problem);
                // For this one diagram only: what it learns must not prune its own nodes.
                let cache = cached.then(Cache::new);
                let task = Task { model, root: &open, width, cutset, cache: cache.as_ref(), dominance: None, eager };
                let mut host = RecordingHost::new(floor, raise);
                let compiled = diagram.compile(&task, &mut host).unwrap();
                let mut left = Vec::new();
                if compiled == Compiled::Open {
                    diagram.drain_cutset(&task, host.floor, &mut left).unwrap();
                }
                for (cost, decisions) in &host.found {
                    assert!(best.is_some_and(|best| *cost <= best), "{what}: a solution better than the best");
                    let path = [&path_to(&open)[..], decisions].concat();
                    assert_eq!(retrace(problem, &path).1, *cost, "{what}: the solution's path");
                }
                let mut covered = host.found.iter().map(|(cost, _)| *cost).max();
                for node in &left {
                    assert!(node.depth > open.depth, "{what}: the node is not deeper than its root");
                    assert!(node.bound > host.floor, "{what}: the bound is not above the floor");
                    assert_eq!(retrace(problem, &path_to(node)), (node.state.clone(), node.cost), "{what}: the trail");
                    let below = best_of(problem, node);
                    assert!(below.is_none_or(|below| below <= node.bound.max(host.floor)), "{what}: a bound too low");
                    covered = covered.max(below);
                }
                if let Some(best) = best.filter(|&best| best > floor) {
                    assert_eq!(covered, Some(best), "{what}: the best is neither found nor in the cutset");
                }
                if left.is_empty() {
                    break;
                }
                let next = dice.roll(left.len() as u64) as usize;
                open = left.swap_remove(next);
            }
        }
    }
}

#[test]
fn a_cutset_covers_all_better_solutions_and_its_bounds_and_trails_are_valid() {
    let mut dice = Dice::new(17);
    for seed in 0..80 {
        let (long_arcs, rough) = (seed % 2 == 1, seed % 3 > 0);
        check(&Knapsack::random(seed, long_arcs, rough), &format!("knapsack {seed}"), &mut dice);
        check(&IndependentSet::random(seed, long_arcs, rough), &format!("independent set {seed}"), &mut dice);
        check(&Jobs::random(seed, long_arcs, rough), &format!("jobs {seed}"), &mut dice);
    }
}

#[test]
fn a_stopped_diagram_returns_stopped_and_does_not_affect_the_next_one() {
    let problem = Knapsack::random(5, false, false);
    let mut diagram = Diagram::new();
    let open = root(&problem);
    let model = Model::new(&problem);
    let cutset = Cutset::Frontier;
    let task = Task { model, root: &open, width: 3, cutset, cache: None, dominance: None, eager: true };
    for layers in 0..problem.variables() {
        let mut host = RecordingHost { stop_after: layers, ..RecordingHost::new(Cost::MIN, true) };
        assert!(matches!(diagram.compile(&task, &mut host), Err(Halt::Stopped)), "after {layers} layers");
    }
    let task = Task { width: 1000, ..task };
    let mut host = RecordingHost::new(Cost::MIN, true);
    assert_eq!(diagram.compile(&task, &mut host).unwrap(), Compiled::Done);
    assert_eq!(host.found.last().map(|(cost, _)| *cost), best_of(&problem, &open));
}
