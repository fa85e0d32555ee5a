//! Branch and bound on decision diagrams.

mod defect;
pub mod master;
pub mod problem;
mod sync;

pub use problem::{Cost, Decision, Dominance, Problem, Relaxation, Sense, Value, Variable};
