//! The listings of the published bulk queue, one access to the queue at a time.

use std::fmt;

/// A node. Nodes are numbered from 1, like the tasks of the model.
pub(super) type Node = usize;

/// `_queue_limit_` of listing 4, which the paper leaves open.
const QUEUE_LIMIT: usize = 1;

/// Listing 1.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) size: usize,
    head: Option<Node>,
    /// The link in each node.
    next: Vec<Option<Node>>,
}

/// A batch to push: its first node, its last node, and their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    start: Node,
    end: Node,
    n: usize,
}

/// The result of a steal: nulls and 0 if nothing was stolen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stolen {
    pub(super) begin: Option<Node>,
    pub(super) end: Option<Node>,
    pub(super) count: usize,
}

/// One access to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) listing: u8,
    pub(super) line: u8,
    pub(super) kind: AccessKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessKind {
    LoadHead(Option<Node>),
    StoreHead(Option<Node>),
    LoadNext(Node, Option<Node>),
    StoreNext(Node, Option<Node>),
    LoadSize(usize),
    /// The old size and the new size.
    ChangeSize(usize, usize),
}

impl Queue {
    fn load_head(&self, listing: u8, line: u8) -> (Option<Node>, Access) {
        (self.head, Access { listing, line, kind: AccessKind::LoadHead(self.head) })
    }

    fn store_head(&mut self, node: Option<Node>, listing: u8, line: u8) -> Access {
        self.head = node;
        Access { listing, line, kind: AccessKind::StoreHead(node) }
    }

    fn load_next(&self, of: Node, listing: u8, line: u8) -> (Option<Node>, Access) {
        (self.next[of], Access { listing, line, kind: AccessKind::LoadNext(of, self.next[of]) })
    }

    fn store_next(&mut self, of: Node, node: Option<Node>, listing: u8, line: u8) -> Access {
        self.next[of] = node;
        Access { listing, line, kind: AccessKind::StoreNext(of, node) }
    }

    fn load_size(&self, listing: u8, line: u8) -> (usize, Access) {
        (self.size, Access { listing, line, kind: AccessKind::LoadSize(self.size) })
    }

    /// A `fetch_add` or a `fetch_sub`. Both wrap.
    fn change_size(&mut self, to: impl FnOnce(usize) -> usize, listing: u8, line: u8) -> Access {
        let old = self.size;
        self.size = to(old);
        Access { listing, line, kind: AccessKind::ChangeSize(old, self.size) }
    }

    /// Links new nodes to a batch.
    pub(super) fn link(&mut self, start: Node, end: Node) -> Batch {
        self.next.resize(self.next.len().max(end + 1), None);
        for node in start..end {
            self.next[node] = Some(node + 1);
        }
        Batch { start, end, n: end + 1 - start }
    }
}

/// The owner's position in listing 2: before an access of that line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Push {
    Line4Load,
    Line4Store { head: Option<Node> },
    Line5,
    Line6,
    Returned,
}

impl Push {
    pub(super) fn step(self, nodes: Batch, queue: &mut Queue) -> (Push, Access) {
        match self {
            Push::Line4Load => {
                let (head, access) = queue.load_head(2, 4);
                (Push::Line4Store { head }, access)
            }
            Push::Line4Store { head } => (Push::Line5, queue.store_next(nodes.end, head, 2, 4)),
            Push::Line5 => (Push::Line6, queue.store_head(Some(nodes.start), 2, 5)),
            Push::Line6 => (Push::Returned, queue.change_size(|size| size.wrapping_add(nodes.n), 2, 6)),
            Push::Returned => unreachable!("a push that has returned makes no step"),
        }
    }
}

/// The owner's position in listing 3.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pop {
    Line2,
    Line4Load { rv: Node },
    Line4Store { rv: Node, next: Option<Node> },
    Line5 { rv: Node },
    Line6 { rv: Node },
    Returned(Option<Node>),
}

impl Pop {
    pub(super) fn step(self, queue: &mut Queue) -> (Pop, Access) {
        match self {
            Pop::Line2 => {
                let (head, access) = queue.load_head(3, 2);
                // Line 3.
                (head.map_or(Pop::Returned(None), |rv| Pop::Line4Load { rv }), access)
            }
            Pop::Line4Load { rv } => {
                let (next, access) = queue.load_next(rv, 3, 4);
                (Pop::Line4Store { rv, next }, access)
            }
            Pop::Line4Store { rv, next } => (Pop::Line5 { rv }, queue.store_head(next, 3, 4)),
            Pop::Line5 { rv } => (Pop::Line6 { rv }, queue.change_size(|size| size.wrapping_sub(1), 3, 5)),
            Pop::Line6 { rv } => (Pop::Returned(Some(rv)), queue.store_next(rv, None, 3, 6)),
            Pop::Returned(_) => unreachable!("a pop that has returned makes no step"),
        }
    }
}

/// The thief's position in listing 4.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steal {
    Line4 { proportion: f64 },
    Line12 { sz: usize, n_skip: usize },
    Line14 { sz: usize, k: usize, n_skip: usize, start: Node },
    Line21 { sz: usize, k: usize, start: Node },
    Line26 { start: Node },
    Line27 { start: Node, begin: Option<Node> },
    Line28 { begin: Option<Node> },
    Line35 { begin: Option<Node>, end: Node, count: usize },
    Line36 { begin: Option<Node>, end: Node, count: usize },
    Line38 { stolen: Stolen },
    Returned(Stolen),
}

impl Steal {
    const NOTHING: Steal = Steal::Returned(Stolen { begin: None, end: None, count: 0 });

    pub(super) fn step(self, queue: &mut Queue) -> (Steal, Access) {
        match self {
            Steal::Line4 { proportion } => {
                let (sz, access) = queue.load_size(4, 4);
                // Lines 3, 5 and 7.
                let n_skip = (sz as f64 * (1.0 - proportion)) as usize;
                (if sz < QUEUE_LIMIT { Steal::NOTHING } else { Steal::Line12 { sz, n_skip } }, access)
            }
            Steal::Line12 { sz, n_skip } => {
                let (start, access) = queue.load_head(4, 12);
                (Steal::walk(sz, n_skip, n_skip, start), access)
            }
            Steal::Line14 { sz, k, n_skip, start } => {
                let (next, access) = queue.load_next(start, 4, 14);
                (Steal::walk(sz, k, n_skip - 1, next), access)
            }
            Steal::Line21 { sz, k, start } => {
                let (ssz, access) = queue.load_size(4, 21);
                // Line 22.
                (if ssz <= sz - (k >> 1) { Steal::NOTHING } else { Steal::Line26 { start } }, access)
            }
            Steal::Line26 { start } => {
                let (begin, access) = queue.load_next(start, 4, 26);
                (Steal::Line27 { start, begin }, access)
            }
            Steal::Line27 { start, begin } => (Steal::Line28 { begin }, queue.store_next(start, None, 4, 27)),
            Steal::Line28 { begin } => {
                let access = queue.change_size(|size| size, 4, 28);
                (Steal::count(begin, begin, 0), access)
            }
            Steal::Line35 { begin, end, count } => {
                let (next, access) = queue.load_next(end, 4, 35);
                let last = Steal::Line38 { stolen: Stolen { begin, end: Some(end), count } };
                (next.map_or(last, |_| Steal::Line36 { begin, end, count }), access)
            }
            Steal::Line36 { begin, end, count } => {
                let (next, access) = queue.load_next(end, 4, 36);
                (Steal::count(begin, next, count), access)
            }
            Steal::Line38 { stolen } => {
                (Steal::Returned(stolen), queue.change_size(|size| size.wrapping_sub(stolen.count), 4, 38))
            }
            Steal::Returned(_) => unreachable!("a steal that has returned makes no step"),
        }
    }

    /// Lines 13 and 18 of the listing. The thief continues with the next node or with the size, or
    /// returns nothing.
    fn walk(sz: usize, k: usize, n_skip: usize, start: Option<Node>) -> Steal {
        match start {
            Some(start) if n_skip > 0 => Steal::Line14 { sz, k, n_skip, start },
            Some(start) => Steal::Line21 { sz, k, start },
            None => Steal::NOTHING,
        }
    }

    /// Lines 31 to 34: counts the next node, if there is one.
    fn count(begin: Option<Node>, end: Option<Node>, count: usize) -> Steal {
        match end {
            Some(end) => Steal::Line35 { begin, end, count: count + 1 },
            None => Steal::Line38 { stolen: Stolen { begin, end, count } },
        }
    }

    /// The node that the thief has just counted as stolen.
    pub(super) fn counted(self) -> Option<Node> {
        match self {
            Steal::Line35 { end, .. } => Some(end),
            _ => None,
        }
    }
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessKind::LoadHead(node) => write!(f, "reads head: {}", link(*node)),
            AccessKind::StoreHead(node) => write!(f, "writes head: {}", link(*node)),
            AccessKind::LoadNext(of, node) => write!(f, "reads the link in node {of}: {}", link(*node)),
            AccessKind::StoreNext(of, node) => write!(f, "writes the link in node {of}: {}", link(*node)),
            AccessKind::LoadSize(size) => write!(f, "reads size: {size}"),
            AccessKind::ChangeSize(old, new) => write!(f, "changes size from {old} to {new}"),
        }
    }
}

pub(super) fn link(node: Option<Node>) -> String {
    node.map_or("null".to_owned(), |node| format!("node {node}"))
}
