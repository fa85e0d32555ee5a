//! Random instances.

use super::Graph;
use crate::random::Stream;

/// Returns a random graph of `vertices` vertices.
///
/// Each edge exists with a probability of `per_thousand` in a thousand. Weights are from 1 to
/// `heaviest`.
///
/// ```
/// use filch_dd::problems::independent_set;
///
/// let graph = independent_set::random(60, 500, 10, 3);
/// assert_eq!(graph.vertices(), 60);
/// assert!((700..1070).contains(&graph.edges().len()));
/// assert_eq!(independent_set::read(graph.text().as_bytes()), Ok(graph));
/// ```
///
/// # Panics
///
/// If there are more than 32,768 vertices, or `heaviest` is below 1 or above 2^31.
pub fn random(vertices: usize, per_thousand: u32, heaviest: i64, seed: u64) -> Graph {
    assert!((1..=1 << 31).contains(&heaviest), "the heaviest weight must be from 1 to 2^31");
    let mut stream = Stream::new(seed, 2);
    let mut edges = Vec::new();
    for a in 0..vertices as u32 {
        edges.extend((a + 1..vertices as u32).filter(|_| stream.chance(per_thousand)).map(|b| (a, b)));
    }
    let weights = (0..vertices).map(|_| if heaviest == 1 { 1 } else { stream.between(1, heaviest) }).collect();
    Graph::new(weights, edges).unwrap_or_else(|wrong| panic!("{wrong}"))
}
