//! An allocator that counts the bytes held.
//!
//! It counts for the whole process, so the tests of a program that uses it must run one at a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The largest request that succeeds. A larger one is a bug: it ends the program, and must not
/// exhaust the machine.
const REFUSED: usize = 1 << 30;

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MAX_HELD: AtomicUsize = AtomicUsize::new(0);

fn hold(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MAX_HELD.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: each call returns null or goes unchanged to the system's allocator. `realloc` is the
// default one, which allocates, copies and frees, so both pieces count.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > REFUSED {
            return std::ptr::null_mut();
        }
        hold(layout.size());
        // SAFETY: the caller of this function guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > REFUSED {
            return std::ptr::null_mut();
        }
        hold(layout.size());
        // SAFETY: the caller of this function guarantees it.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller of this function guarantees it.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns a lock. While it is held, no other test of this program runs.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // The pool starts here, not within a measurement.
    filch::join(|| (), || ());
    alone
}

/// Returns the result, and the peak of the memory held beyond what was held before.
pub(crate) fn most_held<R>(run: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.load(Ordering::Relaxed);
    MAX_HELD.store(before, Ordering::Relaxed);
    let result = run();
    (result, MAX_HELD.load(Ordering::Relaxed).saturating_sub(before))
}
