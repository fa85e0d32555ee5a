//! Replays the run that refutes the published bulk queue. The replay uses a Rust version of its
//! listings.
//!
//! The Rust version does not use the machine or the program in `published.tso`. Owner and thief are
//! functions that make one access to the queue at a time, and a schedule chooses the next side. The
//! schedule is the counterexample of the search, step by step. A test compares the access of each
//! step with the access on the machine.

use std::fmt;

use super::published;
use crate::machine::Machine;
use crate::models::Case;
use crate::search::{self, Counterexample, Effort};

/// A node. Nodes are numbered from 1, like the tasks of the model.
type Node = usize;

/// `_queue_limit_` of listing 4, which the paper leaves open.
const QUEUE_LIMIT: usize = 1;

/// Listing 1.
#[derive(Debug, Default)]
struct Queue {
    size: usize,
    head: Option<Node>,
    /// The link in each node.
    next: Vec<Option<Node>>,
}

/// A batch to push: its first node, its last node, and their number.
#[derive(Clone, Copy, Debug)]
struct Batch {
    start: Node,
    end: Node,
    n: usize,
}

/// The result of a steal: nulls and 0 if nothing was stolen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stolen {
    begin: Option<Node>,
    end: Option<Node>,
    count: usize,
}

/// One access to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    listing: u8,
    line: u8,
    kind: AccessKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessKind {
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
    fn link(&mut self, start: Node, end: Node) -> Batch {
        self.next.resize(self.next.len().max(end + 1), None);
        for node in start..end {
            self.next[node] = Some(node + 1);
        }
        Batch { start, end, n: end + 1 - start }
    }
}

/// The owner's position in listing 2: before an access of that line.
#[derive(Clone, Copy, Debug)]
enum Push {
    Line4Load,
    Line4Store { head: Option<Node> },
    Line5,
    Line6,
    Returned,
}

impl Push {
    fn step(self, nodes: Batch, queue: &mut Queue) -> (Push, Access) {
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
enum Pop {
    Line2,
    Line4Load { rv: Node },
    Line4Store { rv: Node, next: Option<Node> },
    Line5 { rv: Node },
    Line6 { rv: Node },
    Returned(Option<Node>),
}

impl Pop {
    fn step(self, queue: &mut Queue) -> (Pop, Access) {
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
enum Steal {
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

    fn step(self, queue: &mut Queue) -> (Steal, Access) {
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
    fn counted(self) -> Option<Node> {
        match self {
            Steal::Line35 { end, .. } => Some(end),
            _ => None,
        }
    }
}

/// The two sides of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Owner,
    Thief,
}

/// A queue and its two sides.
#[derive(Debug)]
struct Simulation {
    queue: Queue,
    /// The owner's first push, if it pushes.
    pushes: Option<(Batch, Push)>,
    /// The owner's pops, until nothing is left.
    pop: Pop,
    steal: Steal,
    replay: Replay,
}

impl Simulation {
    /// Creates a queue of `before` nodes, at least one. The owner will push `pushed` more as a
    /// batch.
    fn new(before: usize, pushed: usize, proportion: f64) -> Self {
        let mut queue = Queue::default();
        let (nodes, mut push) = (queue.link(1, before), Push::Line4Load);
        while !matches!(push, Push::Returned) {
            (push, _) = push.step(nodes, &mut queue);
        }
        let pushes = (pushed > 0).then(|| (queue.link(before + 1, before + pushed), Push::Line4Load));
        Simulation { queue, pushes, pop: Pop::Line2, steal: Steal::Line4 { proportion }, replay: Replay::default() }
    }

    /// Makes one access by a side. Returns `None` if the side has ended.
    fn step(&mut self, side: Side) -> Option<Access> {
        let access = match side {
            Side::Owner => self.step_owner(),
            Side::Thief => self.step_thief(),
        }?;
        self.replay.steps.push((side, access));
        self.replay.size = self.queue.size;
        Some(access)
    }

    fn step_owner(&mut self) -> Option<Access> {
        if let Some((nodes, push)) = self.pushes {
            let (next, access) = push.step(nodes, &mut self.queue);
            self.pushes = (!matches!(next, Push::Returned)).then_some((nodes, next));
            return Some(access);
        }
        if let Pop::Returned(None) = self.pop {
            return None;
        }
        let (mut next, access) = self.pop.step(&mut self.queue);
        if let Pop::Returned(Some(node)) = next {
            self.replay.popped.push(node);
            next = Pop::Line2;
        }
        self.pop = next;
        Some(access)
    }

    fn step_thief(&mut self) -> Option<Access> {
        if let Steal::Returned(_) = self.steal {
            return None;
        }
        let (next, access) = self.steal.step(&mut self.queue);
        self.replay.stolen.extend(next.counted());
        if let Steal::Returned(stolen) = next {
            self.replay.returned = Some(stolen);
        }
        self.steal = next;
        Some(access)
    }

    fn finish(&mut self, side: Side) {
        while self.step(side).is_some() {}
    }
}

/// A run of the published queue: its accesses, and the nodes of each side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    steps: Vec<(Side, Access)>,
    popped: Vec<Node>,
    stolen: Vec<Node>,
    /// The result of the steal, when it has returned.
    returned: Option<Stolen>,
    size: usize,
}

impl Replay {
    /// The nodes that the owner's pops returned.
    pub fn popped(&self) -> &[usize] {
        &self.popped
    }

    /// The nodes that the thief counted as stolen.
    pub fn stolen(&self) -> &[usize] {
        &self.stolen
    }

    /// The nodes that both sides extracted.
    pub fn doubled(&self) -> Vec<usize> {
        self.stolen.iter().copied().filter(|node| self.popped.contains(node)).collect()
    }
}

/// Replays the shortest run in which the published queue extracts a node twice. Searches for the
/// run, replays it on the Rust version, and then runs each side to its end.
pub fn replay() -> Replay {
    let case = &published::models()[0].cases[0];
    let (machine, example) = counterexample(case);
    let mut simulation = simulation_of(case);
    for side in schedule(&machine, &example) {
        simulation.step(side);
    }
    simulation.finish(Side::Thief);
    simulation.finish(Side::Owner);
    simulation.replay
}

/// The shortest run that refutes a case of the published queue.
fn counterexample(case: &Case) -> (Machine, Counterexample) {
    assert_eq!(case.parameters.bound, 0, "the replay has no store buffers");
    let machine = published::models()[0].machine(case).expect("published.tso must compile");
    let outcome = search::run(&machine, Effort { threads: 1, ends: false }, &mut |_| {});
    (machine, outcome.counterexample.expect("the search must refute the published queue"))
}

/// The scenario of a case with a share of one half.
fn simulation_of(case: &Case) -> Simulation {
    let pushed = case.settings.iter().find(|(name, _)| *name == "PUSHED").map_or(0, |(_, value)| *value);
    Simulation::new((case.parameters.tasks - pushed) as usize, pushed as usize, 0.5)
}

/// The side of each step of a counterexample. Without store buffers every step of the machine is
/// one access by one thread.
fn schedule(machine: &Machine, example: &Counterexample) -> Vec<Side> {
    let sides: Vec<Side> =
        machine.threads().map(|name| if name == "owner" { Side::Owner } else { Side::Thief }).collect();
    example.steps.iter().map(|action| sides[action.thread()]).collect()
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (side, access)) in self.steps.iter().enumerate() {
            let side = if *side == Side::Owner { "owner" } else { "thief" };
            writeln!(
                f,
                "{:>3}  {side}  listing {}, line {:>2}   {}",
                number + 1,
                access.listing,
                access.line,
                access.kind
            )?;
        }
        writeln!(f, "The owner popped {}; the thief stole {}.", listed(&self.popped), listed(&self.stolen))?;
        if let Some(Stolen { begin, end, count }) = self.returned {
            writeln!(f, "The steal returned: from {} to {}, {count} nodes.", link(begin), link(end))?;
        }
        match self.doubled().as_slice() {
            [] => write!(f, "No node was extracted by both.")?,
            doubled => write!(f, "Extracted by both: {}.", listed(doubled))?,
        }
        writeln!(f, " The size is {}.", self.size)
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

fn link(node: Option<Node>) -> String {
    node.map_or("null".to_owned(), |node| format!("node {node}"))
}

fn listed(nodes: &[Node]) -> String {
    let nodes: Vec<String> = nodes.iter().map(|node| link(Some(*node))).collect();
    if nodes.is_empty() {
        "nothing".to_owned()
    } else {
        nodes.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Event;
    use crate::search::Claim;

    /// The event on the machine for an access.
    fn machine_event(kind: AccessKind) -> Event {
        let number = |node: Option<Node>| node.unwrap_or(0) as i16;
        let loaded = |word: String, value| Event::Loaded { word, value, forwarded: false };
        match kind {
            AccessKind::LoadHead(node) => loaded("head".to_owned(), number(node)),
            AccessKind::LoadNext(of, node) => loaded(format!("next[{of}]"), number(node)),
            AccessKind::LoadSize(size) => loaded("size".to_owned(), size as i16),
            AccessKind::StoreHead(node) => Event::Stored { word: "head".to_owned(), value: number(node) },
            AccessKind::StoreNext(of, node) => Event::Stored { word: format!("next[{of}]"), value: number(node) },
            AccessKind::ChangeSize(old, new) => {
                Event::Exchanged { word: "size".to_owned(), old: old as i16, new: new as i16 }
            }
        }
    }

    /// Replays the counterexample of a case, and compares every access.
    fn played(case: &Case) -> Simulation {
        let (machine, example) = counterexample(case);
        assert_eq!(example.claim, Claim::AtMostOnce);
        let mut simulation = simulation_of(case);
        let mut state = machine.initial().clone();
        for (action, side) in example.steps.iter().zip(schedule(&machine, &example)) {
            let (next, events) = machine.observe(&state, *action);
            let access = simulation.step(side).expect("the machine goes on, and so does the rendering");
            assert_eq!(
                machine_event(access.kind),
                events[0].1,
                "{side:?}, listing {}, line {}",
                access.listing,
                access.line
            );
            state = next;
        }
        simulation
    }

    #[test]
    fn in_the_counterexample_both_sides_extract_the_same_node() {
        let cases = &published::models()[0].cases;
        let sequential = cases.iter().filter(|case| case.parameters.bound == 0 && case.refuted.is_some());
        let halves = sequential.filter(|case| case.settings.iter().all(|(name, _)| *name == "PUSHED"));
        let simulations: Vec<Simulation> = halves.map(played).collect();
        assert_eq!(simulations.len(), 2, "with and without a push during the steal");
        for simulation in simulations {
            assert_eq!(simulation.replay.doubled().len(), 1, "{}", simulation.replay);
        }
    }

    #[test]
    fn at_the_end_both_sides_have_the_node_and_the_size_has_wrapped() {
        let replay = replay();
        println!("{replay}");
        assert_eq!(replay.popped(), [1, 2, 3, 4]);
        assert_eq!(replay.stolen(), [4]);
        assert_eq!(replay.returned, Some(Stolen { begin: Some(4), end: Some(4), count: 1 }));
        assert_eq!(replay.doubled(), [4]);
        assert_eq!(replay.size, usize::MAX);
        assert!(replay.to_string().contains("listing 4, line 27"));
    }

    #[test]
    fn a_steal_between_two_operations_of_the_owner_extracts_no_node_twice() {
        for (before, pushed) in [(1, 0), (4, 0), (8, 0), (8, 3), (3, 8), (20, 0)] {
            for proportion in [0.1, 0.5, 0.9] {
                let mut most_stolen = 0;
                for operations in 0..=before + pushed {
                    let mut simulation = Simulation::new(before, pushed, proportion);
                    while simulation.replay.popped.len() < operations && simulation.step(Side::Owner).is_some() {}
                    simulation.finish(Side::Thief);
                    simulation.finish(Side::Owner);
                    let Replay { mut popped, stolen, size, .. } = simulation.replay;
                    most_stolen = most_stolen.max(stolen.len());
                    popped.extend(stolen);
                    popped.sort_unstable();
                    assert!(popped.into_iter().eq(1..=before + pushed), "each of them once");
                    assert_eq!(size, 0);
                }
                // The thief steals half of at least four nodes, because the check of the size
                // requires two skipped nodes.
                assert!(
                    most_stolen > 0 || before < 4 || proportion != 0.5,
                    "no node is stolen, of {before} and {pushed}"
                );
            }
        }
    }
}
