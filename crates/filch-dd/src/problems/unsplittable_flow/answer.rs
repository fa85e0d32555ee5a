//! A flow, and how it is checked.

use std::fmt;

use super::super::{invalid, values, Instance, Invalid};
use super::network::Network;
use crate::{Cost, Decision, Problem};

/// A flow, and the matched arcs at the chosen nodes.
///
/// Its text has a line `f ARC FLOW` for each arc with flow. It has a line `m ARC ARC` for each
/// incoming arc with flow of a chosen node and the outgoing arc that it was matched with. Arcs are
/// numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The flow of each arc.
    pub flow: Vec<u32>,
    /// Incoming and outgoing arcs of chosen nodes, from 0.
    pub matched: Vec<(usize, usize)>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flows = self.flow.iter().enumerate().filter(|(_, &flow)| flow > 0);
        let flows = flows.map(|(arc, flow)| format!("f {} {flow}", arc + 1));
        let matched = self.matched.iter().map(|(from, to)| format!("m {} {}", from + 1, to + 1));
        let lines: Vec<String> = flows.chain(matched).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl Network {
    /// Removes the flow that stayed behind on the way, from the sinks to the sources.
    fn trim(&self, answer: &mut Answer) {
        for node in (0..self.nodes().len()).rev().filter(|&node| !self.out[node].is_empty()) {
            if self.nodes()[node].chosen {
                for &arc in &self.into[node] {
                    let out = answer.matched.iter().find(|(from, _)| *from == arc).map(|&(_, out)| out);
                    answer.flow[arc] = out.map_or(0, |out| answer.flow[out]);
                }
            } else {
                let mut wanted: u32 = self.out[node].iter().map(|&arc| answer.flow[arc]).sum();
                for &arc in &self.into[node] {
                    answer.flow[arc] = answer.flow[arc].min(wanted);
                    wanted -= answer.flow[arc];
                }
            }
        }
        answer.matched.retain(|&(from, _)| answer.flow[from] > 0);
    }

    /// Checks that each arc with flow at a chosen node is matched exactly once.
    ///
    /// The caller has checked that matched arcs have the same flow.
    fn check_matched(&self, node: usize, answer: &Answer) -> Result<(), Invalid> {
        let name = node + 1;
        for (side, arcs) in [(0, &self.into[node]), (1, &self.out[node])] {
            for &arc in arcs {
                let has = |&&(from, to): &&(usize, usize)| [from, to][side] == arc;
                let times = answer.matched.iter().filter(has).count();
                if times > 1 {
                    return invalid(format!("arc {} is matched {times} times at node {name}", arc + 1));
                }
                if times == 0 && answer.flow[arc] > 0 {
                    return invalid(format!(
                        "arc {} carries {} at node {name}, but is not matched",
                        arc + 1,
                        answer.flow[arc]
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Instance for Network {
    type Answer = Answer;

    fn answer(&self, decisions: &[Decision]) -> Result<Answer, Invalid> {
        let values = values(self.variables(), decisions)?;
        let mut answer = Answer { flow: vec![0; self.arcs().len()], matched: Vec::new() };
        let mut state = self.begin(&mut |arc, amount| answer.flow[arc] = amount);
        for (at, value) in values.into_iter().enumerate() {
            let variable = crate::Variable(at as u32);
            let decision = Decision { variable, value: value.unwrap_or(self.default_value(variable)) };
            let mut allowed = false;
            self.domain(variable, &state, |value| allowed |= value == decision.value);
            if !allowed {
                return invalid(format!("{variable} = {} is not in the domain", decision.value));
            }
            let step = self.steps[at];
            if self.nodes()[step.node].chosen && decision.value > 0 {
                answer.matched.push((step.arc, self.out[step.node][decision.value as usize - 1]));
            }
            state = self.apply(&state, decision, &mut |arc, amount| answer.flow[arc] = amount);
        }
        self.trim(&mut answer);
        Ok(answer)
    }

    fn check(&self, answer: &Answer) -> Result<Cost, Invalid> {
        if answer.flow.len() != self.arcs().len() {
            return invalid(format!(
                "there are flows for {} arcs, but the network has {}",
                answer.flow.len(),
                self.arcs().len()
            ));
        }
        for &(from, to) in &answer.matched {
            let node = self.arcs().get(from).map(|arc| arc.to);
            if node.is_none()
                || node != self.arcs().get(to).map(|arc| arc.from)
                || node.is_some_and(|node| !self.nodes()[node].chosen)
            {
                return invalid(format!(
                    "arcs {} and {} are matched, but do not meet at a chosen node",
                    from + 1,
                    to + 1
                ));
            }
            if answer.flow[from] != answer.flow[to] {
                return invalid(format!(
                    "arcs {} and {} are matched, but carry {} and {}",
                    from + 1,
                    to + 1,
                    answer.flow[from],
                    answer.flow[to]
                ));
            }
        }
        for (at, (arc, &flow)) in self.arcs().iter().zip(&answer.flow).enumerate() {
            if flow > arc.capacity {
                return invalid(format!("arc {} carries {flow}, but can carry only {}", at + 1, arc.capacity));
            }
        }
        let mut worth = 0;
        for (at, node) in self.nodes().iter().enumerate() {
            let total = |arcs: &[usize]| arcs.iter().map(|&arc| u64::from(answer.flow[arc])).sum::<u64>();
            let (arrives, leaves) = (total(&self.into[at]), total(&self.out[at]));
            match (self.into[at].is_empty(), self.out[at].is_empty()) {
                (true, _) if leaves > u64::from(node.supply) => {
                    return invalid(format!("node {} sends {leaves}, but has only {}", at + 1, node.supply));
                }
                (false, false) if arrives != leaves => {
                    return invalid(format!("{arrives} arrive at node {}, and {leaves} leave", at + 1));
                }
                (_, true) => worth += arrives as Cost * Cost::from(node.value),
                _ => {}
            }
            if node.chosen {
                self.check_matched(at, answer)?;
            }
        }
        Ok(worth)
    }
}
