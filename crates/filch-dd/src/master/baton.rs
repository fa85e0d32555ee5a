//! Who has the baton is master. It is a lock that nobody with work to do ever waits for.
//!
//! A worker who comes with something to give and finds the baton taken cannot know whether the holder has looked at its queue yet. So it leaves a note, tries once more, and goes on with its
//! work; a holder who finds a note when it has laid the baton down takes it up again and looks at everything once more. Note, then try, on one side; lay down, then look for notes, on
//! the other, and a full fence between the two on each: one of them sees the other.

use crate::defect::{defect, Defect};
use crate::sync::{fence, lock, try_lock, AtomicBool, Mutex, MutexGuard, Ordering};

/// Guards what the master has.
#[derive(Debug)]
pub(super) struct Baton<O> {
    office: Mutex<O>,
    /// Somebody came while it was taken.
    note: AtomicBool,
}

impl<O> Baton<O> {
    pub(super) fn new(office: O) -> Self {
        Baton { office: Mutex::new(office), note: AtomicBool::new(false) }
    }

    /// Takes the baton unless somebody has it, who then serves once more.
    ///
    /// `serve` is called again and again, as long as others leave notes meanwhile.
    pub(super) fn try_serve(&self, mut serve: impl FnMut(&mut O)) {
        loop {
            let Some(mut office) = try_lock(&self.office).or_else(|| self.leave_note()) else { return };
            // Acquire: what those who left notes had pushed is seen.
            self.note.swap(false, Ordering::Acquire);
            serve(&mut office);
            drop(office);
            if !self.has_note() {
                return;
            }
        }
    }

    /// Takes the baton unless somebody has it. Who did looks for [notes](Self::has_note) afterwards.
    pub(super) fn try_take(&self) -> Option<MutexGuard<'_, O>> {
        try_lock(&self.office)
    }

    /// Takes the baton, and waits for it: for those who have nothing else to do. They look for [notes](Self::has_note) afterwards.
    pub(super) fn wait(&self) -> MutexGuard<'_, O> {
        let office = lock(&self.office);
        self.note.swap(false, Ordering::Acquire);
        office
    }

    fn leave_note(&self) -> Option<MutexGuard<'_, O>> {
        // Release: who finds it sees what was pushed before. An exchange, so that a second note does not hide what came with the first.
        self.note.swap(true, Ordering::AcqRel);
        // Against the fence of who lays the baton down; see the module.
        fence(Ordering::SeqCst);
        try_lock(&self.office)
    }

    /// Whether there is a note, for somebody who has laid the baton down.
    pub(super) fn has_note(&self) -> bool {
        if defect(Defect::NotesAreNotRead) {
            return false;
        }
        // Against the fence of who leaves one.
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
