//! What the workers of a rank and its communicating thread hand each other: tasks that have arrived, and tasks that are to leave.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

/// How many bytes of tasks for one rank are worth a message by themselves.
const ENOUGH: usize = 32 << 10;

/// On how many shelves the workers put what is to leave: more workers than this share some.
const SHELVES: usize = 64;

/// See the module.
pub(super) struct Traffic<T> {
    inside: Mutex<Inside<T>>,
    /// Tasks have arrived, or it is over.
    arrived: Condvar,
    /// Whether any have arrived that a worker can take: looked at for every task.
    fresh: AtomicBool,
    /// Whether all is to end at once: looked at for every task.
    stopped: AtomicBool,
    /// What each worker has for each rank, until it is enough or the communicating thread comes for it.
    shelves: Vec<Mutex<Vec<Parcel>>>,
    outside: Mutex<Outside>,
    /// Something is to leave, or there is nothing left to do here.
    news: Condvar,
}

/// What is here.
struct Inside<T> {
    /// Tasks that have arrived and that nobody has taken.
    tasks: Vec<T>,
    /// Whether a local exploration runs.
    exploring: bool,
    closed: bool,
}

/// What is for the communicating thread.
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
    /// With these tasks here to begin with.
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

    /// Whether tasks have arrived that [`take_in`](Traffic::take_in) may give.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        // Relaxed: the lock orders what counts, and who misses it looks again after the next task.
        self.fresh.load(Ordering::Relaxed)
    }

    /// The tasks that have arrived, for a worker of the exploration that runs.
    #[cold]
    pub(super) fn take_in(&self) -> Vec<T> {
        let mut inside = lock(&self.inside);
        self.fresh.store(false, Ordering::Relaxed);
        std::mem::take(&mut inside.tasks)
    }

    /// Waits for tasks to begin a local exploration with. None if there will be no more.
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

    /// The local exploration has ended.
    pub(super) fn end_round(&self) {
        lock(&self.inside).exploring = false;
        self.tell();
    }

    /// Nothing more will come: whoever waits for tasks waits no longer.
    pub(super) fn close(&self) {
        lock(&self.inside).closed = true;
        self.arrived.notify_all();
    }

    /// Tasks have arrived.
    pub(super) fn deliver(&self, tasks: Vec<T>) {
        let mut inside = lock(&self.inside);
        inside.tasks.extend(tasks);
        self.fresh.store(true, Ordering::Relaxed);
        self.arrived.notify_one();
    }

    /// Whether nothing is here: no exploration runs, and nothing is there to begin one with. Then workers add nothing to the shelves, either.
    pub(super) fn is_idle(&self) -> bool {
        let inside = lock(&self.inside);
        !inside.exploring && inside.tasks.is_empty()
    }

    /// Whether a local exploration runs. Once it is stopped or closed and this is false, none will.
    pub(super) fn is_exploring(&self) -> bool {
        lock(&self.inside).exploring
    }

    /// Ends everything at once: each worker sees it before its next task, and no exploration begins.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.close();
        self.tell();
    }

    /// Whether all is to end at once.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: nothing else is read because of it.
        self.stopped.load(Ordering::Relaxed)
    }

    /// A task is to leave for another rank.
    ///
    /// # Panics
    ///
    /// If it cannot be written as bytes.
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

    /// What is enough for a message; with `all`, also what is not.
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

    /// The communicating thread waits until there is something for it to do, or so long.
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
    /// If it cannot be written as bytes.
    pub(super) fn add<T: Serialize>(&mut self, task: &T) {
        // Nothing is left of it if that fails, or panics: not a part of the bytes, and not the number.
        let Parcel { tasks, bytes } = std::mem::take(self);
        match postcard::to_extend(task, bytes) {
            Ok(bytes) => *self = Parcel { tasks: tasks + 1, bytes },
            Err(error) => panic!("a task cannot be sent to another rank: {error}"),
        }
    }
}

/// One message for each rank out of those that are small.
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

/// Whoever panicked while it held the lock left nothing half done that anybody relies on.
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
