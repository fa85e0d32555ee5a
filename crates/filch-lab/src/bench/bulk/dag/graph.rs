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
        let mut starts = vec![0u32; nodes + 1];
        for (from, _) in arcs() {
            starts[from + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut successors = vec![0; starts[nodes] as usize];
        for (from, to) in arcs() {
            successors[next[from] as usize] = to;
            next[from] += 1;
        }
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
