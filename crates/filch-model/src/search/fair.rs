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
    for (number, part) in parts(&graph).iter().enumerate() {
        for state in part {
            member[*state as usize] = number as u32;
        }
        let inside = |state: u32| member[state as usize] == number as u32;
        if let Some(round) = fair_round(machine, &graph, part, &inside) {
            let way = graph.way_to(part[0]);
            if best.as_ref().is_none_or(|(shortest, _)| way.len() < shortest.len()) {
                best = Some((way, round));
            }
        }
    }
    best.map(|(way, round)| {
        let repeats_from = Some(way.len());
        Counterexample { claim: Claim::Ends, steps: [way, round].concat(), repeats_from }
    })
}

/// Returns the strongly connected components that have a step inside, each as its states. Uses
/// Tarjan's algorithm without recursion.
fn parts(graph: &Graph) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let count = graph.len();
    let (mut order, mut low) = (vec![UNSEEN; count], vec![0u32; count]);
    let mut open = vec![false; count];
    let (mut stack, mut parts, mut next) = (Vec::new(), Vec::new(), 0);
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
                let begin = stack.iter().rposition(|member| *member as usize == at).expect("it is open");
                let part = stack.split_off(begin);
                for member in &part {
                    open[*member as usize] = false;
                }
                if part.len() > 1 || graph.steps_of(part[0]).iter().any(|(_, target)| *target == part[0]) {
                    parts.push(part);
                }
            }
        }
    }
    parts
}

/// Returns a cycle through the component that is fair when it repeats. The cycle starts and ends in
/// the component's first state. Returns `None` if no such cycle exists.
fn fair_round(machine: &Machine, graph: &Graph, part: &[u32], inside: &dyn Fn(u32) -> bool) -> Option<Vec<Action>> {
    let threads = machine.threads().len() as u8;
    let kinds: [fn(u8) -> Action; 3] = [Action::Run, Action::Drain, Action::Write];
    let (mut round, mut at) = (Vec::new(), part[0]);
    for action in (0..threads).flat_map(|thread| kinds.map(|kind| kind(thread))) {
        let possible = |state: u32| graph.steps_of(state).iter().any(|(step, _)| *step == action);
        if part.iter().any(|state| !possible(*state)) {
            at = walk(graph, at, inside, &mut round, &|state| !possible(state));
        } else {
            let made =
                |state: u32| graph.steps_of(state).iter().find(|(step, to)| *step == action && inside(*to)).copied();
            part.iter().find(|state| made(**state).is_some())?;
            at = walk(graph, at, inside, &mut round, &|state| made(state).is_some());
            let (step, target) = made(at).expect("it was walked to");
            round.push(step);
            at = target;
        }
    }
    if round.is_empty() {
        let (step, target) = graph.steps_of(at).iter().find(|(_, to)| inside(*to)).copied()?;
        round.push(step);
        at = target;
    }
    walk(graph, at, inside, &mut round, &|state| state == part[0]);
    Some(round)
}

/// Walks inside a component to the nearest matching state, and returns that state.
fn walk(
    graph: &Graph,
    from: u32,
    inside: &dyn Fn(u32) -> bool,
    way: &mut Vec<Action>,
    will_do: &dyn Fn(u32) -> bool,
) -> u32 {
    let mut parents = HashMap::from([(from, None)]);
    let mut pending = VecDeque::from([from]);
    while let Some(state) = pending.pop_front() {
        if will_do(state) {
            let (mut back, mut at) = (Vec::new(), state);
            while let Some((parent, action)) = parents[&at] {
                back.push(action);
                at = parent;
            }
            way.extend(back.into_iter().rev());
            return state;
        }
        for (action, target) in graph.steps_of(state) {
            if inside(*target) && !parents.contains_key(target) {
                parents.insert(*target, Some((state, *action)));
                pending.push_back(*target);
            }
        }
    }
    unreachable!("every state of a part can be reached from every other");
}
