//! Random weights for any graph.

use std::ops::RangeInclusive;

use super::edges::purpose;
use super::random::pair;
use super::stream::Stream;
use super::GenerateError;
use crate::{Graph, WeightedGraph};

/// Gives each edge a random weight: a whole number in this range, each equally likely.
///
/// The weight depends on the seed and on the two vertices, so both arcs of an edge have the same,
/// and so have repeated edges.
///
/// ```
/// use filch_graph::generate;
///
/// let roads = generate::uniform_weights(generate::torus(10, 10)?, 1..=100, 7)?;
/// assert!(roads.iter().all(|(_, _, weight)| (1.0..=100.0).contains(&weight)));
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// # Errors
///
/// If the range is empty, or there is no memory for the weights.
pub fn uniform_weights(graph: Graph, range: RangeInclusive<u32>, seed: u64) -> Result<WeightedGraph, GenerateError> {
    let (least, most) = range.into_inner();
    if least > most {
        return Err(GenerateError::EmptyRange { least, most });
    }
    let choices = u64::from(most - least) + 1;
    // Each edge has its own stream, so that the result does not depend on the order of the threads.
    let base = Stream::new(seed, purpose::WEIGHTS, 0).next();
    let weight = |from, to| least + Stream::from_seed(base ^ pair(from, to)).below(choices) as u32;
    Ok(WeightedGraph::from_graph(graph, weight)?)
}
