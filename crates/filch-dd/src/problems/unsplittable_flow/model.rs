//! The unsplittable flow problem as states and decisions.

use serde::{Deserialize, Serialize};

use super::network::{Network, Step};
use crate::{Cost, Decision, Dominance, Problem, Relaxation, Value, Variable};

/// The flow that is under way.
///
/// The nodes are decided in the order of their numbers, so that all flow into a node is known when
/// its turn comes.
///
/// - **Variables**: at a chosen node, for each incoming arc, the outgoing arc that it is matched
///   with: 0 for none, or the place of the arc among the outgoing ones, from 1. At any other node,
///   for each outgoing arc but the last, how many units go along it; the last one gets what is
///   left.
/// - **State**: the flow on each arc between a node that is decided and one that is not, what is
///   left to send at a node that splits, and which outgoing arcs of a chosen node are taken.
/// - Flow that an arc cannot carry, or that cannot continue where the arc leads, stays behind and
///   is worth nothing. So a flow never has to fit exactly, and more of it is never worse. In the
///   end, flow that stayed behind counts as never sent: the [`Answer`](super::Answer) is that flow.
/// - **Cost**: the value of the flow that reaches a sink.
/// - **Merge**: on each arc the most that any state has; an outgoing arc is taken only if all
///   states have taken it. Less flow can do nothing that more cannot.
/// - **Bound**: every unit under way, or still to be sent, has the greatest value that it can
///   reach, but all together no more than the sinks can still take.
/// - **Dominance**: of two states with the same arcs taken, the one with no less on any arc.
/// - An incoming arc without flow does not matter, and neither does an outgoing arc when nothing is
///   left to send. The exception is the last variable of a node: after it the next nodes follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    flow: Box<[u32]>,
    pool: u32,
    taken: u64,
}

impl Network {
    /// Sends `amount` along an arc; calls `sent` with the part that gets through.
    fn send(&self, state: &mut State, arc: usize, amount: u32, sent: &mut impl FnMut(usize, u32)) {
        let amount = amount.min(self.through[arc]);
        sent(arc, amount);
        if !self.out[self.arcs()[arc].to].is_empty() {
            // A merged state may have flow there already.
            state.flow[arc] = state.flow[arc].max(amount);
        }
    }

    /// Passes the flow through the nodes from `from` on, until there is something to decide.
    fn pass(&self, state: &mut State, from: usize, sent: &mut impl FnMut(usize, u32)) {
        for node in from..self.nodes().len() {
            if self.nodes()[node].chosen {
                return;
            }
            // Nothing arrives at a source, and the most arcs with the most capacity stay just below
            // 2^32: no overflow.
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

    /// Returns the state after a decision.
    ///
    /// Calls `sent` with all flow that is sent on the way.
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

    /// Returns the state before any decision.
    ///
    /// Calls `sent` with all flow that is sent before that.
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
    /// The outgoing arcs taken at the current node.
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
