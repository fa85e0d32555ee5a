//! Queues that the communicating thread can steal from, too.

use std::fmt;
use std::sync::{Arc, Mutex};

use filch::explore::queue::{Kind, Stolen};
use filch_queue::{Steal, Thief};
use serde::Serialize;

use super::traffic::{lock, Parcel};

/// A kind of queue whose tasks can be given away to other ranks: `K`, with a thief of each queue kept aside.
///
/// A task that is stolen from outside is gone for the exploration that made it: that ends without it. So nothing else has to know.
pub struct Lent<T, K: Kind<T>> {
    kind: K,
    thieves: Arc<Mutex<Vec<K::Thief>>>,
}

/// How many bytes of tasks are given away at once.
const MOST: usize = 1 << 20;
/// How often a steal is tried that another thief is in the way of.
const TRIES: usize = 64;

impl<T, K: Kind<T>> Lent<T, K> {
    pub(super) fn new(kind: K) -> Self {
        Lent { kind, thieves: Arc::default() }
    }

    pub(super) fn thieves(&self) -> Thieves<T, K> {
        Thieves(Arc::clone(&self.thieves))
    }
}

impl<T, K: Kind<T> + Clone> Clone for Lent<T, K> {
    fn clone(&self) -> Self {
        Lent { kind: self.kind.clone(), thieves: Arc::clone(&self.thieves) }
    }
}

impl<T, K: Kind<T>> fmt::Debug for Lent<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").finish_non_exhaustive()
    }
}

impl<T, K: Kind<T>> Kind<T> for Lent<T, K> {
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
}

/// The thieves of the queues of the exploration that runs.
pub(super) struct Thieves<T, K: Kind<T>>(Arc<Mutex<Vec<K::Thief>>>);

/// What the communicating thread asks of them, whatever the queues are.
pub(super) trait Steals {
    /// How many tasks are queued.
    fn queued(&self) -> u64;
    /// Takes about such a share of what is queued, at least one task if there is any; and at most a message full.
    fn take(&self, share: f64) -> Parcel;
    /// The exploration is over: its queues may go.
    fn forget(&self);
}

impl<T: Serialize, K: Kind<T>> Steals for Thieves<T, K> {
    fn queued(&self) -> u64 {
        lock(&self.0).iter().map(|thief| thief.len() as u64).sum()
    }

    fn take(&self, share: f64) -> Parcel {
        let mut parcel = Parcel::default();
        for thief in &*lock(&self.0) {
            let (mut left, mut tries) = ((thief.len() as f64 * share).ceil() as u64, TRIES);
            while left > 0 && tries > 0 && parcel.bytes.len() < MOST {
                match thief.steal_or_abort() {
                    Steal::Success(task) => {
                        parcel.add(&task);
                        left -= 1;
                    }
                    Steal::Retry => tries -= 1,
                    Steal::Abort | Steal::Empty => break,
                }
            }
        }
        parcel
    }

    fn forget(&self) {
        lock(&self.0).clear();
    }
}
