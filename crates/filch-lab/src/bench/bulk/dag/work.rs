//! What is done at a node, the same for everybody: it takes its time, and claims the successors that nobody has claimed.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{ensure, Result};

use super::graph::Dag;
use crate::bench::busy::{spin, Calibration};
use crate::bench::random::scramble;

/// What a node costs, beside the look at its arcs. Both come to about the same on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeCost {
    /// All the same.
    Uniform,
    /// Few that take long.
    Skewed,
}

/// What a node takes if all are alike, in nanoseconds.
pub(crate) const UNIFORM_NANOS: u64 = 100;
/// What most nodes take if they are not.
pub(crate) const USUAL_NANOS: u64 = 20;
/// What the others take.
pub(crate) const LONG_NANOS: u64 = 10_000;
/// One of so many is one of the others.
pub(crate) const LONG_ONE_IN: u64 = 128;

/// How long nodes take, in steps of a spin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    usual: u64,
    long: u64,
}

impl Steps {
    /// On this machine.
    pub(crate) fn of(cost: NodeCost, calibration: Calibration) -> Steps {
        let (usual, long) = match cost {
            NodeCost::Uniform => (UNIFORM_NANOS, UNIFORM_NANOS),
            NodeCost::Skewed => (USUAL_NANOS, LONG_NANOS),
        };
        Steps { usual: calibration.steps(usual), long: calibration.steps(long) }
    }
}

/// The graph, and which of its nodes were claimed.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    pub(crate) dag: &'a Dag,
    steps: Steps,
    claimed: &'a [AtomicBool],
}

/// What visits came to: enough to tell whether each node was visited once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visits {
    pub(crate) count: u64,
    /// A sum of scrambled numbers: it is hard to get right by visiting the wrong nodes.
    pub(crate) sum: u64,
}

impl Visits {
    /// With those of somebody else.
    pub(crate) fn and(self, other: Visits) -> Visits {
        Visits { count: self.count + other.count, sum: self.sum.wrapping_add(other.sum) }
    }
}

impl<'a> Work<'a> {
    /// Nothing is claimed but the first node, which everybody begins with.
    pub(crate) fn new(dag: &'a Dag, steps: Steps, claimed: &'a [AtomicBool]) -> Work<'a> {
        for (node, claimed) in claimed.iter().enumerate() {
            // Relaxed: threads that see it are started after this.
            claimed.store(node == 0, Ordering::Relaxed);
        }
        Work { dag, steps, claimed }
    }

    /// Visits a node, and gives its successors that were not claimed before to `discover`.
    #[inline(always)]
    pub(crate) fn visit(&self, node: usize, visits: &mut Visits, mut discover: impl FnMut(usize)) {
        let mark = scramble(node as u64);
        visits.count += 1;
        visits.sum = visits.sum.wrapping_add(mark);
        let steps = if mark.is_multiple_of(LONG_ONE_IN) { self.steps.long } else { self.steps.usual };
        black_box(spin(steps, mark));
        for &next in self.dag.successors(node) {
            let claimed = &self.claimed[next as usize];
            // Relaxed, both: a flag is about itself. Who claims a node tells others of it through a queue.
            if !claimed.load(Ordering::Relaxed) && !claimed.swap(true, Ordering::Relaxed) {
                discover(next as usize);
            }
        }
    }

    /// Whether these are visits of all nodes, once each.
    pub(crate) fn check(&self, visits: Visits) -> Result<()> {
        let nodes = self.dag.nodes() as u64;
        ensure!(visits.count == nodes, "{} visits were made to {nodes} nodes", visits.count);
        let sum = (0..nodes).fold(0u64, |sum, node| sum.wrapping_add(scramble(node)));
        ensure!(visits.sum == sum, "as many visits were made as there are nodes, but not one to each");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_missed_or_visited_twice_is_noticed() {
        let dag = Dag::random(50, 1);
        let claimed: Vec<AtomicBool> = (0..50).map(|_| AtomicBool::new(true)).collect();
        let work = Work::new(&dag, Steps { usual: 0, long: 0 }, &claimed);
        let of = |nodes: &[u64]| {
            nodes.iter().fold(Visits::default(), |sum, &node| sum.and(Visits { count: 1, sum: scramble(node) }))
        };
        let mut nodes: Vec<u64> = (0..50).collect();
        assert!(work.check(of(&nodes)).is_ok());
        assert!(work.check(of(&nodes[1..])).is_err());
        nodes[7] = 8;
        assert!(work.check(of(&nodes)).is_err());
    }
}
