//! The state cache: up to which cost it is useless to reach a state again.
//!
//! It holds thresholds of states in the diagrams of all workers. A shard that is full drops all its
//! entries. That is safe: the cache only saves work.

use hashbrown::HashTable;

use crate::problem::Cost;
use crate::sync::{lock, Mutex};

/// The number of shards: enough that two workers rarely need the same.
const SHARDS: usize = 64;

/// The number of states that a shard keeps before it drops them all.
const SHARD_CAPACITY: usize = 1 << 14;

struct Entry<S> {
    state: S,
    threshold: Cost,
    hash: u32,
    depth: u32,
    /// Whether a node with exactly that cost was explored, and not only found.
    explored: bool,
}

pub(crate) struct Cache<S> {
    shards: Box<[Shard<S>]>,
}

/// A shard, on its own cache line.
#[repr(align(64))]
struct Shard<S>(Mutex<HashTable<Entry<S>>>);

/// Combines the half hash of a state with its depth.
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

    /// Returns the threshold of a state after `depth` decisions.
    pub(crate) fn threshold(&self, hash: u32, depth: usize, state: &S) -> Option<Cost> {
        self.get(hash, depth, state).map(|(threshold, _)| threshold)
    }

    /// Returns whether a node is worth exploring, and if so, marks it as explored.
    ///
    /// If two workers ask at the same time, both may get `true`. That only costs work.
    pub(crate) fn claim(&self, hash: u32, depth: usize, state: &S, cost: Cost) -> bool {
        if self
            .get(hash, depth, state)
            .is_some_and(|(threshold, explored)| cost < threshold || cost == threshold && explored)
        {
            return false;
        }
        self.raise(hash, depth, state, cost, true);
        true
    }

    fn get(&self, hash: u32, depth: usize, state: &S) -> Option<(Cost, bool)> {
        let key = key(hash, depth);
        let shard = lock(self.shard(key));
        shard
            .find(key, |entry| entry.depth == depth as u32 && entry.state == *state)
            .map(|entry| (entry.threshold, entry.explored))
    }

    /// Raises the threshold of a state; a threshold below the current one changes nothing.
    pub(crate) fn raise(&self, hash: u32, depth: usize, state: &S, threshold: Cost, explored: bool) {
        let key = key(hash, depth);
        let mut shard = lock(self.shard(key));
        if let Some(entry) = shard.find_mut(key, |entry| entry.depth == depth as u32 && entry.state == *state) {
            if (threshold, explored) > (entry.threshold, entry.explored) {
                (entry.threshold, entry.explored) = (threshold, explored);
            }
            return;
        }
        if shard.len() >= SHARD_CAPACITY {
            shard.clear();
        }
        let entry = Entry { state: state.clone(), threshold, hash, depth: depth as u32, explored };
        shard.insert_unique(key, entry, |entry| self::key(entry.hash, entry.depth as usize));
    }
}
