//! The communicating thread: carries tasks between the workers of this rank and the network.
//!
//! **Stopping.** A rank stops if its exploration ends early or another rank's has. It lets its
//! workers end, sends `Stop` to all other ranks as its last message, and leaves when it has
//! received `Stop` from all. Then no message is in transit. The termination detection cannot
//! succeed at the same time: a rank that stopped had a task, and never reports again that it is
//! idle.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

use serde::de::DeserializeOwned;

use super::exchange::Exchange;
use super::ranks::{Backoff, Kind, Message, MessageError, Ranks};
use super::RankCounts;

/// How many messages are received before this rank's own are sent.
const MESSAGES_PER_TURN: usize = 256;

/// How tasks find their ranks, and how the end is detected.
pub(super) trait Routing<T> {
    /// Handles a message.
    fn handle(
        &mut self,
        message: &Message,
        sender: &mut MessageSender<'_, '_>,
        exchange: &Exchange<T>,
    ) -> Result<(), MessageError>;

    /// Sends what is due. Returns whether there was anything.
    fn advance(&mut self, sender: &mut MessageSender<'_, '_>, exchange: &Exchange<T>) -> Result<bool, MessageError>;

    /// Returns whether the exploration is over on all ranks.
    fn is_over(&self) -> bool;
}

/// Sends messages and counts them.
pub(super) struct MessageSender<'r, 'n> {
    pub(super) ranks: &'r mut Ranks<'n>,
    /// The counts of messages; the other fields stay 0.
    pub(super) counts: RankCounts,
}

impl MessageSender<'_, '_> {
    pub(super) fn send(&mut self, rank: usize, kind: Kind, body: &[u8]) {
        self.counts.messages += 1;
        self.counts.bytes += self.ranks.send(rank, kind, body) as u64;
    }
}

/// Why the communicating thread cannot go on.
pub(super) enum Failure {
    Message(MessageError),
    /// A panic, for example while a task was encoded.
    Panic(Box<dyn Any + Send>),
}

/// Runs `work` and catches its panic. The panic is kept until all ranks have stopped: they would
/// wait for this one forever.
fn catch_panic<V>(work: impl FnOnce() -> Result<V, MessageError>) -> Result<V, Failure> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(Failure::Message),
        Err(panic) => Err(Failure::Panic(panic)),
    }
}

/// Exchanges messages until the exploration is over or stopped on all ranks. Returns the first
/// failure.
pub(super) fn run<T>(
    sender: &mut MessageSender<'_, '_>,
    exchange: &Exchange<T>,
    routing: &mut dyn Routing<T>,
) -> Result<(), Failure> {
    let mut backoff = Backoff::default();
    let mut result = Ok(());
    let mut fail = |failure: Failure| {
        exchange.stop();
        if result.is_ok() {
            result = Err(failure);
        }
    };
    let others = sender.ranks.ranks() - 1;
    let (mut stop_sent, mut stopped) = (false, 0);
    loop {
        let mut progressed = false;
        for _ in 0..MESSAGES_PER_TURN {
            match sender.ranks.receive() {
                Ok(None) => break,
                Ok(Some(message)) if message.kind == Kind::Stop => {
                    stopped += 1;
                    exchange.stop();
                }
                Ok(Some(message)) => {
                    catch_panic(|| routing.handle(&message, sender, exchange)).unwrap_or_else(&mut fail);
                }
                Err(error) => fail(Failure::Message(error)),
            }
            progressed = true;
        }
        if routing.is_over() {
            return result;
        }
        if !exchange.is_stopped() {
            match catch_panic(|| routing.advance(sender, exchange)) {
                Ok(advanced) => progressed |= advanced,
                Err(failure) => fail(failure),
            }
        } else if !stop_sent && !exchange.is_exploring() {
            stop_sent = true;
            let here = sender.ranks.rank();
            (0..=others).filter(|&rank| rank != here).for_each(|rank| sender.send(rank, Kind::Stop, &[]));
        }
        if stop_sent && stopped == others {
            return result;
        }
        match progressed {
            true => backoff.reset(),
            false => {
                let longest = if exchange.is_idle() { Backoff::WHILE_IDLE } else { Backoff::WHILE_BUSY };
                backoff.wait(longest, |time| exchange.wait_for_event(time));
            }
        }
    }
}

/// Decodes exactly this number of tasks. Returns `None` if there are bytes left.
pub(super) fn decode<T: DeserializeOwned>(tasks: u64, mut bytes: &[u8]) -> Option<Vec<T>> {
    let mut list = Vec::new();
    for _ in 0..tasks {
        let (task, rest) = postcard::take_from_bytes(bytes).ok()?;
        list.push(task);
        bytes = rest;
    }
    bytes.is_empty().then_some(list)
}

#[cfg(test)]
mod tests {
    use super::super::exchange::Batch;
    use super::super::ranks::Ranks;
    use super::*;
    use crate::network::Network;

    /// Rank 1 of two, which receives the same message again and again.
    struct Flooded(usize);

    impl Network for Flooded {
        fn rank(&self) -> usize {
            1
        }

        fn ranks(&self) -> usize {
            2
        }

        fn send(&mut self, _: usize, _: Vec<u8>) {}

        fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
            self.0 = self.0.checked_sub(1)?;
            // It belongs to the first operation, and its kind is `Protocol`.
            Some((0, vec![1, 2]))
        }

        fn is_flushed(&mut self) -> bool {
            true
        }
    }

    /// Is over after the first `advance`.
    #[derive(Default)]
    struct Once {
        taken: usize,
        over: bool,
    }

    impl Routing<()> for Once {
        fn handle(&mut self, _: &Message, _: &mut MessageSender<'_, '_>, _: &Exchange<()>) -> Result<(), MessageError> {
            self.taken += 1;
            Ok(())
        }

        fn advance(&mut self, _: &mut MessageSender<'_, '_>, _: &Exchange<()>) -> Result<bool, MessageError> {
            self.over = true;
            Ok(true)
        }

        fn is_over(&self) -> bool {
            self.over
        }
    }

    #[test]
    fn a_flooded_rank_still_advances() {
        let mut network = Flooded(100 * MESSAGES_PER_TURN);
        let mut ranks = Ranks::new(&mut network);
        ranks.begin_operation();
        let mut sender = MessageSender { ranks: &mut ranks, counts: RankCounts::default() };
        let mut routing = Once::default();
        assert!(run(&mut sender, &Exchange::new(Vec::new()), &mut routing).is_ok());
        // One batch before `advance`, and one until the end is noticed.
        assert_eq!(routing.taken, 2 * MESSAGES_PER_TURN);
    }

    #[test]
    fn sent_tasks_are_decoded_and_other_bytes_are_refused() {
        let mut batch = Batch::default();
        (0..300u32).for_each(|task| batch.add(&(task, "task".to_owned())));
        let back: Vec<(u32, String)> = decode(batch.tasks, &batch.bytes).unwrap();
        assert_eq!(back.len(), 300);
        assert_eq!(back[299].0, 299);
        for (tasks, bytes) in [(301, &batch.bytes[..]), (299, &batch.bytes), (300, &batch.bytes[1..])] {
            assert_eq!(decode::<(u32, String)>(tasks, bytes), None);
        }
        assert_eq!(decode::<()>(5, &[]).unwrap().len(), 5, "tasks without bytes are tasks");
    }
}
