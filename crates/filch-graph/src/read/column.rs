//! The column of weights, which is read or skipped.

use super::cursor::Cursor;
use crate::weighted::{real_word, Kind, Weight};

/// The weight of an edge as a reader wants it: read, or skipped.
pub(super) trait Column: Copy + Send + Sync {
    /// The weights of many edges.
    type List: Default + Send;

    /// Whether a line must have a weight.
    const IS_READ: bool;
    /// The weight of an edge in a file that says that it has none.
    const ONE: Self;

    /// Reads or skips a number. Returns `None` if there is none here, or if it is no weight.
    fn number(cursor: &mut Cursor<'_>) -> Option<Self>;

    /// Returns an empty list with room for this many weights; `None` if there is no memory.
    fn list(room: usize) -> Option<Self::List>;

    /// Adds this weight to a list.
    fn add_to(self, list: &mut Self::List);

    /// Frees the room that is not used.
    fn shrink(list: &mut Self::List);
}

/// No weights: numbers are skipped, whatever they are.
impl Column for () {
    type List = ();

    const IS_READ: bool = false;
    const ONE: () = ();

    #[inline]
    fn number(cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.number().then_some(())
    }

    fn list(_: usize) -> Option<()> {
        Some(())
    }

    #[inline]
    fn add_to(self, (): &mut ()) {}

    fn shrink((): &mut ()) {}
}

/// The weights of a block, all of one kind.
pub(super) struct Words {
    pub(super) words: Vec<u32>,
    pub(super) kind: Kind,
}

impl Default for Words {
    fn default() -> Words {
        Words { words: Vec::new(), kind: Kind::Whole }
    }
}

impl Column for Weight {
    type List = Words;

    const IS_READ: bool = true;
    const ONE: Weight = Weight::Whole(1);

    #[inline]
    fn number(cursor: &mut Cursor<'_>) -> Option<Weight> {
        cursor.weight()
    }

    fn list(room: usize) -> Option<Words> {
        let mut words = Vec::new();
        words.try_reserve_exact(room).ok()?;
        Some(Words { words, kind: Kind::Whole })
    }

    #[inline]
    fn add_to(self, list: &mut Words) {
        if list.kind == Kind::Whole && self.kind() == Kind::Real {
            // The first number that is not whole makes all of them real.
            list.words.iter_mut().for_each(|word| *word = real_word(*word));
            list.kind = Kind::Real;
        }
        list.words.push(self.word(list.kind));
    }

    fn shrink(list: &mut Words) {
        list.words.shrink_to_fit();
    }
}
