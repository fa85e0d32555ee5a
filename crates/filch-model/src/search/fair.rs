//! Finds runs that never end although every thread makes progress.
//!
//! stateright's `eventually` does not see a run that ends in a cycle. So this module builds the
//! whole graph and examines its strongly connected components. A run is (weakly) fair if no step
//! stays possible forever without being made. A step here is a thread's next step, the draining of
//! its buffer, or the writing of its egress slot.
//!
//! A run that stays in a component forever and visits all of it is fair if each step is made
//! somewhere in the component, or is impossible somewhere in it. A smaller component inside has
//! fewer of both. So if the largest component that contains a cycle is not fair, no smaller one
//! within it is fair. It is enough to examine the strongly connected components.

use std::collections::{HashMap, VecDeque};

use super::graph::Graph;
use super::{Claim, Counterexample};
use crate::machine::{Action, Machine};

/// Returns a fair run that never ends, if there is one.
pub fn endless(machine: &Machine) -> Option<Counterexample> {
    let graph = Graph::of(machine);
    let mut member = vec![u32::MAX; graph.len()];
    let mut best: Option<(Vec<Action>, Vec<Action>)> = None;
    for (number, component) in components(&graph).iter().enumerate() {
        for state in component {
            member[*state as usize] = number as u32;
        }
        let inside = |state: u32| member[state as usize] == number as u32;
        if let Some(cycle) = fair_cycle(machine, &graph, component, &inside) {
            let path = graph.path_to(component[0]);
            if best.as_ref().is_none_or(|(shortest, _)| path.len() < shortest.len()) {
                best = Some((path, cycle));
            }
        }
    }
    best.map(|(path, cycle)| {
        let repeats_from = Some(path.len());
        Counterexample { claim: Claim::Ends, steps: [path, cycle].concat(), repeats_from }
    })
}

/// Returns the strongly connected components that have a step inside, each as its states. Uses
/// Tarjan's algorithm without recursion.
fn components(graph: &Graph) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let count = graph.len();
    let (mut order, mut low) = (vec![UNSEEN; count], vec![0u32; count]);
    let mut open = vec![false; count];
    let (mut stack, mut components, mut next) = (Vec::new(), Vec::new(), 0);
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..count as u32 {
        if order[root as usize] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some((state, step)) = path.last_mut() {
            let at = *state as usize;
            if *step == 0 && order[at] == UNSEEN {
                (order[at], low[at], open[at]) = (next, next, true);
                next += 1;
                stack.push(*state);
            }
            if let Some((_, target)) = graph.steps_of(*state).get(*step) {
                *step += 1;
                let to = *target as usize;
                if order[to] == UNSEEN {
                    path.push((*target, 0));
                } else if open[to] {
                    low[at] = low[at].min(order[to]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                low[*parent as usize] = low[*parent as usize].min(low[at]);
            }
            if low[at] == order[at] {
                let begin = stack.iter().rposition(|member| *member as usize == at).expect("the state is on the stack");
                let component = stack.split_off(begin);
                for member in &component {
                    open[*member as usize] = false;
                }
                if component.len() > 1 || graph.steps_of(component[0]).iter().any(|(_, target)| *target == component[0])
                {
                    components.push(component);
                }
            }
        }
    }
    components
}

/// Returns a cycle through the component that is fair when it repeats. The cycle starts and ends in
/// the component's first state. Returns `None` if no such cycle exists.
fn fair_cycle(
    machine: &Machine,
    graph: &Graph,
    component: &[u32],
    inside: &dyn Fn(u32) -> bool,
) -> Option<Vec<Action>> {
    let threads = machine.threads().len() as u8;
    let kinds: [fn(u8) -> Action; 3] = [Action::Run, Action::Drain, Action::Write];
    let (mut cycle, mut at) = (Vec::new(), component[0]);
    for action in (0..threads).flat_map(|thread| kinds.map(|kind| kind(thread))) {
        let possible = |state: u32| graph.steps_of(state).iter().any(|(step, _)| *step == action);
        if component.iter().any(|state| !possible(*state)) {
            at = walk(graph, at, inside, &mut cycle, &|state| !possible(state));
        } else {
            let made =
                |state: u32| graph.steps_of(state).iter().find(|(step, to)| *step == action && inside(*to)).copied();
            component.iter().find(|state| made(**state).is_some())?;
            at = walk(graph, at, inside, &mut cycle, &|state| made(state).is_some());
            let (step, target) = made(at).expect("the walk ends in a state with this step");
            cycle.push(step);
            at = target;
        }
    }
    if cycle.is_empty() {
        let (step, target) = graph.steps_of(at).iter().find(|(_, to)| inside(*to)).copied()?;
        cycle.push(step);
        at = target;
    }
    walk(graph, at, inside, &mut cycle, &|state| state == component[0]);
    Some(cycle)
}

/// Walks inside a component to the nearest matching state, and returns that state.
fn walk(
    graph: &Graph,
    from: u32,
    inside: &dyn Fn(u32) -> bool,
    path: &mut Vec<Action>,
    is_target: &dyn Fn(u32) -> bool,
) -> u32 {
    let mut parents = HashMap::from([(from, None)]);
    let mut pending = VecDeque::from([from]);
    while let Some(state) = pending.pop_front() {
        if is_target(state) {
            let (mut back, mut at) = (Vec::new(), state);
            while let Some((parent, action)) = parents[&at] {
                back.push(action);
                at = parent;
            }
            path.extend(back.into_iter().rev());
            return state;
        }
        for (action, target) in graph.steps_of(state) {
            if inside(*target) && !parents.contains_key(target) {
                parents.insert(*target, Some((state, *action)));
                pending.push_back(*target);
            }
        }
    }
    unreachable!("every state of a component can be reached from every other");
}
