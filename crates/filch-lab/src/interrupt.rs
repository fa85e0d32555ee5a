//! Handles Ctrl-C and the system's request to end the program.
//!
//! After the first signal the program ends with its results so far. The running command decides
//! what these are.

use std::process::{self, Child, Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use anyhow::Result;
pub(crate) use filch_cli::interrupt::CODE;

use crate::sync::lock;
use crate::{say, watch};

static HANDLED: AtomicBool = AtomicBool::new(false);

/// A child process that ends with this process.
pub(crate) type Shared = Arc<Mutex<Child>>;
/// All such child processes.
type Children = Mutex<Vec<Weak<Mutex<Child>>>>;

static CHILDREN: Children = Mutex::new(Vec::new());

/// Installs a handler for signals, and [shields](shield) child processes from them.
///
/// The handler receives the time of the first signal; for the first signal that is `None`.
pub(crate) fn handle(on_signal: impl Fn(Option<Instant>) + Send + 'static) -> Result<()> {
    filch_cli::interrupt::handle(on_signal)?;
    // Relaxed: it publishes no data.
    HANDLED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Installs a handler that prints this sentence and [ends](watch::end) the measurement.
///
/// A second Ctrl-C ends the program at once.
pub(crate) fn ends_measuring(sentence: &'static str) -> Result<()> {
    handle(move |first| match first {
        None => {
            say(sentence);
            watch::end();
        }
        Some(_) => leave(),
    })
}

/// The exit code of a program without errors.
pub(crate) fn code() -> ExitCode {
    if watch::is_over() {
        ExitCode::from(CODE)
    } else {
        ExitCode::SUCCESS
    }
}

/// Ends the program at once, and the children that do not [receive](shield) Ctrl-C themselves.
pub(crate) fn leave() -> ! {
    end_all(&CHILDREN);
    process::exit(i32::from(CODE))
}

/// Keeps Ctrl-C from a child process, if this process [handles](handle) it.
///
/// A terminal sends it to both, and a child that dies of it would look like a failed one. The
/// caller has to end the child when [it is over](crate::watch::is_over).
pub(crate) fn shield(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    // Relaxed: see `handle`.
    if HANDLED.load(Ordering::Relaxed) {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    command
}

/// Registers a child that ends when the program [leaves](leave). Callers must not hold the lock for
/// long.
pub(crate) fn entrust(child: Child) -> Shared {
    entrust_to(&CHILDREN, child)
}

fn entrust_to(children: &Children, child: Child) -> Shared {
    let child = Arc::new(Mutex::new(child));
    let mut children = lock(children);
    children.retain(|child| child.strong_count() > 0);
    children.push(Arc::downgrade(&child));
    child
}

fn end_all(children: &Children) {
    for child in lock(children).iter().filter_map(Weak::upgrade) {
        // A child that has already ended cannot be killed, and need not be.
        let _ = lock(&child).kill();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn registered_children_end_with_the_program() {
        let children = Children::default();
        let start = |script: &str| entrust_to(&children, Command::new("/bin/sh").args(["-c", script]).spawn().unwrap());
        let sleeper = start("exec sleep 10");
        drop(start("true").lock().unwrap().wait());
        let done = start("exit 3");
        assert_eq!(children.lock().unwrap().len(), 2, "ended children are removed from the list");
        assert_eq!(done.lock().unwrap().wait().unwrap().code(), Some(3));
        end_all(&children);
        assert_eq!(sleeper.lock().unwrap().wait().unwrap().signal(), Some(9));
    }
}
