//! Scopes: any number of tasks that may borrow from outside. All tasks end before the scope ends.

use std::fmt;
use std::ptr;

use crate::broadcast::BroadcastContext;
use crate::global::{global, in_pool};

/// Runs a closure that can spawn tasks, and waits for all of them. Each thread runs the tasks that
/// it has spawned itself youngest first.
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
/// If the closure or a task panics, all tasks still run. Then `scope` propagates the first panic.
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    let op = Scope::adapt_op(op);
    if in_pool() {
        filch::scope(op)
    } else {
        global().scope(op)
    }
}

/// Like [`scope()`], but each thread runs its spawned tasks in the order of the spawns.
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    let op = ScopeFifo::adapt_op(op);
    if in_pool() {
        filch::scope_fifo(op)
    } else {
        global().scope_fifo(op)
    }
}

/// Like [`scope()`], but the closure runs on the calling thread. Only the tasks run in the pool.
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    let op = Scope::adapt_op(op);
    if in_pool() {
        filch::in_place_scope(op)
    } else {
        global().in_place_scope(op)
    }
}

/// Like [`scope_fifo`], but the closure runs on the calling thread. Only the tasks run in the pool.
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    let op = ScopeFifo::adapt_op(op);
    if in_pool() {
        filch::in_place_scope_fifo(op)
    } else {
        global().in_place_scope_fifo(op)
    }
}

/// Defines a scope of rayon as a wrapper of filch's scope. The two scopes differ in their names and
/// in the name of the function that spawns.
macro_rules! scope_type {
    ($(#[$doc:meta])* $Scope:ident, $(#[$spawn_doc:meta])* $spawn:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $Scope<'scope> {
            inner: filch::Scope<'scope>,
        }

        impl<'scope> $Scope<'scope> {
            fn wrap<'a>(inner: &'a filch::Scope<'scope>) -> &'a Self {
                // SAFETY: the type is a transparent wrapper.
                unsafe { &*ptr::from_ref(inner).cast() }
            }

            /// Converts a closure over this scope to a closure over filch's scope.
            pub(crate) fn adapt_op<OP, R>(op: OP) -> impl FnOnce(&filch::Scope<'scope>) -> R + use<'scope, OP, R>
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
                self.inner.spawn(Self::adapt_op(body));
            }

            /// Spawns a task that runs once on each thread of the pool.
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
    /// A scope that spawns tasks. See [`scope()`].
    Scope,
    /// Spawns a task.
    spawn
}

scope_type! {
    /// A scope whose tasks run in spawn order on each thread. See [`scope_fifo`].
    ScopeFifo,
    /// Spawns a task that runs after earlier tasks of this thread.
    spawn_fifo
}
