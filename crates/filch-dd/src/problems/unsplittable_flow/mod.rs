//! Flow that must not be split or merged at chosen nodes of a network.
//!
//! Goods flow through a directed network without cycles, from sources, each with a supply, to sinks, each with a value for every unit that arrives; arcs have capacities, and all is whole. At an ordinary node what arrives can be
//! put together and divided at will. At a **chosen** node it cannot: the flow of an incoming arc goes on along exactly one outgoing arc, all of it, and an outgoing arc takes the flow of one incoming arc
//! at most. Trains in a yard where no cars are coupled are the classic example. Wanted is the flow that is worth most where it arrives.
//!
//! This is in small what the paper on queues with bulk operations builds its queue for.
//!
//! # The format
//!
//! Numbers are whole and not negative, nodes are numbered from 1, and every arc goes from a lower number to a higher one, so there are no cycles. Comments begin with `c`.
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
