//! The benchmark suites and what they share.
//!
//! The shared parts: the shape of a suite and its driver, rounds, inputs, pinning, and the cost of a
//! task and of the process.

mod arguments;
pub(crate) mod at_once;
pub(crate) mod bound;
pub(crate) mod bulk;
pub(crate) mod busy;
pub(crate) mod cilk;
mod contenders;
mod cpu;
mod crossbeam;
pub(crate) mod fork_join;
pub(crate) mod graphs;
mod memory;
pub(crate) mod mpi;
pub(crate) mod pin;
pub(crate) mod queues;
pub(crate) mod random;
pub(crate) mod rayon;
mod rounds;
pub(crate) mod solver;
mod suite;
#[cfg(test)]
pub(crate) mod synthetic;
mod threads;
mod throughput;
mod work;

use crate::claims::{self, Figures, Verdict};
pub(crate) use arguments::Command;
pub(crate) use rounds::Limit;
pub(crate) use suite::{measure, Options, Suite};
pub(crate) use threads::Threads;

/// The claims of each suite, with their verdicts.
pub(crate) const CLAIMS: [(&str, fn(Figures<'_>) -> Vec<Verdict>); 8] = [
    (queues::SUITE, queues::verdicts),
    (fork_join::SUITE, fork_join::verdicts),
    (cilk::SUITE, cilk::verdicts),
    (graphs::SUITE, graphs::verdicts),
    (bulk::SUITE, bulk::verdicts),
    (solver::SUITE, solver::verdicts),
    (rayon::SUITE, rayon::verdicts),
    (mpi::SUITE, mpi::verdicts),
];

/// The default number of threads in a pool.
pub(crate) const THREADS: usize = 2;

/// The name of a run on one thread, without a pool.
pub(crate) const SERIAL: &str = "serial";
/// The name of two independent serial runs side by side.
///
/// They are the most that two threads give. The time of one is half of the time of both.
pub(crate) const SERIAL_PAIR: &str = "serial-pair";

/// The claims of a suite with their verdicts, as text.
pub(crate) fn claims_of(suite: &str, figures: Figures<'_>) -> String {
    let verdicts = CLAIMS.iter().filter(|(name, _)| *name == suite).flat_map(|(_, verdicts)| verdicts(figures));
    format!(
        "Claims: `a / b` is the time of a divided by the time of b.\n{}.\n\n{}",
        claims::BRACKETS,
        claims::listing(&verdicts.collect::<Vec<_>>())
    )
}
