//! Scopes: any number of tasks that may borrow from outside, all over when the scope is.

use std::fmt;
use std::ptr;

use crate::broadcast::BroadcastContext;
use crate::global::{global, in_pool};

/// Runs a closure that can spawn tasks, and returns when all of them are over. Each thread runs those that it has spawned itself youngest first.
///
/// ```
/// let (mut a, mut b) = (0, 0);
/// rayon_core::scope(|s| {
///     s.spawn(|_| a = 1);
///     s.spawn(|_| b = 2);
/// });
/// assert_eq!((a, b), (1, 2));
/// ```
///
/// # Panics
///
/// If the closure or a task panics, all tasks are run all the same, and then the first of the panics goes on.
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    let op = Scope::unwrapped(op);
    if in_pool() {
        filch::scope(op)
    } else {
        global().scope(op)
    }
}

/// As [`scope()`], but each thread runs the tasks that it has spawned in the order in which it did.
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    let op = ScopeFifo::unwrapped(op);
    if in_pool() {
        filch::scope_fifo(op)
    } else {
        global().scope_fifo(op)
    }
}

/// As [`scope()`], but the closure runs on the calling thread; only the tasks are run by the pool.
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    let op = Scope::unwrapped(op);
    if in_pool() {
        filch::in_place_scope(op)
    } else {
        global().in_place_scope(op)
    }
}

/// As [`scope_fifo`], but the closure runs on the calling thread; only the tasks are run by the pool.
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    let op = ScopeFifo::unwrapped(op);
    if in_pool() {
        filch::in_place_scope_fifo(op)
    } else {
        global().in_place_scope_fifo(op)
    }
}

/// A scope of rayon's over one of filch's: they differ in their names, and in that of the function that spawns.
macro_rules! scope_type {
    ($(#[$doc:meta])* $Scope:ident, $(#[$spawn_doc:meta])* $spawn:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $Scope<'scope> {
            inner: filch::Scope<'scope>,
        }

        impl<'scope> $Scope<'scope> {
            fn wrap<'a>(inner: &'a filch::Scope<'scope>) -> &'a Self {
                // SAFETY: a transparent wrapper.
                unsafe { &*ptr::from_ref(inner).cast() }
            }

            /// A closure over our scope as one over filch's.
            pub(crate) fn unwrapped<OP, R>(op: OP) -> impl FnOnce(&filch::Scope<'scope>) -> R + use<'scope, OP, R>
            where
                OP: FnOnce(&Self) -> R,
            {
                move |scope: &filch::Scope<'scope>| op(Self::wrap(scope))
            }

            $(#[$spawn_doc])*
            pub fn $spawn<BODY>(&self, body: BODY)
            where
                BODY: FnOnce(&$Scope<'scope>) + Send + 'scope,
            {
                self.inner.spawn(Self::unwrapped(body));
            }

            /// Adds a task that runs once on each thread of the pool.
            pub fn spawn_broadcast<BODY>(&self, body: BODY)
            where
                BODY: Fn(&$Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
            {
                self.inner.spawn_broadcast(move |scope, part| body(Self::wrap(scope), BroadcastContext::new(part)));
            }
        }

        impl fmt::Debug for $Scope<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Scope)).field("inner", &self.inner).finish()
            }
        }
    };
}

scope_type! {
    /// Where tasks are spawned; see [`scope()`].
    Scope,
    /// Adds a task.
    spawn
}

scope_type! {
    /// Where tasks are spawned; see [`scope_fifo`].
    ScopeFifo,
    /// Adds a task, behind those that this thread has spawned before.
    spawn_fifo
}
