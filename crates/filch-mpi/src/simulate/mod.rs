#![doc = include_str!("saturation.md")]

mod backoff;
mod outcome;
mod queue;
mod rank;
mod recording;
mod server;
mod settings;
mod stopwatch;
mod sweep;
mod tree;
mod wire;
mod workers;
mod world;

pub use outcome::{Failure, Outcome, TimeSummary};
pub use recording::{Recording, RecordingError, Taken};
pub use settings::{Costs, Kind, Settings};
pub use sweep::{saturation, sweep, Calibration, Learnt, Line, Plan, Row, Scaling, SATURATED};
pub use tree::{Size, Tree};
pub use wire::Wire;
pub use world::{calibrate, run};

#[cfg(test)]
mod tests;
