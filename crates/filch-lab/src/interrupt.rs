//! Ctrl-C, or the system that asks the program to end. The first time it ends with what it has; what that is, only whoever is at work knows.

use std::process::{self, Child, Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::{say, watch};

/// What a shell takes for a program that was ended by Ctrl-C.
pub(crate) const CODE: u8 = 130;

static HANDLED: AtomicBool = AtomicBool::new(false);

/// A process that ends with this one.
pub(crate) type Shared = Arc<Mutex<Child>>;
/// Those that there are.
type Children = Mutex<Vec<Weak<Mutex<Child>>>>;

static CHILDREN: Children = Mutex::new(Vec::new());

/// Calls this at each signal, with when the first one came. Only once in a process.
pub(crate) fn handle(asked: impl Fn(Option<Instant>) + Send + 'static) -> Result<()> {
    let first = OnceLock::new();
    ctrlc::set_handler(move || {
        asked(first.get().copied());
        first.get_or_init(Instant::now);
    })
    .context("Ctrl-C cannot be listened to")?;
    // Relaxed: nothing is handed over by it.
    HANDLED.store(true, Ordering::Relaxed);
    Ok(())
}

/// From now on the first Ctrl-C is answered with this sentence and [ends](watch::end) what measures; one more ends the program at once.
pub(crate) fn ends_measuring(sentence: &'static str) -> Result<()> {
    handle(move |first| match first {
        None => {
            say(sentence);
            watch::end();
        }
        Some(_) => leave(),
    })
}

/// What the program ends with if nothing failed.
pub(crate) fn code() -> ExitCode {
    if watch::is_over() {
        ExitCode::from(CODE)
    } else {
        ExitCode::SUCCESS
    }
}

/// Ends the program at once, and those that it started and that do not [hear](shield) of Ctrl-C themselves.
pub(crate) fn leave() -> ! {
    end_all(&CHILDREN);
    process::exit(i32::from(CODE))
}

/// Keeps Ctrl-C from a process that this one is about to start, if this one [handles](handle) it: a terminal sends it to both, and a child that dies of it would
/// look like one that failed. Whoever starts it has to end it when [it is over](crate::watch::is_over).
pub(crate) fn shield(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    // Relaxed: see `handle`.
    if HANDLED.load(Ordering::Relaxed) {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    command
}

/// From now on this process ends when the program is [left](leave). Nobody may hold the lock for long.
pub(crate) fn entrust(child: Child) -> Shared {
    entrust_to(&CHILDREN, child)
}

fn entrust_to(children: &Children, child: Child) -> Shared {
    let child = Arc::new(Mutex::new(child));
    let mut children = children.lock().unwrap_or_else(PoisonError::into_inner);
    children.retain(|child| child.strong_count() > 0);
    children.push(Arc::downgrade(&child));
    child
}

fn end_all(children: &Children) {
    for child in children.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade) {
        // Whoever has ended by itself cannot be killed, and need not be.
        let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn whoever_is_entrusted_ends_with_the_program() {
        let children = Children::default();
        let start = |script: &str| entrust_to(&children, Command::new("/bin/sh").args(["-c", script]).spawn().unwrap());
        let sleeper = start("exec sleep 10");
        drop(start("true").lock().unwrap().wait());
        let done = start("exit 3");
        assert_eq!(children.lock().unwrap().len(), 2, "whoever is gone is not looked at again");
        assert_eq!(done.lock().unwrap().wait().unwrap().code(), Some(3));
        end_all(&children);
        assert_eq!(sleeper.lock().unwrap().wait().unwrap().signal(), Some(9));
    }
}
