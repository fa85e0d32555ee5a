//! The exchange between the workers of a rank and its communicating thread.
//!
//! It holds tasks that have arrived, and tasks for other ranks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::sync::{lock, unpoisoned};

/// How many bytes of tasks for one rank are worth a message of their own.
const BATCH_BYTES: usize = 32 << 10;

/// The number of buffers for outgoing tasks. If there are more workers, some share a buffer.
const BUFFERS: usize = 64;

/// The tasks between workers and the communicating thread; see the module.
pub(super) struct Exchange<T> {
    incoming: Mutex<Incoming<T>>,
    /// Signalled when tasks have arrived or no more will come.
    arrived: Condvar,
    /// Whether tasks have arrived that a worker can take. Read for every task.
    has_arrivals: AtomicBool,
    /// Whether the exploration is stopped. Read for every task.
    stopped: AtomicBool,
    /// Each worker's tasks for each rank. They stay until there are enough or the communicating
    /// thread takes them.
    buffers: Vec<Mutex<Vec<Batch>>>,
    outgoing: Mutex<Outgoing>,
    /// Signalled when there are tasks to send or this rank is idle.
    event: Condvar,
}

/// The incoming tasks.
struct Incoming<T> {
    /// Tasks that have arrived and that no worker has taken.
    tasks: Vec<T>,
    /// Whether a local exploration runs.
    exploring: bool,
    closed: bool,
}

/// The outgoing tasks, for the communicating thread.
#[derive(Default)]
struct Outgoing {
    full: Vec<(usize, Batch)>,
    notified: bool,
}

/// Tasks for one rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    pub(super) tasks: u64,
    pub(super) bytes: Vec<u8>,
}

impl<T> Exchange<T> {
    /// Creates the exchange with these tasks as the first.
    pub(super) fn new(tasks: Vec<T>) -> Self {
        Exchange {
            incoming: Mutex::new(Incoming { tasks, exploring: false, closed: false }),
            arrived: Condvar::new(),
            has_arrivals: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            buffers: (0..BUFFERS).map(|_| Mutex::default()).collect(),
            outgoing: Mutex::default(),
            event: Condvar::new(),
        }
    }

    /// Returns whether tasks have arrived that [`take_arrivals`](Exchange::take_arrivals) may
    /// return.
    #[inline]
    pub(super) fn has_arrivals(&self) -> bool {
        // Relaxed: the lock orders the tasks, and a worker that misses the flag checks again after
        // the next task.
        self.has_arrivals.load(Ordering::Relaxed)
    }

    /// Takes the tasks that have arrived, for a worker of the running exploration.
    #[cold]
    pub(super) fn take_arrivals(&self) -> Vec<T> {
        let mut incoming = lock(&self.incoming);
        self.has_arrivals.store(false, Ordering::Relaxed);
        std::mem::take(&mut incoming.tasks)
    }

    /// Waits for tasks to start a local exploration with. Returns `None` if no more will come.
    pub(super) fn await_tasks(&self) -> Option<Vec<T>> {
        let mut incoming = lock(&self.incoming);
        loop {
            if incoming.closed {
                return None;
            }
            if !incoming.tasks.is_empty() {
                incoming.exploring = true;
                self.has_arrivals.store(false, Ordering::Relaxed);
                return Some(std::mem::take(&mut incoming.tasks));
            }
            incoming = unpoisoned(self.arrived.wait(incoming));
        }
    }

    /// Records that the local exploration has ended.
    pub(super) fn end_round(&self) {
        lock(&self.incoming).exploring = false;
        self.notify();
    }

    /// Ends all waits for tasks: no more will come.
    pub(super) fn close(&self) {
        lock(&self.incoming).closed = true;
        self.arrived.notify_all();
    }

    /// Adds tasks that have arrived.
    pub(super) fn deliver(&self, tasks: Vec<T>) {
        let mut incoming = lock(&self.incoming);
        incoming.tasks.extend(tasks);
        self.has_arrivals.store(true, Ordering::Relaxed);
        self.arrived.notify_one();
    }

    /// Returns whether no exploration runs and no task is there to start one with. Then workers do
    /// not add to the buffers, either.
    pub(super) fn is_idle(&self) -> bool {
        let incoming = lock(&self.incoming);
        !incoming.exploring && incoming.tasks.is_empty()
    }

    /// Returns whether a local exploration runs. If it is false after a stop or close, it stays
    /// false.
    pub(super) fn is_exploring(&self) -> bool {
        lock(&self.incoming).exploring
    }

    /// Stops everything: each worker sees it before its next task, and no exploration starts.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.close();
        self.notify();
    }

    /// Returns whether the exploration is stopped.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: no other data is read because of it.
        self.stopped.load(Ordering::Relaxed)
    }

    /// Adds a task for another rank to the buffer of a worker.
    ///
    /// # Panics
    ///
    /// If the task cannot be encoded.
    pub(super) fn buffer_task(&self, worker: usize, rank: usize, task: &T)
    where
        T: Serialize,
    {
        let mut buffer = lock(&self.buffers[worker % BUFFERS]);
        if buffer.len() <= rank {
            buffer.resize_with(rank + 1, Batch::default);
        }
        let batch = &mut buffer[rank];
        batch.add(task);
        if batch.bytes.len() >= BATCH_BYTES {
            let batch = std::mem::take(batch);
            drop(buffer);
            lock(&self.outgoing).full.push((rank, batch));
            self.notify();
        }
    }

    /// Takes the batches that are large enough for a message; with `all`, also the others.
    pub(super) fn take_outgoing(&self, all: bool) -> Vec<(usize, Batch)> {
        let mut batches = std::mem::take(&mut lock(&self.outgoing).full);
        if all {
            for buffer in &self.buffers {
                let mut buffer = lock(buffer);
                let filled = buffer.iter_mut().enumerate().filter(|(_, batch)| batch.tasks > 0);
                batches.extend(filled.map(|(rank, batch)| (rank, std::mem::take(batch))));
            }
        }
        merge_small(batches)
    }

    /// Waits until the communicating thread has something to do, for at most `timeout`.
    pub(super) fn wait_for_event(&self, timeout: Duration) {
        let start = Instant::now();
        let mut outgoing = lock(&self.outgoing);
        while !outgoing.notified {
            let Some(left) = timeout.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else { break };
            outgoing = unpoisoned(self.event.wait_timeout(outgoing, left)).0;
        }
        outgoing.notified = false;
    }

    fn notify(&self) {
        lock(&self.outgoing).notified = true;
        self.event.notify_one();
    }
}

impl Batch {
    /// Adds a task.
    ///
    /// # Panics
    ///
    /// If the task cannot be encoded.
    pub(super) fn add<T: Serialize>(&mut self, task: &T) {
        // If encoding fails or panics, the batch is left empty: it keeps neither a part of the
        // bytes nor the count.
        let Batch { tasks, bytes } = std::mem::take(self);
        match postcard::to_extend(task, bytes) {
            Ok(bytes) => *self = Batch { tasks: tasks + 1, bytes },
            Err(error) => panic!("cannot encode a task for another rank: {error}"),
        }
    }
}

/// Merges small batches for the same rank into one message.
fn merge_small(mut batches: Vec<(usize, Batch)>) -> Vec<(usize, Batch)> {
    batches.sort_by_key(|(rank, _)| *rank);
    batches.dedup_by(|(rank, batch), (before, merged)| {
        let fits = rank == before && batch.bytes.len() + merged.bytes.len() <= BATCH_BYTES;
        if fits {
            merged.tasks += batch.tasks;
            merged.bytes.append(&mut batch.bytes);
        }
        fits
    });
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_batches_for_one_rank_are_sent_together() {
        let exchange: Exchange<u32> = Exchange::new(Vec::new());
        for task in 0..100u32 {
            exchange.buffer_task(task as usize % 3, 1 + task as usize % 2, &task);
        }
        assert!(exchange.take_outgoing(false).is_empty(), "too few bytes for a message");
        let out = exchange.take_outgoing(true);
        let sizes: Vec<_> = out.iter().map(|(rank, batch)| (*rank, batch.tasks)).collect();
        assert_eq!(sizes, [(1, 50), (2, 50)]);
        assert!(exchange.take_outgoing(true).is_empty());
    }

    #[test]
    fn a_full_batch_is_sent_by_itself() {
        let exchange: Exchange<u64> = Exchange::new(Vec::new());
        let mut sent = 0;
        while exchange.take_outgoing(false).is_empty() {
            exchange.buffer_task(0, 3, &u64::MAX);
            sent += 1;
            assert!(sent <= BATCH_BYTES);
        }
        assert!(sent >= BATCH_BYTES / 10);
    }

    #[test]
    fn a_rank_that_has_tasks_or_explores_is_not_idle() {
        let exchange = Exchange::new(vec![1]);
        assert!(!exchange.is_idle());
        assert_eq!(exchange.await_tasks(), Some(vec![1]));
        assert!(!exchange.is_idle());
        exchange.end_round();
        assert!(exchange.is_idle());
        exchange.deliver(vec![2, 3]);
        assert!(!exchange.is_idle() && exchange.has_arrivals());
        assert_eq!(exchange.take_arrivals(), [2, 3]);
        exchange.close();
        assert_eq!(exchange.await_tasks(), None);
    }
}
