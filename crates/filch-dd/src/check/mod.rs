//! Tests whether a problem keeps the laws of the traits.
//!
//! A merge that loses a completion, or a bound that is too tight, gives no error: it gives a wrong
//! optimum. [`laws`] looks for such mistakes. It walks at random through the states of a problem,
//! as a search would, and follows completions from state to state. It proves nothing, but it finds
//! most mistakes within a second on a small instance. It reports each in a sentence, with the
//! states and decisions that show it.
//!
//! ```
//! use filch_dd::check;
//! use filch_dd::problems::knapsack;
//!
//! let sack = knapsack::paper();
//! for seed in 0..20 {
//!     check::laws(&sack, seed)?;
//!     check::laws_of_dominance(&sack, seed)?;
//! }
//! # Ok::<(), check::BrokenLaw>(())
//! ```
//!
//! The laws are:
//!
//! - [`Law::Order`]: a variable is decided only once, and exists.
//! - [`Law::Domain`]: no value is given twice, and the same call returns the same result again.
//! - [`Law::Skip`]: if a variable does not matter, its default value is in the domain, costs
//!   nothing and leaves the state as it is, and no other value is better.
//! - [`Law::Limit`]: no cost and no bound exceeds the limit.
//! - [`Law::Merge`]: every completion of a state is a completion of the state it is merged into, at
//!   no worse a cost.
//! - [`Law::Bound`]: no completion of a state is better than its rough bound.
//! - [`Law::Dominance`]: every completion of a dominated state is a completion of the state that
//!   dominates it, and no better.
//!
//! They are checked for merged states as well: a relaxed diagram merges, bounds and expands these
//! too.

mod walk;

use std::error::Error;
use std::fmt::{self, Debug};

use crate::{Dominance, Relaxation};
use walk::{is_better, Node, Pair, Walk};

/// A law that the traits require.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Law {
    /// A variable is decided only once, and exists.
    Order,
    /// No value is given twice, and the same call returns the same result.
    Domain,
    /// A variable that does not matter can be skipped without loss.
    ///
    /// It costs nothing and leaves the state as it is.
    Skip,
    /// No cost and no bound exceeds the limit.
    Limit,
    /// A merged state has every completion of its parts, at no worse a cost.
    Merge,
    /// No completion is better than the rough bound.
    Bound,
    /// Every completion of a dominated state is one of the other, and no better.
    Dominance,
}

/// A law that is broken, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLaw {
    /// The law that is broken.
    pub law: Law,
    /// What was observed.
    pub message: String,
}

impl fmt::Display for BrokenLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for BrokenLaw {}

fn broken(law: Law, message: String) -> Result<(), BrokenLaw> {
    Err(BrokenLaw { law, message })
}

/// Walks through the states of a problem and checks the laws.
///
/// It returns the first law that is broken. Other seeds take other ways.
///
/// It takes a few thousand transitions for each variable, so a small instance is best. Small
/// instances also show mistakes most clearly.
///
/// # Errors
///
/// The first law that is found broken.
pub fn laws<P: Relaxation>(problem: &P, seed: u64) -> Result<(), BrokenLaw>
where
    P::State: Debug,
{
    // The simplest laws first: a variable that comes twice makes every bound look wrong.
    Walk::new(problem, seed).run(|_, _, _| Ok(()))?;
    Walk::new(problem, seed).run(|walk, depth, layer| {
        for node in layer.iter() {
            walk.check_bound(depth, node)?;
        }
        walk.merge_some(depth, layer)
    })
}

/// Like [`laws`], for the dominance of a problem: compares states of the same layer.
///
/// # Errors
///
/// The first law that is found broken.
pub fn laws_of_dominance<P: Relaxation + Dominance>(problem: &P, seed: u64) -> Result<(), BrokenLaw>
where
    P::State: Debug,
{
    Walk::new(problem, seed).run(|walk, depth, layer| {
        let exact = || layer.iter().filter(|node| !node.relaxed);
        for (stronger, weaker) in exact().flat_map(|a| exact().map(move |b| (a, b))) {
            if dominates(problem, stronger, weaker) {
                let pair = Pair { less: weaker, more: stronger, ahead: stronger.cost };
                walk.check_covers(depth, &pair, Law::Dominance)?;
            }
        }
        Ok(())
    })
}

fn dominates<P: Relaxation + Dominance>(problem: &P, stronger: &Node<P::State>, weaker: &Node<P::State>) -> bool {
    let key = problem.key(&stronger.state);
    stronger.state != weaker.state
        && key.is_some()
        && key == problem.key(&weaker.state)
        && !is_better(problem.sense(), weaker.cost, stronger.cost)
        && (0..problem.coordinates())
            .all(|at| problem.coordinate(&stronger.state, at) >= problem.coordinate(&weaker.state, at))
}

#[cfg(test)]
mod tests;
