//! Measurements of a single thread: loops over one operation, each in its own function.

use std::hint::black_box;
use std::sync::atomic::{fence, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{anyhow, Result};
use crossbeam_utils::CachePadded;
use filch_queue::barrier;

/// The number of iterations for a sample.
const ITERATIONS: usize = 20_000;

/// The number of system calls for a sample.
const CALLS: usize = 200;

fn time(iterations: usize, mut turn: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    (0..iterations).for_each(&mut turn);
    start.elapsed().as_nanos() as f64 / iterations as f64
}

fn word() -> CachePadded<AtomicUsize> {
    CachePadded::new(AtomicUsize::new(0))
}

/// Times a plain store.
#[inline(never)]
pub(super) fn store() -> Result<f64> {
    let word = black_box(word());
    // Relaxed, here and below: only the price counts.
    Ok(time(ITERATIONS, |turn| black_box(&word).store(turn, Ordering::Relaxed)))
}

/// Times a store and a fence that waits for it.
#[inline(never)]
pub(super) fn store_and_fence() -> Result<f64> {
    let word = black_box(word());
    Ok(time(ITERATIONS, |turn| {
        black_box(&word).store(turn, Ordering::Relaxed);
        // SeqCst: the fence is what is timed.
        fence(Ordering::SeqCst);
    }))
}

/// Times a store and an `mfence` instruction.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub(super) fn store_and_mfence() -> Result<f64> {
    let word = black_box(word());
    Ok(time(ITERATIONS, |turn| {
        black_box(&word).store(turn, Ordering::Relaxed);
        // SAFETY: a fence touches no register and no memory.
        unsafe { std::arch::asm!("mfence", options(nostack, preserves_flags)) };
    }))
}

/// Times a locked instruction: an addition to a word in this core's cache.
#[inline(never)]
pub(super) fn locked_add() -> Result<f64> {
    let word = black_box(word());
    Ok(time(ITERATIONS, |turn| {
        // SeqCst: the operation is what is timed. On x86-64 any other ordering is the same
        // instruction.
        black_box(&word).fetch_add(turn, Ordering::SeqCst);
    }))
}

/// Times the barrier on behalf of all threads of the process.
pub(super) fn heavy_barrier() -> Result<f64> {
    let mut refused = false;
    let nanos = time(CALLS, |_| refused |= barrier::heavy().is_err());
    if refused {
        return Err(anyhow!("the kernel refused the barrier for all threads"));
    }
    Ok(nanos)
}

/// Times the cheapest system call.
#[cfg(target_os = "linux")]
pub(super) fn system_call() -> Result<f64> {
    Ok(time(CALLS, |_| {
        // SAFETY: the call takes no arguments and touches no memory of this process.
        black_box(unsafe { libc::syscall(libc::SYS_getppid) });
    }))
}
