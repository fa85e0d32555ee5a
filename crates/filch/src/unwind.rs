//! Panics that stop at the edge of a job and go on elsewhere.

use std::any::Any;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process;

use crate::sync::{lock, Mutex};

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send + 'static>;

/// The outcome, or the panic.
#[inline(always)]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    // Unwind safe: whoever gets the panic resumes it, or hands it to the panic handler.
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// Goes on with a panic that was caught.
#[cold]
pub(crate) fn resume(payload: Payload) -> ! {
    panic::resume_unwind(payload)
}

/// Drops what nobody is interested in, be it a payload or a result, whose own drop may panic: that panic goes nowhere.
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

/// Ends the process when it is dropped. Guards code that must not unwind.
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
    /// Ends the guarded code without effect.
    #[inline(always)]
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}
