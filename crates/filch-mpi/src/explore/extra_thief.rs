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
/// How often a steal is retried when another thief is in the way.
const TRIES: usize = 64;

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
        for thief in &*lock(&self.0) {
            let (mut left, mut tries) = ((thief.len() as f64 * share).ceil() as u64, TRIES);
            while left > 0 && tries > 0 && batch.bytes.len() < MAX_BYTES {
                match thief.steal_or_abort() {
                    Steal::Success(task) => {
                        batch.add(&task);
                        left -= 1;
                    }
                    // An owner that was asked needs a moment.
                    Steal::Retry | Steal::Abort => {
                        tries -= 1;
                        thread::yield_now();
                    }
                    Steal::Empty => break,
                }
            }
        }
        batch
    }

    fn release(&self) {
        lock(&self.0).clear();
    }
}
