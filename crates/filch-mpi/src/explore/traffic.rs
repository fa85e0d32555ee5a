//! The exchange between the workers of a rank and its communicating thread.
//!
//! It holds tasks that have arrived, and tasks for other ranks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

/// How many bytes of tasks for one rank are worth a message of their own.
const ENOUGH: usize = 32 << 10;

/// The number of shelves for outgoing tasks. If there are more workers, some share a shelf.
const SHELVES: usize = 64;

/// The tasks between workers and the communicating thread; see the module.
pub(super) struct Traffic<T> {
    inside: Mutex<Inside<T>>,
    /// Signalled when tasks have arrived or no more will come.
    arrived: Condvar,
    /// Whether tasks have arrived that a worker can take. Read for every task.
    fresh: AtomicBool,
    /// Whether the exploration is stopped. Read for every task.
    stopped: AtomicBool,
    /// Each worker's tasks for each rank. They stay until there are enough or the communicating
    /// thread takes them.
    shelves: Vec<Mutex<Vec<Parcel>>>,
    outside: Mutex<Outside>,
    /// Signalled when there are tasks to send or this rank is idle.
    news: Condvar,
}

/// The incoming tasks.
struct Inside<T> {
    /// Tasks that have arrived and that no worker has taken.
    tasks: Vec<T>,
    /// Whether a local exploration runs.
    exploring: bool,
    closed: bool,
}

/// The outgoing tasks, for the communicating thread.
#[derive(Default)]
struct Outside {
    full: Vec<(usize, Parcel)>,
    news: bool,
}

/// Tasks for one rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Parcel {
    pub(super) tasks: u64,
    pub(super) bytes: Vec<u8>,
}

impl<T> Traffic<T> {
    /// Creates the exchange with these tasks as the first.
    pub(super) fn new(tasks: Vec<T>) -> Self {
        Traffic {
            inside: Mutex::new(Inside { tasks, exploring: false, closed: false }),
            arrived: Condvar::new(),
            fresh: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            shelves: (0..SHELVES).map(|_| Mutex::default()).collect(),
            outside: Mutex::default(),
            news: Condvar::new(),
        }
    }

    /// Returns whether tasks have arrived that [`take_in`](Traffic::take_in) may return.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        // Relaxed: the lock orders the tasks, and a worker that misses the flag checks again after
        // the next task.
        self.fresh.load(Ordering::Relaxed)
    }

    /// Takes the tasks that have arrived, for a worker of the running exploration.
    #[cold]
    pub(super) fn take_in(&self) -> Vec<T> {
        let mut inside = lock(&self.inside);
        self.fresh.store(false, Ordering::Relaxed);
        std::mem::take(&mut inside.tasks)
    }

    /// Waits for tasks to start a local exploration with. Returns `None` if no more will come.
    pub(super) fn await_tasks(&self) -> Option<Vec<T>> {
        let mut inside = lock(&self.inside);
        loop {
            if inside.closed {
                return None;
            }
            if !inside.tasks.is_empty() {
                inside.exploring = true;
                self.fresh.store(false, Ordering::Relaxed);
                return Some(std::mem::take(&mut inside.tasks));
            }
            inside = self.arrived.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Records that the local exploration has ended.
    pub(super) fn end_round(&self) {
        lock(&self.inside).exploring = false;
        self.tell();
    }

    /// Ends all waits for tasks: no more will come.
    pub(super) fn close(&self) {
        lock(&self.inside).closed = true;
        self.arrived.notify_all();
    }

    /// Adds tasks that have arrived.
    pub(super) fn deliver(&self, tasks: Vec<T>) {
        let mut inside = lock(&self.inside);
        inside.tasks.extend(tasks);
        self.fresh.store(true, Ordering::Relaxed);
        self.arrived.notify_one();
    }

    /// Returns whether no exploration runs and no task is there to start one with. Then workers do
    /// not add to the shelves, either.
    pub(super) fn is_idle(&self) -> bool {
        let inside = lock(&self.inside);
        !inside.exploring && inside.tasks.is_empty()
    }

    /// Returns whether a local exploration runs. If it is false after a stop or close, it stays
    /// false.
    pub(super) fn is_exploring(&self) -> bool {
        lock(&self.inside).exploring
    }

    /// Stops everything: each worker sees it before its next task, and no exploration starts.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.close();
        self.tell();
    }

    /// Returns whether the exploration is stopped.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: no other data is read because of it.
        self.stopped.load(Ordering::Relaxed)
    }

    /// Adds a task for another rank.
    ///
    /// # Panics
    ///
    /// If the task cannot be encoded.
    pub(super) fn post(&self, worker: usize, rank: usize, task: &T)
    where
        T: Serialize,
    {
        let mut shelf = lock(&self.shelves[worker % SHELVES]);
        if shelf.len() <= rank {
            shelf.resize_with(rank + 1, Parcel::default);
        }
        let parcel = &mut shelf[rank];
        parcel.add(task);
        if parcel.bytes.len() >= ENOUGH {
            let parcel = std::mem::take(parcel);
            drop(shelf);
            lock(&self.outside).full.push((rank, parcel));
            self.tell();
        }
    }

    /// Takes the parcels that are large enough for a message; with `all`, also the others.
    pub(super) fn take_out(&self, all: bool) -> Vec<(usize, Parcel)> {
        let mut leaving = std::mem::take(&mut lock(&self.outside).full);
        if all {
            for shelf in &self.shelves {
                let mut shelf = lock(shelf);
                let parcels = shelf.iter_mut().enumerate().filter(|(_, parcel)| parcel.tasks > 0);
                leaving.extend(parcels.map(|(rank, parcel)| (rank, std::mem::take(parcel))));
            }
        }
        join_small(leaving)
    }

    /// Waits until the communicating thread has something to do, for at most `most`.
    pub(super) fn await_news(&self, most: Duration) {
        let start = Instant::now();
        let mut outside = lock(&self.outside);
        while !outside.news {
            let Some(left) = most.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else { break };
            outside = self.news.wait_timeout(outside, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        outside.news = false;
    }

    fn tell(&self) {
        lock(&self.outside).news = true;
        self.news.notify_one();
    }
}

impl Parcel {
    /// Adds a task.
    ///
    /// # Panics
    ///
    /// If the task cannot be encoded.
    pub(super) fn add<T: Serialize>(&mut self, task: &T) {
        // If encoding fails or panics, the parcel is left empty: it keeps neither a part of the
        // bytes nor the count.
        let Parcel { tasks, bytes } = std::mem::take(self);
        match postcard::to_extend(task, bytes) {
            Ok(bytes) => *self = Parcel { tasks: tasks + 1, bytes },
            Err(error) => panic!("a task cannot be sent to another rank: {error}"),
        }
    }
}

/// Joins small parcels for the same rank into one message.
fn join_small(mut leaving: Vec<(usize, Parcel)>) -> Vec<(usize, Parcel)> {
    leaving.sort_by_key(|(rank, _)| *rank);
    leaving.dedup_by(|(rank, parcel), (before, joined)| {
        let fits = rank == before && parcel.bytes.len() + joined.bytes.len() <= ENOUGH;
        if fits {
            joined.tasks += parcel.tasks;
            joined.bytes.append(&mut parcel.bytes);
        }
        fits
    });
    leaving
}

/// Locks and ignores poison. A panic under the lock leaves no half-done state that other code
/// relies on.
pub(super) fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parcels_for_one_rank_leave_together() {
        let traffic: Traffic<u32> = Traffic::new(Vec::new());
        for task in 0..100u32 {
            traffic.post(task as usize % 3, 1 + task as usize % 2, &task);
        }
        assert!(traffic.take_out(false).is_empty(), "they are not enough for a message");
        let out = traffic.take_out(true);
        let sizes: Vec<_> = out.iter().map(|(rank, parcel)| (*rank, parcel.tasks)).collect();
        assert_eq!(sizes, [(1, 50), (2, 50)]);
        assert!(traffic.take_out(true).is_empty());
    }

    #[test]
    fn a_full_parcel_leaves_by_itself() {
        let traffic: Traffic<u64> = Traffic::new(Vec::new());
        let mut posted = 0;
        while traffic.take_out(false).is_empty() {
            traffic.post(0, 3, &u64::MAX);
            posted += 1;
            assert!(posted <= ENOUGH);
        }
        assert!(posted >= ENOUGH / 10);
    }

    #[test]
    fn who_has_tasks_or_explores_is_not_idle() {
        let traffic = Traffic::new(vec![1]);
        assert!(!traffic.is_idle());
        assert_eq!(traffic.await_tasks(), Some(vec![1]));
        assert!(!traffic.is_idle());
        traffic.end_round();
        assert!(traffic.is_idle());
        traffic.deliver(vec![2, 3]);
        assert!(!traffic.is_idle() && traffic.is_fresh());
        assert_eq!(traffic.take_in(), [2, 3]);
        traffic.close();
        assert_eq!(traffic.await_tasks(), None);
    }
}
