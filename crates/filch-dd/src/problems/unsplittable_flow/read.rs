//! Reads the text format.

use super::super::count;
use super::super::text::{quoted, Line, Lines, ReadError};
use super::network::{Arc, Network, Node, MAX_ARCS, MAX_CAPACITY, MAX_NODES, MAX_VALUE};

/// Reads an instance from the bytes of a file; see the [format](super#the-format).
///
/// # Errors
///
/// If the file is not valid. The error is a sentence with the line.
pub fn read(bytes: &[u8]) -> Result<Network, ReadError> {
    let mut lines = Lines::new(bytes, |text| text.starts_with(b"c"))?;
    let mut header = lines.expect("a `p` line")?;
    for expected in [&b"p"[..], b"flow"] {
        let word = header.word().unwrap_or_default();
        if word != expected {
            let reason = "expected the line `p flow NODES ARCS` before all others, except comments (`c`)";
            return Err(header.error(format!("{reason}, found \"{}\"", quoted(word))));
        }
    }
    let nodes = header.number("the number of nodes", 0, MAX_NODES as i64)?;
    let promised = header.number("the number of arcs", 0, MAX_ARCS as i64)?;
    header.end("the numbers of nodes and arcs")?;

    let mut list = vec![(None, None, Node::default()); nodes as usize];
    let mut arcs = Vec::new();
    for mut line in lines {
        match line.word().unwrap_or_default() {
            b"s" => {
                let at = line.number("a node", 1, nodes)? as usize - 1;
                let supply = line.number("the supply of the node", 0, i64::from(u32::MAX / 2))?;
                once(&mut line, &mut list[at].0, supply, "the supply")?;
                list[at].2.supply = supply as u32;
            }
            b"t" => {
                let at = line.number("a node", 1, nodes)? as usize - 1;
                let value = line.number("the value of the node", 0, i64::from(MAX_VALUE))?;
                once(&mut line, &mut list[at].1, value, "the value")?;
                list[at].2.value = value as u32;
            }
            b"u" => {
                let at = line.number("a node", 1, nodes)? as usize - 1;
                line.end("the node")?;
                list[at].2.chosen = true;
            }
            b"a" => {
                let from = line.number("the node where the arc begins", 1, nodes)?;
                let to = line.number("the node where the arc ends", 1, nodes)?;
                let capacity = line.number("the capacity of the arc", 0, i64::from(MAX_CAPACITY))?;
                line.end("the capacity of the arc")?;
                if from >= to {
                    return Err(line.error(format!("expected an arc to a higher node, found one from {from} to {to}")));
                }
                if arcs.len() as i64 == promised {
                    let promised = count(promised as u64, "arc", "arcs");
                    return Err(
                        line.error(format!("expected only {promised}, as the `p` line says, found another one"))
                    );
                }
                arcs.push(Arc { from: from as usize - 1, to: to as usize - 1, capacity: capacity as u32 });
            }
            b"p" => return Err(line.error("expected only one `p` line, found a second one")),
            word => {
                let reason =
                    "expected a source (`s`), a sink (`t`), a chosen node (`u`), an arc (`a`) or a comment (`c`)";
                return Err(line.error(format!("{reason}, found \"{}\"", quoted(word))));
            }
        }
    }
    if arcs.len() as i64 != promised {
        let promised = count(promised as u64, "arc", "arcs");
        return Err(header.error(format!("expected {promised}, as the `p` line says, found {}", arcs.len())));
    }
    let nodes = list.into_iter().map(|(_, _, node)| node).collect();
    Network::new(nodes, arcs).map_err(|wrong| ReadError::whole_file(wrong.0))
}

/// Reads the end of a line that sets a number of a node.
///
/// If the number was set before, it must be the same.
fn once(line: &mut Line<'_>, said: &mut Option<i64>, number: i64, what: &str) -> Result<(), ReadError> {
    line.end(what)?;
    match said.replace(number) {
        Some(before) if before != number => {
            Err(line.error(format!("expected one number as {what} of this node, found {before} and {number}")))
        }
        _ => Ok(()),
    }
}
