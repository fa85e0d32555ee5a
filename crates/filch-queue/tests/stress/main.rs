//! Every queue on real threads. An owner and one to four thieves run, and every task is counted.
//!
//! `FILCH_STRESS_TASKS` is the number of tasks that each queue carries in `no_task_is_lost…`; the
//! default is ten million. With fewer than a million the races are shorter too.
#![cfg(not(loom))]

#[path = "../common/mod.rs"]
mod common;
mod drops;
mod each_task;
mod empty;
mod race;
#[path = "../threads/mod.rs"]
mod threads;
mod workload;

use std::alloc::{GlobalAlloc, Layout, System};
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

use filch_queue::bound::{Bound, Delta};

/// An allocator that overwrites freed memory.
///
/// A thief that still reads a freed array finds no task in it.
struct OverwriteOnFree;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for OverwriteOnFree {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees it. Until it is freed, the block may be written.
        unsafe {
            block.write_bytes(0x5A, layout.size());
            System.dealloc(block, layout);
        }
    }
}

#[global_allocator]
static ALLOCATOR: OverwriteOnFree = OverwriteOnFree;

/// Pins the calling thread to a core.
///
/// An owner and a thief on the same core would hardly ever interfere. Only for threads that a test
/// starts, because their child threads inherit the core.
fn pin_to_core(n: usize) {
    #[cfg(target_os = "linux")]
    {
        static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
        let bytes = size_of::<libc::cpu_set_t>();
        let cores = ALLOWED.get_or_init(|| {
            // SAFETY: a set of CPUs is a bitmap, valid as zeroes, and the call writes no more than
            // its size.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::sched_getaffinity(0, bytes, &mut set);
                (0..libc::CPU_SETSIZE as usize).filter(|core| libc::CPU_ISSET(*core, &set)).collect()
            }
        });
        if !cores.is_empty() {
            // SAFETY: as above. The call reads the set. If it fails, the scheduler chooses the
            // core, as it would have without the call.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(cores[n % cores.len()], &mut set);
                libc::sched_setaffinity(0, bytes, &set);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = n;
}

/// Returns a delta that is too small: every CPU hides more pops from a thief.
fn too_small_delta() -> Delta {
    Delta::new(Bound::new(1).unwrap(), 1).unwrap()
}
