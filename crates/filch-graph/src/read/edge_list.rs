//! Edge lists, as in the SNAP collection. A line is an edge: two ids, and perhaps more columns. The
//! first of them is the weight, if it is wanted.

use std::marker::PhantomData;

use super::blocks::{Edge, Fault, Grammar, Id};
use super::column::Column;
use super::cursor::Cursor;

pub(super) struct EdgeList<I, W>(pub(super) PhantomData<(I, W)>);

impl<I: Id, W: Column> EdgeList<I, W> {
    #[inline]
    fn id(number: u64) -> Result<I, Fault> {
        I::of(number).ok_or(if number == u64::MAX { Fault::Huge } else { Fault::Large })
    }
}

impl<I: Id, W: Column> Grammar for EdgeList<I, W> {
    type Id = I;
    type Column = W;

    #[inline]
    fn line(&self, cursor: &mut Cursor<'_>) -> Result<Option<Edge<I, W>>, Fault> {
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
        let mut weight = W::ONE;
        if W::IS_READ {
            const WEIGHT: Fault = Fault::Expected("two vertex ids and a weight from 0 to 3.4e38");
            if !cursor.separator() {
                return Err(WEIGHT);
            }
            weight = W::number(cursor).ok_or(WEIGHT)?;
        }
        if !cursor.end_of_line() {
            further_columns(cursor)?;
        }
        Ok(Some((Self::id(from)?, Self::id(to)?, weight)))
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
