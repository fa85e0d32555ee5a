//! Who ran what when, and who stole from whom.
//!
//! With the feature `trace`, every worker writes down when it began and ended each job that came from elsewhere, whom it was stolen from, when it raided somebody, when
//! it made its own jobs public and when it slept. `Pool::trace` gives all that out, at any time, as a `Trace`, which writes the JSON that
//! [Perfetto](https://ui.perfetto.dev) and Chrome's `about:tracing` show: one track a worker, and an arrow for each theft.
//!
//! Without the feature there is nothing here, and nothing is paid. With it a job that comes from elsewhere costs two looks at the clock and two uncontended locks; a forked job that its
//! own worker runs costs nothing still, and is not to be seen: it is part of the box around it.
//!
//! This is a quicksort on three workers and two CPUs, as `cargo run --release -p filch --features trace --example trace -- --svg FILE` draws it: one run out of 150, picked
//! because there is something of everything in it. A box inside a box is a job that was run while the outer one waited; worker 2 sleeps while it waits for what worker 0 has stolen from it.
//!
#![doc = include_str!("../../docs/trace.svg")]

#[cfg(feature = "trace")]
mod json;
#[cfg(not(feature = "trace"))]
mod off;
#[cfg(feature = "trace")]
mod on;

#[cfg(not(feature = "trace"))]
pub(crate) use off::Log;
#[cfg(feature = "trace")]
pub(crate) use on::Log;
#[cfg(feature = "trace")]
pub use on::{Event, Kind, Trace, EVENTS_A_WORKER};
