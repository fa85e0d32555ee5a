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

use super::ranks::{Garbled, Kind, Message, Pause, Ranks};
use super::traffic::Traffic;
use super::RankCounts;

/// How many messages are received before this rank's own are sent.
const MESSAGES: usize = 256;

/// How tasks find their ranks, and how the end is detected.
pub(super) trait Way<T> {
    /// Handles a message.
    fn take(&mut self, message: &Message, post: &mut Post<'_, '_>, traffic: &Traffic<T>) -> Result<(), Garbled>;

    /// Sends what is due. Returns whether there was anything.
    fn go_on(&mut self, post: &mut Post<'_, '_>, traffic: &Traffic<T>) -> Result<bool, Garbled>;

    /// Returns whether the exploration is over on all ranks.
    fn is_over(&self) -> bool;
}

/// Sends messages and counts them.
pub(super) struct Post<'r, 'n> {
    pub(super) ranks: &'r mut Ranks<'n>,
    /// The counts of messages; the other fields stay 0.
    pub(super) counts: RankCounts,
}

impl Post<'_, '_> {
    pub(super) fn send(&mut self, rank: usize, kind: Kind, rest: &[u8]) {
        self.counts.messages += 1;
        self.counts.bytes += self.ranks.send(rank, kind, rest) as u64;
    }
}

/// Why the communicating thread cannot go on.
pub(super) enum Failure {
    Garbled(Garbled),
    /// A panic, for example while a task was encoded.
    Panic(Box<dyn Any + Send>),
}

/// Runs `part` and catches its panic. The panic is kept until all ranks have stopped: they would
/// wait for this one forever.
fn attempt<V>(part: impl FnOnce() -> Result<V, Garbled>) -> Result<V, Failure> {
    match panic::catch_unwind(AssertUnwindSafe(part)) {
        Ok(done) => done.map_err(Failure::Garbled),
        Err(panic) => Err(Failure::Panic(panic)),
    }
}

/// Carries messages until the exploration is over or stopped on all ranks. Returns the first
/// failure.
pub(super) fn carry<T>(post: &mut Post<'_, '_>, traffic: &Traffic<T>, way: &mut dyn Way<T>) -> Result<(), Failure> {
    let mut pause = Pause::default();
    let mut result = Ok(());
    let mut fail = |failure: Failure| {
        traffic.stop();
        if result.is_ok() {
            result = Err(failure);
        }
    };
    let others = post.ranks.ranks() - 1;
    let (mut told, mut stopped) = (false, 0);
    loop {
        let mut moved = false;
        for _ in 0..MESSAGES {
            match post.ranks.receive() {
                Ok(None) => break,
                Ok(Some(message)) if message.kind == Kind::Stop => {
                    stopped += 1;
                    traffic.stop();
                }
                Ok(Some(message)) => {
                    attempt(|| way.take(&message, post, traffic)).unwrap_or_else(&mut fail);
                }
                Err(garbled) => fail(Failure::Garbled(garbled)),
            }
            moved = true;
        }
        if way.is_over() {
            return result;
        }
        if !traffic.is_stopped() {
            match attempt(|| way.go_on(post, traffic)) {
                Ok(went_on) => moved |= went_on,
                Err(failure) => fail(failure),
            }
        } else if !told && !traffic.is_exploring() {
            told = true;
            let here = post.ranks.rank();
            (0..=others).filter(|&rank| rank != here).for_each(|rank| post.send(rank, Kind::Stop, &[]));
        }
        if told && stopped == others {
            return result;
        }
        match moved {
            true => pause.reset(),
            false => {
                let most = if traffic.is_idle() { Pause::WHILE_IDLE } else { Pause::WHILE_BUSY };
                pause.wait(most, |time| traffic.await_news(time));
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
    use super::super::ranks::Ranks;
    use super::super::traffic::Parcel;
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
            // It belongs to the first act, and its kind is `Protocol`.
            Some((0, vec![1, 2]))
        }

        fn is_flushed(&mut self) -> bool {
            true
        }
    }

    /// Is over after the first `go_on`.
    #[derive(Default)]
    struct Once {
        taken: usize,
        over: bool,
    }

    impl Way<()> for Once {
        fn take(&mut self, _: &Message, _: &mut Post<'_, '_>, _: &Traffic<()>) -> Result<(), Garbled> {
            self.taken += 1;
            Ok(())
        }

        fn go_on(&mut self, _: &mut Post<'_, '_>, _: &Traffic<()>) -> Result<bool, Garbled> {
            self.over = true;
            Ok(true)
        }

        fn is_over(&self) -> bool {
            self.over
        }
    }

    #[test]
    fn a_rank_that_is_flooded_goes_on_nevertheless() {
        let mut network = Flooded(100 * MESSAGES);
        let mut ranks = Ranks::new(&mut network);
        ranks.begin();
        let mut post = Post { ranks: &mut ranks, counts: RankCounts::default() };
        let mut way = Once::default();
        assert!(carry(&mut post, &Traffic::new(Vec::new()), &mut way).is_ok());
        // One batch before `go_on`, and one until the end is noticed.
        assert_eq!(way.taken, 2 * MESSAGES);
    }

    #[test]
    fn what_was_sent_arrives_and_anything_else_is_garbled() {
        let mut parcel = Parcel::default();
        (0..300u32).for_each(|task| parcel.add(&(task, "task".to_owned())));
        let back: Vec<(u32, String)> = decode(parcel.tasks, &parcel.bytes).unwrap();
        assert_eq!(back.len(), 300);
        assert_eq!(back[299].0, 299);
        for (tasks, bytes) in [(301, &parcel.bytes[..]), (299, &parcel.bytes), (300, &parcel.bytes[1..])] {
            assert_eq!(decode::<(u32, String)>(tasks, bytes), None);
        }
        assert_eq!(decode::<()>(5, &[]).unwrap().len(), 5, "tasks without bytes are tasks");
    }
}
