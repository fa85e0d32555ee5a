//! The defect that a model chooses. filch-dd includes this file, too.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use super::Defect;

static CHOSEN: AtomicUsize = AtomicUsize::new(0);
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub(crate) fn defect(defect: Defect) -> bool {
    CHOSEN.load(Ordering::Relaxed) == defect as usize + 1
}

/// Runs a model with a defect or without. Returns whether it passed. Models run one at a time:
/// the defect is global.
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
