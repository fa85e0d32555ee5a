//! A program without a standard library that links filch-queue. It brings its own panic handler, and so does `std`:
//! if any crate below filch-queue links `std`, the compiler finds two and refuses.
//!
//! With `--cfg with_std` it links `std` itself and must be refused, which shows that the check can fail.

#![no_std]

#[cfg(with_std)]
extern crate std;

use filch_queue as _;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
