//! Deliberate defects, for loom alone.
//!
//! A model must catch each of them; otherwise the models prove nothing.

/// A defect that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(crate) enum Defect {
    /// A worker that releases the master lock does not check for notes.
    RequestsAreIgnored,
    /// A worker that parks looks at the queues without a barrier on all threads first.
    ParkWithoutBarrier,
    /// A worker that parks does not look at the queues after its announcement.
    ParkWithoutLastLook,
    /// A worker that has nothing left ignores mail: its own, and that of others.
    MailIsForgotten,
}

/// Returns whether the defect is switched on. Never, outside of loom.
#[cfg(not(all(test, loom)))]
#[inline(always)]
pub(crate) fn defect(_: Defect) -> bool {
    false
}

#[cfg(all(test, loom))]
pub(crate) use chosen::{defect, with};

#[cfg(all(test, loom))]
mod chosen {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Mutex;

    use super::Defect;
    use crate::sync::unpoisoned;

    static CHOSEN: AtomicUsize = AtomicUsize::new(0);
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    pub(crate) fn defect(defect: Defect) -> bool {
        CHOSEN.load(Ordering::Relaxed) == defect as usize + 1
    }

    /// Runs a model with a defect or without, and returns whether it passed.
    ///
    /// Models run one at a time, since the chosen defect is global.
    pub(crate) fn with(defect: Option<Defect>, model: impl FnOnce() + std::panic::UnwindSafe) -> bool {
        let _one = unpoisoned(ONE_AT_A_TIME.lock());
        CHOSEN.store(defect.map_or(0, |defect| defect as usize + 1), Ordering::Relaxed);
        let passed = std::panic::catch_unwind(model);
        CHOSEN.store(0, Ordering::Relaxed);
        match passed {
            Ok(()) => true,
            Err(panic) if defect.is_none() => std::panic::resume_unwind(panic),
            Err(_) => false,
        }
    }
}
