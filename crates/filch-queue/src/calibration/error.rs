//! Errors from reading or creating a calibration.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::{Calibration, Cpu, VERSION};

/// Error from reading or creating a calibration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The text is not a calibration.
    NotACalibration,
    /// A newer or older program wrote the text.
    UnknownVersion {
        /// The version in the text.
        found: String,
    },
    /// A line is missing, out of place, or has an invalid value.
    Malformed {
        /// The number of the line, counted from 1.
        line: usize,
        /// The expected key.
        key: &'static str,
    },
    /// The text was changed after it was written.
    Damaged,
    /// The bound is smaller or larger than any store buffer gives.
    AbsurdBound {
        /// The bound.
        bound: usize,
    },
    /// The bound is not above the measured numbers.
    Contradiction {
        /// The bound.
        bound: usize,
        /// The measured number: entries of the store buffer, or stores that a load overtook.
        seen: usize,
    },
    /// The text is for another CPU model.
    OtherCpu {
        /// The CPU model of the measurement.
        measured: Box<Cpu>,
        /// The model of this CPU.
        here: Box<Cpu>,
    },
    /// This CPU is not an x86-64. It has no bound, and the queues keep their fence.
    NoBoundHere,
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CalibrationError::NotACalibration => {
                f.write_str("this is no calibration; `filch lab litmus --calibrate` writes one")
            }
            CalibrationError::UnknownVersion { found } => {
                write!(f, "this calibration has version {found}, and only version {VERSION} is known; measure again")
            }
            CalibrationError::Malformed { line, key } => write!(
                f,
                "line {line} of this calibration should say `{key} = …`, with something sensible; measure again"
            ),
            CalibrationError::Damaged => {
                f.write_str("this calibration was changed after it was written, or damaged; measure again")
            }
            CalibrationError::AbsurdBound { bound } => {
                write!(
                    f,
                    "a bound of {bound} stores is absurd; store buffers give from 2 to {}",
                    Calibration::LARGEST_BOUND
                )
            }
            CalibrationError::Contradiction { bound, seen } => {
                write!(f, "a bound of {bound} stores contradicts what was measured, which asks for more than {seen}")
            }
            CalibrationError::OtherCpu { measured, here } => {
                write!(f, "this calibration is for another CPU: it was measured on {measured}, and this is {here}; measure here")
            }
            CalibrationError::NoBoundHere => {
                f.write_str("this CPU is not an x86-64: the queues keep their fence here and need no calibration")
            }
        }
    }
}

impl core::error::Error for CalibrationError {}
