//! Why a calibration is refused.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::{Calibration, Cpu, VERSION};

/// Why a calibration is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The text is something else.
    NotACalibration,
    /// The text was written by a program that knows more, or less.
    UnknownVersion {
        /// The version it has.
        found: String,
    },
    /// A line is missing, out of place, or says what cannot be.
    Malformed {
        /// The line, counted from 1.
        line: usize,
        /// What it should have said.
        key: &'static str,
    },
    /// The text is not what was written.
    Damaged,
    /// No store buffer is that small, or that large.
    AbsurdBound {
        /// The bound.
        bound: usize,
    },
    /// The bound is not above what was found.
    Contradiction {
        /// The bound.
        bound: usize,
        /// How many stores a load was seen to overtake, or may overtake as far as the store buffer goes.
        seen: usize,
    },
    /// The text is about another CPU.
    OtherCpu {
        /// The one it is about.
        measured: Box<Cpu>,
        /// The one at hand.
        here: Box<Cpu>,
    },
    /// The CPU at hand is not an x86-64: nothing bounds it, and the queues keep their fence.
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
