//! Notes: what workers learnt, kept for the tasks near it.
//!
//! Each worker has a list of notes, which it alone reads and writes: a lookup by a task takes no
//! lock. A note that the worker publishes goes into this list and into a copy of it in its
//! `WorkerInfo`. The lock of the copy is shared with the master only. The master looks through the
//! copies when it moves a batch, and sends the notes nearest to the batch along with it. So a note
//! goes where the tasks go that it is about, and nowhere else, and a lookup is always local.
//!
//! The list is bounded. If it is full, the note farthest from where the worker works is dropped,
//! and among equals the oldest. Among notes that are equally near, a note whose region contains the
//! worker's ranks before a note beside it.

use std::sync::Arc;

use super::region::Region;

/// A note: something learnt, and its region.
pub(super) struct Note<L> {
    pub(super) region: Region,
    pub(super) learnt: Arc<L>,
}

impl<L> Note<L> {
    /// The rank of the note for a worker at `here`: the greater, the nearer.
    fn rank(&self, here: &Region) -> (u32, bool) {
        let nearness = self.region.nearness(here);
        (nearness, nearness as usize == self.region.labels().len())
    }
}

impl<L> Clone for Note<L> {
    fn clone(&self) -> Self {
        Note { region: self.region, learnt: Arc::clone(&self.learnt) }
    }
}

/// A bounded number of notes, oldest first.
pub(super) struct Notes<L> {
    notes: Vec<Note<L>>,
    capacity: usize,
}

impl<L> Notes<L> {
    pub(super) fn new(capacity: usize) -> Self {
        Notes { notes: Vec::new(), capacity }
    }

    /// Adds a note, for a worker that works at `here`.
    pub(super) fn insert(&mut self, note: Note<L>, here: &Region) {
        if self.capacity == 0 || self.notes.iter().any(|other| Arc::ptr_eq(&other.learnt, &note.learnt)) {
            return;
        }
        if self.notes.len() == self.capacity {
            // The first among equals is the oldest.
            let farthest = self.notes.iter().enumerate().min_by_key(|(_, note)| note.rank(here));
            if let Some((index, _)) = farthest {
                self.notes.remove(index);
            }
        }
        self.notes.push(note);
    }

    /// Returns the notes with their nearness, nearest to `here` first, among equals the youngest.
    pub(super) fn nearest_first<'a>(&'a self, here: &Region) -> impl Iterator<Item = (u32, &'a Note<L>)> {
        let ranked = self.notes.iter().enumerate().map(|(index, note)| (note.rank(here), index));
        let mut order: Vec<((u32, bool), usize)> = ranked.collect();
        order.sort_unstable();
        order.into_iter().rev().map(|((nearness, _), index)| (nearness, &self.notes[index]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(path: &[u32], what: u32) -> Note<u32> {
        Note { region: Region::at(path), learnt: Arc::new(what) }
    }

    fn near(notes: &Notes<u32>, here: &Region) -> Vec<(u32, u32)> {
        notes.nearest_first(here).map(|(nearness, note)| (nearness, *note.learnt)).collect()
    }

    #[test]
    fn the_nearest_note_comes_first_and_a_note_that_holds_here_before_one_beside() {
        let (mut notes, here) = (Notes::new(8), Region::at(&[1, 2, 3]));
        for (path, what) in [(&[1, 2][..], 10), (&[2], 20), (&[1, 2, 3, 4], 30), (&[1, 2, 9], 40)] {
            notes.insert(note(path, what), &here);
        }
        assert_eq!(near(&notes, &here), [(3, 30), (2, 10), (2, 40), (0, 20)]);
    }

    #[test]
    fn a_full_list_drops_the_farthest_note() {
        let (mut notes, here) = (Notes::new(2), Region::at(&[1, 2]));
        for (path, what) in [(&[1, 2][..], 10), (&[3], 20), (&[1], 30)] {
            notes.insert(note(path, what), &here);
        }
        assert_eq!(near(&notes, &here), [(2, 10), (1, 30)]);
    }

    #[test]
    fn a_note_is_inserted_once() {
        let (mut notes, here) = (Notes::new(4), Region::ROOT);
        let one = note(&[1], 10);
        notes.insert(one.clone(), &here);
        notes.insert(one, &here);
        assert_eq!(near(&notes, &here), [(0, 10)]);
    }

    #[test]
    fn a_list_of_capacity_0_stays_empty() {
        let mut notes = Notes::new(0);
        notes.insert(note(&[1], 10), &Region::ROOT);
        assert_eq!(near(&notes, &Region::ROOT), []);
    }
}
