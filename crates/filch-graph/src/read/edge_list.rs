//! Edge lists, as in the SNAP collection. A line is an edge: two ids, and perhaps more columns.

use std::marker::PhantomData;

use super::blocks::{Fault, Grammar, Id};
use super::cursor::Cursor;

pub(super) struct EdgeList<I>(pub(super) PhantomData<I>);

impl<I: Id> EdgeList<I> {
    #[inline]
    fn id(number: u64) -> Result<I, Fault> {
        I::of(number).ok_or(if number == u64::MAX { Fault::Huge } else { Fault::Large })
    }
}

impl<I: Id> Grammar for EdgeList<I> {
    type Id = I;

    #[inline]
    fn line(&self, cursor: &mut Cursor<'_>) -> Result<Option<(I, I)>, Fault> {
        const IDS: Fault = Fault::Expected("two vertex ids");
        cursor.blanks();
        let Some(from) = cursor.whole() else {
            if matches!(cursor.peek(), b'#' | b'%') {
                cursor.skip_line();
                return Ok(None);
            }
            return if cursor.end_of_line() { Ok(None) } else { Err(IDS) };
        };
        if !cursor.separator() {
            return Err(IDS);
        }
        let to = cursor.whole().ok_or(IDS)?;
        if !cursor.end_of_line() {
            further_columns(cursor)?;
        }
        Ok(Some((Self::id(from)?, Self::id(to)?)))
    }
}

/// Skips weights, times and the like, up to the end of the line.
pub(super) fn further_columns(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    const COLUMNS: Fault = Fault::Expected("nothing but numbers after the two vertices");
    loop {
        if !cursor.separator() {
            return Err(COLUMNS);
        }
        if cursor.end_of_line() {
            return Ok(());
        }
        if !cursor.number() {
            return Err(COLUMNS);
        }
        if cursor.end_of_line() {
            return Ok(());
        }
    }
}
