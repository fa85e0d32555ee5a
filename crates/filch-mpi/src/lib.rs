//! Branch and bound, and explorations, across machines. The solver of filch-dd and the worklists of
//! filch, on MPI.
//!
//! | | |
//! |---|---|
//! | [`solve()`] | solves a problem of filch-dd on all ranks together, each with its threads |
//! | [`explore`] | worklists across ranks: tasks that have a home, such as vertices of a graph in parts, and tasks that may run anywhere |
//! | [`cluster`] | on a cluster: building, Slurm, binding, checkpoints, pitfalls, reading the statistics |
//! | [`network`] | the message transport between ranks: MPI (feature `mpi`), or ranks that are threads, to try it without MPI |
//! | [`protocol`] | work transfers, termination and checkpoints, as state machines without a clock, a thread or a network |
//! | [`simulate`] | the same protocol with thousands of simulated ranks: where one coordinator saturates, and what to do then |
//!
//! ```
//! use filch_dd::problems::knapsack;
//! use filch_mpi::network::threads::{connect, Delays};
//! use filch_mpi::{solve, Options};
//!
//! // Ranks that are threads. On MPI, each process has one: `network::Mpi::start()`, with the
//! // feature `mpi`.
//! let problem = knapsack::paper();
//! std::thread::scope(|scope| {
//!     for mut network in connect(3, Delays::NONE) {
//!         let problem = &problem;
//!         scope.spawn(move || {
//!             let solved = solve(&mut network, problem, Options::new(1), |solver| solver.dominance());
//!             // Rank 0 has the answer.
//!             if let Some(solved) = solved.expect("all ranks are there") {
//!                 assert_eq!(solved.best.map(|best| best.cost), Some(15));
//!             }
//!         });
//!     }
//! });
//! ```

pub mod cluster {
    #![doc = include_str!("cluster.md")]
}
pub mod explore;
pub mod launch;
pub mod network;
pub mod protocol;
mod random;
pub mod simulate;
pub mod solve;
mod sync;

pub use solve::{solve, Failure, Options, Progress, RunCheckpoint, Solved};
