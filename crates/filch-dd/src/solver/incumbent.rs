//! The best solution so far.
//!
//! What everybody asks for all the time is its cost, one atomic. The solution itself is behind a lock that is taken only for a better one.

use core::sync::atomic::{AtomicI64, Ordering};
use core::time::Duration;
use std::sync::PoisonError;
use std::time::Instant;

use super::outcome::Solution;
use super::replay::{replay, replay_unordered};
use crate::diagram::Halt;
use crate::model::Model;
use crate::port::{Event, Port};
use crate::problem::{Cost, Decision, Relaxation};
use crate::sync::{lock, Mutex};

/// A solution better than all before it.
#[derive(Clone, Debug)]
pub struct Incumbent {
    /// What it costs or is worth.
    pub cost: Cost,
    /// What every variable is, in their order.
    pub decisions: Vec<Decision>,
    /// How long it took to find.
    pub after: Duration,
}

/// Whom to tell of a better solution.
pub(crate) type OnIncumbent<'a> = Box<dyn FnMut(&Incumbent) + Send + 'a>;

pub(crate) struct Best<'a> {
    /// Its cost as the engine sees it; the least there is if there is none.
    floor: AtomicI64,
    known: Mutex<(Option<Solution>, Option<OnIncumbent<'a>>)>,
    start: Instant,
    /// Who is outside, and hears of what was found here.
    port: Option<&'a Port>,
}

impl<'a> Best<'a> {
    pub(crate) fn new(start: Instant, on_incumbent: Option<OnIncumbent<'a>>, port: Option<&'a Port>) -> Self {
        Best { floor: AtomicI64::new(Cost::MIN), known: Mutex::new((None, on_incumbent)), start, port }
    }

    #[inline]
    pub(crate) fn floor(&self) -> Cost {
        // Relaxed: an older one prunes less, and nothing else is read because of it.
        self.floor.load(Ordering::Relaxed)
    }

    /// Takes a solution that was reached by `path`, if it is better and holds.
    pub(crate) fn offer<P: Relaxation>(&self, model: &Model<'_, P>, cost: Cost, path: &[Decision]) -> Result<(), Halt> {
        if cost <= self.floor() {
            return Ok(());
        }
        // Before the lock is taken: it runs what the user wrote, which may take its time.
        let solution = replay(model, path)?;
        if model.turn(solution.cost)? != cost {
            return Err(Halt::Contradiction(format!(
                "a solution that was found to cost {} costs {} when its decisions are taken again one by one; \
                 `transition` or `cost` gives different results for the same state",
                model.turn(cost)?,
                solution.cost
            )));
        }
        let mut known = lock(&self.known);
        // Another one may have come first.
        if cost > self.floor() {
            if let Some(port) = self.port {
                port.say(Event::Found(solution.clone()));
            }
            self.take(&mut known, cost, solution);
        }
        Ok(())
    }

    /// Takes a solution from elsewhere, if it is better and holds.
    pub(crate) fn told<P: Relaxation>(&self, model: &Model<'_, P>, solution: &Solution) -> Result<(), Halt> {
        if model.turn(solution.cost)? <= self.floor() {
            return Ok(());
        }
        let solution = replay_unordered(model, &solution.decisions)?;
        let cost = model.turn(solution.cost)?;
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
        // Relaxed: who needs the solution takes the lock.
        self.floor.store(cost, Ordering::Relaxed);
        if let Some(port) = self.port {
            port.known(cost);
        }
        if let Some(tell) = &mut known.1 {
            let Solution { cost, ref decisions } = solution;
            tell(&Incumbent { cost, decisions: decisions.clone(), after: self.start.elapsed() });
        }
        known.0 = Some(solution);
    }

    pub(crate) fn into_solution(self) -> Option<Solution> {
        self.known.into_inner().unwrap_or_else(PoisonError::into_inner).0
    }
}
