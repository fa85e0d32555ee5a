//! Up to which cost it is of no use to reach a state again.
//!
//! Thresholds of states that diagrams have been through, from every worker. A table that is full forgets: nothing depends on what it has, it only saves work.

use hashbrown::HashTable;

use crate::problem::Cost;
use crate::sync::{lock, Mutex};

/// How many shards there are: enough for two workers seldom to want the same.
const SHARDS: usize = 64;

/// How many states a shard keeps before it forgets them all.
const MOST: usize = 1 << 14;

struct Entry<S> {
    state: S,
    threshold: Cost,
    hash: u32,
    depth: u32,
    /// Whether a node with just that cost was looked at, and not only found.
    explored: bool,
}

pub(crate) struct Cache<S> {
    shards: Box<[Shard<S>]>,
}

/// On a cache line of its own.
#[repr(align(64))]
struct Shard<S>(Mutex<HashTable<Entry<S>>>);

/// Spreads the half hash of a state and its depth.
fn key(hash: u32, depth: usize) -> u64 {
    (u64::from(hash) | (depth as u64) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<S: Clone + Eq> Cache<S> {
    pub(crate) fn new() -> Self {
        Cache { shards: (0..SHARDS).map(|_| Shard(Mutex::new(HashTable::new()))).collect() }
    }

    fn shard(&self, key: u64) -> &Mutex<HashTable<Entry<S>>> {
        &self.shards[(key >> 32) as usize % SHARDS].0
    }

    /// The threshold of a state after so many decisions.
    pub(crate) fn threshold(&self, hash: u32, depth: usize, state: &S) -> Option<Cost> {
        self.look(hash, depth, state).map(|(threshold, _)| threshold)
    }

    /// Whether a node is worth a look; if so, it is looked at from now on. Of two workers who ask at the same time both may be told so, which costs work and nothing else.
    pub(crate) fn claim(&self, hash: u32, depth: usize, state: &S, cost: Cost) -> bool {
        if self
            .look(hash, depth, state)
            .is_some_and(|(threshold, explored)| cost < threshold || cost == threshold && explored)
        {
            return false;
        }
        self.raise(hash, depth, state, cost, true);
        true
    }

    fn look(&self, hash: u32, depth: usize, state: &S) -> Option<(Cost, bool)> {
        let key = key(hash, depth);
        let shard = lock(self.shard(key));
        shard
            .find(key, |entry| entry.depth == depth as u32 && entry.state == *state)
            .map(|entry| (entry.threshold, entry.explored))
    }

    /// Raises the threshold of a state; a lower one than it has changes nothing.
    pub(crate) fn raise(&self, hash: u32, depth: usize, state: &S, threshold: Cost, explored: bool) {
        let key = key(hash, depth);
        let mut shard = lock(self.shard(key));
        if let Some(entry) = shard.find_mut(key, |entry| entry.depth == depth as u32 && entry.state == *state) {
            if (threshold, explored) > (entry.threshold, entry.explored) {
                (entry.threshold, entry.explored) = (threshold, explored);
            }
            return;
        }
        if shard.len() >= MOST {
            shard.clear();
        }
        let entry = Entry { state: state.clone(), threshold, hash, depth: depth as u32, explored };
        shard.insert_unique(key, entry, |entry| self::key(entry.hash, entry.depth as usize));
    }
}
