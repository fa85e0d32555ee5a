//! Runs of ranks that are threads.

use std::thread;

use filch_dd::{Relaxation, Solver, Width};
use filch_mpi::network::threads::{connect, Delays};
use filch_mpi::{solve, Failure, Options, Solved};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// Returns the result of every rank; `options` returns the options of each.
pub(crate) fn all<'a, P>(
    problem: &'a P,
    ranks: usize,
    delays: Delays,
    width: usize,
    options: impl Fn(usize) -> Options<'a> + Sync,
) -> Vec<Result<Option<Solved>, Failure>>
where
    P: Relaxation,
    P::State: Serialize + DeserializeOwned,
{
    thread::scope(|scope| {
        let options = &options;
        let start = |mut rank: filch_mpi::network::threads::Threads| {
            scope.spawn(move || {
                let number = filch_mpi::network::Network::rank(&rank);
                let configure = |solver: Solver<'a, P>| solver.width(Width::Fixed(width));
                solve(&mut rank, problem, options(number), configure)
            })
        };
        let ranks: Vec<_> = connect(ranks, delays).into_iter().map(start).collect();
        ranks.into_iter().map(|rank| rank.join().expect("no rank panics")).collect()
    })
}

/// Returns the result of rank 0, for a run that does not fail.
pub(crate) fn run<'a, P>(
    problem: &'a P,
    ranks: usize,
    delays: Delays,
    width: usize,
    options: impl Fn(usize) -> Options<'a> + Sync,
) -> Solved
where
    P: Relaxation,
    P::State: Serialize + DeserializeOwned,
{
    let mut solved = all(problem, ranks, delays, width, options);
    assert!(solved[1..].iter().all(|solved| *solved == Ok(None)), "{solved:?}");
    solved.swap_remove(0).expect("no run fails").expect("rank 0 has the result")
}
