//! From bytes to a graph: the format, the header, the entries, and the checks of their numbers.

use std::cell::Cell;
use std::io::Read;
use std::marker::PhantomData;

use super::blocks::{self, Edges, Lines};
use super::column::{Column, Words};
use super::edge_list::EdgeList;
use super::error::At;
use super::input::{Input, Text};
use super::{dimacs, matrix_market, names, Format, Loaded, Options, Problem};
use crate::sync::lock;
use crate::weighted::{Kind, Weighed, Weight};
use crate::{BuildError, Graph, Vertex, WeightedGraph};

/// A graph that can be built from the entries of a file.
pub(super) trait Target: Sized {
    /// Whether weights are read.
    type Column: Column;

    /// Builds the graph from the parts of a file.
    fn build(
        vertices: usize,
        parts: Vec<Vec<(Vertex, Vertex)>>,
        weights: Vec<<Self::Column as Column>::List>,
        undirected: bool,
    ) -> Result<Self, BuildError>;

    fn without_repeats(self) -> Self;

    fn arcs(&self) -> usize;
}

impl Target for Graph {
    type Column = ();

    fn build(
        vertices: usize,
        parts: Vec<Vec<(Vertex, Vertex)>>,
        _: Vec<()>,
        undirected: bool,
    ) -> Result<Graph, BuildError> {
        Graph::from_parts(vertices, &parts, undirected)
    }

    fn without_repeats(self) -> Graph {
        Graph::without_repeats(self)
    }

    fn arcs(&self) -> usize {
        Graph::arcs(self)
    }
}

impl Target for WeightedGraph {
    type Column = Weight;

    fn build(
        vertices: usize,
        parts: Vec<Vec<(Vertex, Vertex)>>,
        weights: Vec<Words>,
        undirected: bool,
    ) -> Result<WeightedGraph, BuildError> {
        let kind = weights.iter().fold(Kind::Whole, |kind, part| kind.and(part.kind));
        let weighed = parts.into_iter().zip(weights).map(|(pairs, part)| {
            let mut weighed = Weighed { pairs, words: part.words };
            if part.kind != kind {
                weighed.make_real();
            }
            weighed
        });
        WeightedGraph::from_weighed(vertices, &weighed.collect::<Vec<_>>(), kind, undirected)
    }

    fn without_repeats(self) -> WeightedGraph {
        WeightedGraph::without_repeats(self)
    }

    fn arcs(&self) -> usize {
        WeightedGraph::arcs(self)
    }
}

/// Reads a graph, in the format of the options, of the first lines or of the name.
pub(super) fn load_bytes<G: Target>(
    bytes: impl Read,
    total: Option<u64>,
    by_name: Option<Format>,
    options: &Options<'_>,
) -> Result<Loaded<G>, At> {
    let taken = Cell::new(0);
    let mut text = Text::new(Input::new(bytes, total, &taken, options)?)?;
    let by_lines = || Format::of_lines(text.first_lines());
    let format = options.format.or_else(by_lines).or(by_name).unwrap_or(Format::EdgeList);
    match format {
        Format::EdgeList => load_edge_list(text, options),
        Format::MatrixMarket => {
            let header = matrix_market::header(&mut text, G::Column::IS_READ)?;
            let edges = blocks::parse(text, &Lines(&header, PhantomData::<G::Column>))?;
            let matrix_market::Header { vertices, entries, symmetric, line, .. } = header;
            let promise = Promise { vertices, entries, directed: !symmetric, line };
            load_promised(format, promise, edges, options)
        }
        Format::Dimacs => {
            let header = dimacs::header(&mut text)?;
            let edges = blocks::parse(text, &Lines(&header, PhantomData::<G::Column>))?;
            let dimacs::Header { vertices, entries, kind, line, weights } = header;
            let promise = Promise { vertices, entries, directed: kind == dimacs::Kind::Arcs, line };
            let weights = lock(&weights).iter().map(|(&vertex, &weight)| (vertex, weight)).collect();
            Ok(Loaded { weights, ..load_promised(format, promise, edges, options)? })
        }
    }
}

fn load_edge_list<G: Target>(text: Text<'_>, options: &Options<'_>) -> Result<Loaded<G>, At> {
    let format = Format::EdgeList;
    let directed = options.directed.unwrap_or(false);
    if options.renumber {
        let grammar = EdgeList(PhantomData::<(u64, G::Column)>);
        let Edges { parts, weights, entries, .. } = blocks::parse(text, &grammar)?;
        let (names, parts) = names::renumber(parts).map_err(Problem::Build)?;
        let graph = build(names.ids().len() as u64, parts, weights, directed, options)?;
        return Ok(Loaded { graph, names: Some(names), format, directed, entries, weights: Vec::new() });
    }
    let grammar = EdgeList(PhantomData::<(Vertex, G::Column)>);
    let Edges { parts, weights, entries, past } = blocks::parse(text, &grammar)?;
    check_isolated(past, entries, false, options)?;
    let graph = build(past, parts, weights, directed, options)?;
    Ok(Loaded { graph, names: None, format, directed, entries, weights: Vec::new() })
}

/// The numbers in a header.
struct Promise {
    vertices: u64,
    entries: u64,
    directed: bool,
    line: u64,
}

fn load_promised<G: Target>(
    format: Format,
    promise: Promise,
    edges: Edges<Vertex, G::Column>,
    options: &Options<'_>,
) -> Result<Loaded<G>, At> {
    let Edges { parts, weights, entries, .. } = edges;
    let at_header = |problem| At { line: Some(promise.line), problem };
    check_isolated(promise.vertices, entries, true, options).map_err(at_header)?;
    let directed = options.directed.unwrap_or(promise.directed);
    let graph: G = build(promise.vertices, parts, weights, directed, options)?;
    let distinct = graph.arcs() as u64 / if directed { 1 } else { 2 };
    if promise.entries != entries && !(options.simple && promise.entries == distinct) {
        return Err(at_header(Problem::Entries { promised: promise.entries, found: entries }));
    }
    Ok(Loaded { graph, names: None, format, directed, entries, weights: Vec::new() })
}

/// Refuses graphs with too many isolated vertices. So memory follows the bytes read, not the
/// numbers in them.
fn check_isolated(vertices: u64, entries: u64, header: bool, options: &Options<'_>) -> Result<(), Problem> {
    if vertices > 4 * entries + (1 << 16) && !options.allow_isolated {
        return Err(Problem::Isolated { vertices, entries, header });
    }
    Ok(())
}

fn build<G: Target>(
    vertices: u64,
    parts: Vec<Vec<(Vertex, Vertex)>>,
    weights: Vec<<G::Column as Column>::List>,
    directed: bool,
    options: &Options<'_>,
) -> Result<G, Problem> {
    let graph = G::build(vertices as usize, parts, weights, !directed).map_err(Problem::Build)?;
    Ok(if options.simple { graph.without_repeats() } else { graph })
}
