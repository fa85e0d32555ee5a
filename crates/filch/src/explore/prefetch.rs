//! Fetching into the cache what a task needs, before the task runs.

/// How far ahead a task is that its worker will run; see
/// [`run_by_level_with_prefetch`](super::Explore::run_by_level_with_prefetch).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Sixteen tasks ahead. Fetch what the task reads first, for example where its record is.
    Far,
    /// Eight tasks ahead. Fetch what the data of [`Far`](Ahead::Far) leads to. That data has mostly
    /// arrived. For the first tasks of a piece there was no call with `Far`, and the read waits.
    Near,
}

/// How many tasks later than the current one a task runs that is fetched for.
pub(super) const FAR: usize = 16;
pub(super) const NEAR: usize = 8;

/// Asks the CPU to fetch the cache line of an address, and does not wait for it.
///
/// The address need not be valid. On CPUs other than x86-64 and AArch64 this does nothing.
///
/// ```
/// let numbers = [1, 2, 3];
/// filch::explore::prefetch(&raw const numbers[2]);
/// ```
#[inline(always)]
pub fn prefetch<U>(address: *const U) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction reads nothing that the program sees, and no address makes it fail.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    let _ = address;
}
