//! The problem as states and decisions.

use serde::{Deserialize, Serialize};

use super::network::{Network, Step};
use crate::{Cost, Decision, Dominance, Problem, Relaxation, Value, Variable};

/// What is on its way.
///
/// The nodes are gone through in the order of their numbers, so that all that a node gets is known when it is its turn.
///
/// - **Variables**: at a chosen node, for each incoming arc, which outgoing arc it is matched with: 0 for none, or the place of the arc among the outgoing ones, from 1. At any other node, for each outgoing arc but
///   the last, how many units go along it; the last one gets what is left.
/// - **State**: the flow on each arc that has left a node and not reached one that was decided, what is left to send at a node that splits, and which outgoing arcs of a chosen node are taken.
/// - What an arc cannot carry, or nobody could take where it leads to, stays behind and is worth nothing. So a flow never has to fit exactly, and more of it is never worse. In the end, what stayed
///   behind somewhere was never sent: the [`Answer`](super::Answer) is that flow.
/// - **Cost**: the value of what reaches a sink.
/// - **Merge**: on each arc the most that any state has; taken is only what all have taken. Less flow can do nothing that more cannot.
/// - **Bound**: every unit on its way, or still to be sent, is worth the most that can come of it; and no more than the sinks can still take.
/// - **Dominance**: of two states with the same arcs taken, the one with no less on any arc.
/// - An incoming arc without flow does not matter, nor does a way to go when nothing is left to send, unless it is the last variable of its node: then the next nodes have their turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    flow: Box<[u32]>,
    pool: u32,
    taken: u64,
}

impl Network {
    /// Sends so much along an arc; tells `sent` how much of it gets through.
    fn send(&self, state: &mut State, arc: usize, amount: u32, sent: &mut impl FnMut(usize, u32)) {
        let amount = amount.min(self.through[arc]);
        sent(arc, amount);
        if !self.out[self.arcs()[arc].to].is_empty() {
            // In a merged state there may be something already.
            state.flow[arc] = state.flow[arc].max(amount);
        }
    }

    /// What happens at the nodes from this one on until there is something to decide.
    fn pass(&self, state: &mut State, from: usize, sent: &mut impl FnMut(usize, u32)) {
        for node in from..self.nodes().len() {
            if self.nodes()[node].chosen {
                return;
            }
            // Nothing arrives at a source, and the most arcs with the most capacity stay just below 2^32: no overflow.
            state.pool = self.nodes()[node].supply;
            for &arc in &self.into[node] {
                state.pool += std::mem::take(&mut state.flow[arc]);
            }
            match self.out[node][..] {
                [] => state.pool = 0,
                [arc] => self.send_rest(state, arc, sent),
                _ => return,
            }
        }
    }

    fn send_rest(&self, state: &mut State, arc: usize, sent: &mut impl FnMut(usize, u32)) {
        let rest = std::mem::take(&mut state.pool);
        self.send(state, arc, rest, sent);
    }

    /// The state after a decision; tells `sent` of everything that is sent on the way there.
    pub(super) fn apply(&self, state: &State, decision: Decision, sent: &mut impl FnMut(usize, u32)) -> State {
        let Step { node, arc, last } = self.steps[decision.variable.index()];
        let mut next = state.clone();
        if self.nodes()[node].chosen {
            let amount = std::mem::take(&mut next.flow[arc]);
            if decision.value > 0 {
                let way = decision.value as usize - 1;
                next.taken |= 1 << way;
                self.send(&mut next, self.out[node][way], amount, sent);
            }
        } else {
            next.pool -= decision.value as u32;
            self.send(&mut next, arc, decision.value as u32, sent);
        }
        if last {
            next.taken = 0;
            if !self.nodes()[node].chosen {
                self.send_rest(&mut next, self.out[node][self.out[node].len() - 1], sent);
            }
            self.pass(&mut next, node + 1, sent);
        }
        next
    }

    /// The state before any decision; tells `sent` of what is sent before that.
    pub(super) fn begin(&self, sent: &mut impl FnMut(usize, u32)) -> State {
        let mut state = State { flow: vec![0; self.arcs().len()].into(), pool: 0, taken: 0 };
        self.pass(&mut state, 0, sent);
        state
    }
}

impl Problem for Network {
    type State = State;

    fn variables(&self) -> usize {
        self.steps.len()
    }

    fn initial_state(&self) -> State {
        self.begin(&mut |_, _| ())
    }

    fn initial_cost(&self) -> Cost {
        let mut worth = 0;
        self.begin(&mut |arc, amount| worth += Cost::from(amount) * self.value(arc));
        worth
    }

    fn cost_limit(&self) -> Option<Cost> {
        Some(self.limit)
    }

    fn domain(&self, variable: Variable, state: &State, mut decide: impl FnMut(Value)) {
        let Step { node, arc, .. } = self.steps[variable.index()];
        if !self.nodes()[node].chosen {
            let most = state.pool.min(self.through[arc]);
            return (0..=Value::from(most)).rev().for_each(decide);
        }
        if state.flow[arc] > 0 {
            for (way, &out) in self.out[node].iter().enumerate() {
                if state.taken >> way & 1 == 0 && self.through[out] > 0 {
                    decide(way as Value + 1);
                }
            }
        }
        decide(0);
    }

    fn transition(&self, state: &State, decision: Decision) -> State {
        self.apply(state, decision, &mut |_, _| ())
    }

    fn cost(&self, state: &State, _: &State, decision: Decision) -> Cost {
        let mut worth = 0;
        self.apply(state, decision, &mut |arc, amount| worth += Cost::from(amount) * self.value(arc));
        worth
    }

    fn matters(&self, variable: Variable, state: &State) -> bool {
        let Step { node, arc, last } = self.steps[variable.index()];
        last || if self.nodes()[node].chosen { state.flow[arc] > 0 } else { state.pool > 0 }
    }
}

impl Relaxation for Network {
    fn merge<'a>(&self, mut states: impl Iterator<Item = &'a State>) -> State {
        let Some(mut all) = states.next().cloned() else { return self.initial_state() };
        for state in states {
            all.flow.iter_mut().zip(&state.flow).for_each(|(mine, &other)| *mine = (*mine).max(other));
            all.pool = all.pool.max(state.pool);
            all.taken &= state.taken;
        }
        all
    }

    fn rough_bound(&self, depth: usize, state: &State) -> Option<Cost> {
        let (sources, sinks) = self.ahead[depth];
        let Some(step) = self.steps.get(depth) else { return Some(0) };
        let pool = Cost::from(state.pool) * self.best[step.node];
        let under_way = state.flow.iter().zip(self.arcs()).filter(|(&flow, _)| flow > 0);
        let under_way: Cost = under_way.map(|(&flow, arc)| Cost::from(flow) * self.best[arc.to]).sum();
        Some((sources + pool + under_way).min(sinks))
    }

    fn rank(&self, state: &State) -> i64 {
        state.flow.iter().map(|&flow| i64::from(flow)).sum::<i64>() + i64::from(state.pool)
    }
}

impl Dominance for Network {
    /// What is taken at the node whose turn it is.
    type Key = u64;

    fn key(&self, state: &State) -> Option<u64> {
        Some(state.taken)
    }

    fn coordinates(&self) -> usize {
        self.arcs().len() + 1
    }

    fn coordinate(&self, state: &State, index: usize) -> i64 {
        state.flow.get(index).copied().unwrap_or(state.pool).into()
    }
}
