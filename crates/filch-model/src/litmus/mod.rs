//! Litmus tests: small programs with known outcomes, which test the [machine](crate::machine).
//!
//! An outcome is the values that the loads of a run saw, and the values in memory at its end. Every
//! test lists its outcomes, and what each outcome [needs](Needs). Most outcomes occur on every
//! machine; some occur only if a load can overtake a number of stores of its own thread. Outcomes
//! that a test does not list are forbidden. [`all`] has
//!
//! - the classic shapes and those of the x86-TSO paper, which distinguish SC from TSO,
//! - coherence, which no buffer changes,
//! - what the bound S and the egress slot of section 7.3 add,
//! - and the lock, the locked instructions and the process-wide barrier.

mod bound;
mod classic;
mod coherence;
mod lock;
mod x86;

use std::collections::BTreeSet;

use crate::language::Settings;
use crate::machine::{Buffer, Claims, Coalescing, Machine};
use crate::search::graph::Graph;

/// The values of an outcome, in the order of [`Litmus::shown`].
pub type Outcome = Vec<i16>;

/// A small program and all its outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Litmus {
    /// The name in the literature.
    pub name: &'static str,
    /// What the test is about, and which outcome is allowed where.
    pub about: &'static str,
    /// The program.
    pub text: &'static str,
    /// The ghosts and the words of memory that form an outcome.
    pub shown: &'static [&'static str],
    /// All outcomes, grouped by what they need. Each has a digit for each shown name.
    pub outcomes: &'static [(Needs, &'static str)],
}

/// What a machine must have for an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing. The outcome is possible under sequential consistency too.
    Nothing,
    /// A load can overtake this many stores to different lines. S must be that large, or one less
    /// if there is an egress slot.
    Overtakes(u8),
    /// A load can overtake this many stores to one word. S must be that large, or there must be an
    /// egress slot, in which all the stores become one.
    OvertakesOneWord(u8),
    /// A load can overtake this many stores to different words of one line. The requirement is as
    /// for [`Needs::Overtakes`], or that the egress slot holds a line.
    OvertakesOneLine(u8),
}

impl Needs {
    /// Returns whether a machine with these buffers allows the outcome.
    pub fn are_met_by(self, buffer: Buffer) -> bool {
        let bound = buffer.capacity();
        let at_most = bound + usize::from(buffer.egress().is_some());
        match self {
            Needs::Nothing => true,
            Needs::Overtakes(stores) => usize::from(stores) <= at_most,
            Needs::OvertakesOneWord(stores) => usize::from(stores) <= bound || buffer.egress().is_some(),
            Needs::OvertakesOneLine(stores) => {
                usize::from(stores) <= at_most || buffer.egress() == Some(Coalescing::Line)
            }
        }
    }
}

impl Litmus {
    /// Returns the test as a machine with these buffers.
    pub fn machine(&self, buffer: Buffer) -> Machine {
        match Machine::new(self.text, &Settings::new(), buffer, Claims::default()) {
            Ok(machine) => machine,
            Err(error) => unreachable!("{} is a program: {error}", self.name),
        }
    }

    /// Returns the exact set of outcomes that a machine with these buffers must have.
    pub fn expected(&self, buffer: Buffer) -> BTreeSet<Outcome> {
        let met = self.outcomes.iter().filter(|(needs, _)| needs.are_met_by(buffer));
        let digits = |outcome: &str| outcome.bytes().map(|digit| i16::from(digit - b'0')).collect();
        met.flat_map(|(_, outcomes)| outcomes.split_whitespace().map(digits)).collect()
    }

    /// Describes an outcome in words: `a=0 b=1`.
    pub fn describe(&self, outcome: &Outcome) -> String {
        let shown = self.shown.iter().zip(outcome).map(|(name, value)| format!("{name}={value}"));
        shown.collect::<Vec<_>>().join(" ")
    }
}

/// Returns all tests, in display order.
pub fn all() -> Vec<Litmus> {
    [classic::tests(), x86::tests(), coherence::tests(), bound::tests(), lock::tests()].concat()
}

/// Returns the test with this name.
pub fn named(name: &str) -> Option<Litmus> {
    all().into_iter().find(|litmus| litmus.name == name)
}

/// Returns every kind of buffer that the tests run on.
pub fn buffers() -> Vec<Buffer> {
    let bounds = 1..=4;
    let bounded = bounds.clone().map(Buffer::Bounded);
    let egress = |coalescing| bounds.clone().map(move |bound| Buffer::Egress(bound, coalescing));
    [Buffer::None].into_iter().chain(bounded).chain(egress(Coalescing::Word)).chain(egress(Coalescing::Line)).collect()
}

/// Returns all outcomes of a test.
pub fn run(litmus: &Litmus, buffer: Buffer) -> BTreeSet<Outcome> {
    outcomes(&litmus.machine(buffer), litmus.shown)
}

/// Returns the values that these ghosts and words can have when a program is over.
pub fn outcomes(machine: &Machine, shown: &[&str]) -> BTreeSet<Outcome> {
    let graph = Graph::of(machine);
    let value = |state, name: &&str| machine.ghost(state, name).or_else(|| machine.word(state, name));
    let over = graph.over().iter().filter(|state| machine.fault(state).is_none());
    over.map(|state| shown.iter().filter_map(|name| value(state, name)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_has_exactly_the_outcomes_that_are_listed() {
        for litmus in all() {
            for buffer in buffers() {
                let (found, expected) = (run(&litmus, buffer), litmus.expected(buffer));
                let describe = |outcomes: BTreeSet<&Outcome>| -> Vec<String> {
                    outcomes.into_iter().map(|outcome| litmus.describe(outcome)).collect()
                };
                let (missing, forbidden) =
                    (describe(expected.difference(&found).collect()), describe(found.difference(&expected).collect()));
                assert!(
                    missing.is_empty() && forbidden.is_empty(),
                    "{} on {buffer}: missing {missing:?}, forbidden {forbidden:?}",
                    litmus.name
                );
            }
        }
    }

    #[test]
    fn no_outcome_is_listed_twice_and_each_has_all_values() {
        for litmus in all() {
            let lists = litmus.outcomes.iter().flat_map(|(_, outcomes)| outcomes.split_whitespace());
            let listed: Vec<_> = lists.collect();
            assert!(listed.iter().all(|outcome| outcome.len() == litmus.shown.len()), "{}", litmus.name);
            assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "{}", litmus.name);
        }
    }

    #[test]
    fn names_are_distinct() {
        let names: BTreeSet<_> = all().iter().map(|litmus| litmus.name).collect();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn stores_without_a_step_of_their_own_change_no_outcome() {
        for litmus in all() {
            for buffer in buffers() {
                let mut stepwise = litmus.machine(buffer);
                stepwise.set_store_steps();
                assert_eq!(outcomes(&stepwise, litmus.shown), run(&litmus, buffer), "{} on {buffer}", litmus.name);
            }
        }
    }

    #[test]
    fn no_test_is_ever_stuck_or_endless() {
        for litmus in all() {
            for buffer in buffers() {
                let effort = crate::search::Effort { threads: 1, ends: true };
                let found = crate::search::run(&litmus.machine(buffer), effort, &mut |_| {});
                assert_eq!(found.counterexample, None, "{} on {buffer}", litmus.name);
            }
        }
    }
}
