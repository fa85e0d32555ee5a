//! Idle protocols: how a worker without work sleeps, and how a new job wakes it.
//!
//! | protocol | a fork pays | a worker that goes to sleep pays | searches before it sleeps |
//! |---|---|---|---|
//! | [`HeavyBarrier`], the default | a load of a counter | a system call that interrupts all workers | as long as was worth it lately |
//! | [`EventCounter`] | a fence and a load; now and then a locked instruction | two locked instructions | 33 rounds |
//!
//! Both keep the same promise: no worker sleeps while there is a job that only it could take. They
//! differ in the side that pays for the order between a job and a sleeper. Each has its own file,
//! which states why no wake-up is lost.

mod event_counter;
mod heavy_barrier;

pub use event_counter::EventCounter;
pub use heavy_barrier::HeavyBarrier;

use super::pool::Shared;
use super::Queue;

/// An idle protocol of a [`Pool`](super::Pool), chosen by type.
///
/// Implemented by [`HeavyBarrier`] and [`EventCounter`], and by no other type.
pub trait Idle: Protocol {}

impl<I: Protocol> Idle for I {}

/// What the pool and its workers call. Not public, so that there are no other protocols.
pub trait Protocol: Sized + 'static {
    /// The state that all workers share.
    type Pool: Send + Sync;
    /// The part of a worker that other workers see.
    type Seat: Send + Sync;
    /// What a worker keeps at hand for its forks.
    type Local: Copy + Send;
    /// The state of one search for work.
    type Search;

    /// Creates the state of a pool.
    fn pool() -> Self::Pool;

    /// Creates the state of a seat.
    fn seat() -> Self::Seat;

    /// Returns what a worker of the pool keeps at hand.
    fn local(pool: &Self::Pool) -> Self::Local;

    /// Announces a job that the calling worker has pushed to its queue. Wakes a worker if no awake
    /// worker is certain to find the job.
    ///
    /// `len` returns the number of jobs in that queue, with the new one.
    fn forked<Q: Queue<Self>>(local: Self::Local, shared: &Shared<Q, Self>, len: impl FnOnce() -> usize);

    /// Announces a job in the injector, which has `len` jobs now.
    fn injected<Q: Queue<Self>>(shared: &Shared<Q, Self>, len: usize);

    /// Starts the search of worker `index`.
    fn start<Q: Queue<Self>>(shared: &Shared<Q, Self>, index: usize) -> Self::Search;

    /// Pauses after a round in which worker `index` has found nothing, or sleeps.
    ///
    /// A worker that waits does not sleep if `is_done` returns true. `request_wake` requests that
    /// the worker is [notified](Protocol::notify) when its wait is over. It returns false if the
    /// wait is over already.
    fn rest<Q: Queue<Self>>(
        search: &mut Self::Search,
        shared: &Shared<Q, Self>,
        index: usize,
        is_done: &dyn Fn() -> bool,
        request_wake: &dyn Fn() -> bool,
    );

    /// Ends the search of worker `index`: it has found a job, or its wait is over.
    fn stop<Q: Queue<Self>>(search: Self::Search, shared: &Shared<Q, Self>, index: usize);

    /// Wakes worker `index` if it sleeps: its wait is over, or the pool shuts down. A worker that
    /// is about to sleep sees that itself.
    fn notify<Q: Queue<Self>>(shared: &Shared<Q, Self>, index: usize);
}
