//! The DIMACS formats.
//!
//! `p edge` (or `p col`) with lines `e u v`, and the shortest-path format: `p sp` with lines
//! `a u v length`. The first kind may have weights of vertices: `n v weight`. It may also have
//! weights of edges: `e u v weight`.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::blocks::{Edge, Fault, Grammar, Lines};
use super::column::Column;
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

impl<W: Column> Grammar for Lines<'_, Header, W> {
    type Id = Vertex;
    type Column = W;

    #[inline]
    fn line(&self, cursor: &mut Cursor<'_>) -> Result<Option<Edge<Vertex, W>>, Fault> {
        let header = self.0;
        cursor.blanks();
        let (letter, entry) = match (header.kind, W::IS_READ) {
            (Kind::Edges, false) => (b'e', Fault::Expected("`e` and two vertices")),
            (Kind::Edges, true) => (b'e', Fault::Expected("`e`, two vertices and a weight from 0 to 3.4e38")),
            (Kind::Arcs, false) => (b'a', Fault::Expected("`a`, two vertices and a length")),
            (Kind::Arcs, true) => (b'a', Fault::Expected("`a`, two vertices and a length from 0 to 3.4e38")),
        };
        if !cursor.take(letter) {
            return header.other_line(cursor, entry).map(|()| None);
        }
        if !cursor.blanks() {
            return Err(entry);
        }
        let from = cursor.whole().ok_or(entry)?;
        if !cursor.blanks() {
            return Err(entry);
        }
        let to = cursor.whole().ok_or(entry)?;
        let mut weight = W::ONE;
        if W::IS_READ || header.kind == Kind::Arcs {
            if !cursor.blanks() {
                return Err(entry);
            }
            weight = W::number(cursor).ok_or(entry)?;
        }
        match header.kind {
            _ if cursor.end_of_line() => {}
            Kind::Edges => further_columns(cursor)?,
            Kind::Arcs => return Err(entry),
        }
        from_one(from, to, header.vertices).map(|(from, to)| Some((from, to, weight)))
    }
}

impl Header {
    /// Skips a line that is no entry.
    fn other_line(&self, cursor: &mut Cursor<'_>, entry: Fault) -> Result<(), Fault> {
        match cursor.peek() {
            b'c' => {}
            b'n' if self.kind == Kind::Edges => return self.weight(cursor),
            // The layout for a drawing of the graph.
            b'd' | b'v' | b'x' if self.kind == Kind::Edges => {}
            b'p' => return Err(Fault::Expected("only one `p` line")),
            _ => return if cursor.end_of_line() { Ok(()) } else { Err(entry) },
        }
        cursor.skip_line();
        Ok(())
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
