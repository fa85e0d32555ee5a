//! Reads back a recently stored word without waiting for the load.
//!
//! The owner of an idempotent queue loads a word that it stored itself an operation ago, because a
//! thief may have changed it since. The value comes out of the store buffer several cycles later,
//! and every operation would wait that long. Almost always the word still has the stored value. So
//! the owner continues with that value, and a branch checks the load.

use core::arch::asm;

macro_rules! expect {
    ($name:ident, $value:ty) => {
        /// Returns `found`, optimised for the case that it equals `expected`.
        #[inline(always)]
        pub(crate) fn $name(found: $value, expected: $value) -> $value {
            if found != expected {
                differs();
                return found;
            }
            let mut known = expected;
            // SAFETY: no instruction. It hides from the compiler that `found` and `known` are
            // equal.
            unsafe { asm!("/* {0} */", inout(reg) known, options(pure, nomem, nostack, preserves_flags)) };
            known
        }
    };
}

expect!(index, usize);
expect!(word, u64);

/// Keeps the branch a branch: a conditional move would wait for the load.
#[cold]
#[inline(always)]
fn differs() {
    // SAFETY: no instruction. The block is impure, so it cannot be executed speculatively.
    unsafe { asm!("", options(nomem, nostack, preserves_flags)) };
}
