//! Reads the text format.

use filch_graph::read::{load_from, Format, Options};

use super::super::text::ReadError;
use super::Graph;
use crate::Cost;

/// Reads a graph from the bytes of a DIMACS file; see the [format](super#the-format).
///
/// # Errors
///
/// If the file is not valid. The error is a sentence with the line.
pub fn read(bytes: &[u8]) -> Result<Graph, ReadError> {
    // One block, which this thread parses.
    let options = Options::new().format(Format::Dimacs).simple(true).block_size(usize::MAX);
    let file = load_from("", bytes, &options)?;
    if file.directed {
        return Err(ReadError::whole_file("expected `p edge` or `p col`, found `p sp`"));
    }
    let mut weights = vec![1; file.graph.vertices()];
    for (vertex, weight) in file.weights {
        // A weight that does not fit makes the sum too large.
        weights[vertex as usize] = Cost::try_from(weight).unwrap_or(Cost::MAX);
    }
    let edges = file.graph.iter().flat_map(|(a, list)| list.iter().map(move |&b| (a, b)));
    Graph::new(weights, edges.filter(|(a, b)| a < b)).map_err(|wrong| ReadError::whole_file(wrong.0))
}
