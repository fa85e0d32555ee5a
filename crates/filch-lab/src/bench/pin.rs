//! Pins threads to cores. Without pinning, moves between cores are part of the measurement.

use std::thread;

use core_affinity::CoreId;

/// A core for the owner and one for the thief.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cores {
    owner: Option<CoreId>,
    thief: Option<CoreId>,
}

impl Cores {
    /// Chooses the first two cores that this thread may use.
    ///
    /// If there is only one, nothing is pinned: the threads have to share it anyway.
    pub(crate) fn choose() -> Cores {
        match core_affinity::get_core_ids().as_deref() {
            Some([owner, thief, ..]) => Cores { owner: Some(*owner), thief: Some(*thief) },
            _ => Cores { owner: None, thief: None },
        }
    }

    /// Whether owner and thief each have a core of their own.
    pub(crate) fn are_two(&self) -> bool {
        self.owner.is_some() && self.thief.is_some()
    }

    /// Pins the calling thread to the owner's core. Returns whether that worked.
    pub(crate) fn pin_owner(&self) -> bool {
        self.owner.is_some_and(core_affinity::set_for_current)
    }

    /// Pins the calling thread to the thief's core. Returns whether that worked.
    pub(crate) fn pin_thief(&self) -> bool {
        self.thief.is_some_and(core_affinity::set_for_current)
    }
}

/// Works on a thread of its own that `pin` pins.
pub(crate) fn on_pinned_thread<R: Send>(
    pin: impl Fn(&Cores) -> bool + Sync,
    work: impl FnOnce(Cores) -> R + Send,
) -> R {
    // Choose before any thread is pinned: a pinned thread sees one core.
    let cores = Cores::choose();
    let run = || {
        pin(&cores);
        work(cores)
    };
    thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
