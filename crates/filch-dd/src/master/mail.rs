//! Letterboxes: how a batch reaches a worker that is busy.
//!
//! A master puts the batch into a box that only that worker empties, when its own queue is empty.

use filch_queue::bulk::Batch;

use super::learnt::Note;
use crate::sync::{lock, AtomicBool, Mutex, Ordering};

/// Tasks, and the notes near them.
pub(super) struct Mail<T, L> {
    pub(super) tasks: Batch<T>,
    pub(super) notes: Vec<Note<L>>,
}

/// A worker's box. The holder of the baton puts mail in or takes some back; the worker takes it
/// out.
///
/// The box has its own lock. The worker takes it only if there is mail, or when it has nothing else
/// to do.
pub(super) struct Letterbox<T, L> {
    /// Whether there is mail, so that the worker can check without the lock.
    full: AtomicBool,
    mail: Mutex<Option<Mail<T, L>>>,
}

impl<T, L> Letterbox<T, L> {
    pub(super) fn new() -> Self {
        Letterbox { full: AtomicBool::new(false), mail: Mutex::new(None) }
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        // Relaxed: a worker that sees it takes the lock. A worker that does not see it yet checks
        // again before it parks, while it holds the baton.
        self.full.load(Ordering::Relaxed)
    }

    /// The number of tasks in the box.
    pub(super) fn len(&self) -> usize {
        if self.is_full() {
            lock(&self.mail).as_ref().map_or(0, |mail| mail.tasks.len())
        } else {
            0
        }
    }

    /// Adds to the mail. The caller holds the baton.
    pub(super) fn put(&self, more: Mail<T, L>) {
        let mut slot = lock(&self.mail);
        match &mut *slot {
            Some(mail) => {
                mail.tasks.append(more.tasks);
                mail.notes.extend(more.notes);
            }
            None => *slot = Some(more),
        }
        self.full.store(true, Ordering::Relaxed);
    }

    /// Empties the box.
    pub(super) fn take(&self) -> Option<Mail<T, L>> {
        let mut slot = lock(&self.mail);
        self.full.store(false, Ordering::Relaxed);
        slot.take()
    }

    /// Takes a share of the tasks back, at least one if there are any.
    ///
    /// Their addressee is busy with a long task. The caller holds the baton.
    pub(super) fn take_back(&self, share: f64) -> Batch<T> {
        let mut slot = lock(&self.mail);
        let mut taken = Batch::new();
        if let Some(mail) = &mut *slot {
            // Takes the youngest, since a batch gives those. A box holds a batch or two, and this
            // is rare.
            let wanted = (mail.tasks.len() as f64 * share).ceil() as usize;
            taken.extend((0..wanted).map_while(|_| mail.tasks.pop()));
            if mail.tasks.is_empty() {
                *slot = None;
                self.full.store(false, Ordering::Relaxed);
            }
        }
        taken
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn mail(tasks: std::ops::Range<usize>) -> Mail<usize, ()> {
        Mail { tasks: tasks.collect(), notes: Vec::new() }
    }

    #[test]
    fn a_box_adds_up_what_is_put_into_it() {
        let letterbox = Letterbox::new();
        assert!(letterbox.take().is_none() && !letterbox.is_full());
        letterbox.put(mail(0..3));
        letterbox.put(mail(3..5));
        assert_eq!(letterbox.len(), 5);
        let tasks: Vec<_> = letterbox.take().expect("mail").tasks.into_iter().collect();
        assert_eq!(tasks, [0, 1, 2, 3, 4]);
        assert!(!letterbox.is_full());
    }

    #[test]
    fn what_is_taken_back_is_no_longer_there() {
        let letterbox = Letterbox::new();
        letterbox.put(mail(0..5));
        let mut all: Vec<_> = letterbox.take_back(0.5).into_iter().collect();
        assert_eq!((all.len(), letterbox.len()), (3, 2));
        all.extend(letterbox.take_back(1.0));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
        assert!(!letterbox.is_full() && letterbox.take_back(1.0).is_empty() && letterbox.take().is_none());
    }
}
