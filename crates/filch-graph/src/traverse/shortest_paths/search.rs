//! Delta stepping: pieces of the current bucket, and the change to the next.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, RwLock};

use super::wheel::{turn, Entry, Wheel};
use crate::sync::{lock, unpoisoned};
use crate::{Vertex, WeightedGraph};

/// The bits of no distance: larger than those of any distance.
pub(super) const NONE: u64 = f64::INFINITY.to_bits();

/// The number of entries per task.
const PIECE: usize = 128;

/// The most entries that a task finds in the current bucket and processes itself.
const NEAR_LIMIT: usize = 4 * PIECE;

/// How many entries of small buckets a worker processes at once. Then the exploration checks
/// whether to stop.
const SMALL_BUCKETS_LIMIT: usize = 8 * PIECE;

/// How the word of a weight is read. Known at compile time in the inner loop.
pub(super) trait Reading: Sync {
    fn weight(word: u32) -> f64;
}

/// Whole numbers.
pub(super) struct Whole;

impl Reading for Whole {
    #[inline(always)]
    fn weight(word: u32) -> f64 {
        f64::from(word)
    }
}

/// Numbers of 32 bits.
pub(super) struct Real;

impl Reading for Real {
    #[inline(always)]
    fn weight(word: u32) -> f64 {
        f64::from(f32::from_bits(word))
    }
}

/// The current bucket, or what is left of it, cut into pieces.
struct Phase {
    /// The key of the bucket.
    now: u64,
    entries: Vec<Entry>,
    /// The task of its first piece. Tasks are numbered through all phases.
    first: u32,
    /// Whether each piece has been claimed.
    claims: Vec<AtomicBool>,
}

impl Phase {
    fn tasks(&self) -> Range<u32> {
        let pieces = u32::try_from(self.claims.len()).ok();
        let end = pieces
            .and_then(|pieces| self.first.checked_add(pieces))
            .expect("a search of shortest paths has fewer than 2^32 tasks; set a larger width of the buckets");
        self.first..end
    }

    /// Returns the piece of a task to the first worker that claims it.
    fn claim(&self, task: u32) -> Option<&[Entry]> {
        // A task of a phase that is over has a smaller number.
        let piece = task.checked_sub(self.first)? as usize;
        // Relaxed: only one worker wins the swap, and nothing else is ordered by it.
        let claimed = self.claims[piece].swap(true, Ordering::Relaxed);
        (!claimed).then(|| &self.entries[piece * PIECE..self.entries.len().min((piece + 1) * PIECE)])
    }

    /// Cuts the entries into pieces.
    fn cut(&mut self) {
        self.first = self.tasks().end;
        self.claims.clear();
        self.claims.extend((0..self.entries.len().div_ceil(PIECE)).map(|_| AtomicBool::new(false)));
    }
}

/// The entries that a worker has found, before they are processed. Aligned so that no two workers
/// write to one cache line, or to two that are fetched together.
#[derive(Default)]
#[repr(align(128))]
struct Found {
    /// Entries of the current bucket.
    near: Vec<Entry>,
    /// Entries of later buckets.
    later: Wheel,
    /// Memory for a list.
    spare: Vec<Entry>,
    /// The number of entries that were processed and were not outdated.
    visits: u64,
}

impl Found {
    fn has_entries(&self) -> bool {
        !self.near.is_empty() || self.later.has_entries()
    }
}

/// A value on cache lines of its own.
#[repr(align(128))]
struct Apart<T>(T);

/// The result of a task.
pub(super) enum Step {
    Done,
    /// The piece was claimed by another run of the task.
    Repeat,
    /// The last piece of its phase. Has the tasks of the next phase, if there are any.
    NextPhase(Range<u32>),
}

/// The state of a search that all workers share. `W` says how weights are read.
pub(super) struct Search<'a, W> {
    graph: &'a WeightedGraph,
    /// The bits of the shortest distance found for each vertex, or [`NONE`]. Distances are not
    /// negative, so their bits are in the order of the numbers.
    distances: &'a [AtomicU64],
    /// One divided by the width of a bucket.
    per_width: f64,
    /// Locked for reading during a piece, and for writing between two phases.
    phase: Apart<RwLock<Phase>>,
    /// The number of unfinished pieces of the phase.
    unfinished: Apart<AtomicUsize>,
    /// What each worker has found.
    found: Box<[Mutex<Found>]>,
    reading: PhantomData<W>,
    #[cfg(test)]
    pub(super) fault: Option<Fault>,
}

/// A planted fault, for tests of the tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    /// The search leaves a bucket with entries that were found in it.
    LeavesBucketEarly,
    /// A distance that was found is not lowered again.
    KeepsFirstDistance,
    /// The current bucket counts as settled when the search is stopped.
    SettlesCurrentBucket,
}

impl<'a, W: Reading> Search<'a, W> {
    pub(super) fn new(
        graph: &'a WeightedGraph,
        distances: &'a [AtomicU64],
        width: f64,
        roots: &[Vertex],
        workers: usize,
    ) -> Self {
        let entries = roots.iter().map(|&vertex| Entry { distance: 0.0, vertex }).collect();
        let mut phase = Phase { now: 0, entries, first: 0, claims: Vec::new() };
        phase.cut();
        Search {
            graph,
            distances,
            per_width: width.recip(),
            unfinished: Apart(AtomicUsize::new(phase.claims.len())),
            phase: Apart(RwLock::new(phase)),
            found: (0..workers).map(|_| Mutex::default()).collect(),
            reading: PhantomData,
            #[cfg(test)]
            fault: None,
        }
    }

    /// Returns the first tasks.
    pub(super) fn tasks(&self) -> Range<u32> {
        unpoisoned(self.phase.0.read()).tasks()
    }

    /// Returns the bucket of a distance. A larger distance is in the same bucket or a later one.
    #[inline]
    fn key(&self, distance: f64) -> u64 {
        // Rounds down. The last bucket has all distances that are too large for a key. If a width is
        // so small that the factor is infinite, a distance of 0 is in the first bucket all the same.
        (distance * self.per_width) as u64
    }

    /// Runs a task as the worker with this index.
    pub(super) fn run(&self, task: u32, worker: usize) -> Step {
        let phase = unpoisoned(self.phase.0.read());
        let Some(piece) = phase.claim(task) else {
            return Step::Repeat;
        };
        let mut found = lock(&self.found[worker]);
        self.process(piece, phase.now, &mut found);
        self.process_near(phase.now, NEAR_LIMIT, &mut found);
        drop(found);
        drop(phase);
        // Acquire and release: the last worker to finish sees the distances that the others have
        // written.
        match self.unfinished.0.fetch_sub(1, Ordering::AcqRel) {
            1 => Step::NextPhase(self.advance(worker)),
            _ => Step::Done,
        }
    }

    /// Relaxes the arcs of all vertices in these entries.
    #[inline]
    fn process(&self, entries: &[Entry], now: u64, found: &mut Found) {
        for &Entry { distance, vertex } in entries {
            // Relaxed: the entry came through a lock, so this is its distance or a shorter one.
            if self.distances[vertex as usize].load(Ordering::Relaxed) != distance.to_bits() {
                continue;
            }
            found.visits += 1;
            let (ends, words) = self.graph.row(vertex);
            for (&vertex, &word) in ends.iter().zip(words) {
                let distance = distance + W::weight(word);
                #[cfg(test)]
                if self.fault == Some(Fault::KeepsFirstDistance)
                    && self.distances[vertex as usize].load(Ordering::Relaxed) != NONE
                {
                    continue;
                }
                if lower(&self.distances[vertex as usize], distance.to_bits()) {
                    let entry = Entry { distance, vertex };
                    let key = self.key(distance);
                    if key <= now {
                        found.near.push(entry);
                    } else {
                        found.later.add(entry, key, now);
                    }
                }
            }
        }
    }

    /// Processes what was found in the current bucket, until nothing is left or more than `limit`
    /// entries would be processed. Returns their number. The rest is for the next phase.
    fn process_near(&self, now: u64, limit: usize, found: &mut Found) -> usize {
        #[cfg(test)]
        if self.fault == Some(Fault::LeavesBucketEarly) {
            found.near.clear();
        }
        let mut done = 0;
        while !found.near.is_empty() && done + found.near.len() <= limit {
            let mut near = std::mem::take(&mut found.near);
            std::mem::swap(&mut found.near, &mut found.spare);
            self.process(&near, now, found);
            done += near.len();
            near.clear();
            found.spare = near;
        }
        done
    }

    /// Makes the next phase that is worth sharing, or the next after the limit. No worker has a
    /// piece of the current phase any more.
    fn advance(&self, worker: usize) -> Range<u32> {
        let mut phase = unpoisoned(self.phase.0.write());
        let phase = &mut *phase;
        // Only this worker finds more here, so the workers without entries can be left out.
        let others = (0..self.found.len()).filter(|&other| other != worker);
        let others = others.map(|other| lock(&self.found[other])).filter(|found| found.has_entries());
        let own = lock(&self.found[worker]);
        let mut found: Vec<_> = std::iter::once(own).chain(others).map(Guard).collect();
        let mut done = 0;
        loop {
            phase.entries.clear();
            for Guard(found) in &mut found {
                phase.entries.append(&mut found.near);
            }
            if phase.entries.is_empty() {
                let key_of = |entry: Entry| self.key(entry.distance);
                match turn(&mut found, phase.now, key_of, &mut phase.entries) {
                    Some(now) => phase.now = now,
                    None => break,
                }
            }
            if phase.entries.len() >= 2 * PIECE || done >= SMALL_BUCKETS_LIMIT {
                break;
            }
            let Guard(own) = &mut found[0];
            self.process(&phase.entries, phase.now, own);
            done += phase.entries.len() + self.process_near(phase.now, SMALL_BUCKETS_LIMIT, own);
        }
        phase.cut();
        // Relaxed: a worker that decrements it has a task that is pushed after this store.
        self.unfinished.0.store(phase.claims.len(), Ordering::Relaxed);
        phase.tasks()
    }

    /// Returns the test whether a distance is final when the search was stopped.
    ///
    /// What is not processed yet is in the current bucket or a later one, and weights are not
    /// negative. So no distance in an earlier bucket can be lowered.
    pub(super) fn settled(&self) -> impl Fn(f64) -> bool + '_ {
        let now = unpoisoned(self.phase.0.read()).now;
        move |distance| {
            #[cfg(test)]
            if self.fault == Some(Fault::SettlesCurrentBucket) {
                return self.key(distance) <= now;
            }
            distance == 0.0 || self.key(distance) < now
        }
    }

    /// Returns the number of visits of all workers.
    pub(super) fn visits(&self) -> u64 {
        self.found.iter().map(|found| lock(found).visits).sum()
    }
}

/// Lowers a distance, by its bits. Returns whether it was larger.
#[inline]
fn lower(distance: &AtomicU64, bits: u64) -> bool {
    // Relaxed, all: each distance is decided by itself. The entry that tells of it comes through a
    // lock or stays with this worker.
    let mut current = distance.load(Ordering::Relaxed);
    while bits < current {
        match distance.compare_exchange_weak(current, bits, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(other) => current = other,
        }
    }
    false
}

/// What a worker has found, locked.
struct Guard<'a>(MutexGuard<'a, Found>);

impl AsMut<Wheel> for Guard<'_> {
    fn as_mut(&mut self) -> &mut Wheel {
        &mut self.0.later
    }
}
