//! Tasks with homes: each belongs to one rank, and goes there from any rank.

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::Serialize;

use super::communicate::{decode, MessageSender, Routing};
use super::exchange::Exchange;
use super::explorer::Outbound;
use super::ranks::{Kind, Message, MessageError};
use super::termination::{Signals, Termination};

/// How long a task for another rank waits for further tasks to the same rank.
const LINGER: Duration = Duration::from_micros(300);

/// Sends pushed tasks to their home ranks.
pub(super) struct SendHome<'a, T, H> {
    pub(super) exchange: &'a Exchange<T>,
    pub(super) home: H,
    pub(super) rank: usize,
    pub(super) ranks: usize,
}

impl<T, H> Outbound<T> for SendHome<'_, T, H>
where
    T: Serialize + Send,
    H: Fn(&T) -> usize + Sync,
{
    #[inline]
    fn send_if_remote(&self, worker: usize, task: T) -> Option<T> {
        let rank = (self.home)(&task);
        if rank == self.rank {
            return Some(task);
        }
        assert!(
            rank < self.ranks,
            "the home of a task is rank {rank}, which does not exist: there are {} ranks",
            self.ranks
        );
        self.exchange.buffer_task(worker, rank, &task);
        None
    }
}

/// Sends tasks to their homes, and counts messages to detect the end.
pub(super) struct ByHome {
    termination: Termination,
    /// Whether the rank has reported that it is idle since tasks last came.
    idle_reported: bool,
    last_flush: Instant,
}

impl ByHome {
    pub(super) fn new(rank: usize, ranks: usize) -> Self {
        ByHome { termination: Termination::new(rank, ranks), idle_reported: false, last_flush: Instant::now() }
    }
}

impl<T: DeserializeOwned> Routing<T> for ByHome {
    fn handle(
        &mut self,
        message: &Message,
        sender: &mut MessageSender<'_, '_>,
        exchange: &Exchange<T>,
    ) -> Result<(), MessageError> {
        match message.kind {
            Kind::Tasks { tasks } => {
                let list = decode(tasks, message.body()).ok_or_else(|| message.error())?;
                sender.counts.received += tasks;
                self.termination.count_received();
                self.idle_reported = false;
                exchange.deliver(list);
            }
            Kind::Signal(signal) => send_signals(sender, self.termination.handle(signal)),
            _ => return Err(message.error()),
        }
        Ok(())
    }

    fn advance(&mut self, sender: &mut MessageSender<'_, '_>, exchange: &Exchange<T>) -> Result<bool, MessageError> {
        // In this order: if the rank is idle now, its workers have already put all tasks into the
        // buffers.
        let idle = exchange.is_idle();
        let all = idle || self.last_flush.elapsed() >= LINGER;
        if all {
            self.last_flush = Instant::now();
        }
        let batches = exchange.take_outgoing(all);
        let progressed = !batches.is_empty();
        for (rank, batch) in batches {
            self.termination.count_sent();
            sender.counts.sent += batch.tasks;
            sender.send(rank, Kind::Tasks { tasks: batch.tasks }, &batch.bytes);
        }
        if idle && !self.idle_reported {
            self.idle_reported = true;
            send_signals(sender, self.termination.become_idle());
        }
        Ok(progressed)
    }

    fn is_over(&self) -> bool {
        self.termination.is_over()
    }
}

fn send_signals(sender: &mut MessageSender<'_, '_>, signals: Signals) {
    for (rank, signal) in signals {
        sender.send(rank, Kind::Signal(signal), &[]);
    }
}
