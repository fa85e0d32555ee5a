//! Deliberate defects, for loom alone: each must be caught by one of the models, or the models prove nothing.

/// A way to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(crate) enum Defect {
    /// Who lays the baton down does not look for notes.
    NotesAreNotRead,
    /// Who sits down looks at the queues without having everybody pass a barrier first.
    SitWithoutBarrier,
    /// Who sits down does not look at the queues once more after it has said so.
    SitWithoutLook,
    /// Nobody looks for mail who has nothing left, be it its own or that of others.
    MailIsForgotten,
}

/// Whether the code is to be wrong in this way. Never, outside of loom.
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

    static CHOSEN: AtomicUsize = AtomicUsize::new(0);
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    pub(crate) fn defect(defect: Defect) -> bool {
        CHOSEN.load(Ordering::Relaxed) == defect as usize + 1
    }

    /// Runs a model with a defect or without, and says whether it passed. Models run one at a time: a defect is everybody's.
    pub(crate) fn with(defect: Option<Defect>, model: impl FnOnce() + std::panic::UnwindSafe) -> bool {
        let _one = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
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
