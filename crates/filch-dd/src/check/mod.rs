//! Whether a problem keeps the promises that the traits ask for.
//!
//! A merge that forgets a completion, or a bound that is too close, gives no error: it gives an optimum that is none. [`laws`] looks for such mistakes by walking at random through the states
//! of a problem, as a search would, and by following completions from state to state. It proves nothing, but what is broken is mostly found within a second on
//! a small instance; and what it finds, it says in a sentence, with the states and decisions that show it.
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
//! # Ok::<(), check::Broken>(())
//! ```
//!
//! The laws are
//!
//! - [`Law::Order`]: a variable is decided once, and is one of those that there are.
//! - [`Law::Domain`]: no value is given twice, and the same question has the same answer when asked again.
//! - [`Law::Skip`]: where a variable does not matter, its default value is in the domain, costs nothing and leaves the state as it is, and no other value is better.
//! - [`Law::Limit`]: no cost and no bound goes beyond the limit.
//! - [`Law::Merge`]: every completion of a state is one of the state it is merged into, and costs no worse from there.
//! - [`Law::Bound`]: no completion of a state is better than its rough bound.
//! - [`Law::Dominance`]: every completion of a dominated state is one of the state that dominates it, and no better.
//!
//! They are looked at for merged states as well: a relaxed diagram merges, bounds and expands these too.

mod walk;

use std::error::Error;
use std::fmt::{self, Debug};

use crate::{Dominance, Relaxation};
use walk::{is_better, Node, Pair, Walk};

/// A promise of the traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Law {
    /// A variable is decided once, and is one of those that there are.
    Order,
    /// No value is given twice, and the same question has the same answer.
    Domain,
    /// What does not matter costs nothing and leaves the state as it is, and so is left out at no loss.
    Skip,
    /// No cost and no bound goes beyond the limit.
    Limit,
    /// A merged state has every completion of what was merged, at no worse a cost.
    Merge,
    /// No completion is better than the rough bound.
    Bound,
    /// A dominated state has no completion that the other has not, and none that is better.
    Dominance,
}

/// A law that is broken, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which one.
    pub law: Law,
    /// What was seen, as a sentence.
    pub sentence: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl Error for Broken {}

fn broken(law: Law, sentence: String) -> Result<(), Broken> {
    Err(Broken { law, sentence })
}

/// Walks through the states of a problem and looks whether the laws hold; says what the first broken one is. Other seeds take other ways.
///
/// It takes a few thousand transitions for each variable, so a small instance is best: those show mistakes most clearly, too.
///
/// # Errors
///
/// The first law that is seen to be broken.
pub fn laws<P: Relaxation>(problem: &P, seed: u64) -> Result<(), Broken>
where
    P::State: Debug,
{
    // First what is simplest to say: a variable that comes twice makes every bound look wrong.
    Walk::new(problem, seed).run(|_, _, _| Ok(()))?;
    Walk::new(problem, seed).run(|walk, depth, layer| {
        for node in layer.iter() {
            walk.bound(depth, node)?;
        }
        walk.merge_some(depth, layer)
    })
}

/// As [`laws`], for the dominance of a problem: states that the walk finds in the same layer are compared.
///
/// # Errors
///
/// The first law that is seen to be broken.
pub fn laws_of_dominance<P: Relaxation + Dominance>(problem: &P, seed: u64) -> Result<(), Broken>
where
    P::State: Debug,
{
    Walk::new(problem, seed).run(|walk, depth, layer| {
        let exact = || layer.iter().filter(|node| !node.relaxed);
        for (stronger, weaker) in exact().flat_map(|a| exact().map(move |b| (a, b))) {
            if dominates(problem, stronger, weaker) {
                let pair = Pair { less: weaker, more: stronger, ahead: stronger.cost };
                walk.follows(depth, &pair, Law::Dominance)?;
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
