//! Inboxes: how a batch reaches a worker that is busy.
//!
//! A master puts the batch into an inbox that only that worker empties, when its own queue is
//! empty.

use filch_queue::bulk::Batch;

use super::notes::Note;
use crate::sync::{lock, AtomicBool, Mutex, Ordering};

/// Tasks, and the notes near them.
pub(super) struct Mail<T, L> {
    pub(super) tasks: Batch<T>,
    pub(super) notes: Vec<Note<L>>,
}

/// A worker's inbox. The holder of the master lock puts mail in or takes some back; the worker
/// takes it out.
///
/// The inbox has its own lock. The worker takes it only if there is mail, or when it has nothing
/// else to do.
pub(super) struct Inbox<T, L> {
    /// Whether there is mail, so that the worker can check without the lock.
    has_mail: AtomicBool,
    mail: Mutex<Option<Mail<T, L>>>,
}

impl<T, L> Inbox<T, L> {
    pub(super) fn new() -> Self {
        Inbox { has_mail: AtomicBool::new(false), mail: Mutex::new(None) }
    }

    #[inline]
    pub(super) fn has_mail(&self) -> bool {
        // Relaxed: a worker that sees it takes the lock. A worker that does not see it yet checks
        // again before it parks, while it holds the master lock.
        self.has_mail.load(Ordering::Relaxed)
    }

    /// The number of tasks in the inbox.
    pub(super) fn len(&self) -> usize {
        if self.has_mail() {
            lock(&self.mail).as_ref().map_or(0, |mail| mail.tasks.len())
        } else {
            0
        }
    }

    /// Adds to the mail. The caller holds the master lock.
    pub(super) fn put(&self, more: Mail<T, L>) {
        let mut slot = lock(&self.mail);
        match &mut *slot {
            Some(mail) => {
                mail.tasks.append(more.tasks);
                mail.notes.extend(more.notes);
            }
            None => *slot = Some(more),
        }
        self.has_mail.store(true, Ordering::Relaxed);
    }

    /// Empties the inbox.
    pub(super) fn take(&self) -> Option<Mail<T, L>> {
        let mut slot = lock(&self.mail);
        self.has_mail.store(false, Ordering::Relaxed);
        slot.take()
    }

    /// Takes a share of the tasks back, at least one if there are any.
    ///
    /// Their addressee is busy with a long task. The caller holds the master lock.
    pub(super) fn take_back(&self, share: f64) -> Batch<T> {
        let mut slot = lock(&self.mail);
        let mut taken = Batch::new();
        if let Some(mail) = &mut *slot {
            // Takes the youngest, since a batch gives those. An inbox holds a batch or two, and
            // this is rare.
            let wanted = (mail.tasks.len() as f64 * share).ceil() as usize;
            taken.extend((0..wanted).map_while(|_| mail.tasks.pop()));
            if mail.tasks.is_empty() {
                *slot = None;
                self.has_mail.store(false, Ordering::Relaxed);
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
    fn an_inbox_keeps_all_tasks_that_are_put_into_it() {
        let inbox = Inbox::new();
        assert!(inbox.take().is_none() && !inbox.has_mail());
        inbox.put(mail(0..3));
        inbox.put(mail(3..5));
        assert_eq!(inbox.len(), 5);
        let tasks: Vec<_> = inbox.take().expect("mail").tasks.into_iter().collect();
        assert_eq!(tasks, [0, 1, 2, 3, 4]);
        assert!(!inbox.has_mail());
    }

    #[test]
    fn tasks_that_are_taken_back_are_no_longer_in_the_inbox() {
        let inbox = Inbox::new();
        inbox.put(mail(0..5));
        let mut all: Vec<_> = inbox.take_back(0.5).into_iter().collect();
        assert_eq!((all.len(), inbox.len()), (3, 2));
        all.extend(inbox.take_back(1.0));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
        assert!(!inbox.has_mail() && inbox.take_back(1.0).is_empty() && inbox.take().is_none());
    }
}
