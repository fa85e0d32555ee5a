//! What ranks send each other messages by.

mod agree;
#[cfg(feature = "mpi")]
mod mpi;
pub mod threads;

pub use agree::agree;
#[cfg(feature = "mpi")]
pub use mpi::{Mpi, StartError};

/// The way from one rank to the others. Each rank has one, on the one thread that communicates.
///
/// Between two ranks messages arrive in the order in which they were sent, once. Nothing here waits for anybody.
pub trait Network {
    /// Which rank this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn ranks(&self) -> usize;

    /// Sends a message to another rank, or to this one.
    fn send(&mut self, to: usize, message: Vec<u8>);

    /// The next message that has arrived, and from whom.
    fn receive(&mut self) -> Option<(usize, Vec<u8>)>;

    /// Whether everything that was sent has left this rank, so that its buffers are free.
    fn is_flushed(&mut self) -> bool;
}
