//! Queues from which the communicating thread can steal, too.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::thread;

use filch::queue::{Kind, Stolen};
use filch_queue::{Steal, Thief};
use serde::Serialize;

use super::exchange::Batch;

use crate::sync::lock;

/// A kind of queue whose tasks can be given to other ranks.
///
/// It is `K`, with a thief of each queue for the communicating thread. A task that this thread
/// steals is gone for the local exploration, which ends without it. So no other code has to know.
pub struct ExtraThief<T, K: Kind<T>> {
    kind: K,
    thieves: Arc<Mutex<Vec<K::Thief>>>,
}

/// How many bytes of tasks are given away at once.
const MAX_BYTES: usize = 1 << 20;
/// How often all queues are tried. In between, an owner that was asked has a moment to respond, and
/// another thief that was in the way.
const ROUNDS: usize = 8;

impl<T, K: Kind<T>> ExtraThief<T, K> {
    pub(super) fn new(kind: K) -> Self {
        ExtraThief { kind, thieves: Arc::default() }
    }

    pub(super) fn thieves(&self) -> Thieves<T, K> {
        Thieves(Arc::clone(&self.thieves))
    }
}

impl<T, K: Kind<T> + Clone> Clone for ExtraThief<T, K> {
    fn clone(&self) -> Self {
        ExtraThief { kind: self.kind.clone(), thieves: Arc::clone(&self.thieves) }
    }
}

impl<T, K: Kind<T>> fmt::Debug for ExtraThief<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtraThief").finish_non_exhaustive()
    }
}

impl<T, K: Kind<T>> Kind<T> for ExtraThief<T, K> {
    type Owner = K::Owner;
    type Thief = K::Thief;

    fn make(&self) -> (K::Owner, K::Thief) {
        let (owner, thief) = self.kind.make();
        lock(&self.thieves).push(thief.clone());
        (owner, thief)
    }

    fn steal_for(&self, own: &K::Owner, thief: &K::Thief) -> Stolen<T> {
        self.kind.steal_for(own, thief)
    }

    fn raid_for(&self, own: &K::Owner, thief: &K::Thief) -> Stolen<T> {
        self.kind.raid_for(own, thief)
    }
}

/// The thieves of the queues of the current exploration.
pub(super) struct Thieves<T, K: Kind<T>>(Arc<Mutex<Vec<K::Thief>>>);

/// The thieves as the communicating thread uses them, for any kind of queue.
pub(super) trait TaskSource {
    /// Returns the number of queued tasks.
    fn queued(&self) -> u64;
    /// Takes about `share` of the queued tasks, at most one message. At least one if there is any,
    /// unless all are in queues whose owners make none available in this moment.
    fn take(&self, share: f64) -> Batch;
    /// Drops the thieves when the exploration is over, so that its queues can be freed.
    fn release(&self);
}

impl<T: Serialize, K: Kind<T>> TaskSource for Thieves<T, K> {
    fn queued(&self) -> u64 {
        lock(&self.0).iter().map(|thief| thief.len() as u64).sum()
    }

    fn take(&self, share: f64) -> Batch {
        let mut batch = Batch::default();
        // Outside of the lock: an explorer that makes its queue takes it.
        let thieves = lock(&self.0).clone();
        let mut left: Vec<u64> = thieves.iter().map(|thief| (thief.len() as f64 * share).ceil() as u64).collect();
        // The first round asks all owners that have made no task available.
        for _ in 0..ROUNDS {
            for (thief, left) in thieves.iter().zip(&mut left) {
                take_from(thief, left, &mut batch);
            }
            if left.iter().all(|&left| left == 0) || batch.bytes.len() >= MAX_BYTES {
                break;
            }
            thread::yield_now();
        }
        batch
    }

    fn release(&self) {
        lock(&self.0).clear();
    }
}

/// Moves tasks of a queue into the batch, until `left` have moved, the batch is full, or the queue
/// gives none.
fn take_from<T: Serialize>(thief: &impl Thief<Task = T>, left: &mut u64, batch: &mut Batch) {
    while *left > 0 && batch.bytes.len() < MAX_BYTES {
        match thief.steal_or_abort() {
            Steal::Success(task) => {
                batch.add(&task);
                *left -= 1;
            }
            Steal::Retry | Steal::Abort => return,
            Steal::Empty => *left = 0,
        }
    }
}
