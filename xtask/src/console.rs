//! Where what a step says goes: out as it comes, or, while steps run side by side, to a file that is shown in one piece later.
//!
//! A step runs in one thread, and that thread knows. So the commands that a step runs, and what it says itself, need not be told.
#![allow(clippy::print_stdout, reason = "this is the one place that prints")]

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::process::Stdio;

thread_local! {
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Says a line where this thread's words go.
macro_rules! say {
    ($($words:tt)*) => { $crate::console::say_line(format_args!($($words)*)) };
}
pub(crate) use say;

/// Runs `work`, and writes what it and its commands say to `log`.
pub(crate) fn to_file<T>(log: File, work: impl FnOnce() -> T) -> T {
    /// Also when `work` panics.
    struct Restore(Option<File>);
    impl Drop for Restore {
        fn drop(&mut self) {
            LOG.set(self.0.take());
        }
    }
    let _restore = Restore(LOG.replace(Some(log)));
    work()
}

/// What `say!` calls.
pub(crate) fn say_line(words: std::fmt::Arguments<'_>) {
    LOG.with_borrow_mut(|log| match log {
        // A full disk: the verdict still comes out.
        Some(log) => drop(writeln!(log, "{words}")),
        None => println!("{words}"),
    });
}

/// Repeats what a command has said on its two streams.
pub(crate) fn repeat(output: &[u8], errors: &[u8]) -> io::Result<()> {
    LOG.with_borrow_mut(|log| match log {
        Some(log) => log.write_all(output).and_then(|()| log.write_all(errors)),
        None => io::stdout().write_all(output).and_then(|()| io::stderr().write_all(errors)),
    })
}

/// The standard output and the standard error of a command whose words go where this thread's go.
pub(crate) fn streams() -> io::Result<(Stdio, Stdio)> {
    LOG.with_borrow(|log| match log {
        Some(log) => Ok((log.try_clone()?.into(), log.try_clone()?.into())),
        None => Ok((Stdio::inherit(), Stdio::inherit())),
    })
}
