//! Detects `fork(2)`: a child process has its parent's memory and none of its threads.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of forks between the first pool and this process.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Identifies a process among its ancestors and children by fork. To ask the kernel for a process
/// ID would cost more than to wake a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    pub(crate) fn current() -> Process {
        register_fork_handler();
        // Relaxed: a child begins with one thread.
        Process(FORKS.load(Ordering::Relaxed))
    }

    /// Returns whether the calling process is still this one.
    pub(crate) fn is_current(self) -> bool {
        // Relaxed: as in `current`.
        self.0 == FORKS.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
fn register_fork_handler() {
    use std::sync::Once;

    extern "C" fn count_fork() {
        // Relaxed: the child has one thread now.
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the handler only counts. If there is no memory to register it, forks go
        // unnoticed, as do forks that bypass the C library.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    });
}

#[cfg(not(unix))]
fn register_fork_handler() {}
