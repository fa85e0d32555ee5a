//! A program without a standard library that links filch-queue. It has its own panic handler, and
//! so does `std`. If any crate below filch-queue links `std`, the compiler finds two handlers and
//! fails.
//!
//! With `--cfg with_std` the program links `std` itself, and the build must fail. This shows that
//! the check can fail.

#![no_std]

#[cfg(with_std)]
extern crate std;

use filch_queue as _;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
