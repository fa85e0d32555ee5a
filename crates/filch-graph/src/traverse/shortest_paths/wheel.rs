//! The entries of later buckets, sorted by bucket as far as is needed.
//!
//! A bucket has a number of 64 bits, its *key*. The wheel reads it as digits to the base 64. The
//! level of an entry is the highest digit in which its key differs from the current one, and its
//! slot is that digit. So the entries of the next 64 buckets or fewer are in slots of level 0, one
//! for each bucket. If level 0 is empty, the lowest slot of the lowest level has the smallest keys.
//! The wheel turns there, and the entries of that slot move down by at least one level. So an entry
//! moves at most ten times, whatever the keys are, and hardly any moves twice in practice.
//!
//! Each worker has a wheel, and all wheels have the same current key.

use crate::Vertex;

/// The bits of a digit.
const BITS: u32 = 6;
/// The number of slots of a level.
const SLOTS: usize = 1 << BITS;

/// A vertex, and a distance that it had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) distance: f64,
    pub(super) vertex: Vertex,
}

/// The entries of one worker for later buckets.
#[derive(Debug, Default)]
pub(super) struct Wheel {
    /// From the lowest digit to the highest that was needed.
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    slots: Vec<Vec<Entry>>,
    /// A bit for each slot that has entries.
    filled: u64,
}

impl Wheel {
    /// Adds an entry to a bucket from `now` on.
    #[inline]
    pub(super) fn add(&mut self, entry: Entry, key: u64, now: u64) {
        debug_assert!(key >= now);
        let level = (key ^ now).checked_ilog2().unwrap_or(0) / BITS;
        let slot = digit(key, level);
        if self.levels.len() <= level as usize {
            self.grow(level as usize);
        }
        let level = &mut self.levels[level as usize];
        level.slots[slot].push(entry);
        level.filled |= 1 << slot;
    }

    #[cold]
    fn grow(&mut self, level: usize) {
        self.levels.resize_with(level + 1, || Level { slots: vec![Vec::new(); SLOTS], filled: 0 });
    }

    /// Returns whether any bucket has entries.
    pub(super) fn has_entries(&self) -> bool {
        self.levels.iter().any(|level| level.filled != 0)
    }

    fn filled(&self, level: usize) -> u64 {
        self.levels.get(level).map_or(0, |level| level.filled)
    }

    /// Moves the entries of a slot to the end of a list.
    fn take(&mut self, level: usize, slot: usize, entries: &mut Vec<Entry>) {
        let Some(level) = self.levels.get_mut(level) else { return };
        level.filled &= !(1 << slot);
        if entries.is_empty() {
            // The slot gets the memory of the list.
            std::mem::swap(entries, &mut level.slots[slot]);
        } else {
            entries.append(&mut level.slots[slot]);
        }
    }
}

/// Turns the wheels to the smallest key that has entries, and moves these entries into an empty
/// list.
///
/// Returns that key, or `None` if all wheels are empty. `key_of` is the key of an entry.
pub(super) fn turn<W: AsMut<Wheel>>(
    wheels: &mut [W],
    mut now: u64,
    key_of: impl Fn(Entry) -> u64,
    entries: &mut Vec<Entry>,
) -> Option<u64> {
    loop {
        let levels = wheels.iter_mut().map(|wheel| wheel.as_mut().levels.len()).max()?;
        let filled = |level: usize, wheels: &mut [W]| {
            wheels.iter_mut().fold(0, |filled, wheel| filled | wheel.as_mut().filled(level))
        };
        let (level, filled) =
            (0..levels).map(|level| (level, filled(level, wheels))).find(|&(_, filled)| filled != 0)?;
        let slot = filled.trailing_zeros() as usize;
        let shift = BITS * level as u32;
        // The digits above stay, this one becomes the slot, and those below become 0.
        let above = (now >> shift) & !(SLOTS as u64 - 1);
        now = (above | slot as u64) << shift;
        for wheel in wheels.iter_mut().map(AsMut::as_mut) {
            wheel.take(level, slot, entries);
            if level > 0 {
                for entry in entries.drain(..) {
                    wheel.add(entry, key_of(entry), now);
                }
            }
        }
        if level == 0 {
            return Some(now);
        }
    }
}

/// Returns a digit of a key.
#[inline]
fn digit(key: u64, level: u32) -> usize {
    (key >> (BITS * level)) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl AsMut<Wheel> for Wheel {
        fn as_mut(&mut self) -> &mut Wheel {
            self
        }
    }

    proptest! {
        /// Several wheels against one sorted list. The key of an entry is that of its vertex.
        #[test]
        fn buckets_come_in_order_and_lose_no_entry(
            keys in prop::collection::vec((prop_oneof![0..200u64, 0..1_000_000u64, any::<u64>(), Just(u64::MAX)], 0..3usize), 1..200),
            later in 0..100usize,
        ) {
            let key_of = |entry: Entry| keys[entry.vertex as usize].0;
            let entry = |vertex: usize| Entry { distance: 0.0, vertex: vertex as Vertex };
            let mut wheels = [Wheel::default(), Wheel::default(), Wheel::default()];
            let later = later.min(keys.len());
            let (mut now, mut left, mut held) = (0, Vec::new(), Vec::new());
            for (vertex, &(key, wheel)) in keys.iter().enumerate() {
                // Some entries are added only when the wheel has turned.
                if vertex >= later {
                    wheels[wheel].add(entry(vertex), key, now);
                    left.push(key);
                } else {
                    held.push(vertex);
                }
            }
            let mut entries = Vec::new();
            while let Some(key) = turn(&mut wheels, now, key_of, &mut entries) {
                prop_assert_eq!(Some(&key), left.iter().min());
                prop_assert!(entries.iter().all(|&entry| key_of(entry) == key));
                prop_assert_eq!(entries.len(), left.iter().filter(|&&other| other == key).count());
                left.retain(|&other| other != key);
                entries.clear();
                now = key;
                if let Some(vertex) = held.pop() {
                    if keys[vertex].0 >= now {
                        wheels[keys[vertex].1].add(entry(vertex), keys[vertex].0, now);
                        left.push(keys[vertex].0);
                    }
                }
            }
            prop_assert!(left.is_empty());
        }
    }
}
