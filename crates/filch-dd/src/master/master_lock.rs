//! A lock around the data of the master. The worker that holds it is the master.
//!
//! A worker that has work never waits for it.
//!
//! A worker that has tasks to give and finds the lock taken cannot know whether the holder has
//! looked at its queue yet. So it leaves a request, tries once more, and continues its work. A
//! holder that finds a request after it released the lock takes it again and looks at all queues
//! once more. One side stores the request and then tries the lock. The other side releases the lock
//! and then checks for requests. Each side has a full fence between its two steps, so at least one
//! of them sees the other.

use crate::defect::{defect, Defect};
use crate::sync::{fence, lock, try_lock, unpoisoned, AtomicBool, Mutex, MutexGuard, Ordering};

/// A lock around `T`, the data of the master.
#[derive(Debug)]
pub(super) struct MasterLock<T> {
    data: Mutex<T>,
    /// A worker found the lock taken and requests that the holder serves once more.
    request: AtomicBool,
}

impl<T> MasterLock<T> {
    pub(super) fn new(data: T) -> Self {
        MasterLock { data: Mutex::new(data), request: AtomicBool::new(false) }
    }

    /// Takes the lock and calls `serve`, or leaves a request for the holder.
    ///
    /// `serve` is called again as long as other workers leave requests meanwhile.
    pub(super) fn try_serve(&self, mut serve: impl FnMut(&mut T)) {
        loop {
            let Some(mut data) = try_lock(&self.data).or_else(|| self.leave_request()) else { return };
            // Acquire: this worker sees what the workers that left requests had pushed.
            self.request.swap(false, Ordering::Acquire);
            serve(&mut data);
            drop(data);
            if !self.has_request() {
                return;
            }
        }
    }

    /// Takes the lock unless it is taken.
    ///
    /// After the release, the caller checks for [requests](Self::has_request).
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        try_lock(&self.data)
    }

    /// Waits for the lock and takes it.
    ///
    /// Only a worker that has nothing else to do calls this.
    ///
    /// After the release, the caller checks for [requests](Self::has_request).
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        let data = lock(&self.data);
        self.request.swap(false, Ordering::Acquire);
        data
    }

    fn leave_request(&self) -> Option<MutexGuard<'_, T>> {
        // Release: the worker that reads the request sees what was pushed before. An exchange, so
        // that a second request does not hide what came with the first.
        self.request.swap(true, Ordering::AcqRel);
        // Pairs with the fence of the worker that released the lock; see the module.
        fence(Ordering::SeqCst);
        try_lock(&self.data)
    }

    /// Returns whether there is a request. Called after the lock is released.
    pub(super) fn has_request(&self) -> bool {
        if defect(Defect::RequestsAreIgnored) {
            return false;
        }
        // Pairs with the fence of the worker that leaves a request.
        fence(Ordering::SeqCst);
        self.request.load(Ordering::Relaxed)
    }

    pub(super) fn into_inner(self) -> T {
        unpoisoned(self.data.into_inner())
    }
}
