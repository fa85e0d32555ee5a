//! Tasks with homes: each belongs to one rank, and goes there from any rank.

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::Serialize;

use super::counting::{Counting, Letters};
use super::courier::{decode, Post, Way};
use super::explorer::Away;
use super::ranks::{Garbled, Kind, Message};
use super::traffic::Traffic;

/// How long a task for another rank waits for further tasks to the same rank.
const LINGER: Duration = Duration::from_micros(300);

/// Sends pushed tasks to their home ranks.
pub(super) struct Homes<'a, T, H> {
    pub(super) traffic: &'a Traffic<T>,
    pub(super) home: H,
    pub(super) rank: usize,
    pub(super) ranks: usize,
}

impl<T, H> Away<T> for Homes<'_, T, H>
where
    T: Serialize + Send,
    H: Fn(&T) -> usize + Sync,
{
    #[inline]
    fn take(&self, worker: usize, task: T) -> Option<T> {
        let rank = (self.home)(&task);
        if rank == self.rank {
            return Some(task);
        }
        assert!(rank < self.ranks, "the home of a task is rank {rank}, but there are only {}", self.ranks);
        self.traffic.post(worker, rank, &task);
        None
    }
}

/// Sends tasks to their homes, and counts messages to detect the end.
pub(super) struct ByHome {
    counting: Counting,
    /// Whether the rank has reported that it is idle since tasks last came.
    rests: bool,
    last_sweep: Instant,
}

impl ByHome {
    pub(super) fn new(rank: usize, ranks: usize) -> Self {
        ByHome { counting: Counting::new(rank, ranks), rests: false, last_sweep: Instant::now() }
    }
}

impl<T: DeserializeOwned> Way<T> for ByHome {
    fn take(&mut self, message: &Message, post: &mut Post<'_, '_>, traffic: &Traffic<T>) -> Result<(), Garbled> {
        match message.kind {
            Kind::Tasks { tasks } => {
                let list = decode(tasks, message.rest()).ok_or_else(|| message.garbled())?;
                post.counts.received += tasks;
                self.counting.received();
                self.rests = false;
                traffic.deliver(list);
            }
            Kind::Signal(signal) => signals(post, self.counting.hear(signal)),
            _ => return Err(message.garbled()),
        }
        Ok(())
    }

    fn go_on(&mut self, post: &mut Post<'_, '_>, traffic: &Traffic<T>) -> Result<bool, Garbled> {
        // In this order: if the rank is idle now, its workers have already put all tasks on the
        // shelves.
        let idle = traffic.is_idle();
        let all = idle || self.last_sweep.elapsed() >= LINGER;
        if all {
            self.last_sweep = Instant::now();
        }
        let leaving = traffic.take_out(all);
        let moved = !leaving.is_empty();
        for (rank, parcel) in leaving {
            self.counting.sent();
            post.counts.sent += parcel.tasks;
            post.send(rank, Kind::Tasks { tasks: parcel.tasks }, &parcel.bytes);
        }
        if idle && !self.rests {
            self.rests = true;
            signals(post, self.counting.rest());
        }
        Ok(moved)
    }

    fn is_over(&self) -> bool {
        self.counting.is_over()
    }
}

fn signals(post: &mut Post<'_, '_>, letters: Letters) {
    for (rank, signal) in letters {
        post.send(rank, Kind::Signal(signal), &[]);
    }
}
