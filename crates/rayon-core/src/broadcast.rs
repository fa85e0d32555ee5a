//! Runs a closure on every thread of a pool.

use std::fmt;
use std::marker::PhantomData;

use crate::global::{global, in_pool};

/// Runs a closure once on each thread of the current or global pool. Returns the results in the
/// order of the threads.
///
/// ```
/// let indices = rayon_core::broadcast(|context| context.index());
/// assert!(indices.into_iter().eq(0..rayon_core::current_num_threads()));
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let op = |part| op(BroadcastContext::new(part));
    if in_pool() {
        filch::broadcast(op)
    } else {
        global().broadcast(op)
    }
}

/// Spawns a closure once on each thread of the current or global pool. Does not wait for it.
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let op = move |part| op(BroadcastContext::new(part));
    if in_pool() {
        filch::spawn_broadcast(op);
    } else {
        global().spawn_broadcast(op);
    }
}

/// The context of one part of a broadcast.
pub struct BroadcastContext<'a> {
    part: filch::BroadcastContext,
    /// Makes the type neither `Send` nor `Sync`.
    _marker: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    pub(crate) fn new(part: filch::BroadcastContext) -> Self {
        BroadcastContext { part, _marker: PhantomData }
    }

    /// The index of the thread that runs this part.
    #[inline]
    pub fn index(&self) -> usize {
        self.part.index()
    }

    /// The number of parts.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.part.num_threads()
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index())
            .field("num_threads", &self.num_threads())
            .finish()
    }
}
