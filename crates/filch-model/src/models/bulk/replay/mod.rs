//! Replays the run that refutes the published bulk queue. The replay uses a Rust version of its
//! listings.
//!
//! The Rust version does not use the machine or the program in `published.tso`. Owner and thief are
//! functions that make one access to the queue at a time, and a schedule chooses the next side. The
//! schedule is the counterexample of the search, step by step. A test compares the access of each
//! step with the access on the machine.

mod listings;

use std::fmt;

use self::listings::{link, Access, Batch, Node, Pop, Push, Queue, Steal, Stolen};
use super::published;
use crate::machine::Machine;
use crate::models::Case;
use crate::search::{self, Counterexample, Effort};

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
    use super::listings::AccessKind;
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
