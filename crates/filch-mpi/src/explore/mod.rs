//! Worklists that grow during the run, across ranks.
//!
//! The counterpart of [`filch::explore`](mod@filch::explore), which runs on one machine.
//!
//! ```
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! use filch::explore::Explore;
//! use filch_mpi::explore::{by_home, Ranks};
//! use filch_mpi::network::threads::{self, Delays};
//!
//! // The numbers below 1000 that can be reached from 1 by doubling and by adding three. Ranks are
//! // threads here. On a cluster they are processes, and `network` is `Mpi::start()?`.
//! let found = threads::run(3, Delays::NONE, |network| {
//!     let mut ranks = Ranks::new(network);
//!     let (rank, count) = (ranks.rank(), ranks.ranks());
//!     // Of each number, one rank remembers whether it was seen.
//!     let seen: Vec<AtomicBool> = (0..1000).map(|_| AtomicBool::new(false)).collect();
//!     let roots = (rank == 0).then_some(1usize);
//!     let explored = by_home(&mut ranks, Explore::exactly_once(), roots, |n| n % count, |n, worker| {
//!         if !seen[n].swap(true, Ordering::Relaxed) {
//!             worker.push_all([2 * n, n + 3].into_iter().filter(|next| *next < 1000));
//!         }
//!     });
//!     assert!(explored.unwrap().is_complete());
//!     let here = seen.iter().filter(|seen| seen.load(Ordering::Relaxed)).count() as u64;
//!     ranks.sum(here).unwrap()
//! });
//! assert_eq!(found, [666, 666, 666]);
//! ```
//!
//! Each rank runs `filch::explore` on its own cores. One more thread, the caller's, communicates.
//! Tasks are `Serialize` and `Deserialize`, and are sent as [postcard](https://docs.rs/postcard).
//! There are two ways for a task to find its rank:
//!
//! | | a task runs | good for | how the end is detected |
//! |---|---|---|---|
//! | [`by_home`] | on the rank that is its home, such as the one that has the vertex | tasks that need state of their own: visited sets, parts of a graph | two waves of [counts](termination) agree |
//! | [`anywhere`] | where it was pushed, or on a rank that was idle | trees: a task has all it needs | the [protocol](crate::protocol) of the solver |
//!
//! [`closure`](closure()) is `by_home` for graphs [in parts](filch_graph::part).
//!
//! # What a visit must tolerate
//!
//! - A task runs **once** with [`Explore::exactly_once`] and **at least once** with
//!   [`Explore::at_least_once`], across ranks as on one machine: messages are neither lost nor
//!   duplicated. With at least once, a visit must detect that its task was done before, and then
//!   push nothing.
//! - A task that goes to another rank is a copy, made from bytes. Memory is not shared: a visit
//!   marks only memory of its own rank. So a mark of a task without a home is visible only to tasks
//!   on the same rank.
//! - Tasks run in no order; those from other ranks come late. A task for another rank waits up to
//!   some tenths of a millisecond, so that more tasks leave in the same message.
//! - A rank that stops, by [`Explorer::stop`], by a limit of its `Explore` or by a panic, stops all
//!   ranks. The others start no task after they receive the stop message.
//! - There is no flow control: a rank that pushes faster than another can run fills the other's
//!   memory, as a worklist does on one machine.
//!
//! No rank waits for a message while it has a task. Tasks that arrive go to the running workers; if
//! no worker runs, they start another round. Idle ranks check for messages ten thousand times a
//! second, and sleep in between. Busy ranks check a thousand times a second.
//!
//! - [`Ranks`]: all ranks, seen from one; also gathers a value from each rank
//! - [`ExploredByRanks`], [`RankCounts`]: what each rank did
//! - [`termination`]: termination detection for tasks with homes, as a state machine, which is
//!   model-checked

mod anywhere;
mod closure;
mod communicate;
mod exchange;
mod explored;
mod explorer;
mod extra_thief;
mod home_routing;
mod local;
mod ranks;
mod sent_filter;
pub mod termination;

use std::panic;
use std::thread;

use filch::explore::{Explore, Promise};
use filch::queue::Kind;
use serde::de::DeserializeOwned;
use serde::Serialize;

pub use closure::{closure, Closure};
pub use explored::{ExploredByRanks, RankCounts};
pub use explorer::Explorer;
pub use extra_thief::ExtraThief;
pub use ranks::{MessageError, Ranks};

use anywhere::Anywhere;
use communicate::{Failure, MessageSender, Routing};
use exchange::Exchange;
use explorer::KeepLocal;
use explorer::Outbound;
use extra_thief::TaskSource;
use home_routing::{ByHome, SendHome};
use local::LocalResult;

/// Runs `visit` on each root and each pushed task, on the task's home rank.
///
/// It ends when no task is left on any rank. All ranks call it, with the same `home`. It starts
/// with the roots of all ranks together: give each root on one rank. `explore` sets the number of
/// workers on this rank, their queue and the limits. With [`Explore::exactly_once`] each task runs
/// once. The call returns on all ranks when the exploration is over on all of them; see
/// [the module](self).
///
/// # Errors
///
/// If a message cannot be decoded. All ranks stop, and the rank that received the message returns
/// the error.
///
/// # Panics
///
/// If a task panics, a root or a task cannot be encoded for another rank, or a home is no rank. All
/// ranks stop, and the panic continues on this rank.
pub fn by_home<T, P, K, H, F>(
    ranks: &mut Ranks<'_>,
    explore: Explore<'_, P, K>,
    roots: impl IntoIterator<Item = T>,
    home: H,
    visit: F,
) -> Result<ExploredByRanks, MessageError>
where
    T: Send + Serialize + DeserializeOwned,
    P: Promise<T, K> + Clone + Sync,
    K: Kind<T> + Clone,
    H: Fn(&T) -> usize + Sync,
    F: Fn(T, &mut Explorer<'_, '_, K::Owner>) + Sync,
{
    ranks.begin_operation();
    let exchange = Exchange::new(Vec::new());
    let outbound = SendHome { exchange: &exchange, home, rank: ranks.rank(), ranks: ranks.ranks() };
    let mut routing = ByHome::new(ranks.rank(), ranks.ranks());
    let failed = local::deliver_roots(&exchange, || {
        roots.into_iter().filter_map(|root| outbound.send_if_remote(0, root)).collect()
    });
    explore_and_communicate(ranks, &exchange, &mut routing, || {
        failed.unwrap_or_else(|| local::explore_rounds(&exchange, &explore, &outbound, &visit, || {}))
    })
}

/// Runs `visit` on each root and each pushed task, on any rank.
///
/// It ends when no task is left on any rank. Ranks that run out of tasks get some from ranks that
/// have many. All ranks call it. It starts with the roots of all ranks together; they may all be on
/// one rank. `explore` is as for [`by_home`].
///
/// # Errors
///
/// As [`by_home`].
///
/// # Panics
///
/// As [`by_home`].
pub fn anywhere<T, P, K, F>(
    ranks: &mut Ranks<'_>,
    explore: Explore<'_, P, K>,
    roots: impl IntoIterator<Item = T>,
    visit: F,
) -> Result<ExploredByRanks, MessageError>
where
    T: Send + Serialize + DeserializeOwned,
    P: Promise<T, ExtraThief<T, K>> + Clone + Sync,
    K: Kind<T> + Clone,
    F: Fn(T, &mut Explorer<'_, '_, K::Owner>) + Sync,
{
    ranks.begin_operation();
    let exchange = Exchange::new(Vec::new());
    let mut thieves = None;
    let explore = explore.map_queue(|queue| {
        let kind = ExtraThief::new(queue);
        thieves = Some(kind.thieves());
        kind
    });
    let thieves = thieves.expect("map_queue calls its closure");
    let mut routing = Anywhere::new(ranks.rank(), ranks.ranks(), explore.max_workers(), &thieves);
    let failed = local::deliver_roots(&exchange, || roots.into_iter().collect());
    explore_and_communicate(ranks, &exchange, &mut routing, || {
        failed.unwrap_or_else(|| local::explore_rounds(&exchange, &explore, &KeepLocal, &visit, || thieves.release()))
    })
}

/// Stops the exploration on this rank when the communicating thread leaves it. This includes a
/// panic of the network. Otherwise the exploring thread would wait forever.
struct StopOnDrop<'t, T>(&'t Exchange<T>);

impl<T> Drop for StopOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Explores on a new thread and communicates on this one, until all ranks are done.
fn explore_and_communicate<T: Send>(
    ranks: &mut Ranks<'_>,
    exchange: &Exchange<T>,
    routing: &mut dyn Routing<T>,
    work: impl FnOnce() -> LocalResult + Send,
) -> Result<ExploredByRanks, MessageError> {
    let mut sender = MessageSender { ranks, counts: RankCounts::default() };
    let (local, communicated) = thread::scope(|scope| {
        let local = scope.spawn(|| local::stop_on_panic(exchange, work));
        let communicated = {
            let _stop_on_drop = StopOnDrop(exchange);
            communicate::run(&mut sender, exchange, routing)
        };
        (local.join().unwrap_or_else(|panic| panic::resume_unwind(panic)), communicated)
    });
    let MessageSender { ranks, counts } = sender;
    finish(ranks, local, counts, communicated)
}

/// Exchanges the counts and endings of all ranks.
fn finish(
    ranks: &mut Ranks<'_>,
    local: LocalResult,
    messages: RankCounts,
    communicated: Result<(), Failure>,
) -> Result<ExploredByRanks, MessageError> {
    let LocalResult { counts: RankCounts { tasks, redundant, steals, rounds, idle, .. }, ending, panic } = local;
    let counts = RankCounts { tasks, redundant, steals, rounds, idle, ..messages };
    let ended = explored::to_byte(if communicated.is_err() { filch::explore::Ending::Stopped } else { ending });
    let all = ranks.gather(&(counts, ended));
    if let Some(panic) = panic {
        panic::resume_unwind(panic);
    }
    match communicated {
        Ok(()) => {}
        Err(Failure::Message(error)) => return Err(error),
        Err(Failure::Panic(panic)) => panic::resume_unwind(panic),
    }
    let (ranks, endings): (Vec<RankCounts>, Vec<u8>) = all?.into_iter().unzip();
    let ending = explored::from_byte(endings.into_iter().find(|&ending| ending != 0).unwrap_or(0));
    Ok(ExploredByRanks { ranks, ending })
}
