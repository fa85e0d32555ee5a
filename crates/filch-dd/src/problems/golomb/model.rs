//! The Golomb ruler as states and decisions.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::bits::{Bits, Words};
use super::super::{invalid, list, values, Instance, Invalid};
use crate::{Cost, Decision, Problem, Relaxation, Sense, Value, Variable};

/// Places on the ruler, or distances.
type Places = Words<4>;

/// The most marks. Their greedy ruler is 251 long, and sets have 256 bits.
///
/// Rulers of 14 marks and more take days anyway.
pub(super) const MAX_MARKS: usize = 16;

/// An instance, which is a number of marks, and its model.
///
/// - **Variables**: the marks after the first, which is at 0, from left to right; a value is a
///   place.
/// - **State**: the marks, and the distances between them, which must not occur again.
/// - **Cost**: the distance of a mark from the one before, so that the cost so far is always the
///   place of the last mark.
/// - **Merge**: the marks and the distances that all states have, and the leftmost of their last
///   marks. A mark or distance that some state lacks forbids nothing. The cost so far of a merged
///   state must be the place of its last mark, too. Otherwise the way to the next mark would be
///   paid for twice. So if the last mark of the merged state is further left, the arc into it costs
///   that much less.
/// - **Bound**: the gaps between the marks to come are different distances, none of them measured
///   yet: at best they are the smallest.
/// - A greedy ruler bounds the length; no longer ruler is tried. Of a ruler and its mirror image
///   only the one with the smaller first gap is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golomb {
    marks: usize,
    /// The length of the greedy ruler.
    longest: usize,
}

/// A ruler with some marks: what it leaves possible for the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    marks: Places,
    measured: Places,
    last: u16,
}

impl Golomb {
    /// Returns the problem of a ruler with `marks` marks.
    ///
    /// # Errors
    ///
    /// If there are none or more than 16.
    pub fn new(marks: usize) -> Result<Golomb, Invalid> {
        if !(1..=MAX_MARKS).contains(&marks) {
            return invalid(format!("a ruler cannot have {marks} marks: give a number from 1 to {MAX_MARKS}"));
        }
        let mut ruler = vec![0];
        while ruler.len() < marks {
            let last = ruler[ruler.len() - 1];
            let next = (last + 1..).find(|&next| {
                ruler.push(next);
                let fits = repeated(&ruler).is_none();
                ruler.pop();
                fits
            });
            ruler.extend(next);
        }
        Ok(Golomb { marks, longest: ruler[marks - 1] })
    }

    /// Returns the number of marks.
    pub fn marks(&self) -> usize {
        self.marks
    }

    /// Returns the instance as the text of a file.
    pub fn text(&self) -> String {
        format!("{}\n", self.marks)
    }

    /// Returns the sum of the `gaps` smallest distances that were not measured.
    fn least_length(&self, measured: &Places, gaps: usize) -> usize {
        (1..=self.longest).filter(|&distance| !measured.has(distance)).take(gaps).sum()
    }
}

/// Returns the first two pairs of marks that are the same distance apart.
fn repeated(marks: &[usize]) -> Option<[(usize, usize); 2]> {
    let mut measured = std::collections::HashMap::new();
    let pairs = marks.iter().enumerate().flat_map(|(at, &to)| marks[..at].iter().map(move |&from| (from, to)));
    for (from, to) in pairs {
        if let Some(before) = measured.insert(to - from, (from, to)) {
            return Some([before, (from, to)]);
        }
    }
    None
}

impl Problem for Golomb {
    type State = State;

    fn sense(&self) -> Sense {
        Sense::Minimise
    }

    fn variables(&self) -> usize {
        self.marks - 1
    }

    fn initial_state(&self) -> State {
        let mut marks = Places::empty(self.longest + 1);
        marks.insert(0);
        State { marks, measured: Places::empty(self.longest + 1), last: 0 }
    }

    /// A path over merged states can cross the ruler twice for each mark.
    fn cost_limit(&self) -> Option<Cost> {
        Some((self.longest * 2 * self.marks) as Cost)
    }

    fn domain(&self, variable: Variable, state: &State, mut decide: impl FnMut(Value)) {
        let after = self.variables() - 1 - variable.index();
        let mut first = usize::from(state.last) + 1;
        // A merged state does not know all its marks, and then not the length of the first gap.
        if after == 0 && state.marks.count() == variable.index() + 1 {
            if let Some(gap) = state.marks.iter().nth(1) {
                first += gap;
            }
        }
        let last = self.longest.saturating_sub(self.least_length(&state.measured, after));
        for place in first..=last {
            if state.marks.iter().all(|mark| !state.measured.has(place - mark)) {
                decide(place as Value);
            }
        }
    }

    fn transition(&self, state: &State, decision: Decision) -> State {
        let place = decision.value as usize;
        let mut next = state.clone();
        state.marks.iter().for_each(|mark| next.measured.insert(place - mark));
        next.marks.insert(place);
        next.last = place as u16;
        next
    }

    fn cost(&self, state: &State, next: &State, _: Decision) -> Cost {
        Cost::from(next.last) - Cost::from(state.last)
    }
}

impl Relaxation for Golomb {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a State>) -> State {
        let full = Places::full(self.longest + 1);
        let mut all = State { marks: full, measured: full, last: u16::MAX };
        for state in states {
            all.marks.intersect_with(&state.marks);
            all.measured.intersect_with(&state.measured);
            all.last = all.last.min(state.last);
        }
        all
    }

    fn relaxed_cost(&self, _: &State, next: &State, merged: &State, _: Decision, cost: Cost) -> Cost {
        cost - (Cost::from(next.last) - Cost::from(merged.last))
    }

    fn rough_bound(&self, depth: usize, state: &State) -> Option<Cost> {
        Some(self.least_length(&state.measured, self.variables() - depth) as Cost)
    }

    /// Prefers states with more measured distances: these have been merged less.
    fn rank(&self, state: &State) -> i64 {
        state.measured.count() as i64
    }
}

/// The marks, from left to right, the first at 0.
///
/// Its text has their places with blanks between: `0 1 4 6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer(pub Vec<usize>);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, &self.0)
    }
}

impl Instance for Golomb {
    type Answer = Answer;

    fn answer(&self, decisions: &[Decision]) -> Result<Answer, Invalid> {
        let mut marks = vec![0];
        for (at, value) in values(self.variables(), decisions)?.into_iter().enumerate() {
            match value.map(usize::try_from) {
                Some(Ok(place)) => marks.push(place),
                _ => return invalid(format!("mark {} has no position on the ruler", at + 2)),
            }
        }
        Ok(Answer(marks))
    }

    fn check(&self, answer: &Answer) -> Result<Cost, Invalid> {
        let marks = &answer.0;
        if marks.len() != self.marks {
            return invalid(format!("there are {} marks, but there must be {}", marks.len(), self.marks));
        }
        if marks[0] != 0 || marks.windows(2).any(|pair| pair[0] >= pair[1]) {
            return invalid("the marks must begin at 0 and increase");
        }
        match repeated(marks) {
            Some([(a, b), (c, d)]) => {
                invalid(format!("the distance {} is measured twice: from {a} to {b} and from {c} to {d}", b - a))
            }
            None => Ok((marks[marks.len() - 1]) as Cost),
        }
    }
}
