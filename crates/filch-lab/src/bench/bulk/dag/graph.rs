//! The graph that is explored.
//!
//! A node is discovered once any of its predecessors is visited. All nodes can be reached from the
//! first.

use crate::bench::random::Random;

/// A directed acyclic graph: arcs lead from smaller numbers to greater ones.
#[derive(Debug)]
pub(crate) struct Dag {
    /// The index of each node's first successor, and the end of the last node's successors.
    starts: Vec<u32>,
    successors: Vec<u32>,
}

/// The number of arcs that are drawn into each node but the first.
const PREDECESSORS: usize = 2;

/// The most nodes of a graph: indices of arcs have 32 bits.
pub(crate) const MOST_NODES: usize = 2_000_000_000;
/// The memory of a graph, in bytes per node: a start and its arcs.
pub(super) const BYTES_A_NODE: usize = size_of::<u32>() * (1 + PREDECESSORS);

impl Dag {
    /// A graph whose nodes each have two random predecessors with smaller numbers.
    ///
    /// The two may be the same. The first node has none.
    pub(crate) fn random(nodes: usize, seed: u64) -> Dag {
        // The same numbers are drawn twice: once to count, once to fill.
        let arcs = || {
            let mut random = Random::new(seed);
            (1..nodes as u32)
                .flat_map(move |node| [(); PREDECESSORS].map(|()| (random.below(u64::from(node)) as usize, node)))
        };
        // While arcs are filled in, the entry behind a node's start is its next free index. In the
        // end that is the start of the following node. So no second array is needed.
        let mut starts = vec![0u32; nodes + 2];
        for (from, _) in arcs() {
            starts[from + 2] += 1;
        }
        for node in 0..nodes {
            starts[node + 2] += starts[node + 1];
        }
        let mut successors = vec![0; starts[nodes + 1] as usize];
        for (from, to) in arcs() {
            successors[starts[from + 1] as usize] = to;
            starts[from + 1] += 1;
        }
        starts.pop();
        Dag { starts, successors }
    }

    /// The number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The successors of a node.
    #[inline]
    pub(crate) fn successors(&self, node: usize) -> &[u32] {
        &self.successors[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_but_the_first_has_two_predecessors_before_it() {
        let dag = Dag::random(1_000, 7);
        assert_eq!(dag.nodes(), 1_000);
        let mut known = vec![0; 1_000];
        for node in 0..1_000 {
            for &next in dag.successors(node) {
                assert!(next as usize > node);
                known[next as usize] += 1;
            }
        }
        assert_eq!(known[0], 0);
        assert!(known[1..].iter().all(|&known| known == PREDECESSORS));
    }
}
