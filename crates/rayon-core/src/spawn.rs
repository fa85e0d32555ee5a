//! Detached jobs.

use crate::global::{global, in_pool};

/// Spawns a closure in the current or global pool. Does not wait for it.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send("done").unwrap());
/// assert_eq!(receiver.recv(), Ok("done"));
/// ```
///
/// # Panics
///
/// A panic of the closure goes to the pool's [panic
/// handler](crate::ThreadPoolBuilder::panic_handler). Without a handler the process ends.
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    if in_pool() {
        filch::spawn(func);
    } else {
        global().spawn(func);
    }
}

/// Like [`spawn`], but a thread runs the jobs that it spawns this way oldest first.
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    if in_pool() {
        filch::spawn_fifo(func);
    } else {
        global().spawn_fifo(func);
    }
}
