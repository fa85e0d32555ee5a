//! Panics that are caught at the edge of a job and resumed elsewhere.

use std::any::Any;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process;

use crate::sync::{lock, Mutex};

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send + 'static>;

/// Runs `f`. Returns its result, or its panic.
#[inline(always)]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    // Unwind safe: the caller that gets the panic resumes it, or gives it to the panic handler.
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// Resumes a panic that was caught.
#[cold]
pub(crate) fn resume(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// Drops a payload or a result that is not needed. If its drop panics, that panic is ignored.
pub(crate) fn discard<T>(value: T) {
    if let Err(again) = catch(|| drop(value)) {
        std::mem::forget(again);
    }
}

/// Keeps the first of several panics.
pub(crate) fn keep_first(kept: &Mutex<Option<Payload>>, panic: Payload) {
    let mut first = lock(kept);
    if first.is_none() {
        *first = Some(panic);
        return;
    }
    drop(first);
    discard(panic);
}

/// Aborts the process when it is dropped. Guards code that must not unwind.
#[derive(Debug)]
pub(crate) struct NoUnwind(pub(crate) &'static str);

impl Drop for NoUnwind {
    // Inlined, so that a guard on a fast path has no address and takes no store.
    #[inline(always)]
    fn drop(&mut self) {
        end_process(self.0);
    }
}

#[cold]
#[inline(never)]
fn end_process(why: &str) -> ! {
    // Not `eprintln`, which panics if stderr cannot be written to.
    let _ = writeln!(io::stderr(), "filch: {why}: the process ends");
    process::abort();
}

impl NoUnwind {
    /// Ends the guarded section: the process goes on.
    #[inline(always)]
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}
