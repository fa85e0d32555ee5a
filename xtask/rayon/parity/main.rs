//! Tests of the visible behavior of rayon-core, for any `rayon_core` that this is built with. Stock
//! must pass, so that each test is a fact about stock. Then filch's rayon-core must pass.

// A `#[must_use]` that stock lacks would break the build of programs that deny warnings.
#![deny(unused_must_use)]
#![allow(deprecated)]

mod builders;
mod debug_output;
mod errors;
mod processes;
mod results;
mod signatures;
mod traits;
mod workers;

use rayon_core::{ThreadPool, ThreadPoolBuilder};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
