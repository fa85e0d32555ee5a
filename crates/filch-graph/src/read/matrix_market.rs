//! Matrix Market, the coordinate format.
//!
//! An entry in row i and column j is an arc from i to j, or an edge if the matrix is symmetric,
//! skew-symmetric or hermitian. Its value is the weight, if weights are wanted. An entry of a
//! `pattern` has none and stands for 1.

use super::blocks::{Edge, Fault, Grammar, Lines};
use super::column::Column;
use super::cursor::Cursor;
use super::error::{At, Problem};
use super::input::Text;
use super::Format;
use crate::{Graph, Vertex};

pub(super) const BANNER: &[u8] = b"%%MatrixMarket";

/// The first line and the line of sizes.
pub(super) struct Header {
    pub(super) vertices: u64,
    pub(super) entries: u64,
    pub(super) symmetric: bool,
    /// The number of values after the row and the column.
    values: usize,
    /// The number of the line of sizes.
    pub(super) line: u64,
}

/// Reads the header. With `weighs`, the values must be possible weights.
pub(super) fn header(text: &mut Text<'_>, weighs: bool) -> Result<Header, At> {
    let Some(banner) = text.next_line()? else {
        return Err(At { line: Some(1), problem: Problem::NoHeader(Format::MatrixMarket) });
    };
    let (values, symmetric) = kind(banner, weighs).map_err(|reason| At::line(1, reason, banner))?;
    loop {
        let Some(line) = text.next_line()? else {
            return Err(At { line: Some(text.lines), problem: Problem::NoHeader(Format::MatrixMarket) });
        };
        let line = line.to_vec();
        if line.trim_ascii_start().is_empty() || line.trim_ascii_start().starts_with(b"%") {
            continue;
        }
        let (vertices, entries) = sizes(&line).map_err(|reason| At::line(text.lines, reason, &line))?;
        return Ok(Header { vertices, entries, symmetric, values, line: text.lines });
    }
}

/// Returns the number of values per entry, and whether the matrix is symmetric.
fn kind(banner: &[u8], weighs: bool) -> Result<(usize, bool), &'static str> {
    let mut words =
        banner.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_ascii_lowercase);
    let mut word = || words.next().unwrap_or_default();
    if word() != BANNER.to_ascii_lowercase() {
        return Err("expected `%%MatrixMarket matrix coordinate …`");
    }
    if word() != b"matrix" {
        return Err("expected `matrix` after `%%MatrixMarket`");
    }
    match &*word() {
        b"coordinate" => {}
        _ => return Err("expected `coordinate` after `matrix`"),
    }
    let values = match &*word() {
        b"pattern" => 0,
        b"real" | b"double" | b"integer" | b"unsigned-integer" => 1,
        b"complex" if weighs => return Err("expected `pattern`, `real` or `integer` for a graph with weights"),
        b"complex" => 2,
        _ => return Err("expected `pattern`, `real`, `integer` or `complex` after `coordinate`"),
    };
    let symmetric = match &*word() {
        b"general" => false,
        b"skew-symmetric" if weighs && values > 0 => {
            // The value below the diagonal is the negative of the one above.
            return Err("expected `general`, `symmetric` or `hermitian` for a graph with weights");
        }
        b"symmetric" | b"skew-symmetric" | b"hermitian" => true,
        _ => return Err("expected `general`, `symmetric`, `skew-symmetric` or `hermitian` at the end"),
    };
    if !word().is_empty() {
        return Err("expected five words");
    }
    Ok((values, symmetric))
}

/// Returns the number of vertices and of entries.
fn sizes(line: &[u8]) -> Result<(u64, u64), String> {
    let mut cursor = Cursor::new(line);
    let mut number = || {
        cursor.blanks();
        cursor.whole()
    };
    let (Some(rows), Some(columns), Some(entries)) = (number(), number(), number()) else {
        return Err("expected the numbers of rows, columns and entries".into());
    };
    if !cursor.end_of_line() {
        return Err("expected three numbers: rows, columns and entries".into());
    }
    if rows != columns {
        return Err("expected as many rows as columns".into());
    }
    if rows > Graph::MAX_VERTICES as u64 {
        return Err(too_many());
    }
    Ok((rows, entries))
}

/// Returns the error for a header with more vertices than 32 bits can number.
pub(super) fn too_many() -> String {
    format!("expected at most {} vertices", Graph::MAX_VERTICES)
}

impl<W: Column> Grammar for Lines<'_, Header, W> {
    type Id = Vertex;
    type Column = W;

    #[inline]
    fn line(&self, cursor: &mut Cursor<'_>) -> Result<Option<Edge<Vertex, W>>, Fault> {
        let Header { vertices, values, .. } = *self.0;
        const ENTRY: Fault = Fault::Expected("a row and a column");
        cursor.blanks();
        let Some(row) = cursor.whole() else {
            if cursor.peek() == b'%' {
                cursor.skip_line();
                return Ok(None);
            }
            return if cursor.end_of_line() { Ok(None) } else { Err(ENTRY) };
        };
        if !cursor.blanks() {
            return Err(ENTRY);
        }
        let column = cursor.whole().ok_or(ENTRY)?;
        let mut weight = W::ONE;
        for _ in 0..values {
            let number = if cursor.blanks() { W::number(cursor) } else { None };
            weight = number.ok_or(match values {
                1 if W::IS_READ => Fault::Expected("a row, a column and a value from 0 to 3.4e38"),
                1 => Fault::Expected("a row, a column and a value"),
                _ => Fault::Expected("a row, a column and the two parts of a value"),
            })?;
        }
        if !cursor.end_of_line() {
            return Err(match values {
                0 => Fault::Expected("nothing after the row and the column of a `pattern`"),
                _ => Fault::Expected("nothing after the value"),
            });
        }
        from_one(row, column, vertices).map(|(row, column)| Some((row, column, weight)))
    }
}

/// Converts vertices that a file counts from 1.
#[inline]
pub(super) fn from_one(from: u64, to: u64, vertices: u64) -> Result<(Vertex, Vertex), Fault> {
    // Zero wraps to a number that is too large.
    let (from, to) = (from.wrapping_sub(1), to.wrapping_sub(1));
    if from.max(to) >= vertices {
        return Err(Fault::Outside { vertices });
    }
    Ok((from as Vertex, to as Vertex))
}
