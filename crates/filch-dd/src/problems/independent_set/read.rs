//! Reads the text format.

use super::super::count;
use super::super::text::{quoted, Lines, ReadError};
use super::graph::MAX_VERTICES;
use super::Graph;

/// Reads a graph from the bytes of a DIMACS file; see the [format](super#the-format).
///
/// # Errors
///
/// If the file is not valid. The error is a sentence with the line.
pub fn read(bytes: &[u8]) -> Result<Graph, ReadError> {
    // Some files have comments that begin with other words in c. None of these is the name of a
    // kind of line.
    let mut lines = Lines::new(bytes, |text| text.starts_with(b"c"))?;
    let mut header = lines.expect("a `p` line")?;
    let first = header.word().unwrap_or_default();
    if first != b"p" {
        let found = quoted(first);
        return Err(
            header.error(format!("expected the `p` line before all others, except comments (`c`), found \"{found}\""))
        );
    }
    let kind = header.word().unwrap_or_default();
    if !matches!(kind, b"edge" | b"edges" | b"col") {
        return Err(header.error(format!("expected `p edge` or `p col`, found \"{}\"", quoted(kind))));
    }
    let vertices = header.number("the number of vertices", 0, MAX_VERTICES as i64)?;
    let promised = header.number("the number of edges", 0, i64::MAX)?;
    header.end("the numbers of vertices and edges")?;

    let mut weights: Vec<Option<i64>> = vec![None; vertices as usize];
    let mut edges = Vec::new();
    for mut line in lines {
        match line.word().unwrap_or_default() {
            b"e" => {
                let a = line.number("a vertex", 1, vertices)?;
                let b = line.number("a second vertex", 1, vertices)?;
                line.end("the two vertices of the edge")?;
                if a == b {
                    return Err(
                        line.error(format!("expected an edge between two vertices, found one from {a} to itself"))
                    );
                }
                edges.push((a as u32 - 1, b as u32 - 1));
            }
            b"n" => {
                let vertex = line.number("a vertex", 1, vertices)?;
                let weight = line.number("the weight of the vertex", 0, i64::MAX)?;
                line.end("the weight of the vertex")?;
                match weights[vertex as usize - 1].replace(weight) {
                    Some(other) if other != weight => {
                        return Err(
                            line.error(format!("expected one weight for vertex {vertex}, found {other} and {weight}"))
                        );
                    }
                    _ => {}
                }
            }
            b"p" => return Err(line.error("expected only one `p` line, found a second one")),
            word => {
                let word = quoted(word);
                return Err(
                    line.error(format!("expected an edge (`e`), a weight (`n`) or a comment (`c`), found \"{word}\""))
                );
            }
        }
    }
    let written = edges.len();
    let weights = weights.into_iter().map(|weight| weight.unwrap_or(1)).collect();
    let graph = Graph::new(weights, edges).map_err(|wrong| ReadError::whole_file(wrong.0))?;
    if ![written, graph.edges().len()].contains(&usize::try_from(promised).unwrap_or(usize::MAX)) {
        let promised = count(promised as u64, "edge", "edges");
        return Err(header.error(format!("expected {promised}, as the `p` line says, found {written}")));
    }
    Ok(graph)
}
