//! The DIMACS formats.
//!
//! `p edge` (or `p col`) with lines `e u v`, and the shortest-path format: `p sp` with lines
//! `a u v length`. The first kind may have weights of vertices: `n v weight`.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::blocks::{Fault, Grammar};
use super::cursor::Cursor;
use super::edge_list::further_columns;
use super::error::{At, Problem};
use super::input::Text;
use super::matrix_market::{from_one, too_many};
use super::Format;
use crate::sync::lock;
use crate::{Graph, Vertex};

/// The `p` line.
pub(super) struct Header {
    pub(super) vertices: u64,
    pub(super) entries: u64,
    pub(super) kind: Kind,
    /// The number of the line.
    pub(super) line: u64,
    /// The weights of vertices in the lines after it.
    pub(super) weights: Mutex<BTreeMap<Vertex, u64>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `p edge`, `p col`: undirected.
    Edges,
    /// `p sp`: directed, with lengths.
    Arcs,
}

pub(super) fn header(text: &mut Text<'_>) -> Result<Header, At> {
    loop {
        let Some(line) = text.next_line()? else {
            return Err(At { line: Some(text.lines.max(1)), problem: Problem::NoHeader(Format::Dimacs) });
        };
        let line = line.to_vec();
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let header = match words.next() {
            None => continue,
            Some([b'c', ..]) => continue,
            Some(b"p") => problem(words, text.lines),
            Some(_) => Err("expected the `p` line before all others, except comments (`c`)".into()),
        };
        return header.map_err(|reason| At::line(text.lines, reason, &line));
    }
}

fn problem<'a>(mut words: impl Iterator<Item = &'a [u8]>, line: u64) -> Result<Header, String> {
    let kind = match words.next() {
        Some(b"edge" | b"edges" | b"col") => Kind::Edges,
        Some(b"sp") => Kind::Arcs,
        _ => return Err("expected `p edge`, `p col` or `p sp`".into()),
    };
    let mut number = || {
        let mut cursor = Cursor::new(words.next()?);
        cursor.whole().filter(|_| cursor.is_at_end())
    };
    let (Some(vertices), Some(entries)) = (number(), number()) else {
        return Err("expected the numbers of vertices and edges after the kind".into());
    };
    if words.next().is_some() {
        return Err("expected two numbers after the kind: vertices and edges".into());
    }
    if vertices > Graph::MAX_VERTICES as u64 {
        return Err(too_many());
    }
    Ok(Header { vertices, entries, kind, line, weights: Mutex::default() })
}

impl Grammar for Header {
    type Id = Vertex;

    #[inline]
    fn line(&self, cursor: &mut Cursor<'_>) -> Result<Option<(Vertex, Vertex)>, Fault> {
        cursor.blanks();
        let (letter, entry) = match self.kind {
            Kind::Edges => (b'e', Fault::Expected("`e` and two vertices")),
            Kind::Arcs => (b'a', Fault::Expected("`a`, two vertices and a length")),
        };
        if !cursor.take(letter) {
            return self.other_line(cursor, entry);
        }
        if !cursor.blanks() {
            return Err(entry);
        }
        let from = cursor.whole().ok_or(entry)?;
        if !cursor.blanks() {
            return Err(entry);
        }
        let to = cursor.whole().ok_or(entry)?;
        match self.kind {
            Kind::Edges if cursor.end_of_line() => {}
            Kind::Edges => further_columns(cursor)?,
            Kind::Arcs => {
                if !cursor.blanks() || !cursor.number() || !cursor.end_of_line() {
                    return Err(entry);
                }
            }
        }
        from_one(from, to, self.vertices).map(Some)
    }
}

impl Header {
    fn other_line(&self, cursor: &mut Cursor<'_>, entry: Fault) -> Result<Option<(Vertex, Vertex)>, Fault> {
        match cursor.peek() {
            b'c' => {}
            b'n' if self.kind == Kind::Edges => return self.weight(cursor).map(|()| None),
            // The layout for a drawing of the graph.
            b'd' | b'v' | b'x' if self.kind == Kind::Edges => {}
            b'p' => return Err(Fault::Expected("only one `p` line")),
            _ => return if cursor.end_of_line() { Ok(None) } else { Err(entry) },
        }
        cursor.skip_line();
        Ok(None)
    }

    /// Reads the weight of a vertex.
    fn weight(&self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let entry = Fault::Expected("`n`, a vertex and its weight, a whole number from 0");
        cursor.take(b'n');
        let mut number = || if cursor.blanks() { cursor.whole() } else { None };
        let (Some(vertex), Some(weight)) = (number(), number()) else {
            return Err(entry);
        };
        if !cursor.end_of_line() {
            return Err(entry);
        }
        let (vertex, _) = from_one(vertex, vertex, self.vertices)?;
        match lock(&self.weights).insert(vertex, weight) {
            Some(other) if other != weight => Err(Fault::Expected("one weight for each vertex")),
            _ => Ok(()),
        }
    }
}
