//! The allocator of this program: the system's, with a count that can be switched on.
//!
//! While the count is off, an allocation costs one more load and one more branch. The flag has a
//! cache line of its own, so that no thread waits for the line.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A value on a cache line of its own.
///
/// The alignment also covers a pair of lines that is fetched together.
#[repr(align(128))]
struct CacheAligned<T>(T);

static IS_COUNTING: CacheAligned<AtomicBool> = CacheAligned(AtomicBool::new(false));
static COUNT: CacheAligned<AtomicU64> = CacheAligned(AtomicU64::new(0));

/// Held while the count is on. Two counts at the same time would include each other's work.
static COUNTING_LOCK: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Counting;

/// Counts an allocation if the count is on.
///
/// Relaxed: the flag and the count are set before work starts and read after it ended, and the
/// calls that start and end it synchronise the threads.
#[inline]
fn count_allocation() {
    if IS_COUNTING.0.load(Ordering::Relaxed) {
        COUNT.0.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every method calls that of the system's allocator with the same arguments.
// `count_allocation` allocates nothing and does not unwind.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        // SAFETY: the caller upholds the contract of this method, which is the same.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        // SAFETY: as for `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation();
        // SAFETY: as for `alloc`; the pointer is from the system's allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as for `realloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `work`, and returns the number of allocations by all threads meanwhile.
pub(crate) fn counting<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let _lock = COUNTING_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    COUNT.0.store(0, Ordering::Relaxed);
    IS_COUNTING.0.store(true, Ordering::Relaxed);
    let result = work();
    IS_COUNTING.0.store(false, Ordering::Relaxed);
    (result, COUNT.0.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// Other tests allocate at the same time, so there is no upper bound.
    #[test]
    fn boxes_and_growing_lists_are_counted() {
        let (boxes, count) = counting(|| (0..100).map(|number| black_box(Box::new(number))).collect::<Vec<_>>());
        assert_eq!(boxes.len(), 100);
        assert!(count >= 101, "{count}");
        let grow = || (0..1_000).for_each(|number| black_box(&mut Vec::with_capacity(1)).extend([number; 2]));
        assert!(counting(grow).1 >= 2_000);
    }
}
