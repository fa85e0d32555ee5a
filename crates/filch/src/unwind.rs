//! Panics that stop at the edge of a job and go on elsewhere.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::process;

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

/// Ends the process if it is dropped: around what must not unwind, because somebody waits for what comes after.
#[derive(Debug)]
pub(crate) struct NoUnwind(pub(crate) &'static str);

impl Drop for NoUnwind {
    fn drop(&mut self) {
        eprintln!("filch: {}: the process ends", self.0);
        process::abort();
    }
}

impl NoUnwind {
    /// All went well.
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}
