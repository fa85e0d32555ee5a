//! The incumbent: the best solution so far.
//!
//! Workers read its cost all the time, so the cost is one atomic. The solution itself is behind a
//! lock that is taken only for a better one.

use core::sync::atomic::{AtomicI64, Ordering};
use core::time::Duration;
use std::time::Instant;

use super::outcome::Solution;
use super::replay::{replay, replay_unordered};
use crate::diagram::Halt;
use crate::model::Model;
use crate::port::{Event, Port};
use crate::problem::{Cost, Decision, Relaxation};
use crate::sync::{lock, unpoisoned, Mutex};

/// A solution better than all before it.
#[derive(Clone, Debug)]
pub struct Incumbent {
    /// The cost or the value of the solution.
    pub cost: Cost,
    /// The value of every variable, in the order of the variables.
    pub decisions: Vec<Decision>,
    /// The time since the start of the search.
    pub after: Duration,
}

/// The callback for a better solution.
pub(crate) type OnIncumbent<'a> = Box<dyn FnMut(&Incumbent) + Send + 'a>;

pub(crate) struct BestSolution<'a> {
    /// The cost of the incumbent as the engine sees it; `Cost::MIN` if there is none.
    floor: AtomicI64,
    known: Mutex<(Option<Solution>, Option<OnIncumbent<'a>>)>,
    start: Instant,
    /// The outside, which is told of solutions that are found here.
    port: Option<&'a Port>,
}

impl<'a> BestSolution<'a> {
    pub(crate) fn new(start: Instant, on_incumbent: Option<OnIncumbent<'a>>, port: Option<&'a Port>) -> Self {
        BestSolution { floor: AtomicI64::new(Cost::MIN), known: Mutex::new((None, on_incumbent)), start, port }
    }

    #[inline]
    pub(crate) fn floor(&self) -> Cost {
        // Relaxed: an older value prunes less, and no other data depends on it.
        self.floor.load(Ordering::Relaxed)
    }

    /// Takes a solution that was reached by `path`, if it is better and valid.
    pub(crate) fn offer<P: Relaxation>(&self, model: &Model<'_, P>, cost: Cost, path: &[Decision]) -> Result<(), Halt> {
        if cost <= self.floor() {
            return Ok(());
        }
        // Before the lock is taken: the replay runs the user's code, which may take long.
        let solution = replay(model, path)?;
        if model.convert_sense(solution.cost)? != cost {
            return Err(Halt::Contradiction(format!(
                "a solution has cost {}, but cost {} when its decisions are replayed one by one: \
                 `transition` or `cost` returns different results for the same state",
                model.convert_sense(cost)?,
                solution.cost
            )));
        }
        let mut known = lock(&self.known);
        // Another worker may have been faster.
        if cost > self.floor() {
            if let Some(port) = self.port {
                port.report(Event::Found(solution.clone()));
            }
            self.take(&mut known, cost, solution);
        }
        Ok(())
    }

    /// Takes a solution from outside, if it is better and valid.
    pub(crate) fn accept_external<P: Relaxation>(&self, model: &Model<'_, P>, solution: &Solution) -> Result<(), Halt> {
        if model.convert_sense(solution.cost)? <= self.floor() {
            return Ok(());
        }
        let solution = replay_unordered(model, &solution.decisions)?;
        let cost = model.convert_sense(solution.cost)?;
        let mut known = lock(&self.known);
        if cost > self.floor() {
            self.take(&mut known, cost, solution);
        }
        Ok(())
    }

    /// Takes a solution that was checked already.
    pub(crate) fn start_with(&self, cost: Cost, solution: Solution) {
        let mut known = lock(&self.known);
        self.take(&mut known, cost, solution);
    }

    fn take(&self, known: &mut (Option<Solution>, Option<OnIncumbent<'a>>), cost: Cost, solution: Solution) {
        // Relaxed: a reader that needs the solution takes the lock.
        self.floor.store(cost, Ordering::Relaxed);
        if let Some(port) = self.port {
            port.record_best(cost);
        }
        if let Some(callback) = &mut known.1 {
            let Solution { cost, ref decisions } = solution;
            callback(&Incumbent { cost, decisions: decisions.clone(), after: self.start.elapsed() });
        }
        known.0 = Some(solution);
    }

    pub(crate) fn into_solution(self) -> Option<Solution> {
        unpoisoned(self.known.into_inner()).0
    }
}
