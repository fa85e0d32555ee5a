//! All ranks, for explorations and gathers that follow each other.
//!
//! A rank that has finished one operation may start the next before other ranks know that the first
//! is over, and its messages may overtake theirs. So each message carries the number of its
//! operation, which all ranks count alike. A message that comes too early is kept. A message that
//! comes too late is dropped.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::termination::Signal;
use crate::network::Network;

/// All ranks, seen from one of them. Explorations across ranks run on it.
///
/// All ranks must do the same operations in the same order: explorations, and
/// [`gather`](Ranks::gather).
pub struct Ranks<'n> {
    network: &'n mut dyn Network,
    /// The number of operations started so far.
    operation: u64,
    /// Messages of later operations.
    early: VecDeque<(u64, Message)>,
}

/// The kind of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// This number of tasks follows.
    Tasks { tasks: u64 },
    /// A signal of the termination detection.
    Signal(Signal),
    /// A message of the protocol follows.
    Protocol,
    /// Stop, and expect no more tasks from the sender.
    Stop,
    /// To rank 0: the sender's value follows.
    Value,
    /// From rank 0: the values of all ranks follow.
    Values,
}

/// The header of every message.
#[derive(Serialize, Deserialize)]
struct Header {
    operation: u64,
    kind: Kind,
}

/// A message of the current operation.
pub(super) struct Message {
    pub(super) from: usize,
    pub(super) kind: Kind,
    bytes: Vec<u8>,
    start: usize,
}

impl Message {
    /// Returns the bytes after the header.
    pub(super) fn body(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub(super) fn error(&self) -> MessageError {
        MessageError { from: self.from }
    }
}

/// Error from a message that cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageError {
    from: usize,
}

impl MessageError {
    pub(super) fn new(from: usize) -> Self {
        MessageError { from }
    }

    /// Returns the rank that sent the message.
    pub fn sender(&self) -> usize {
        self.from
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a message of rank {} cannot be understood; run the same program with the same options on all ranks",
            self.from
        )
    }
}

impl std::error::Error for MessageError {}

impl<'n> Ranks<'n> {
    /// Creates the ranks of `network`, which must not be used otherwise meanwhile.
    pub fn new(network: &'n mut dyn Network) -> Self {
        Ranks { network, operation: 0, early: VecDeque::new() }
    }

    /// Returns this rank's number, from 0.
    pub fn rank(&self) -> usize {
        self.network.rank()
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.network.ranks()
    }

    /// Returns the values of all ranks, in rank order, on every rank.
    ///
    /// It waits until all ranks have given theirs.
    ///
    /// # Errors
    ///
    /// If a rank has sent something else.
    ///
    /// # Panics
    ///
    /// If the value cannot be encoded.
    pub fn gather<V: Serialize + DeserializeOwned>(&mut self, value: &V) -> Result<Vec<V>, MessageError> {
        let own =
            postcard::to_allocvec(value).unwrap_or_else(|error| panic!("cannot encode the value to gather: {error}"));
        let (from, all) = self.gather_bytes(own)?;
        all.iter().map(|bytes| postcard::from_bytes(bytes).map_err(|_| MessageError { from })).collect()
    }

    /// Returns the sum of the numbers of all ranks, on every rank.
    ///
    /// # Errors
    ///
    /// As [`gather`](Ranks::gather).
    pub fn sum(&mut self, number: u64) -> Result<u64, MessageError> {
        Ok(self.gather(&number)?.iter().sum())
    }

    /// Rank 0 collects the values and sends them to all ranks. Also returns the rank that this rank
    /// got them from.
    fn gather_bytes(&mut self, own: Vec<u8>) -> Result<(usize, Vec<Vec<u8>>), MessageError> {
        self.begin_operation();
        let ranks = self.ranks();
        if self.rank() != 0 {
            self.send(0, Kind::Value, &own);
            let message = self.await_message()?;
            let all = match message.kind {
                Kind::Values => postcard::from_bytes(message.body()).map_err(|_| message.error())?,
                _ => return Err(message.error()),
            };
            self.flush();
            return Ok((0, all));
        }
        let mut all = vec![Vec::new(); ranks];
        all[0] = own;
        for _ in 1..ranks {
            let message = self.await_message()?;
            match message.kind {
                Kind::Value => all[message.from] = message.body().to_vec(),
                _ => return Err(message.error()),
            }
        }
        let encoded =
            postcard::to_allocvec(&all).unwrap_or_else(|error| panic!("cannot encode the gathered values: {error}"));
        for rank in 1..ranks {
            self.send(rank, Kind::Values, &encoded);
        }
        self.flush();
        Ok((0, all))
    }

    /// Starts the next operation.
    pub(super) fn begin_operation(&mut self) {
        self.operation += 1;
    }

    /// Sends a message and returns its size in bytes.
    pub(super) fn send(&mut self, to: usize, kind: Kind, body: &[u8]) -> usize {
        let header = Header { operation: self.operation, kind };
        let mut message =
            postcard::to_allocvec(&header).unwrap_or_else(|error| panic!("cannot encode a message header: {error}"));
        message.extend_from_slice(body);
        let bytes = message.len();
        self.network.send(to, message);
        bytes
    }

    /// Returns the next message of the current operation, if one has arrived.
    pub(super) fn receive(&mut self) -> Result<Option<Message>, MessageError> {
        if let Some(at) = self.early.iter().position(|(operation, _)| *operation == self.operation) {
            return Ok(self.early.remove(at).map(|(_, message)| message));
        }
        while let Some((from, bytes)) = self.network.receive() {
            let (Header { operation, kind }, body) =
                postcard::take_from_bytes(&bytes).map_err(|_| MessageError { from })?;
            let start = bytes.len() - body.len();
            let message = Message { from, kind, bytes, start };
            match operation.cmp(&self.operation) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(Some(message)),
                Ordering::Greater => self.early.push_back((operation, message)),
            }
        }
        Ok(None)
    }

    fn await_message(&mut self) -> Result<Message, MessageError> {
        let mut backoff = Backoff::default();
        loop {
            match self.receive()? {
                Some(message) => return Ok(message),
                None => backoff.wait(Backoff::WHILE_IDLE, thread::sleep),
            }
        }
    }

    /// Waits until all sent messages have left.
    fn flush(&mut self) {
        let mut backoff = Backoff::default();
        while !self.network.is_flushed() {
            backoff.wait(Backoff::WHILE_IDLE, thread::sleep);
        }
    }
}

impl fmt::Debug for Ranks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranks").field("rank", &self.rank()).field("ranks", &self.ranks()).finish_non_exhaustive()
    }
}

/// The time between two checks of the network. It grows while no message comes.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Backoff(Backoff::SHORTEST)
    }
}

impl Backoff {
    const SHORTEST: Duration = Duration::from_micros(10);
    /// The longest wait while this rank has work, from which the checks take time.
    pub(super) const WHILE_BUSY: Duration = Duration::from_micros(640);
    /// The longest wait while this rank is idle, and the next message may bring work.
    pub(super) const WHILE_IDLE: Duration = Duration::from_micros(80);

    /// Waits by calling `sleep`, for at most `longest`. `sleep` may return early.
    pub(super) fn wait(&mut self, longest: Duration, sleep: impl FnOnce(Duration)) {
        self.0 = self.0.min(longest);
        sleep(self.0);
        self.0 *= 2;
    }

    /// Resets the wait after a message, as the next may come soon.
    pub(super) fn reset(&mut self) {
        *self = Backoff::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::threads::{connect, Delays};

    #[test]
    fn early_messages_are_kept_in_order_and_late_messages_are_dropped() {
        let [mut zero, mut one, mut two] = <[_; 3]>::try_from(connect(3, Delays::NONE)).unwrap();
        let (mut zero, mut one, mut two) = (Ranks::new(&mut zero), Ranks::new(&mut one), Ranks::new(&mut two));
        let next =
            |ranks: &mut Ranks<'_>| ranks.receive().unwrap().map(|message| (message.from, message.body().to_vec()));
        for ranks in [&mut zero, &mut one, &mut two] {
            ranks.begin_operation();
        }
        // Rank 2 is ahead.
        two.begin_operation();
        two.send(1, Kind::Stop, b"first");
        two.send(1, Kind::Stop, b"second");
        assert_eq!(next(&mut one), None);
        zero.send(1, Kind::Stop, b"now");
        assert_eq!(next(&mut one), Some((0, b"now".to_vec())));
        assert_eq!(next(&mut one), None);
        one.begin_operation();
        assert_eq!(next(&mut one), Some((2, b"first".to_vec())));
        assert_eq!(next(&mut one), Some((2, b"second".to_vec())));
        // Rank 0 is behind.
        zero.send(1, Kind::Stop, b"late");
        assert_eq!(next(&mut one), None);
    }
}
