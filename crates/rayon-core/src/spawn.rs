//! Jobs that nobody waits for.

use crate::global::{global, in_pool};

/// Has a closure run in the current pool, or the global one, at some time; nobody waits for it.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send("done").unwrap());
/// assert_eq!(receiver.recv(), Ok("done"));
/// ```
///
/// # Panics
///
/// A panic of the closure goes to the pool's [panic handler](crate::ThreadPoolBuilder::panic_handler); without one the process ends.
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

/// As [`spawn`], but of the jobs that a thread spawns like this it runs the oldest first.
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
