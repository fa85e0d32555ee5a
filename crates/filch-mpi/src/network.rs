//! The message transport between ranks.

mod agree;
#[cfg(feature = "mpi")]
mod mpi;
pub mod threads;

pub use agree::agree;
#[cfg(feature = "mpi")]
pub use mpi::{Mpi, StartError};

/// The connection of one rank to all ranks. The communicating thread of the rank owns it.
///
/// Between two ranks each message arrives once, in the order in which they were sent. No method
/// blocks.
pub trait Network {
    /// Returns this rank's number, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn ranks(&self) -> usize;

    /// Sends a message to another rank, or to this one.
    fn send(&mut self, to: usize, message: Vec<u8>);

    /// Returns the next message that has arrived and its sender.
    fn receive(&mut self) -> Option<(usize, Vec<u8>)>;

    /// Returns whether all sent messages have left this rank, so that its buffers are free.
    fn is_flushed(&mut self) -> bool;
}
