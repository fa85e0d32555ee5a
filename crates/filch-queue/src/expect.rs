//! Reading back a word that one has just written, without waiting for it.
//!
//! The owner of an idempotent queue loads a word that it stored itself an operation ago, because a thief may have changed
//! it since. The value comes out of the store buffer several cycles later, and every operation would wait that long. Almost
//! always it is the value that was stored, so the owner goes on with that one and has a branch check the load.

use core::arch::asm;

macro_rules! expect {
    ($name:ident, $value:ty) => {
        /// `found`, given that it is most likely `expected`.
        #[inline(always)]
        pub(crate) fn $name(found: $value, expected: $value) -> $value {
            if found != expected {
                differs();
                return found;
            }
            let mut known = expected;
            // SAFETY: no instruction. It keeps the compiler from noticing that `found` would do as well.
            unsafe { asm!("/* {0} */", inout(reg) known, options(pure, nomem, nostack, preserves_flags)) };
            known
        }
    };
}

expect!(index, usize);
expect!(word, u64);

/// Keeps the branch a branch: a conditional move would wait for the load after all.
#[cold]
#[inline(always)]
fn differs() {
    // SAFETY: no instruction; being impure, it cannot be executed speculatively.
    unsafe { asm!("", options(nomem, nostack, preserves_flags)) };
}
