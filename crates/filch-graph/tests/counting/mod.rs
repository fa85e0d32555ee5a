//! An allocator that counts what is held. It counts for the whole process, so the tests of a program that uses it must run one at a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A request beyond this ends the program: what asks for it is wrong, and the machine need not suffer for it.
const REFUSED: usize = 1 << 30;

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST_HELD: AtomicUsize = AtomicUsize::new(0);

fn hold(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST_HELD.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: everything is refused, or passed on to the system's allocator as it is. That `realloc` is the default one, which allocates, copies and frees, makes both pieces count.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > REFUSED {
            return std::ptr::null_mut();
        }
        hold(layout.size());
        // SAFETY: the caller's promise is the same as ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > REFUSED {
            return std::ptr::null_mut();
        }
        hold(layout.size());
        // SAFETY: the caller's promise is the same as ours.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is the same as ours.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Until it is dropped, no other test of this program runs.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // The pool starts here, not within a measurement.
    filch::join(|| (), || ());
    alone
}

/// The result, and the most memory that was held at once beyond what was held before.
pub(crate) fn most_held<R>(run: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.load(Ordering::Relaxed);
    MOST_HELD.store(before, Ordering::Relaxed);
    let result = run();
    (result, MOST_HELD.load(Ordering::Relaxed).saturating_sub(before))
}
