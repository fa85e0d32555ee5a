//! Branch and bound on decision diagrams, in parallel: write a problem as states and decisions, get an optimum and its proof, or the best so far and a gap.
//!
//! ```
//! use filch_dd::problems::knapsack;
//! use filch_dd::{Ending, Solver};
//!
//! let outcome = Solver::new(&knapsack::paper()).threads(2).solve()?;
//! assert_eq!(outcome.ending, Ending::Optimal);
//! assert_eq!(outcome.best.map(|best| best.cost), Some(15));
//! # Ok::<(), filch_dd::SolveError>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`problem`] | what you say of a problem: [`Problem`], [`Relaxation`], and perhaps [`Dominance`] |
//! | [`Solver`] | how it is solved: width, cutset, threads, limits, who is told |
//! | [`problems`] | problems that are ready, with readers and generators |
//! | [`guide`] | write your own |
//! | [`check`] | whether yours keeps the laws |
//! | [`checkpoint`] | a search that is killed, and goes on |
//! | [`port`] | a search among others, in other processes or on other machines |
//! | [`master`] | the scheduler, for searches of your own |

// Tests inside and outside share their tiny problems.
#[cfg(test)]
extern crate self as filch_dd;
#[cfg(test)]
#[path = "../tests/tiny/mod.rs"]
mod tiny;

mod cache;
pub mod check;
pub mod checkpoint;
mod defect;
mod diagram;
mod dominance;
pub mod guide;
pub mod master;
mod model;
pub mod port;
pub mod problem;
pub mod problems;
mod random;
mod solver;
mod sync;
mod width;

pub use problem::{Cost, Decision, Dominance, Problem, Relaxation, Sense, Value, Variable};
pub use solver::{
    Cutset, Ending, Explored, Incumbent, Outcome, Progress, Solution, SolveError, Solver, Statistics, WorkerStatistics,
};
pub use width::Width;
