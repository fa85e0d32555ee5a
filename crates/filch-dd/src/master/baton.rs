//! The baton: a lock whose holder is the master.
//!
//! A worker that has work never waits for it.
//!
//! A worker that has tasks to give and finds the baton taken cannot know whether the holder has
//! looked at its queue yet. So it leaves a note, tries once more, and continues its work. A holder
//! that finds a note after it released the baton takes it again and looks at all queues once more.
//! One side stores the note and then tries the lock. The other side releases the lock and then
//! checks for notes. Each side has a full fence between its two steps, so at least one of them sees
//! the other.

use crate::defect::{defect, Defect};
use crate::sync::{fence, lock, try_lock, AtomicBool, Mutex, MutexGuard, Ordering};

/// A lock around the office, the data of the master.
#[derive(Debug)]
pub(super) struct Baton<O> {
    office: Mutex<O>,
    /// A worker found the baton taken and has left a note.
    note: AtomicBool,
}

impl<O> Baton<O> {
    pub(super) fn new(office: O) -> Self {
        Baton { office: Mutex::new(office), note: AtomicBool::new(false) }
    }

    /// Takes the baton and calls `serve`, or leaves a note for the holder.
    ///
    /// `serve` is called again as long as other workers leave notes meanwhile.
    pub(super) fn try_serve(&self, mut serve: impl FnMut(&mut O)) {
        loop {
            let Some(mut office) = try_lock(&self.office).or_else(|| self.leave_note()) else { return };
            // Acquire: this worker sees what the workers that left notes had pushed.
            self.note.swap(false, Ordering::Acquire);
            serve(&mut office);
            drop(office);
            if !self.has_note() {
                return;
            }
        }
    }

    /// Takes the baton unless it is taken.
    ///
    /// After the release, the caller checks for [notes](Self::has_note).
    pub(super) fn try_take(&self) -> Option<MutexGuard<'_, O>> {
        try_lock(&self.office)
    }

    /// Waits for the baton and takes it.
    ///
    /// Only a worker that has nothing else to do calls this.
    ///
    /// After the release, the caller checks for [notes](Self::has_note).
    pub(super) fn wait(&self) -> MutexGuard<'_, O> {
        let office = lock(&self.office);
        self.note.swap(false, Ordering::Acquire);
        office
    }

    fn leave_note(&self) -> Option<MutexGuard<'_, O>> {
        // Release: the worker that reads the note sees what was pushed before. An exchange, so that
        // a second note does not hide what came with the first.
        self.note.swap(true, Ordering::AcqRel);
        // Pairs with the fence of the worker that released the baton; see the module.
        fence(Ordering::SeqCst);
        try_lock(&self.office)
    }

    /// Returns whether there is a note. Called after the baton is released.
    pub(super) fn has_note(&self) -> bool {
        if defect(Defect::NotesAreNotRead) {
            return false;
        }
        // Pairs with the fence of the worker that leaves a note.
        fence(Ordering::SeqCst);
        self.note.load(Ordering::Relaxed)
    }

    pub(super) fn into_office(self) -> O {
        match self.office.into_inner() {
            Ok(office) => office,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}
