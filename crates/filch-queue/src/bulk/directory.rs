//! Which segment holds which positions: a ring of entries, oldest to youngest.
//!
//! Entries have numbers that wrap; the entry of a number is in the ring's cell of that number, modulo the ring's size. An entry says at which
//! position it starts, and in which slot of which segment; it ends where the next one starts, and the youngest at the queue's bottom.
//!
//! The owner writes entries, a thief reads them, and may read one while the owner changes it: hence atomics, all relaxed. What makes a thief see the entries of its claim as they
//! should be is the count of pushed tasks, which is stored with release behind them; the others it merely passes on its search (see [`Directory::find`]).
//!
//! A ring that is too small is replaced by one of four times the size. The old ones are kept until the queue ends, since a thief may be reading there; together they
//! are a third of the one in use, and they are small: 16 bytes for each segment or large batch that was once in the queue at the same time.

use core::ptr;

use super::row::Row;
use super::segment::Segment;
use crate::sync::{has_flaw, AtomicPtr, AtomicU32, Ordering};
use crate::CapacityError;

/// How many entries the first ring has. Small under loom, so that rings grow there.
const FIRST_RING: u32 = if cfg!(loom) { 2 } else { 64 };

/// How many times larger the next ring is.
const GROWTH: u32 = if cfg!(loom) { 2 } else { 4 };

/// One cell of the ring.
struct Entry {
    start: AtomicU32,
    base: AtomicU32,
    segment: AtomicPtr<()>,
}

/// What an entry says: positions from `start` on lie in the slots of `segment` from `base` on.
pub(super) struct Stretch<T> {
    pub(super) start: u32,
    pub(super) base: u32,
    /// None only before the first push.
    pub(super) segment: Option<Segment<T>>,
}

struct Header {
    /// One less than the number of entries.
    mask: u32,
    /// The ring that this one replaced, or null.
    before: *mut (),
}

/// A ring of entries: a pointer, which stays valid until the queue ends.
#[derive(Clone, Copy)]
pub(super) struct Directory(Row<Header, Entry>);

impl Directory {
    /// The first ring.
    pub(super) fn new() -> Result<Self, CapacityError> {
        Directory::allocate(FIRST_RING, ptr::null_mut(), 0)
    }

    fn allocate(entries: u32, before: *mut (), start: u32) -> Result<Self, CapacityError> {
        let entry = |_| Entry {
            start: AtomicU32::new(start),
            base: AtomicU32::new(0),
            segment: AtomicPtr::new(ptr::null_mut()),
        };
        Row::allocate(Header { mask: entries - 1, before }, entries, entry).map(Directory)
    }

    /// # Safety
    ///
    /// It came from [`as_ptr`](Directory::as_ptr).
    pub(super) unsafe fn from_ptr(ring: *mut ()) -> Self {
        // SAFETY: promised.
        Directory(unsafe { Row::from_ptr(ring) })
    }

    pub(super) fn as_ptr(self) -> *mut () {
        self.0.as_ptr()
    }

    fn header(&self) -> &Header {
        // SAFETY: valid until the queue ends, as whoever has a ring knows.
        unsafe { self.0.header() }
    }

    /// How many entries it holds at the same time.
    pub(super) fn capacity(&self) -> u32 {
        self.header().mask + 1
    }

    fn entry(&self, number: u32) -> &Entry {
        // SAFETY: within the ring.
        unsafe { &*self.0.cell(number & self.header().mask) }
    }

    /// Writes the entry of this number. Only the owner does. Relaxed: see the module.
    pub(super) fn set<T>(&self, number: u32, stretch: Stretch<T>) {
        let entry = self.entry(number);
        entry.start.store(stretch.start, Ordering::Relaxed);
        entry.base.store(stretch.base, Ordering::Relaxed);
        entry.segment.store(stretch.segment.map_or(ptr::null_mut(), Segment::as_ptr), Ordering::Relaxed);
    }

    /// What the entry of this number says. Relaxed: see the module.
    ///
    /// # Safety
    ///
    /// The directory is of a queue of such tasks. If the caller is a thief, the entry is one of its claim, or of one before.
    pub(super) unsafe fn get<T>(&self, number: u32) -> Stretch<T> {
        let entry = self.entry(number);
        Stretch {
            start: entry.start.load(Ordering::Relaxed),
            base: entry.base.load(Ordering::Relaxed),
            // SAFETY: promised, and entries are only set from segments of such tasks.
            segment: unsafe { Segment::from_ptr(entry.segment.load(Ordering::Relaxed)) },
        }
    }

    /// Where the entry of this number starts.
    pub(super) fn start(&self, number: u32) -> u32 {
        self.entry(number).start.load(Ordering::Relaxed)
    }

    /// The youngest entry, from `first` to `last`, that starts within `count` positions from `top` on; or `first`, which starts at `top` or before.
    ///
    /// For a thief whose claim these positions are, and whose `last` was the youngest entry when it claimed them. The entries of the claim do not change.
    /// The younger ones may, under its eyes, but whatever the owner writes there starts at the queue's bottom or above, which is beyond the claim; and so does whatever they held since
    /// `last` was loaded, also in a ring that is younger than that, see [`grown`](Directory::grown). So the answer does not depend on which of these values is read.
    pub(super) fn find(&self, first: u32, last: u32, top: u32, count: u32) -> u32 {
        let starts_within = |number: u32| self.start(number).wrapping_sub(top) < count;
        // In steps that double: most claims end near.
        let (mut low, mut step) = (first, 1);
        let mut high = loop {
            let left = last.wrapping_sub(low);
            if left == 0 {
                return low;
            }
            let probe = low.wrapping_add(left.min(step));
            if !starts_within(probe) {
                break probe;
            }
            low = probe;
            step *= 2;
        };
        // `low` starts within, `high` does not.
        loop {
            let between = high.wrapping_sub(low);
            if between <= 1 {
                return low;
            }
            let middle = low.wrapping_add(between / 2);
            if starts_within(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
    }

    /// A ring of at least `needed` entries that says the same about those from `first` to `last`, and about all others that they start at the bottom.
    ///
    /// The others matter for the one that the owner left by its last pop: a thief may have seen the pop, and not yet that the entry is gone. It then looks for the entry in this ring, and
    /// must find it beyond its claim.
    pub(super) fn grown<T>(self, needed: u32, first: u32, last: u32, bottom: u32) -> Result<Self, CapacityError> {
        let too_large = CapacityError::TooLarge { requested: needed as usize, limit: 1 << 31 };
        let entries = needed.checked_next_power_of_two().ok_or(too_large)?;
        let entries = entries.max(self.capacity().saturating_mul(GROWTH).min(1 << 31));
        let start = if has_flaw("bulk: a larger ring that says of entries it has not that they start at 0") {
            0
        } else {
            bottom
        };
        let larger = Directory::allocate(entries, self.as_ptr(), start)?;
        for n in 0..=last.wrapping_sub(first) {
            let number = first.wrapping_add(n);
            // SAFETY: the owner calls it.
            larger.set(number, unsafe { self.get::<T>(number) });
        }
        Ok(larger)
    }

    /// Frees this ring and those before it.
    ///
    /// # Safety
    ///
    /// The queue ends.
    pub(super) unsafe fn free(self) {
        let mut ring = self;
        loop {
            let (entries, before) = (ring.capacity(), ring.header().before);
            // SAFETY: promised.
            unsafe { ring.0.free(entries) };
            if before.is_null() {
                return;
            }
            // SAFETY: written by `grown`.
            ring = unsafe { Directory::from_ptr(before) };
        }
    }
}
