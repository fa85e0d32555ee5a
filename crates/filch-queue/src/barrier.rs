//! Full barriers: the owner's, the thief's, and the asymmetric pair.
//!
//! The asymmetric pair, [`light`] and [`heavy`], is public. It is for protocols with one frequent
//! and one rare side. Call [`register`] first; if it returns false, use a fence on both sides.
//!
//! A queue needs the order of a store and a later load on both sides. Either both sides have a
//! fence, or only the thief pays, as in the asymmetric queue. There the owner's barrier only stops
//! the compiler ([`light`]). The thief lets the kernel interrupt every other running thread of the
//! process ([`heavy`]), which is a full barrier on those threads.
//!
//! Under loom the light barrier is a full barrier, because loom has no barrier on behalf of another
//! thread.

use crate::sync::{compiler_fence, fence, AtomicUsize, Ordering};

/// Executes a full barrier.
#[inline(always)]
#[track_caller]
pub(crate) fn full() {
    fence(Ordering::SeqCst);
}

/// Stores `value`, with release, and keeps every later load after the store.
///
/// On x86-64 this is a single `xchg`. It is cheaper than a store and a barrier for a thread that
/// does not load the word again soon.
#[inline(always)]
#[track_caller]
pub(crate) fn store_then_full(word: &AtomicUsize, value: usize) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    {
        // SeqCst: on this CPU an exchange with memory is a full barrier, and the compiler moves no
        // access across the two fences.
        compiler_fence(Ordering::SeqCst);
        word.swap(value, Ordering::SeqCst);
        compiler_fence(Ordering::SeqCst);
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    {
        // Release: a thread that reads the value sees the writes before it.
        word.store(value, Ordering::Release);
        full();
    }
}

/// Keeps every later load after a SeqCst exchange that was just made.
///
/// On x86-64 the exchange itself does this: it is a locked instruction.
#[inline(always)]
#[track_caller]
pub(crate) fn after_exchange() {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    compiler_fence(Ordering::SeqCst);
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    fence(Ordering::SeqCst);
}

/// The frequent side's half of the asymmetric barrier: stops only the compiler.
#[inline(always)]
#[track_caller]
pub fn light() {
    compiler_fence(Ordering::SeqCst);
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// Error from [`heavy`]: the kernel does not interrupt the other threads.
#[derive(Debug)]
pub struct Refused;

/// The rare side's half of the asymmetric barrier.
///
/// When it returns, every running thread of the process, including the calling thread, has passed a
/// full barrier.
#[track_caller]
pub fn heavy() -> Result<(), Refused> {
    #[cfg(loom)]
    {
        fence(Ordering::SeqCst);
        Ok(())
    }
    #[cfg(not(loom))]
    kernel::barrier()
}

/// Registers the process for [`heavy`], once. Returns whether `heavy` can be used.
///
/// Only the first call asks the kernel. After the kernel has refused a barrier, `register` returns
/// false.
#[inline]
pub fn register() -> bool {
    cfg!(loom) || kernel::register()
}

#[cfg(all(target_os = "linux", not(filch_no_membarrier)))]
mod kernel {
    //! `membarrier(2)`, private and expedited (Linux 4.14).

    use core::sync::atomic::{AtomicU8, Ordering};

    use super::Refused;

    const UNKNOWN: u8 = 0;
    const REGISTERED: u8 = 1;
    const REFUSED: u8 = 2;

    /// The kernel's first answer, until it refuses a barrier: a refusal stays. Not part of any
    /// protocol: registering twice is harmless.
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

    fn membarrier(command: libc::c_int) -> bool {
        let (flags, cpu): (libc::c_uint, libc::c_int) = (0, 0);
        // SAFETY: the call takes three integers and touches no memory of the process.
        unsafe { libc::syscall(libc::SYS_membarrier, command, flags, cpu) == 0 }
    }

    #[inline]
    pub(super) fn register() -> bool {
        match ANSWER.load(Ordering::Relaxed) {
            REGISTERED => true,
            REFUSED => false,
            _ => ask(),
        }
    }

    #[cold]
    #[inline(never)]
    fn ask() -> bool {
        let registered = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        let answer = if registered { REGISTERED } else { REFUSED };
        // Fails if another thread has an answer. Its answer may be a later refusal.
        match ANSWER.compare_exchange(UNKNOWN, answer, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => registered,
            Err(other) => other == REGISTERED,
        }
    }

    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn barrier() -> Result<(), Refused> {
        let interrupt = || membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
        // A forked process may have lost its parent's registration: register again before giving
        // up.
        if interrupt() || (membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && interrupt()) {
            return Ok(());
        }
        // From now on, new protocols have a fence on both sides.
        ANSWER.store(REFUSED, Ordering::Relaxed);
        Err(Refused)
    }
}

#[cfg(all(windows, not(filch_no_membarrier)))]
mod kernel {
    //! `FlushProcessWriteBuffers` (Windows Vista): needs no registration and cannot fail.

    use windows_sys::Win32::System::Threading::FlushProcessWriteBuffers;

    use super::Refused;

    #[inline]
    pub(super) fn register() -> bool {
        true
    }

    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn barrier() -> Result<(), Refused> {
        // SAFETY: the call takes no arguments and touches no memory of the process.
        unsafe { FlushProcessWriteBuffers() };
        Ok(())
    }
}

#[cfg(not(all(any(target_os = "linux", windows), not(filch_no_membarrier))))]
mod kernel {
    //! Platforms without such a call.

    use super::Refused;

    #[inline]
    pub(super) fn register() -> bool {
        false
    }

    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn barrier() -> Result<(), Refused> {
        Err(Refused)
    }
}
