//! A measured bound in a file, for the CPU model that it was measured on.
//!
//! `filch-lab lab litmus --calibrate FILE` writes the file. It is JSON, so that it is readable. It
//! has a checksum, so that an accidental edit of the bound is detected.
//!
//! # What a calibration proves
//!
//! A calibration is evidence, not proof.
//!
//! - The bound is the number of entries that the measurement found in the store buffer, plus one,
//!   plus a [margin](crate::lab::published::MARGIN), or more: a requested bound, or the bound of the
//!   previous file.
//! - A number of entries below the known store buffers of such CPUs is not accepted.
//! - Hardware threads of a core share its store buffer while they are awake. If the other thread
//!   was busy all the time, the measurement found half of the buffer. So for a CPU that `filch-lab`
//!   does not know, the number is doubled.
//! - A violation is certain: a load did overtake that many stores. That no larger violation was
//!   seen does not prove that none can happen. So a clean litmus test never lowers the bound, and
//!   more runs only make it more credible.
//! - If a load overtook more stores than the store buffer explains, there is no calibration. The
//!   violation is then only a lower limit, and the upper limit is unknown. This happened on an AMD
//!   CPU, so there is no calibration for AMD CPUs.
//!
//! "The same model" means the same vendor, family, model and stepping, as the CPU reports them.
//! Under a hypervisor the CPU reports what the hypervisor lets it report. Different hosts may
//! report the same, above all if virtual machines are moved between them. The file records whether
//! it was measured under a hypervisor. It is not rejected for that, and cannot be: a program that
//! trusts it there trusts the host as well. An emulator on another architecture may also report the
//! same CPU, and then the bound does not hold.

mod cpu;

use std::path::Path;

use anyhow::{ensure, Context, Result};
use serde::{Deserialize, Serialize};

pub(crate) use cpu::{cpuid, Cpu};

use super::published;
use crate::{figures, input_file};

/// The format name in the file.
const FORMAT: &str = "filch calibration";
/// Version 1 was lines of text.
const VERSION: u32 = 2;

/// The largest bound that is accepted.
///
/// The largest known store buffer has 112 entries.
pub(crate) const LARGEST_BOUND: usize = 512;

/// A measured bound, with its CPU and its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calibration {
    pub(crate) cpu: Cpu,
    pub(crate) bound: usize,
    /// The number of entries that the measurement found in the store buffer.
    ///
    /// It is required: a litmus test without a violation does not tell how small a bound may be.
    pub(crate) entries: usize,
    /// The number of runs of the litmus test.
    pub(crate) runs: u64,
    /// The most stores that a load overtook while another store waited.
    ///
    /// `None` if the test saw no violation.
    pub(crate) largest_violation: Option<usize>,
    /// Whether the measurement ran under a hypervisor. See [`Cpu::is_under_hypervisor`].
    pub(crate) hypervisor: bool,
    /// The date of the measurement, as in `2026-11-16`.
    pub(crate) date: String,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: String,
    version: u32,
    calibration: Calibration,
    check: u32,
}

impl Calibration {
    /// Writes the whole file, or nothing.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let calibration = self.checked()?.clone();
        let check = calibration.checksum()?;
        figures::write_json(path, &Stored { format: FORMAT.to_owned(), version: VERSION, calibration, check })
    }

    /// Reads a file. It may be for another CPU.
    pub(crate) fn read(path: &Path) -> Result<Calibration> {
        input_file::read_json(path, Calibration::parse)
    }

    /// Reads a file that was written on a CPU of this model.
    pub(crate) fn read_here(path: &Path) -> Result<Calibration> {
        let calibration = Calibration::read(path)?;
        calibration.ensure_for(Cpu::here().as_ref()).with_context(|| input_file::name(path))?;
        Ok(calibration)
    }

    fn ensure_for(&self, here: Option<&Cpu>) -> Result<()> {
        let here = here.context("this CPU is not an x86-64: the queues have a fence here and need no calibration")?;
        let measured = &self.cpu;
        ensure!(
            here == measured,
            "expected a calibration of this CPU, {here}, found one of {measured}; measure on this machine"
        );
        Ok(())
    }

    fn parse(text: &str) -> Result<Calibration> {
        let Stored { calibration, check, .. } =
            input_file::parse_json(text, "a calibration of `filch-lab lab litmus`", FORMAT, VERSION)?;
        ensure!(
            calibration.checksum()? == check,
            "the file was damaged, or edited after it was written: its checksum differs; measure again"
        );
        calibration.checked()?;
        Ok(calibration)
    }

    /// Returns an error if the bound is out of range or too low for the measured numbers.
    fn checked(&self) -> Result<&Calibration> {
        let overtaken = self.largest_violation.map_or(0, |stores| stores.saturating_add(1));
        let (bound, least) = (self.bound, published::safe_bound(self.entries).max(overtaken));
        ensure!(
            (2..=LARGEST_BOUND).contains(&bound),
            "expected a bound from 2 to {LARGEST_BOUND} stores, found {bound}"
        );
        ensure!(
            bound >= least,
            "expected a bound of at least {least} for the stores that were measured, found {bound}; measure again"
        );
        ensure!(self.runs > 0, "expected runs of the litmus test, found none");
        Ok(self)
    }

    /// Protects against accidents, not against malice.
    fn checksum(&self) -> Result<u32> {
        Ok(crc32fast::hash(&serde_json::to_vec(self)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration() -> Calibration {
        Calibration {
            cpu: Cpu::ice_lake(),
            bound: 81,
            entries: 72,
            runs: 1_500_000,
            largest_violation: Some(66),
            hypervisor: true,
            date: "2026-11-16".into(),
        }
    }

    fn text() -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        calibration().write(&path).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    fn refusal(text: &str) -> String {
        format!("{:#}", Calibration::parse(text).unwrap_err())
    }

    #[test]
    fn a_written_calibration_is_read_back() {
        let read = Calibration::parse(&text()).unwrap();
        assert_eq!(read, calibration());
        // The brand is not compared, but kept.
        assert_eq!(read.cpu.brand, Cpu::ice_lake().brand);
        assert_eq!(Calibration::parse(text().trim_end()).unwrap(), calibration());
    }

    #[test]
    fn another_cpu_is_refused_by_name() {
        let other = Cpu { model: 85, brand: "Another".into(), ..Cpu::ice_lake() };
        let said = calibration().ensure_for(Some(&other)).unwrap_err().to_string();
        assert!(said.contains("A CPU") && said.contains("of this CPU, Another"), "{said}");
        assert!(calibration().ensure_for(None).unwrap_err().to_string().contains("have a fence here"));
        assert!(calibration().ensure_for(Some(&Cpu::ice_lake())).is_ok());
    }

    #[test]
    fn other_text_and_versions_are_refused() {
        for text in ["", "\n", "hello", "[]", "filch calibration 1\n", "{\"format\": \"filch litmus\", \"version\": 2}"]
        {
            assert!(refusal(text).contains("expected a calibration of `filch-lab lab litmus`"), "{text:?}");
        }
        let text = text().replace("\"version\": 2", "\"version\": 3");
        assert!(refusal(&text).contains("expected version 2 of the format, found version 3"));
    }

    #[test]
    fn a_lost_or_changed_byte_is_detected() {
        let text = text();
        let text = text.trim_end();
        for index in 0..text.len() {
            assert!(Calibration::parse(&text[..index]).is_err(), "{index}");
            // White space is the only part that does not matter.
            if !text[index..].starts_with([' ', '\n']) {
                let mut bytes = text.to_owned().into_bytes();
                bytes[index] ^= 1;
                let changed = String::from_utf8(bytes).unwrap();
                assert!(Calibration::parse(&changed).is_err(), "{changed}");
            }
        }
        assert!(refusal(&text.replace("\"bound\": 81", "\"bound\": 93")).contains("its checksum differs"));
        assert!(refusal(&text.replace("\"runs\"", "\"run\"")).contains("damaged"));
    }

    #[test]
    fn an_impossible_bound_is_neither_written_nor_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        for (bound, violation, runs, reason) in [
            (0, 0, 1, "expected a bound from 2 to 512 stores, found 0"),
            (513, 0, 1, "found 513"),
            (usize::MAX, 0, 1, "from 2 to 512"),
            (80, 0, 1, "at least 81 for the stores that were measured, found 80"),
            (81, 81, 1, "at least 82 for the stores that were measured, found 81"),
            (81, 72, 0, "found none"),
        ] {
            let wrong = Calibration { bound, largest_violation: Some(violation), runs, ..calibration() };
            let said = wrong.write(&path).unwrap_err().to_string();
            assert!(said.contains(reason) && !path.exists(), "{said}");
            let check = wrong.checksum().unwrap();
            let stored = Stored { format: FORMAT.into(), version: VERSION, calibration: wrong, check };
            assert!(refusal(&serde_json::to_string(&stored).unwrap()).contains(reason));
        }
    }
}
