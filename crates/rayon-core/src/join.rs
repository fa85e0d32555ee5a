//! Fork and join.

use std::marker::PhantomData;

use crate::global::{global, in_pool};

/// Runs two closures, in parallel if possible, and returns both results. They run in parallel if a
/// thread of the pool is free to take the second.
///
/// ```
/// let (a, b) = rayon_core::join(|| 1 + 1, || 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
///
/// # Panics
///
/// If a closure panics, `join` still runs the other closure or waits for it. Then it propagates the
/// panic. If both closures panic, it propagates the panic of the first.
// No `#[inline]`: without it, the compiler compiles the caller's own recursion as it would without
// this crate. It still inlines where that pays off.
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if in_pool() {
        filch::join(oper_a, oper_b)
    } else {
        global().join(oper_a, oper_b)
    }
}

/// Like [`join`], but tells each closure whether it runs on another thread than the caller.
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    if in_pool() {
        filch::join_context(
            |context| oper_a(FnContext::new(context.migrated())),
            |context| oper_b(FnContext::new(context.migrated())),
        )
    } else {
        // Both closures move into the pool.
        global().join(|| oper_a(FnContext::new(true)), || oper_b(FnContext::new(true)))
    }
}

/// The context of a closure of [`join_context`].
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Makes the type neither `Send` nor `Sync`.
    _marker: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        FnContext { migrated, _marker: PhantomData }
    }

    /// Returns whether the closure runs on another thread than the caller.
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}
