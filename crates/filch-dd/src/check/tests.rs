//! Tests that each law is checked, with problems that break it.

use super::*;
use crate::problems::knapsack::{self, Kind, Knapsack};
use crate::{Cost, Decision, Problem, Value, Variable};

/// A mistake in a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    SameVariableAgain,
    VariableOutOfRange,
    ValueTwice,
    SkipCosts,
    SkipMoves,
    SkipOmitsAValue,
    SkipToNothing,
    LowLimit,
    MergeTakesLeast,
    ArcToMergedIsCheaper,
    BoundOmitsAnItem,
    MoreProfitLater,
    DominanceReversed,
}

struct MistakenSack {
    sack: Knapsack,
    mistake: Mistake,
}

impl Problem for MistakenSack {
    type State = i64;

    fn variables(&self) -> usize {
        self.sack.variables()
    }

    fn initial_state(&self) -> i64 {
        self.sack.initial_state()
    }

    fn cost_limit(&self) -> Option<Cost> {
        match self.mistake {
            Mistake::LowLimit => self.sack.cost_limit().map(|limit| limit / 4),
            _ => self.sack.cost_limit().map(|limit| limit * 4),
        }
    }

    fn next_variable<'a>(&self, depth: usize, _: impl Iterator<Item = &'a i64>) -> Option<Variable> {
        let depth = match self.mistake {
            Mistake::SameVariableAgain => depth / 2,
            Mistake::VariableOutOfRange if depth == self.variables() => return Some(Variable(depth as u32)),
            _ => depth,
        };
        (depth < self.variables()).then_some(Variable(depth as u32))
    }

    fn domain(&self, variable: Variable, state: &i64, mut decide: impl FnMut(Value)) {
        if self.mistake == Mistake::ValueTwice {
            decide(0);
        }
        self.sack.domain(variable, state, decide);
    }

    fn transition(&self, state: &i64, decision: Decision) -> i64 {
        let next = self.sack.transition(state, decision);
        match self.mistake == Mistake::SkipMoves && decision.value == 0 {
            true => (next - 1).max(0),
            false => next,
        }
    }

    fn cost(&self, state: &i64, next: &i64, decision: Decision) -> Cost {
        let cost = self.sack.cost(state, next, decision);
        match self.mistake {
            Mistake::SkipCosts if decision.value == 0 => -1,
            // The more capacity is left, the less it is worth.
            Mistake::MoreProfitLater if decision.value == 1 => cost + (self.sack.capacity() - state) / 4,
            _ => cost,
        }
    }

    fn matters(&self, variable: Variable, state: &i64) -> bool {
        self.sack.matters(variable, state) && self.mistake != Mistake::SkipOmitsAValue
    }

    fn default_value(&self, _: Variable) -> Value {
        if self.mistake == Mistake::SkipToNothing {
            7
        } else {
            0
        }
    }
}

impl Relaxation for MistakenSack {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a i64>) -> i64 {
        match self.mistake {
            Mistake::MergeTakesLeast => states.copied().min().unwrap(),
            _ => self.sack.merge(states),
        }
    }

    fn relaxed_cost(&self, _: &i64, _: &i64, _: &i64, _: Decision, cost: Cost) -> Cost {
        match self.mistake {
            Mistake::ArcToMergedIsCheaper => cost - 1,
            _ => cost,
        }
    }

    fn rough_bound(&self, depth: usize, state: &i64) -> Option<Cost> {
        match self.mistake {
            Mistake::BoundOmitsAnItem if depth + 1 < self.variables() => self.sack.rough_bound(depth + 1, state),
            Mistake::MoreProfitLater => None,
            _ => self.sack.rough_bound(depth, state),
        }
    }
}

impl Dominance for MistakenSack {
    type Key = ();

    fn key(&self, _: &i64) -> Option<()> {
        Some(())
    }

    fn coordinates(&self) -> usize {
        1
    }

    fn coordinate(&self, state: &i64, _: usize) -> i64 {
        match self.mistake {
            Mistake::DominanceReversed => -state,
            _ => *state,
        }
    }
}

fn found(mistake: Mistake) -> Option<BrokenLaw> {
    (0..20).find_map(|seed| {
        let sack = knapsack::random(8, 20, Kind::Uncorrelated, seed);
        let wrong = MistakenSack { sack, mistake };
        laws(&wrong, seed).and_then(|()| laws_of_dominance(&wrong, seed)).err()
    })
}

#[test]
fn a_correct_problem_breaks_no_law() {
    assert_eq!(found(Mistake::None), None);
}

#[test]
fn each_mistake_is_found_and_reported_with_its_law() {
    for (mistake, law, words) in [
        (Mistake::SameVariableAgain, Law::Order, "next_variable returned x0 after 1 decisions"),
        (Mistake::VariableOutOfRange, Law::Order, "next_variable returned x8 after 8 decisions, but there are only 8"),
        (Mistake::ValueTwice, Law::Domain, "has the value 0 twice"),
        (Mistake::SkipCosts, Law::Skip, "=0 costs -1"),
        (Mistake::SkipMoves, Law::Skip, "=0 leads to"),
        (Mistake::SkipOmitsAValue, Law::Skip, "=1 leads to"),
        (Mistake::SkipToNothing, Law::Skip, "its default value 7 is not in its domain"),
        (Mistake::LowLimit, Law::Limit, "goes beyond the cost_limit of"),
        (Mistake::MergeTakesLeast, Law::Merge, "the second does not allow"),
        (Mistake::ArcToMergedIsCheaper, Law::Merge, "and the second at"),
        (Mistake::BoundOmitsAnItem, Law::Bound, "the rough bound of"),
        (Mistake::MoreProfitLater, Law::Merge, "and the second at"),
        (Mistake::DominanceReversed, Law::Dominance, "is dominated by"),
    ] {
        let found = found(mistake).unwrap_or_else(|| panic!("{mistake:?} was not found"));
        assert_eq!(found.law, law, "{mistake:?}: {found}");
        assert!(found.message.contains(words), "{mistake:?}: {found}");
    }
}
