//! What one thread can measure by itself: loops of one thing, each in a function of its own.

use std::hint::black_box;
use std::sync::atomic::{fence, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{anyhow, Result};
use crossbeam_utils::CachePadded;
use filch_queue::barrier;

/// How often a loop goes around for a sample.
const TURNS: usize = 20_000;

/// System calls for a sample.
const CALLS: usize = 200;

fn time(turns: usize, mut turn: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    (0..turns).for_each(&mut turn);
    start.elapsed().as_nanos() as f64 / turns as f64
}

fn word() -> CachePadded<AtomicUsize> {
    CachePadded::new(AtomicUsize::new(0))
}

/// A plain store.
#[inline(never)]
pub(super) fn store() -> Result<f64> {
    let word = black_box(word());
    // Relaxed, here and below: only the price counts.
    Ok(time(TURNS, |turn| black_box(&word).store(turn, Ordering::Relaxed)))
}

/// A store, and a fence that waits for it.
#[inline(never)]
pub(super) fn store_and_fence() -> Result<f64> {
    let word = black_box(word());
    Ok(time(TURNS, |turn| {
        black_box(&word).store(turn, Ordering::Relaxed);
        // SeqCst: what is timed.
        fence(Ordering::SeqCst);
    }))
}

/// A store, and the instruction that is named after what it does.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub(super) fn store_and_mfence() -> Result<f64> {
    let word = black_box(word());
    Ok(time(TURNS, |turn| {
        black_box(&word).store(turn, Ordering::Relaxed);
        // SAFETY: a fence touches no register and no memory.
        unsafe { std::arch::asm!("mfence", options(nostack, preserves_flags)) };
    }))
}

/// A locked instruction: an addition to a word that this core has.
#[inline(never)]
pub(super) fn locked_add() -> Result<f64> {
    let word = black_box(word());
    Ok(time(TURNS, |turn| {
        // SeqCst: what is timed. On x86-64 any other ordering would be the same instruction.
        black_box(&word).fetch_add(turn, Ordering::SeqCst);
    }))
}

/// The barrier on behalf of all threads of the process.
pub(super) fn heavy_barrier() -> Result<f64> {
    let mut refused = false;
    let nanos = time(CALLS, |_| refused |= barrier::heavy().is_err());
    if refused {
        return Err(anyhow!("the kernel refused its barrier"));
    }
    Ok(nanos)
}

/// As little as a system call can do.
#[cfg(target_os = "linux")]
pub(super) fn system_call() -> Result<f64> {
    Ok(time(CALLS, |_| {
        // SAFETY: the call takes nothing and touches no memory of ours.
        black_box(unsafe { libc::syscall(libc::SYS_getppid) });
    }))
}
