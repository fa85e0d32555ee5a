//! rayon-core's unit tests, for any `rayon_core` that this is built with.
//!
//! The tests are written for the inside of the crate. Here the crate's public items are at the
//! root, where `crate::` finds them. Public items also replace the few internals that the tests
//! use.
//!
//! The documentation tests in `compile_fail` must not compile. Without a `rayon_core` they would
//! not compile either, so this one must:
//!
//! ```no_run
//! let (a, b) = rayon_core::join(|| 1, || 2);
//! let mut sum = 0;
//! rayon_core::scope(|s| s.spawn(|_| sum = a + b));
//! ```

pub use rayon_core::*;

mod compile_fail;
mod test;

#[cfg(test)]
mod broadcast {
    mod test;
}

#[cfg(test)]
mod join {
    use crate::{join, join_context, unwind};
    mod test;
}

#[cfg(test)]
mod scope {
    mod test;
}

#[cfg(test)]
mod spawn {
    use crate::{spawn, spawn_fifo};
    mod test;
}

#[cfg(test)]
mod thread_pool {
    mod test;
}

#[cfg(test)]
mod unwind {
    use std::panic::{catch_unwind, AssertUnwindSafe};
    use std::thread;

    pub(crate) fn halt_unwinding<R>(op: impl FnOnce() -> R) -> thread::Result<R> {
        catch_unwind(AssertUnwindSafe(op))
    }
}

#[cfg(test)]
mod registry {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::ThreadPool;

    /// Runs `op` on a worker. The tests use neither the worker nor the flag that says whether they
    /// were on it already.
    pub(crate) fn in_worker<R: Send>(op: impl FnOnce((), ()) -> R + Send) -> R {
        crate::scope(|_| op((), ()))
    }

    /// The data about a pool's threads that the tests of a pool's end need.
    pub(crate) struct Registry {
        threads: usize,
        alive: Arc<()>,
    }

    thread_local! {
        /// Guards that are dropped when the thread ends, and not before.
        static ALIVE: RefCell<Vec<Arc<()>>> = const { RefCell::new(Vec::new()) };
    }

    /// Puts a guard into each thread of the pool.
    pub(crate) fn of(pool: &ThreadPool) -> Arc<Registry> {
        let alive = Arc::new(());
        pool.broadcast(|_| ALIVE.with_borrow_mut(|guards| guards.push(Arc::clone(&alive))));
        let threads = pool.current_num_threads();
        assert_eq!(Arc::strong_count(&alive), threads + 1, "a broadcast did not run on every thread");
        Arc::new(Registry { threads, alive })
    }

    impl Registry {
        pub(crate) fn num_threads(&self) -> usize {
            self.threads
        }

        pub(crate) fn wait_until_stopped(&self) {
            let start = Instant::now();
            while Arc::strong_count(&self.alive) > 1 {
                let remaining = Arc::strong_count(&self.alive) - 1;
                assert!(start.elapsed() < Duration::from_secs(60), "{remaining} threads of a dropped pool still run after a minute");
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
