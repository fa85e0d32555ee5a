//! The travelling salesman problem with time windows as states and decisions.

use serde::{Deserialize, Serialize};

use super::super::bits::{Bits, Words};
use super::super::{invalid, values, Instance, Invalid};
use super::instance::{Answer, Tsptw};
use crate::{Cost, Decision, Dominance, Problem, Relaxation, Sense, Value, Variable};

type Places = Words<4>;

/// The position and time of a tour, and the places left to visit.
///
/// - **Variables**: the stops of the tour in their order; a value is a place, and the last one is
///   the depot, 0.
/// - **State**: the possible positions, the earliest and latest time, the places that must be
///   visited, and those that may be. A state that was not merged has one position, one time, and no
///   place that only may be visited. What can still be done, and how long it takes, depends on
///   nothing else.
/// - **Cost**: the time of a step, from the arrival at one place (or the opening of its window) to
///   that at the next. From a merged state it is the least time from any possible position. The
///   wait is counted from the latest possible time: an earlier arrival waits longer.
/// - **Merge**: the position may be that of any of the states, at any time from the earliest to the
///   latest. A place must be visited if it must be in all states, and may be visited if it is left
///   in any of them. A step that is possible in one of the states is possible in the merged state,
///   and takes no longer.
/// - **Bound**: every place that must be visited takes at least the distance from the place nearest
///   to it, and so does the return. Also, the tour does not return before the last window opens,
///   plus the way back from there.
/// - **Dominance**: of two states at the same place with the same places left, the earlier one has
///   every completion of the other.
/// - A state leads nowhere if some place that must be visited cannot be reached in time by the
///   shortest path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    at: Places,
    must: Places,
    may: Places,
    earliest: i64,
    latest: i64,
}

impl State {
    /// Returns whether the state was not merged.
    fn is_exact(&self) -> bool {
        self.earliest == self.latest && self.may.is_empty() && self.at.count() == 1
    }
}

impl Tsptw {
    /// Returns the least distance from any possible position.
    #[inline]
    fn least_distance_from(&self, state: &State, to: usize, distance: impl Fn(usize, usize) -> i64) -> i64 {
        state.at.iter().map(|from| distance(from, to)).min().unwrap_or(0)
    }

    #[inline]
    fn shortest(&self, from: usize, to: usize) -> i64 {
        self.shortest[from * self.places() + to]
    }

    /// Returns the length of the next step.
    #[inline]
    fn step(&self, state: &State, to: usize) -> i64 {
        self.least_distance_from(state, to, |from, to| self.distance(from, to))
    }

    #[inline]
    fn is_in_time(&self, state: &State, to: usize) -> bool {
        state.earliest + self.step(state, to) <= self.window(to).closes
    }
}

impl Problem for Tsptw {
    type State = State;

    fn sense(&self) -> Sense {
        Sense::Minimise
    }

    /// A stop for each place: the last is the return to the depot.
    fn variables(&self) -> usize {
        self.places()
    }

    fn initial_state(&self) -> State {
        let (mut at, mut must) = (Places::empty(self.places()), Places::full(self.places()));
        at.insert(0);
        must.remove(0);
        let start = self.window(0).opens;
        State { at, must, may: Places::empty(self.places()), earliest: start, latest: start }
    }

    fn initial_cost(&self) -> Cost {
        self.window(0).opens
    }

    fn cost_limit(&self) -> Option<Cost> {
        Some(self.limit)
    }

    fn domain(&self, variable: Variable, state: &State, mut decide: impl FnMut(Value)) {
        let stops = self.places() - 1 - variable.index();
        if stops == 0 {
            if state.must.is_empty() && self.is_in_time(state, 0) {
                decide(0);
            }
            return;
        }
        let must = state.must.count();
        let is_late = |place: usize| {
            let way = self.least_distance_from(state, place, |from, to| self.shortest(from, to));
            state.earliest + way > self.window(place).closes
        };
        if must > stops || state.must.iter().any(is_late) {
            return;
        }
        state.must.iter().filter(|&place| self.is_in_time(state, place)).for_each(|place| decide(place as Value));
        if must < stops {
            state.may.iter().filter(|&place| self.is_in_time(state, place)).for_each(|place| decide(place as Value));
        }
    }

    fn transition(&self, state: &State, decision: Decision) -> State {
        let place = decision.value as usize;
        let (step, window) = (self.step(state, place), self.window(place));
        let mut next = state.clone();
        next.at = Places::empty(self.places());
        next.at.insert(place);
        next.must.remove(place);
        next.may.remove(place);
        next.earliest = (state.earliest + step).max(window.opens);
        // A time after the window closes is too late, so it is not possible.
        next.latest = (state.latest + step).clamp(window.opens, window.closes);
        next
    }

    fn cost(&self, state: &State, _: &State, decision: Decision) -> Cost {
        let place = decision.value as usize;
        self.step(state, place).max(self.window(place).opens - state.latest)
    }
}

impl Relaxation for Tsptw {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a State>) -> State {
        let none = Places::empty(self.places());
        let mut all = State { at: none, must: Places::full(self.places()), may: none, earliest: i64::MAX, latest: 0 };
        for state in states {
            all.at.union_with(&state.at);
            all.must.intersect_with(&state.must);
            all.may.union_with(&state.must);
            all.may.union_with(&state.may);
            all.earliest = all.earliest.min(state.earliest);
            all.latest = all.latest.max(state.latest);
        }
        all.may.difference_with(&all.must);
        all
    }

    fn rough_bound(&self, depth: usize, state: &State) -> Option<Cost> {
        if depth == self.places() {
            return Some(0);
        }
        let stops = self.places() - 1 - depth;
        let (mut ways, mut back) = (self.nearest[0], self.window(0).opens);
        for place in state.must.iter() {
            ways += self.nearest[place];
            back = back.max(self.window(place).opens + self.shortest(place, 0));
        }
        // To fill the tour, some places that may be visited must be: at best the nearest.
        let others = stops.saturating_sub(state.must.count());
        if others > 0 {
            let mut may: Vec<i64> = state.may.iter().map(|place| self.nearest[place]).collect();
            may.sort_unstable();
            ways += may.iter().take(others).sum::<i64>();
        }
        Some(ways.max(back - state.latest))
    }

    /// Prefers states that have been merged less.
    fn rank(&self, state: &State) -> i64 {
        -(state.may.count() as i64)
    }
}

impl Dominance for Tsptw {
    /// The position, and the places that must be visited.
    type Key = (Words<4>, Words<4>);

    fn key(&self, state: &State) -> Option<Self::Key> {
        state.is_exact().then_some((state.at, state.must))
    }

    fn coordinates(&self) -> usize {
        1
    }

    fn coordinate(&self, state: &State, _: usize) -> i64 {
        -state.earliest
    }
}

impl Instance for Tsptw {
    type Answer = Answer;

    fn answer(&self, decisions: &[Decision]) -> Result<Answer, Invalid> {
        let mut tour = Vec::with_capacity(self.places());
        for (stop, value) in values(self.places(), decisions)?.into_iter().enumerate() {
            match value.map(usize::try_from) {
                Some(Ok(place)) => tour.push(place),
                _ => return invalid(format!("stop {} of the tour is not a place", stop + 1)),
            }
        }
        match tour.pop() {
            Some(0) => Ok(Answer(tour)),
            _ => invalid("the tour does not end at the depot"),
        }
    }

    fn check(&self, answer: &Answer) -> Result<Cost, Invalid> {
        self.tour_time(&answer.0)
    }
}
