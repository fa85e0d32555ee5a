//! Notes: what workers learnt, kept for the tasks near it.
//!
//! Each worker has a shelf of notes, which it alone reads and writes: a lookup by a task takes no
//! lock. A note that the worker publishes goes on its own shelf and on a copy beside its desk. The
//! lock of the copy is shared with the master only. The master looks through the copies when it
//! moves a batch, and sends the notes nearest to the batch along with it. So a note goes where the
//! tasks go that it is about, and nowhere else, and a lookup is always local.
//!
//! A shelf is bounded. If it is full, the note farthest from where the worker works is dropped, and
//! among equals the oldest. Among notes that are equally near, a note whose region contains the
//! worker's ranks before a note beside it.

use std::sync::Arc;

use super::region::Region;

/// A note: something learnt, and its region.
pub(super) struct Note<L> {
    pub(super) region: Region,
    pub(super) what: Arc<L>,
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
        Note { region: self.region, what: Arc::clone(&self.what) }
    }
}

/// A bounded number of notes, oldest first.
pub(super) struct Shelf<L> {
    notes: Vec<Note<L>>,
    most: usize,
}

impl<L> Shelf<L> {
    pub(super) fn new(most: usize) -> Self {
        Shelf { notes: Vec::new(), most }
    }

    /// Adds a note, for a worker that works at `here`.
    pub(super) fn put(&mut self, note: Note<L>, here: &Region) {
        if self.most == 0 || self.notes.iter().any(|other| Arc::ptr_eq(&other.what, &note.what)) {
            return;
        }
        if self.notes.len() == self.most {
            // The first among equals is the oldest.
            let farthest = self.notes.iter().enumerate().min_by_key(|(_, note)| note.rank(here));
            if let Some((index, _)) = farthest {
                self.notes.remove(index);
            }
        }
        self.notes.push(note);
    }

    /// Returns the notes with their nearness, nearest to `here` first, among equals the youngest.
    pub(super) fn near<'a>(&'a self, here: &Region) -> impl Iterator<Item = (u32, &'a Note<L>)> {
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
        Note { region: Region::at(path), what: Arc::new(what) }
    }

    fn near(shelf: &Shelf<u32>, here: &Region) -> Vec<(u32, u32)> {
        shelf.near(here).map(|(nearness, note)| (nearness, *note.what)).collect()
    }

    #[test]
    fn what_is_nearest_comes_first_and_what_holds_here_before_what_holds_beside() {
        let (mut shelf, here) = (Shelf::new(8), Region::at(&[1, 2, 3]));
        for (path, what) in [(&[1, 2][..], 10), (&[2], 20), (&[1, 2, 3, 4], 30), (&[1, 2, 9], 40)] {
            shelf.put(note(path, what), &here);
        }
        assert_eq!(near(&shelf, &here), [(3, 30), (2, 10), (2, 40), (0, 20)]);
    }

    #[test]
    fn a_full_shelf_lets_go_of_what_is_farthest() {
        let (mut shelf, here) = (Shelf::new(2), Region::at(&[1, 2]));
        for (path, what) in [(&[1, 2][..], 10), (&[3], 20), (&[1], 30)] {
            shelf.put(note(path, what), &here);
        }
        assert_eq!(near(&shelf, &here), [(2, 10), (1, 30)]);
    }

    #[test]
    fn a_note_is_put_up_once() {
        let (mut shelf, here) = (Shelf::new(4), Region::ROOT);
        let one = note(&[1], 10);
        shelf.put(one.clone(), &here);
        shelf.put(one, &here);
        assert_eq!(near(&shelf, &here), [(0, 10)]);
    }

    #[test]
    fn a_shelf_without_room_stays_empty() {
        let mut shelf = Shelf::new(0);
        shelf.put(note(&[1], 10), &Region::ROOT);
        assert_eq!(near(&shelf, &Region::ROOT), []);
    }
}
