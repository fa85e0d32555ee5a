//! Parses blocks of lines, in parallel if there is more than one.
//!
//! The calling thread reads and hands each block to the pool. When the pool has enough blocks, the
//! calling thread parses one itself. So only a few blocks are in memory, and no thread waits.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

use super::column::Column;
use super::cursor::Cursor;
use super::error::{At, Problem};
use super::input::{at_line, Text};

use crate::sync::{lock, unpoisoned};

/// A vertex id as the file has it.
pub(super) trait Id: Copy + Ord + Send + Sync {
    /// Converts a number; `None` if it is too large.
    fn of(number: u64) -> Option<Self>;
    fn number(self) -> u64;
}

impl Id for u32 {
    #[inline]
    fn of(number: u64) -> Option<u32> {
        // `Vertex::MAX` is never a vertex.
        (number < u64::from(u32::MAX)).then_some(number as u32)
    }

    #[inline]
    fn number(self) -> u64 {
        u64::from(self)
    }
}

impl Id for u64 {
    #[inline]
    fn of(number: u64) -> Option<u64> {
        // The largest number stands for all larger ones.
        (number < u64::MAX).then_some(number)
    }

    #[inline]
    fn number(self) -> u64 {
        self
    }
}

/// The lines of a format after its header.
pub(super) trait Grammar: Sync {
    type Id: Id;
    type Column: Column;

    /// Reads one line to its end. Returns an edge, or `None` for a line to be skipped.
    fn line(&self, cursor: &mut Cursor<'_>) -> Result<Option<Edge<Self::Id, Self::Column>>, Fault>;
}

/// The two ends of an edge, and its weight.
pub(super) type Edge<I, W> = (I, I, W);

/// The lines of a format with a header, and whether their weights are read.
pub(super) struct Lines<'a, H, W>(pub(super) &'a H, pub(super) PhantomData<W>);

/// What is wrong with a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    Expected(&'static str),
    /// The id is too large without renumbering.
    Large,
    /// The id is too large even with renumbering.
    Huge,
    /// The id is not from 1 to the number of vertices.
    Outside {
        vertices: u64,
    },
    /// There is no memory for the edges of a block.
    NoMemory,
}

impl Fault {
    fn reason(self) -> String {
        match self {
            Fault::Expected(what) => format!("expected {what}"),
            Fault::Large => {
                format!("expected ids below {} (or the option renumber)", u32::MAX)
            }
            Fault::Huge => format!("expected ids below {}", u64::MAX),
            Fault::NoMemory => Problem::NoMemory.to_string(),
            Fault::Outside { vertices } => format!("expected vertices from 1 to {vertices}, as the header says"),
        }
    }
}

/// The edges of a file, in its order.
pub(super) struct Edges<I, W: Column> {
    pub(super) parts: Vec<Vec<(I, I)>>,
    /// The weights of the edges of each part.
    pub(super) weights: Vec<W::List>,
    pub(super) entries: u64,
    /// One more than the largest id.
    pub(super) past: u64,
}

/// Parses the text after its header.
pub(super) fn parse<G: Grammar>(text: Text<'_>, grammar: &G) -> Result<Edges<G::Id, G::Column>, At> {
    let Text { mut input, mut block, mut start, lines } = text;
    let results = Mutex::new(Vec::new());
    let spare = Mutex::new(Vec::new());
    let failed = AtomicBool::new(false);
    let simple = input.options.simple;
    let run = |index: usize, block: Vec<u8>, start: usize| {
        let part = parse_block(grammar, &block[start..], simple);
        if part.fault.is_some() {
            failed.store(true, Ordering::Relaxed);
        }
        lock(&results).push((index, part));
        lock(&spare).push(block);
    };
    let mut ended = Ok(());
    if input.ended() {
        run(0, block, start);
    } else {
        let most = 2 * filch::current_num_threads();
        // Relaxed is enough: the end of the scope provides the ordering.
        let waiting = AtomicUsize::new(0);
        filch::in_place_scope(|scope| {
            let mut index = 0;
            // After a fault the following blocks are not needed. All blocks before it are handed
            // out already.
            while !block.is_empty() && !failed.load(Ordering::Relaxed) {
                let (run, waiting) = (&run, &waiting);
                if waiting.load(Ordering::Relaxed) < most {
                    waiting.fetch_add(1, Ordering::Relaxed);
                    scope.spawn(move |_| {
                        run(index, block, start);
                        waiting.fetch_sub(1, Ordering::Relaxed);
                    });
                } else {
                    run(index, block, start);
                }
                let memory = lock(&spare).pop().unwrap_or_default();
                block = input.next_block(memory).unwrap_or_else(|problem| {
                    ended = Err(problem);
                    Vec::new()
                });
                start = 0;
                index += 1;
            }
        });
    }
    drop(spare);
    let mut results = unpoisoned(results.into_inner());
    results.sort_unstable_by_key(|&(index, _)| index);
    let (parts, weights) = (Vec::with_capacity(results.len()), Vec::with_capacity(results.len()));
    let mut edges = Edges { parts, weights, entries: 0, past: 0 };
    let mut lines = lines;
    for (_, part) in results {
        if let Some((line, fault, text)) = part.fault {
            if matches!(fault, Fault::NoMemory) {
                return Err(Problem::NoMemory.into());
            }
            return Err(At::line(lines + line, fault.reason(), &text));
        }
        lines += part.lines;
        edges.entries += part.pairs.len() as u64;
        edges.past = edges.past.max(part.past);
        edges.parts.push(part.pairs);
        edges.weights.push(part.weights);
    }
    ended.map_err(|problem| at_line(problem, lines + 1))?;
    Ok(edges)
}

struct Part<I, W: Column> {
    pairs: Vec<(I, I)>,
    weights: W::List,
    lines: u64,
    past: u64,
    /// The line within the block, from 1, its fault and its text.
    fault: Option<(u64, Fault, Vec<u8>)>,
}

impl<I, W: Column> Part<I, W> {
    fn faulty(line: u64, fault: Fault, text: &[u8]) -> Self {
        let fault = Some((line, fault, text.to_vec()));
        Part { pairs: Vec::new(), weights: W::List::default(), lines: line, past: 0, fault }
    }
}

fn parse_block<G: Grammar>(grammar: &G, text: &[u8], simple: bool) -> Part<G::Id, G::Column> {
    let lines = memchr::memchr_iter(b'\n', text).count();
    // An entry has at least four bytes: two digits, a blank and the end of the line.
    let room = lines.min(text.len() / 4);
    let mut pairs = Vec::new();
    let (Ok(()), Some(mut weights)) = (pairs.try_reserve_exact(room), G::Column::list(room)) else {
        return Part::faulty(1, Fault::NoMemory, b"");
    };
    let mut past = 0;
    let mut cursor = Cursor::new(text);
    while !cursor.is_at_end() {
        let start = cursor.at();
        let line = match grammar.line(&mut cursor) {
            Ok(Some((from, to, _))) if simple && from == to => Err(Fault::Expected("an edge between two vertices")),
            line => line,
        };
        match line {
            Ok(Some((from, to, weight))) => {
                past = past.max(from.max(to).number() + 1);
                pairs.push((from, to));
                weight.add_to(&mut weights);
            }
            Ok(None) => {}
            Err(fault) => {
                let line = 1 + memchr::memchr_iter(b'\n', &text[..start]).count() as u64;
                let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
                return Part::faulty(line, fault, &text[start..end]);
            }
        }
    }
    pairs.shrink_to_fit();
    G::Column::shrink(&mut weights);
    Part { pairs, weights, lines: lines as u64, past, fault: None }
}
