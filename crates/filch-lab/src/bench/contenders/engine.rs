//! filch's generic engine, on any exactly-once queue.

use std::marker::PhantomData;

use filch::engine::{Pool, Queue, Worker};

use super::{Context, Fork, Runtime};

/// The engine on queues of kind `Q`.
///
/// If a kind has several queues, the pool chooses one when it is built.
pub(crate) struct Engine<Q>(PhantomData<Q>);

impl<Q: Queue> Fork for Engine<Q> {
    type Context<'a> = &'a Worker<Q>;

    #[inline(always)]
    fn reborrow<'a>(context: &'a mut &Worker<Q>) -> &'a Worker<Q> {
        context
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(worker: &Worker<Q>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&Worker<Q>) -> RA + Send,
        B: FnOnce(&Worker<Q>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        worker.join(a, b)
    }
}

impl<Q: Queue> Runtime for Engine<Q> {
    type Fork = Engine<Q>;
    type Pool = Pool<Q>;

    fn enter<R, W>(pool: &Pool<Q>, work: W) -> R
    where
        W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
        R: Send,
    {
        pool.install(|worker| work(worker))
    }
}
