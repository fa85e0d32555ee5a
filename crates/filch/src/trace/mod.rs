//! A record of which worker ran what, when, and which worker stole from which.
//!
//! With the feature `trace`, every worker records when it began and ended each job that came from
//! elsewhere, and which worker it has stolen the job from. It also records its raids, when it
//! published its own jobs, and when it slept. `Pool::trace` returns the record, at any time, as a
//! `Trace`. That writes the JSON that [Perfetto](https://ui.perfetto.dev) and Chrome's
//! `about:tracing` show: one track a worker, and an arrow for each theft.
//!
//! Without the feature there is nothing here, and it costs nothing. With it, a job that comes from
//! elsewhere costs two reads of the clock and two uncontended locks. A forked job that its own
//! worker runs still costs nothing, and is not shown: it is part of the box around it.
//!
//! This is a quicksort on three workers and two CPUs, as `cargo run --release -p filch --features
//! trace --example trace -- --svg FILE` draws it. It is one run out of 150, picked because it shows
//! something of everything. A box inside a box is a job that was run while the outer one waited.
//! Worker 2 sleeps while it waits for what worker 0 has stolen from it.
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
pub use on::{Event, Kind, Trace, EVENTS_PER_WORKER};
