//! What ranks say to each other, as state machines without clock, thread or network.
//!
//! Rank 0 [coordinates](Coordinator), and works as well; every rank is a [`Member`]. Between two ranks messages arrive in the order in which they were sent; nothing else is assumed, however late they are.
//!
//! **Transfers.** A member says how much it has open ([`ToCoordinator::Status`], when that has changed notably), and when it has nothing left ([`ToCoordinator::Idle`]). Who gives to whom is decided by a [policy](Policy).
//! The coordinator orders it ([`ToMember::Give`]); the giver sends its open nodes straight to the receiver ([`ToMember::Nodes`]), or tells the coordinator that it has none to spare ([`ToCoordinator::Refused`]); the receiver
//! tells the coordinator that it has them ([`ToCoordinator::Received`]). An order is outstanding until it was received or refused.
//!
//! **The end.** It is over when no order is outstanding and the last word of every rank is that it is idle. A rank that is idle becomes busy by an order alone, which is outstanding until that rank's `Received`, and that comes
//! before its next `Idle`. So there is no moment at which work is somewhere and the coordinator believes that there is none.
//!
//! **Solutions.** Who finds one tells the coordinator, which passes each better one on to all others at once. So the coordinator knows every solution that anybody but its finder knows.
//!
//! **The bound** on all that is open, at any moment: the greatest of the last status of each rank, of all that it received since, and, for each order that is outstanding, of the bound when it was given. What an order moves was open
//! somewhere when the order was given, or comes from what was.
//!
//! **A checkpoint.** The coordinator gives no more orders, waits until none is outstanding, and asks every rank for its open nodes ([`ToMember::Snapshot`], [`ToCoordinator::Frontier`]); ranks work on meanwhile. As nothing moves
//! between ranks before all have answered, what they answer is all that was not done: each node was looked at before its rank answered, so that its children are in there, or is in there itself. And as a finder tells of a
//! solution before it answers, the coordinator knows every solution that anything was dropped for.
//!
//! **Stopping** is a checkpoint after which nobody works on ([`ToMember::Stop`]).
//!
//! **Signs of life** go both ways ([`ToCoordinator::Alive`], [`ToMember::Alive`]); who listens for them has a clock, and is not here.
//!
//! - [`message`]: what is said
//! - [`coordinator`], [`member`]: who says what when
//! - [`policy`]: who gives to whom

pub mod coordinator;
mod defect;
pub mod member;
pub mod message;
#[cfg(test)]
mod model;
pub mod policy;
mod spread;

pub use coordinator::{Coordinator, Gathered};
pub use member::{Effect, Member};
pub use message::{
    Answer, Hello, Message, NotUnderstood, Parcel, RankStatistics, Share, Status, To, ToCoordinator, ToMember, Totals,
    VERSION,
};
pub use policy::Policy;
