//! What programs can see of rayon-core, as claims about whichever `rayon_core` this is built with. Stock must pass, so
//! that each of them is a fact about stock; then ours must.

// A `#[must_use]` that stock has not would break the build of somebody who denies warnings.
#![deny(unused_must_use)]
#![allow(deprecated)]

mod builders;
mod errors;
mod processes;
mod results;
mod shown;
mod signatures;
mod traits;
mod workers;

use rayon_core::{ThreadPool, ThreadPoolBuilder};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
