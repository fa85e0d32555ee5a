//! Full barriers: the owner's, the thief's, and the one that a thief makes the owner pay for.
//!
//! Public is the asymmetric pair, [`light`] and [`heavy`], for whoever builds a protocol in which one side runs often and the
//! other seldom: [`register`] first, and where that says no, have both sides fence.
//!
//! A queue needs a store and a later load kept in order on both sides. Either both sides fence, or, in the asymmetric
//! queue, the owner only stops the compiler ([`light`]) and the thief has the kernel interrupt every other running thread
//! of the process ([`heavy`]), which is a full barrier there.
//!
//! Under loom the light barrier is a full one, because loom knows no barrier on behalf of another thread.

use crate::sync::{compiler_fence, fence, AtomicUsize, Ordering};

/// A full barrier.
#[inline(always)]
#[track_caller]
pub(crate) fn full() {
    fence(Ordering::SeqCst);
}

/// Stores `value`, with release, and keeps every later load behind the store.
///
/// On x86-64 that is one `xchg`, cheaper than a store and a barrier for a thread that does not load the word again soon.
#[inline(always)]
#[track_caller]
pub(crate) fn store_then_full(word: &AtomicUsize, value: usize) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    {
        // SeqCst: on this CPU an exchange with memory is a full barrier, and the compiler moves no access past the two fences.
        compiler_fence(Ordering::SeqCst);
        word.swap(value, Ordering::SeqCst);
        compiler_fence(Ordering::SeqCst);
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    {
        // Release: who reads the value sees what was written before it.
        word.store(value, Ordering::Release);
        full();
    }
}

/// Keeps every later load behind an exchange that was just made with SeqCst.
///
/// On x86-64 the exchange itself, which is a locked instruction, has done it.
#[inline(always)]
#[track_caller]
pub(crate) fn after_exchange() {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    compiler_fence(Ordering::SeqCst);
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    fence(Ordering::SeqCst);
}

/// The owner's half of the asymmetric barrier: stops the compiler only.
#[inline(always)]
#[track_caller]
pub fn light() {
    compiler_fence(Ordering::SeqCst);
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// The kernel will not, or can no longer, interrupt the other threads.
#[derive(Debug)]
pub struct Refused;

/// The thief's half: when it returns, every other running thread of the process has passed a full barrier, and so has
/// this one.
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

/// Registers the process for [`heavy`], once; says whether it can be used.
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

    /// What the kernel said last. Not part of any protocol: registering twice does no harm.
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

    fn membarrier(command: libc::c_int) -> bool {
        let (flags, cpu): (libc::c_uint, libc::c_int) = (0, 0);
        // SAFETY: the call takes three integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, flags, cpu) == 0 }
    }

    pub(super) fn register() -> bool {
        match ANSWER.load(Ordering::Relaxed) {
            REGISTERED => true,
            REFUSED => false,
            _ => {
                let registered = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
                ANSWER.store(if registered { REGISTERED } else { REFUSED }, Ordering::Relaxed);
                registered
            }
        }
    }

    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn barrier() -> Result<(), Refused> {
        let interrupt = || membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
        // A process that was forked off may have lost its parent's registration: register anew before giving up.
        if interrupt() || (membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && interrupt()) {
            return Ok(());
        }
        // Protocols that are set up from now on fence on both sides.
        ANSWER.store(REFUSED, Ordering::Relaxed);
        Err(Refused)
    }
}

#[cfg(all(windows, not(filch_no_membarrier)))]
mod kernel {
    //! `FlushProcessWriteBuffers` (Windows Vista): needs no registration and cannot fail.

    use windows_sys::Win32::System::Threading::FlushProcessWriteBuffers;

    use super::Refused;

    pub(super) fn register() -> bool {
        true
    }

    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn barrier() -> Result<(), Refused> {
        // SAFETY: the call takes nothing and touches no memory of ours.
        unsafe { FlushProcessWriteBuffers() };
        Ok(())
    }
}

#[cfg(not(all(any(target_os = "linux", windows), not(filch_no_membarrier))))]
mod kernel {
    //! No such call.

    use super::Refused;

    pub(super) fn register() -> bool {
        false
    }

    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn barrier() -> Result<(), Refused> {
        Err(Refused)
    }
}
