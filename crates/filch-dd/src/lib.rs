//! Branch and bound on decision diagrams.

// Tests inside and outside share their tiny problems.
#[cfg(test)]
extern crate self as filch_dd;
#[cfg(test)]
#[path = "../tests/tiny/mod.rs"]
mod tiny;

mod cache;
mod defect;
mod diagram;
mod dominance;
pub mod master;
mod model;
pub mod problem;
mod solver;
mod sync;
mod width;

pub use problem::{Cost, Decision, Dominance, Problem, Relaxation, Sense, Value, Variable};
pub use solver::{
    Cutset, Ending, Incumbent, Outcome, Progress, Solution, SolveError, Solver, Statistics, WorkerStatistics,
};
pub use width::Width;
