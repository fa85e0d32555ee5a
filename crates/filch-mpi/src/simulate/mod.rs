#![doc = include_str!("saturation.md")]

mod clock;
mod crew;
mod outcome;
mod patience;
mod queue;
mod rank;
mod recording;
mod server;
mod settings;
mod sweep;
mod tree;
mod wire;
mod world;

pub use outcome::{Failure, Outcome, Spread};
pub use recording::{Recording, RecordingError, Taken};
pub use settings::{Costs, Kind, Settings};
pub use sweep::{saturation, sweep, Calibration, Learnt, Line, Plan, Row, Scaling, SATURATED};
pub use tree::{Size, Tree};
pub use wire::Wire;
pub use world::{calibrate, run};

#[cfg(test)]
mod tests;
