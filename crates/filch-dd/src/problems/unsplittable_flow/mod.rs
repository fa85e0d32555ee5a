//! Flow that must not be split or merged at chosen nodes of a network.
//!
//! Goods flow through a directed network without cycles, from sources, each with a supply, to
//! sinks, each with a value for every unit that arrives. Arcs have capacities, and all numbers are
//! integers. At an ordinary node the flow that arrives can be merged and split freely. At a
//! **chosen** node it cannot: all the flow of an incoming arc continues along exactly one outgoing
//! arc, and an outgoing arc takes the flow of at most one incoming arc. The classic example is
//! trains in a yard where no cars are coupled. Wanted is the flow with the greatest value at the
//! sinks.
//!
//! This is a small version of the problem for which the paper on queues with bulk operations builds
//! its queue.
//!
//! # The format
//!
//! Numbers are integers and not negative, nodes are numbered from 1, and every arc goes from a
//! lower number to a higher one, so there are no cycles. Comments begin with `c`.
//!
//! ```text
//! p flow NODES ARCS
//! s NODE SUPPLY           a source: no arc leads to it
//! t NODE VALUE            a sink: no arc leads away from it; others are worth nothing
//! u NODE                  a chosen node: unsplittable
//! a FROM TO CAPACITY      an arc; arcs are numbered from 1 as they come, and several may join the same nodes
//! ```
//!
//! ```
//! use filch_dd::problems::unsplittable_flow;
//!
//! let network = unsplittable_flow::read(b"\
//! p flow 5 5
//! s 1 4
//! s 2 3
//! u 3
//! t 4 1
//! t 5 2
//! a 1 3 4
//! a 2 3 3
//! a 3 4 9
//! a 3 5 3
//! a 2 5 1
//! ")?;
//! assert_eq!(network.arcs().len(), 5);
//! # Ok::<(), filch_dd::problems::ReadError>(())
//! ```

mod answer;
mod generate;
mod model;
mod network;
mod read;

pub use answer::Answer;
pub use generate::random;
pub use model::State;
pub use network::{Arc, Network, Node};
pub use read::read;
