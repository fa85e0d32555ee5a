//! The map from positions to segments: a ring of entries, oldest to youngest.
//!
//! Entries have numbers that wrap. The entry of a number is in the ring's cell of that number,
//! modulo the ring's size. An entry holds the position at which it starts, and the segment and slot
//! of that position. It ends where the next entry starts, and the youngest entry ends at the
//! queue's bottom.
//!
//! Only the owner writes entries. Thieves read them before they claim, while the owner may change
//! them. So the fields are relaxed atomics. Those that belong to a claim are right if it succeeds;
//! the module comment of [`bulk`](super) has the argument.
//!
//! A ring that is too small is replaced by a ring of four times the size. The old rings are kept
//! until the queue is dropped, since thieves may be reading them. Together they have a third of the
//! size of the ring in use, and they are small: 16 bytes for each segment or large batch that was
//! in the queue at the same time.

use core::ptr;

use super::row::Row;
use super::segment::Segment;
use crate::sync::{has_flaw, AtomicPtr, AtomicU32, Ordering};
use crate::CapacityError;

/// The number of entries of the first ring. Small under loom, so that rings grow there.
const FIRST_RING: u32 = if cfg!(loom) { 2 } else { 64 };

/// The factor by which the next ring is larger.
const GROWTH: u32 = if cfg!(loom) { 2 } else { 4 };

/// A cell of the ring: the fields of an entry as atomics.
struct EntryCell {
    start: AtomicU32,
    base: AtomicU32,
    segment: AtomicPtr<()>,
}

/// An entry of the directory.
///
/// Positions from `start` on are in the slots of `segment` from `base` on.
pub(super) struct Entry<T> {
    pub(super) start: u32,
    pub(super) base: u32,
    /// `None` only before the first push.
    pub(super) segment: Option<Segment<T>>,
}

struct Header {
    /// The number of entries minus 1.
    mask: u32,
    /// The number of the oldest entry whose cell is not reused.
    ///
    /// It is here and not beside the owner's other words, because it changes seldom and thieves
    /// read it right before they claim.
    oldest: AtomicU32,
    /// The ring that this ring replaced, or null.
    before: *mut (),
}

/// A pointer to a ring of entries. It is valid until the queue is dropped.
#[derive(Clone, Copy)]
pub(super) struct Directory(Row<Header, EntryCell>);

impl Directory {
    /// Allocates the first ring.
    pub(super) fn new(oldest: u32) -> Result<Self, CapacityError> {
        Directory::allocate(FIRST_RING, ptr::null_mut(), oldest, 0)
    }

    fn allocate(entries: u32, before: *mut (), oldest: u32, start: u32) -> Result<Self, CapacityError> {
        let cell = |_| EntryCell {
            start: AtomicU32::new(start),
            base: AtomicU32::new(0),
            segment: AtomicPtr::new(ptr::null_mut()),
        };
        let header = Header { mask: entries - 1, oldest: AtomicU32::new(oldest), before };
        Row::allocate(header, entries, cell).map(Directory)
    }

    /// # Safety
    ///
    /// The pointer came from [`as_ptr`](Directory::as_ptr).
    pub(super) unsafe fn from_ptr(ring: *mut ()) -> Self {
        // SAFETY: the caller guarantees it.
        Directory(unsafe { Row::from_ptr(ring) })
    }

    pub(super) fn as_ptr(self) -> *mut () {
        self.0.as_ptr()
    }

    fn header(&self) -> &Header {
        // SAFETY: a ring is valid until the queue is dropped, and its holder knows that the queue
        // is alive.
        unsafe { self.0.header() }
    }

    /// Returns the number of entries that the ring holds at the same time.
    pub(super) fn capacity(&self) -> u32 {
        self.header().mask + 1
    }

    /// Returns the number of the oldest entry whose cell is not reused.
    #[inline(always)]
    pub(super) fn oldest(&self, ordering: Ordering) -> u32 {
        self.header().oldest.load(ordering)
    }

    /// Allows the cells of entries before `oldest` to be reused. Only the owner calls it.
    pub(super) fn set_oldest(&self, oldest: u32) {
        // Release: a thief that sees it finds a youngest entry that is not below it, at the latest
        // when it looks again.
        self.header().oldest.store(oldest, Ordering::Release);
    }

    fn cell(&self, number: u32) -> &EntryCell {
        // SAFETY: the cell is within the ring.
        unsafe { &*self.0.cell(number & self.header().mask) }
    }

    /// Writes the entry of this number.
    ///
    /// Only the owner calls it. Relaxed: see the module.
    pub(super) fn set<T>(&self, number: u32, entry: Entry<T>) {
        let cell = self.cell(number);
        cell.start.store(entry.start, Ordering::Relaxed);
        cell.base.store(entry.base, Ordering::Relaxed);
        cell.segment.store(entry.segment.map_or(ptr::null_mut(), Segment::as_ptr), Ordering::Relaxed);
    }

    /// Returns the content of the entry of this number.
    ///
    /// Relaxed: see the module.
    ///
    /// A thief may get fields of two different entries. Then its claim fails, or leaves that entry
    /// out.
    ///
    /// # Safety
    ///
    /// The directory belongs to a queue of such tasks.
    pub(super) unsafe fn get<T>(&self, number: u32) -> Entry<T> {
        let cell = self.cell(number);
        Entry {
            start: cell.start.load(Ordering::Relaxed),
            base: cell.base.load(Ordering::Relaxed),
            // SAFETY: the caller guarantees it, and entries are only set from segments of such
            // tasks.
            segment: unsafe { Segment::from_ptr(cell.segment.load(Ordering::Relaxed)) },
        }
    }

    /// Returns the start position of the entry of this number.
    pub(super) fn start(&self, number: u32) -> u32 {
        self.cell(number).start.load(Ordering::Relaxed)
    }

    /// Returns the youngest entry from `first` to `last` whose start position is `before` a limit.
    ///
    /// The limit is a position, and starts ascend. `first` starts before it.
    pub(super) fn find(&self, first: u32, last: u32, before: impl Fn(u32) -> bool) -> u32 {
        let starts_before = |number: u32| before(self.start(number));
        // The steps double: most claims end near.
        let (mut low, mut step) = (first, 1);
        let mut high = loop {
            let left = last.wrapping_sub(low);
            if left == 0 {
                return low;
            }
            let probe = low.wrapping_add(left.min(step));
            if !starts_before(probe) {
                break probe;
            }
            low = probe;
            step *= 2;
        };
        // `low` starts before the limit, `high` does not.
        loop {
            let between = high.wrapping_sub(low);
            if between <= 1 {
                return low;
            }
            let middle = low.wrapping_add(between / 2);
            if starts_before(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
    }

    /// Allocates a ring of at least `needed` entries and copies the entries in use.
    ///
    /// It copies the entries from `first` to `last`. All other entries start at the bottom.
    ///
    /// The other entries matter for the entry that the owner left by its last pop. A thief may have
    /// seen the pop, and may not yet have seen that the entry is gone. It then looks for the entry
    /// in this ring, and must find it beyond its claim.
    pub(super) fn grown<T>(self, needed: u32, first: u32, last: u32, bottom: u32) -> Result<Self, CapacityError> {
        let too_large = CapacityError::TooLarge { requested: needed as usize, limit: 1 << 31 };
        let entries = needed.checked_next_power_of_two().ok_or(too_large)?;
        let entries = entries.max(self.capacity().saturating_mul(GROWTH).min(1 << 31));
        let start = if has_flaw("bulk: a larger ring whose unused entries start at 0") { 0 } else { bottom };
        let larger = Directory::allocate(entries, self.as_ptr(), first, start)?;
        for n in 0..=last.wrapping_sub(first) {
            let number = first.wrapping_add(n);
            // SAFETY: the owner calls it.
            larger.set(number, unsafe { self.get::<T>(number) });
        }
        Ok(larger)
    }

    /// Frees this ring and all rings before it.
    ///
    /// # Safety
    ///
    /// The queue is being dropped.
    pub(super) unsafe fn free(self) {
        let mut ring = self;
        loop {
            let (entries, before) = (ring.capacity(), ring.header().before);
            // SAFETY: the caller guarantees it.
            unsafe { ring.0.free(entries) };
            if before.is_null() {
                return;
            }
            // SAFETY: `grown` wrote the pointer.
            ring = unsafe { Directory::from_ptr(before) };
        }
    }
}
