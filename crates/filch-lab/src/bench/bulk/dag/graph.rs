//! The graph: a node is known once any of its predecessors was looked at, and all can be reached from the first.

use crate::bench::random::Random;

/// A directed graph without cycles: arcs lead from smaller numbers to greater ones.
#[derive(Debug)]
pub(crate) struct Dag {
    /// Where the successors of a node begin; one more than there are nodes.
    starts: Vec<u32>,
    successors: Vec<u32>,
}

/// How many predecessors a node has that it may know of: so many arcs are drawn for each.
const PREDECESSORS: usize = 2;

impl Dag {
    /// Each node but the first has two random predecessors among those before it, which may be the same.
    pub(crate) fn random(nodes: usize, seed: u64) -> Dag {
        // The same numbers twice: once to count, once to fill.
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

    /// How many nodes there are.
    pub(crate) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where arcs of a node lead.
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
