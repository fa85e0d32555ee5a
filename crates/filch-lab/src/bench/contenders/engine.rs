//! filch's generic engine, on any exactly-once queue and with either idle protocol.

use std::marker::PhantomData;

use anyhow::{Context as _, Result};
use filch::engine::{EventCounter, HeavyBarrier, Idle, Pool, Queue, Worker};
use filch::queue::ChaseLev;

use super::{Contender, Context, Fork, Runtime, STACK};

/// The engine on queues of kind `Q`, whose workers sleep by the protocol `I`.
///
/// If a kind has several queues, the pool chooses one when it is built.
pub(crate) struct Engine<Q, I = HeavyBarrier>(PhantomData<(Q, I)>);

/// `engine-barrier`: the worker that goes to sleep makes all others pass a barrier.
pub(crate) type EngineBarrier = Engine<ChaseLev, HeavyBarrier>;

/// `engine-events`: the same engine with the jobs event counter. Each fork has a fence.
pub(crate) type EngineEvents = Engine<ChaseLev, EventCounter>;

impl<Q: Queue<I>, I: Idle> Fork for Engine<Q, I> {
    type Context<'a> = &'a Worker<Q, I>;

    #[inline(always)]
    fn reborrow<'a>(context: &'a mut &Worker<Q, I>) -> &'a Worker<Q, I> {
        context
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(worker: &Worker<Q, I>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&Worker<Q, I>) -> RA + Send,
        B: FnOnce(&Worker<Q, I>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        worker.join(a, b)
    }
}

impl<Q: Queue<I>, I: Idle> Runtime for Engine<Q, I> {
    type Fork = Engine<Q, I>;
    type Pool = Pool<Q, I>;

    fn enter<R, W>(pool: &Pool<Q, I>, work: W) -> R
    where
        W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
        R: Send,
    {
        pool.install(|worker| work(worker))
    }
}

impl Contender for EngineBarrier {
    const NAME: &'static str = "engine-barrier";

    fn pool(threads: usize) -> Result<Self::Pool> {
        build(threads)
    }
}

impl Contender for EngineEvents {
    const NAME: &'static str = "engine-events";

    fn pool(threads: usize) -> Result<Self::Pool> {
        build(threads)
    }
}

fn build<I: Idle>(threads: usize) -> Result<Pool<ChaseLev, I>>
where
    ChaseLev: Queue<I>,
{
    Pool::with_idle(threads, ChaseLev, Some(STACK))
        .with_context(|| format!("an engine of {threads} threads could not be started"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::throughput::back_to_back;
    use crate::bench::work::Tree;

    #[test]
    fn a_tree_is_summed_with_both_idle_protocols() {
        let tree = Tree::new(10);
        for threads in [1, 2] {
            assert!(back_to_back::<EngineBarrier, _>(&tree, threads, 20).unwrap() > 0.0);
            assert!(back_to_back::<EngineEvents, _>(&tree, threads, 20).unwrap() > 0.0);
        }
    }
}
