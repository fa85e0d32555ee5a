//! A tiny search with the port that a member uses.
//!
//! It carries out requests at once. Its reports arrive later.

use std::collections::VecDeque;

use filch_dd::Cost;

use super::super::defect::Defect;
use super::super::message::{Package, Status};

/// A set of nodes, one bit each.
pub(super) type Nodes = u8;

/// A node of the tree: the bound of its subtree, its solution, and its children.
pub(super) struct Node {
    pub(super) bound: Cost,
    pub(super) solution: Option<Cost>,
    pub(super) children: Nodes,
}

/// A tree with solutions at nodes 1 and 3. Two ranks may find them at the same time. Either
/// solution allows node 4 to be dropped, and the solution of node 3 allows node 1 to be dropped.
pub(super) const TREE: [Node; 5] = [
    Node { bound: 9, solution: None, children: 0b01110 },
    Node { bound: 5, solution: Some(5), children: 0 },
    Node { bound: 7, solution: None, children: 0b10000 },
    Node { bound: 6, solution: Some(6), children: 0 },
    Node { bound: 4, solution: None, children: 0 },
];

pub(super) const ALL: Nodes = (1 << TREE.len()) - 1;

pub(super) fn each(nodes: Nodes) -> impl DoubleEndedIterator<Item = usize> + Clone {
    (0..TREE.len()).filter(move |node| nodes & (1 << node) != 0)
}

/// Returns these nodes and all below them.
pub(super) fn below(nodes: Nodes) -> Nodes {
    each(nodes).fold(nodes, |all, node| all | below(TREE[node].children))
}

pub(super) fn pack(nodes: Nodes) -> Vec<Package> {
    each(nodes).map(|node| Package::new(1, TREE[node].bound, vec![node as u8])).collect()
}

/// Returns the nodes of packages; `None` if a node is there twice.
pub(super) fn unpack(packages: &[Package]) -> Option<Nodes> {
    packages.iter().try_fold(0, |nodes, package| {
        let node = 1 << package.bytes()[0];
        (nodes & node == 0).then_some(nodes | node)
    })
}

/// A report of the search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Report {
    Given(Nodes),
    Snapshot(Nodes),
    Found(Cost),
    Idle { delivered: u64 },
    Ended(Nodes),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Search {
    pub(super) open: Nodes,
    /// The nodes that were processed or dropped, and all nodes below the dropped ones.
    pub(super) done: Nodes,
    pub(super) explored: u64,
    pub(super) best: Option<Cost>,
    /// The best solution for which a node was dropped.
    pub(super) dropped_for: Option<Cost>,
    delivered: u64,
    idle: bool,
    pub(super) ended: bool,
    pub(super) reports: VecDeque<Report>,
    defect: Option<Defect>,
}

impl Search {
    pub(super) fn new(open: Nodes, defect: Option<Defect>) -> Self {
        let mut search = Search {
            open,
            done: 0,
            explored: 0,
            best: None,
            dropped_for: None,
            delivered: 0,
            idle: false,
            ended: false,
            reports: VecDeque::new(),
            defect,
        };
        search.report_if_idle();
        search
    }

    pub(super) fn status(&self) -> Status {
        Status {
            open: u64::from(self.open.count_ones()),
            explored: self.explored,
            bound: each(self.open).map(|node| TREE[node].bound).max(),
        }
    }

    /// Processes a node.
    pub(super) fn process(&mut self, node: usize) {
        self.open &= !(1 << node);
        self.explored += 1;
        let Node { bound, solution, children } = TREE[node];
        if self.best.is_some_and(|best| best >= bound) {
            self.dropped_for = self.best;
            self.done |= below(1 << node);
        } else {
            self.done |= 1 << node;
            self.open |= children;
            if solution > self.best {
                self.best = solution;
                self.reports.extend(solution.map(Report::Found));
            }
        }
        self.report_if_idle();
    }

    pub(super) fn deliver(&mut self, nodes: Nodes) {
        self.delivered += 1;
        self.idle = false;
        self.open |= nodes;
        self.report_if_idle();
    }

    pub(super) fn ask(&mut self) {
        let spare = self.open.count_ones() / 2;
        let given = each(self.open).take(spare as usize).fold(0, |given, node| given | 1 << node);
        self.open &= !given;
        self.reports.push_back(Report::Given(given));
    }

    pub(super) fn tell(&mut self, worth: Cost) {
        self.best = self.best.max(Some(worth));
    }

    pub(super) fn snapshot(&mut self) {
        self.reports.push_back(Report::Snapshot(self.open));
        if self.defect == Some(Defect::FoundAfterFrontier) {
            // Solutions that are not yet reported come after it.
            let (found, rest) = self.reports.drain(..).partition(|report| matches!(report, Report::Found(_)));
            self.reports = rest;
            let found: VecDeque<Report> = found;
            self.reports.extend(found);
        }
    }

    pub(super) fn end(&mut self) {
        if !self.ended {
            self.ended = true;
            self.reports.push_back(Report::Ended(self.open));
        }
    }

    fn report_if_idle(&mut self) {
        if self.open == 0 && !self.idle {
            self.idle = true;
            self.reports.push_back(Report::Idle { delivered: self.delivered });
        }
    }
}
