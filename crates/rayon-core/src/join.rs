//! Fork and join.

use std::marker::PhantomData;

use crate::global::{global, in_pool};

/// Runs two closures, at once if a thread of the pool is free to take the second, and returns both results.
///
/// ```
/// let (a, b) = rayon_core::join(|| 1 + 1, || 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
///
/// # Panics
///
/// If a closure panics, the other one is run or waited for all the same; then the panic goes on, if both panic that of the first.
// No `#[inline]`: the compiler then leaves the caller's own recursion as it is without this crate,
// and inlines where it is worth it all the same.
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

/// As [`join`], and tells each closure whether it runs on another thread than the one that called.
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
        // Both move into the pool.
        global().join(|| oper_a(FnContext::new(true)), || oper_b(FnContext::new(true)))
    }
}

/// What a closure of [`join_context`] is told.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Neither `Send` nor `Sync`.
    _marker: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        FnContext { migrated, _marker: PhantomData }
    }

    /// Whether the closure runs on another thread than the one that called.
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}
