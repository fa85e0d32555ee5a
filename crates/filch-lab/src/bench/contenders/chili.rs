//! chili, in a pool of its own.
//!
//! The thread that enters is one of its workers: no job is handed over.

use std::num::NonZero;

use anyhow::{Context as _, Result};
use chili::{Config, Scope, ThreadPool};

use super::{Contender, Context, Fork, Runtime};

/// The contender `chili`.
pub(crate) enum Chili {}

/// A scope that gives access to nothing but its join.
pub(crate) struct ScopeRef<'a>(&'a mut Scope<'a>);

impl<'a> ScopeRef<'a> {
    /// Wraps a scope with a single lifetime.
    ///
    /// chili's closures take a reference and a scope of two unrelated lifetimes, which a generic
    /// closure cannot express.
    #[inline(always)]
    fn new(scope: &'a mut Scope<'_>) -> ScopeRef<'a> {
        // SAFETY: this only shortens a lifetime, to one for which the scope is borrowed
        // exclusively. A shorter lifetime behind `&mut` could do harm only by a store of something
        // shorter-lived into the scope. The field is private to this module, which calls `join` and
        // nothing else, and `join` stores no reference of that lifetime.
        ScopeRef(unsafe { std::mem::transmute::<&'a mut Scope<'_>, &'a mut Scope<'a>>(scope) })
    }
}

impl Fork for Chili {
    type Context<'a> = ScopeRef<'a>;

    #[inline(always)]
    fn reborrow<'a>(context: &'a mut ScopeRef<'_>) -> ScopeRef<'a> {
        ScopeRef::new(context.0)
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(context: ScopeRef<'_>, a: A, b: B) -> (RA, RB)
    where
        A: for<'a> FnOnce(ScopeRef<'a>) -> RA + Send,
        B: for<'a> FnOnce(ScopeRef<'a>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        context.0.join(|scope| a(ScopeRef::new(scope)), |scope| b(ScopeRef::new(scope)))
    }
}

impl Runtime for Chili {
    type Fork = Chili;
    type Pool = ThreadPool;

    fn enter<R, W>(pool: &ThreadPool, work: W) -> R
    where
        W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
        R: Send,
    {
        work(ScopeRef::new(&mut pool.scope()))
    }
}

impl Contender for Chili {
    const NAME: &'static str = "chili";

    fn pool(threads: usize) -> Result<ThreadPool> {
        let thread_count = NonZero::new(threads).context("chili needs at least one thread")?;
        Ok(ThreadPool::with_config(Config { thread_count: Some(thread_count), ..Config::default() }))
    }
}
