//! The work at a node, the same for all contenders.
//!
//! A visit spins for the node's cost and claims the successors that are still unclaimed.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{ensure, Result};

use super::graph::Dag;
use crate::bench::busy::{spin, Calibration};
use crate::bench::random::scramble;

/// The cost of a node, besides reading its arcs.
///
/// Both variants have about the same average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeCost {
    /// All nodes cost the same.
    Uniform,
    /// A few nodes take long.
    Skewed,
}

/// The cost of a node if all cost the same, in nanoseconds.
pub(crate) const UNIFORM_NANOS: u64 = 100;
/// The cost of most nodes if a few take long, in nanoseconds.
pub(crate) const USUAL_NANOS: u64 = 20;
/// The cost of the long nodes, in nanoseconds.
pub(crate) const LONG_NANOS: u64 = 10_000;
/// One in this many nodes is long.
pub(crate) const LONG_ONE_IN: u64 = 128;

/// The cost of nodes, in steps of a spin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    usual: u64,
    long: u64,
}

impl Steps {
    /// The steps for these costs on this machine.
    pub(crate) fn of(cost: NodeCost, calibration: Calibration) -> Steps {
        let (usual, long) = match cost {
            NodeCost::Uniform => (UNIFORM_NANOS, UNIFORM_NANOS),
            NodeCost::Skewed => (USUAL_NANOS, LONG_NANOS),
        };
        Steps { usual: calibration.steps(usual), long: calibration.steps(long) }
    }
}

/// The graph and the flags of its claimed nodes.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    pub(crate) dag: &'a Dag,
    steps: Steps,
    claimed: &'a [AtomicBool],
}

/// Totals that show whether each node was visited once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visits {
    pub(crate) count: u64,
    /// A sum of scrambled node numbers. Visits of wrong nodes hardly ever give the right sum.
    pub(crate) sum: u64,
}

impl Visits {
    /// The sum of both totals.
    pub(crate) fn and(self, other: Visits) -> Visits {
        Visits { count: self.count + other.count, sum: self.sum.wrapping_add(other.sum) }
    }
}

impl<'a> Work<'a> {
    /// Clears all claims but that of the first node, where every contender begins.
    pub(crate) fn new(dag: &'a Dag, steps: Steps, claimed: &'a [AtomicBool]) -> Work<'a> {
        for (node, claimed) in claimed.iter().enumerate() {
            // Relaxed: the threads that read it start after this.
            claimed.store(node == 0, Ordering::Relaxed);
        }
        Work { dag, steps, claimed }
    }

    /// Visits a node and passes its newly claimed successors to `discover`.
    #[inline(always)]
    pub(crate) fn visit(&self, node: usize, visits: &mut Visits, mut discover: impl FnMut(usize)) {
        let mark = scramble(node as u64);
        visits.count += 1;
        visits.sum = visits.sum.wrapping_add(mark);
        let steps = if mark.is_multiple_of(LONG_ONE_IN) { self.steps.long } else { self.steps.usual };
        black_box(spin(steps, mark));
        for &next in self.dag.successors(node) {
            let claimed = &self.claimed[next as usize];
            // Relaxed, both: a flag publishes nothing but itself. The thread that claims a node
            // passes it on through a queue.
            if !claimed.load(Ordering::Relaxed) && !claimed.swap(true, Ordering::Relaxed) {
                discover(next as usize);
            }
        }
    }

    /// Checks that all nodes were visited once each.
    pub(crate) fn check(&self, visits: Visits) -> Result<()> {
        let nodes = self.dag.nodes() as u64;
        ensure!(visits.count == nodes, "{} visits were made to {nodes} nodes", visits.count);
        let sum = (0..nodes).fold(0u64, |sum, node| sum.wrapping_add(scramble(node)));
        ensure!(visits.sum == sum, "the number of visits is right, but not every node was visited once");
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
