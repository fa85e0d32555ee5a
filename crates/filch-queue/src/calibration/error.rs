//! Errors from reading or creating a calibration.

use alloc::boxed::Box;
use alloc::format;
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
        /// The line as it is, cut if it is long; empty if the text ends before it.
        found: String,
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

impl CalibrationError {
    /// Returns the line, counted from 1, if the error belongs to one.
    pub fn line(&self) -> Option<usize> {
        match self {
            CalibrationError::Malformed { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// Returns the error in the form `FILE:LINE: expected this, found that`.
    pub fn in_file(&self, name: &str) -> String {
        match self.line() {
            Some(line) => format!("{name}:{line}: {}", Reason(self)),
            None => format!("{name}: {}", Reason(self)),
        }
    }
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line() {
            Some(line) => write!(f, "line {line}: {}", Reason(self)),
            None => Reason(self).fmt(f),
        }
    }
}

/// An error without its line.
struct Reason<'a>(&'a CalibrationError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            CalibrationError::NotACalibration => f.write_str(
                "expected a calibration, found another kind of file; `filch-lab lab litmus --calibrate` writes one",
            ),
            CalibrationError::UnknownVersion { found } => {
                write!(f, "expected version {VERSION} of the format, found version {found}; measure again")
            }
            CalibrationError::Malformed { key, found, .. } if found.is_empty() => {
                write!(f, "expected `{key} = …`, found the end of the file; measure again")
            }
            CalibrationError::Malformed { key, found, .. } => {
                write!(f, "expected `{key} = …` with a valid value, found `{found}`; measure again")
            }
            CalibrationError::Damaged => f.write_str(
                "the calibration was damaged, or edited after it was written: its checksum differs; measure again",
            ),
            CalibrationError::AbsurdBound { bound } => {
                write!(f, "expected a bound from 2 to {} stores, found {bound}", Calibration::LARGEST_BOUND)
            }
            CalibrationError::Contradiction { bound, seen } => {
                write!(f, "expected a bound above the {seen} stores that were measured, found {bound}")
            }
            CalibrationError::OtherCpu { measured, here } => {
                write!(
                    f,
                    "expected a calibration of this CPU, {here}, found one of {measured}; measure on this machine"
                )
            }
            CalibrationError::NoBoundHere => {
                f.write_str("this CPU is not an x86-64: the queues have a fence here and need no calibration")
            }
        }
    }
}

impl core::error::Error for CalibrationError {}
