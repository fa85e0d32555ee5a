//! Routes the output of a step. It goes to the console at once, or to a file while steps run in
//! parallel. The file is shown as a whole later.
//!
//! A step runs in one thread, and the destination is a property of that thread. So the commands of
//! a step, and its own messages, need no parameter for it.
#![allow(clippy::print_stdout, reason = "all output of steps is printed here")]

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::process::Stdio;

thread_local! {
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Prints a line to the output of this thread.
macro_rules! print_line {
    ($($text:tt)*) => { $crate::output::write_line(format_args!($($text)*)) };
}
pub(crate) use print_line;

/// Runs `work`, and writes its output and that of its commands to `log`.
pub(crate) fn redirect_to<T>(log: File, work: impl FnOnce() -> T) -> T {
    /// Restores the output, also if `work` panics.
    struct Restore(Option<File>);
    impl Drop for Restore {
        fn drop(&mut self) {
            LOG.set(self.0.take());
        }
    }
    let _restore = Restore(LOG.replace(Some(log)));
    work()
}

/// Implements `print_line!`.
pub(crate) fn write_line(text: std::fmt::Arguments<'_>) {
    LOG.with_borrow_mut(|log| match log {
        // A write can fail because the disk is full. The verdict is still printed.
        Some(log) => drop(writeln!(log, "{text}")),
        None => println!("{text}"),
    });
}

/// Prints the output of a command on its two streams again.
pub(crate) fn write_captured(output: &[u8], errors: &[u8]) -> io::Result<()> {
    LOG.with_borrow_mut(|log| match log {
        Some(log) => log.write_all(output).and_then(|()| log.write_all(errors)),
        None => io::stdout().write_all(output).and_then(|()| io::stderr().write_all(errors)),
    })
}

/// The standard output and standard error for a command with the output of this thread.
pub(crate) fn child_streams() -> io::Result<(Stdio, Stdio)> {
    LOG.with_borrow(|log| match log {
        Some(log) => Ok((log.try_clone()?.into(), log.try_clone()?.into())),
        None => Ok((Stdio::inherit(), Stdio::inherit())),
    })
}
