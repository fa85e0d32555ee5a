//! Random instances.

use super::{Arc, Network, Node};
use crate::random::Stream;

/// Returns a random network of `layers` layers with `width` nodes each.
///
/// Sources are in the first layer, sinks in the last. Of the nodes between, `per_thousand` of a
/// thousand are chosen. Capacities are from 1 to `capacity`, the supply of a source is from 1 to
/// twice that, and the value of a unit at a sink is from 1 to 5. Half of the possible arcs between
/// a layer and the next exist, but at least one to every node and from it.
///
/// ```
/// use filch_dd::problems::unsplittable_flow;
///
/// let network = unsplittable_flow::random(4, 3, 700, 6, 11);
/// assert_eq!(network.nodes().len(), 12);
/// assert_eq!(unsplittable_flow::read(network.text().as_bytes()), Ok(network));
/// ```
///
/// # Panics
///
/// If there are fewer than two layers or more than 4,096 nodes, the layers are wider than 64, or
/// `capacity` is below 1 or above 65,535.
pub fn random(layers: usize, width: usize, per_thousand: u32, capacity: u32, seed: u64) -> Network {
    assert!(layers >= 2 && (1..=64).contains(&width), "there must be at least two layers, of 1 to 64 nodes each");
    assert!(capacity >= 1, "the capacity must be at least 1");
    let mut stream = Stream::new(seed, 4);
    let up_to = |stream: &mut Stream, most: u32| stream.between(1, most.into()) as u32;
    let nodes = (0..layers * width).map(|at| match at / width {
        0 => Node { supply: up_to(&mut stream, 2 * capacity), ..Node::default() },
        layer if layer == layers - 1 => Node { value: up_to(&mut stream, 5), ..Node::default() },
        _ => Node { chosen: stream.chance(per_thousand), ..Node::default() },
    });
    let nodes: Vec<Node> = nodes.collect();
    let mut arcs = Vec::new();
    for layer in 0..layers - 1 {
        // A random matching, so that every node has at least one arc.
        let mut partner: Vec<usize> = (0..width).collect();
        stream.shuffle(&mut partner);
        for (from, &partner) in partner.iter().enumerate() {
            for to in 0..width {
                if to == partner || stream.chance(500) {
                    let (from, to) = (layer * width + from, (layer + 1) * width + to);
                    arcs.push(Arc { from, to, capacity: up_to(&mut stream, capacity) });
                }
            }
        }
    }
    Network::new(nodes, arcs).unwrap_or_else(|wrong| panic!("{wrong}"))
}
