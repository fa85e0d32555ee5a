//! Parallel branch and bound on decision diagrams.
//!
//! Describe a problem as states and decisions. The solver returns an optimum and its proof, or the
//! best solution so far and a gap.
//!
//! ```
//! use filch_dd::problems::knapsack;
//! use filch_dd::{SolveStatus, Solver};
//!
//! let outcome = Solver::new(&knapsack::paper()).threads(2).solve()?;
//! assert_eq!(outcome.status, SolveStatus::Optimal);
//! assert_eq!(outcome.best.map(|best| best.cost), Some(15));
//! # Ok::<(), filch_dd::SolveError>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`problem`] | what you implement: [`Problem`], [`Relaxation`], and perhaps [`Dominance`] |
//! | [`Solver`] | how it is solved: width, cutset, threads, limits, callbacks |
//! | [`problems`] | ready-made problems, with readers and generators |
//! | [`guide`] | how to write your own |
//! | [`check`] | tests whether your problem keeps the laws |
//! | [`checkpoint`] | resume a search that was killed |
//! | [`port`] | connect searches in other processes or on other machines |
//! | [`master`] | the scheduler, for your own searches |

// Unit tests and integration tests share their tiny problems.
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
    Cutset, ExploredNode, Incumbent, Outcome, Progress, Solution, SolveError, SolveStatus, Solver, Statistics,
    WorkerStatistics,
};
pub use width::Width;

/// The examples of the README, for doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
