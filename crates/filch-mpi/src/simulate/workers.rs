//! The threads of one rank, and the open nodes that they share.
//!
//! A thread takes the youngest open node, works for as long as it costs, and then leaves its
//! children open. Contention between the threads of a rank is not simulated.

use std::collections::VecDeque;

use super::queue::Time;
use super::tree::{Node, Size, Tree};

/// The threads of a rank.
#[derive(Clone, Debug)]
pub(super) struct Workers {
    /// Open nodes, the oldest first.
    open: VecDeque<Node>,
    /// The nodes being processed, and when each will be done.
    working: Vec<(Time, Node)>,
    threads: usize,
    /// When a thread was last between two nodes.
    last_finish: Option<Time>,
    /// The work done so far.
    done: Size,
}

impl Workers {
    pub(super) fn new(threads: usize) -> Workers {
        Workers {
            open: VecDeque::new(),
            working: Vec::with_capacity(threads),
            threads,
            last_finish: None,
            done: Size::default(),
        }
    }

    /// Returns the number of nodes that are open or being processed.
    pub(super) fn load(&self) -> usize {
        self.open.len() + self.working.len()
    }

    /// Returns the number of processed nodes, and their cost.
    pub(super) fn done(&self) -> Size {
        self.done
    }

    /// Adds nodes, the oldest first, as older than the present ones.
    pub(super) fn add_nodes(&mut self, now: Time, nodes: Vec<Node>, tree: &Tree) {
        for node in nodes.into_iter().rev() {
            self.open.push_front(node);
        }
        self.start_idle_threads(now, tree);
    }

    /// Gives a share of the open nodes away, the oldest. Never all nodes of the rank.
    pub(super) fn give(&mut self, share: f64) -> Vec<Node> {
        let most = if self.working.is_empty() { self.open.len().saturating_sub(1) } else { self.open.len() };
        let wanted = (self.open.len() as f64 * share).ceil() as usize;
        self.open.drain(..wanted.min(most)).collect()
    }

    /// Returns whether a thread is between two nodes, or no thread has a node.
    pub(super) fn is_between_nodes(&self, now: Time) -> bool {
        self.last_finish == Some(now) || self.working.is_empty()
    }

    /// Returns when the next thread finishes its node.
    pub(super) fn next_finish(&self) -> Option<Time> {
        self.working.iter().map(|(until, _)| *until).min()
    }

    /// Works up to and including `limit`. Returns when all nodes were done, if that is by then.
    pub(super) fn work_until(&mut self, limit: Time, tree: &Tree) -> Option<Time> {
        let mut last = None;
        while let Some((place, until)) = self.first_done() {
            if until > limit {
                return None;
            }
            let (_, node) = self.working.swap_remove(place);
            self.done.add(node, tree.cost(node));
            let open = &mut self.open;
            tree.children(node, |child| open.push_back(child));
            self.start_idle_threads(until, tree);
            self.last_finish = Some(until);
            last = Some(until);
        }
        last
    }

    /// Each thread without a node takes the youngest open node.
    fn start_idle_threads(&mut self, now: Time, tree: &Tree) {
        while self.working.len() < self.threads {
            let Some(node) = self.open.pop_back() else { return };
            self.working.push((now + tree.cost(node), node));
        }
    }

    fn first_done(&self) -> Option<(usize, Time)> {
        self.working.iter().enumerate().map(|(place, (until, _))| (place, *until)).min_by_key(|(_, until)| *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::tests::made_up_recording;

    fn run_to_the_end(threads: usize, tree: &Tree) -> (Time, Size) {
        let mut workers = Workers::new(threads);
        workers.add_nodes(0, vec![tree.root()], tree);
        let mut limit = 0;
        loop {
            limit += 1_000_000;
            if let Some(end) = workers.work_until(limit, tree) {
                assert!(end <= limit && workers.load() == 0);
                return (end, workers.done());
            }
        }
    }

    #[test]
    fn one_thread_takes_the_cost_of_all_nodes() {
        let tree = Tree::recorded(&made_up_recording(2_000, 1));
        assert_eq!(run_to_the_end(1, &tree), (tree.size().work, tree.size()));
    }

    #[test]
    fn two_threads_take_about_half_as_long() {
        let tree = Tree::recorded(&made_up_recording(2_000, 1));
        let (end, done) = run_to_the_end(2, &tree);
        assert_eq!(done, tree.size());
        let ratio = end as f64 / tree.size().work as f64;
        assert!((0.5..0.55).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_rank_gives_its_oldest_nodes_and_never_its_last() {
        let tree = Tree::recorded(&made_up_recording(2_000, 1));
        let mut workers = Workers::new(1);
        workers.add_nodes(0, vec![tree.root()], &tree);
        assert!(workers.give(1.0).is_empty(), "its only node is being processed");
        workers.work_until(tree.cost(tree.root()), &tree);
        let open: Vec<Node> = workers.open.iter().copied().collect();
        assert!(open.len() >= 2);
        assert_eq!(workers.give(0.5), open[..open.len().div_ceil(2)]);
    }
}
