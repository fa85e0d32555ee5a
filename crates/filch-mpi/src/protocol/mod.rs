//! The protocol between ranks, as state machines without clock, thread or network.
//!
//! Rank 0 [coordinates](Coordinator), and works as well; every rank is a [`Member`]. Between two
//! ranks messages arrive in the order in which they were sent. Nothing else is assumed: a message
//! may be arbitrarily late.
//!
//! **Transfers.** A member reports how much it has open ([`ToCoordinator::Status`], if that has
//! changed notably), and when it has nothing left ([`ToCoordinator::Idle`]). A [policy](Policy)
//! decides which rank gives to which.
//!
//! - The coordinator sends an order to the giver ([`ToMember::Give`]).
//! - The giver sends open nodes straight to the receiver ([`ToMember::Nodes`]), or tells the
//!   coordinator that it has none to spare ([`ToCoordinator::Refused`]).
//! - The receiver tells the coordinator that it has the nodes ([`ToCoordinator::Received`]).
//!
//! An order is outstanding until it is received or refused.
//!
//! **The end.** The run is over when no order is outstanding and the last report of every rank is
//! that it is idle. An idle rank becomes busy only by an order. That order is outstanding until the
//! rank's `Received`, which comes before its next `Idle`. So at no moment does work exist somewhere
//! while the coordinator believes that there is none.
//!
//! **Solutions.** A member that finds a solution tells the coordinator. The coordinator passes each
//! better solution on to all other members at once. So the coordinator knows every solution that
//! any rank other than its finder knows.
//!
//! **The bound** on all open nodes, at any moment, is the greatest of: the last status of each
//! rank, all that the rank received since, and, for each outstanding order, the bound at the time
//! of the order. The nodes that an order moves were open somewhere at that time, or descend from
//! nodes that were.
//!
//! **A checkpoint.** The coordinator sends no more orders, waits until none is outstanding, and
//! asks every rank for its open nodes ([`ToMember::Snapshot`], [`ToCoordinator::Frontier`]). Ranks
//! keep working meanwhile. Nothing moves between ranks before all have answered, so the answers are
//! exactly the work that is not done: a node either was processed before its rank answered, and
//! then its children are in the answer, or is in the answer itself. A finder reports a solution
//! before it answers, so the coordinator knows every solution for which a node was dropped.
//!
//! **Stopping** is a checkpoint after which no rank works on ([`ToMember::Stop`]).
//!
//! **Heartbeats** go both ways ([`ToCoordinator::Alive`], [`ToMember::Alive`]). The code that
//! listens for them has a clock, and is not in this module.
//!
//! - [`message`]: the messages
//! - [`coordinator`], [`member`]: the two state machines
//! - [`policy`]: which rank gives to which

mod bounds;
pub mod coordinator;
mod defect;
pub mod member;
pub mod message;
#[cfg(test)]
mod model;
pub mod policy;

pub use coordinator::{Coordinator, Gathered};
pub use member::{Effect, Member};
pub use message::{
    DecodeError, Destination, EncodedSolution, Hello, Message, Package, RankStatistics, Share, Status, ToCoordinator,
    ToMember, Totals, VERSION,
};
pub use policy::Policy;
