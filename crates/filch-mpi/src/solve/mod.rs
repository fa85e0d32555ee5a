//! Solves a problem on many ranks, each with its own search and threads.
//!
//! One thread of each rank communicates (`driver.rs`), the others search. On rank 0 the same thread
//! coordinates (`rank_zero.rs`).

pub(crate) mod driver;
mod options;
mod rank_zero;
mod silence;

use std::sync::Mutex;

use filch_dd::port::Port;
use filch_dd::{Relaxation, Sense, Solver};
use serde::de::DeserializeOwned;
use serde::Serialize;

pub use options::{Failure, Options, Progress, RunCheckpoint, Solved};

use crate::network::Network;
use crate::sync::lock;
use driver::{drive, SearchHandle};

/// Solves a problem together with other ranks.
///
/// All ranks call it, with the same problem. Rank 0 returns the result, the others `None`.
///
/// `configure` sets how this rank searches: width, cutset, cache, dominance. Limits and callbacks
/// are in [`Options`].
///
/// ```
/// use filch_dd::problems::knapsack;
/// use filch_dd::SolveStatus;
/// use filch_mpi::network::threads::{connect, Delays};
/// use filch_mpi::{solve, Options};
///
/// let problem = knapsack::paper();
/// std::thread::scope(|scope| {
///     let problem = &problem;
///     for mut rank in connect(2, Delays::NONE) {
///         scope.spawn(move || {
///             let solved = solve(&mut rank, problem, Options::new(1), |solver| solver).expect("all ranks are there");
///             if let Some(solved) = solved {
///                 assert_eq!(solved.status, SolveStatus::Optimal);
///                 assert_eq!(solved.best.map(|best| best.cost), Some(15));
///             }
///         });
///     }
/// });
/// ```
///
/// # Errors
///
/// If any rank cannot go on. All ranks return the same sentence, except ranks that were told to
/// stop and had already left.
pub fn solve<'a, P>(
    network: &mut dyn Network,
    problem: &'a P,
    options: Options<'_>,
    configure: impl FnOnce(Solver<'a, P>) -> Solver<'a, P> + Send,
) -> Result<Option<Solved>, Failure>
where
    P: Relaxation,
    P::State: Serialize + DeserializeOwned,
{
    let port = Port::new();
    let has_root = network.rank() == 0 && options.resume.is_none();
    let threads = options.threads;
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        let search = scope.spawn(|| {
            let solver = configure(Solver::new(problem).threads(threads)).port(&port);
            let solver = if has_root { solver } else { solver.without_root() };
            if let Err(why) = solver.solve() {
                *lock(&failure) = Some(why.to_string());
            }
        });
        let has_exited = || search.is_finished();
        let minimise = problem.sense() == Sense::Minimise;
        let run =
            drive(network, SearchHandle { port: &port, minimise, has_exited: &has_exited, failure: &failure }, options);
        match search.join() {
            Ok(()) => run,
            // It made the run fail. The user's panic continues on the calling thread.
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
