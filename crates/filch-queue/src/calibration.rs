//! A measured bound, kept in a file, from which a delta can be made.
//!
//! `filch-lab lab litmus --calibrate FILE` writes the file.
//!
//! The file names the CPU model of the measurement, and is rejected on any other model. It is plain
//! text, so that it is readable. It ends with a checksum, so that an accidental edit of the bound
//! is detected:
//!
//! ```text
//! filch calibration 1
//! vendor = GenuineIntel
//! family = 6
//! model = 106
//! stepping = 6
//! brand = Intel(R) Xeon(R) Processor @ 2.80GHz
//! entries = 72
//! bound = 73
//! runs = 1500000
//! largest violation = 72
//! hypervisor = yes
//! date = 2026-11-16
//! check = fe75692bfa49d274
//! ```
//!
//! # What a calibration proves
//!
//! A calibration is evidence, not proof.
//!
//! - The bound is the number of entries that the measurement found in the store buffer, plus one,
//!   or more: a requested bound, or the bound of the previous file.
//! - A number of entries below the known store buffers of such CPUs is not accepted.
//! - Hardware threads of a core share its store buffer while they are awake. If the other thread
//!   was busy all the time, the measurement found half of the buffer. So for a CPU that `filch`
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
//!
//! So a calibration does not change the guarantees. A queue made by a safe constructor from this
//! delta is at least once on every CPU. For the `unsafe` constructors, the caller still guarantees
//! that the bound holds on every CPU that the owner runs on. A program breaks that guarantee if it
//! may be moved to another machine while it runs, or if it reads the file on one machine and passes
//! the delta to another.
//!
//! ```
//! use filch_queue::bound::Bound;
//! use filch_queue::calibration::{Calibration, Cpu, Evidence};
//! use filch_queue::ff_cl;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let Some(cpu) = Cpu::here() else { return Ok(()) };
//! # let evidence = Evidence { entries: 72, runs: 1_000, largest_violation: Some(66), hypervisor: false, date: "2026-11-16".into() };
//! # let text = Calibration::new(cpu, Bound::new(73)?, evidence)?.to_string();
//! // let text = std::fs::read_to_string("calibration.txt")?;
//! let calibration = Calibration::parse(&text)?;
//! let (owner, thief) = ff_cl::new(calibration.delta(1)?);
//! # assert_eq!(calibration.delta(1)?.get(), 37);
//! # owner.push(1);
//! # assert_eq!(owner.pop(), Some(1));
//! # drop(thief);
//! # Ok(())
//! # }
//! ```

mod cpu;
mod error;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt::{self, Write};
use core::str::FromStr;

pub use cpu::Cpu;
pub use error::CalibrationError;

use crate::bound::{Bound, Delta};
use crate::BoundError;

/// The start of the first line.
const TITLE: &str = "filch calibration";
/// The version, at the end of the first line.
const VERSION: u32 = 1;
/// The text for a missing number.
const NONE: &str = "none";
/// The text for true; `NO` is the text for false.
const YES: &str = "yes";
const NO: &str = "no";

/// A measured bound, with its CPU and its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibration {
    cpu: Cpu,
    bound: Bound,
    evidence: Evidence,
}

/// The measurements that a bound is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The number of entries that the measurement found in the store buffer.
    ///
    /// It is required: a litmus test without a violation does not tell how small a bound may be.
    pub entries: usize,
    /// The number of runs of the litmus test.
    pub runs: u64,
    /// The most stores that a load overtook while another store waited.
    ///
    /// `None` if the test saw no violation.
    pub largest_violation: Option<usize>,
    /// Whether the measurement ran under a hypervisor.
    ///
    /// A hypervisor decides what the CPU reports. See [`Cpu::is_under_hypervisor`].
    pub hypervisor: bool,
    /// The date of the measurement, as in `2026-11-16`.
    pub date: String,
}

impl Calibration {
    /// The largest bound that is accepted.
    ///
    /// The largest known store buffer has 112 entries.
    pub const LARGEST_BOUND: usize = 512;

    /// Creates a calibration from measurements on this CPU model.
    ///
    /// # Errors
    ///
    /// If the bound is out of range or not above the measured numbers, the number of runs is 0, the
    /// date is invalid, or a name is empty or longer than a line.
    pub fn new(cpu: Cpu, bound: Bound, evidence: Evidence) -> Result<Calibration, CalibrationError> {
        if !(2..=Calibration::LARGEST_BOUND).contains(&bound.get()) {
            return Err(CalibrationError::AbsurdBound { bound: bound.get() });
        }
        let seen = evidence.entries.max(evidence.largest_violation.unwrap_or(0));
        if seen >= bound.get() {
            return Err(CalibrationError::Contradiction { bound: bound.get(), seen });
        }
        let runs = evidence.runs.to_string();
        for (is_valid, line, key, value) in [
            (is_line(&cpu.vendor), 2, "vendor", &cpu.vendor),
            (is_line(&cpu.brand), 6, "brand", &cpu.brand),
            (evidence.runs > 0, 9, "runs", &runs),
            (is_date(&evidence.date), DATE_LINE, "date", &evidence.date),
        ] {
            if !is_valid {
                let found = printable(&alloc::format!("{key} = {value}"));
                return Err(CalibrationError::Malformed { line, key, found });
            }
        }
        Ok(Calibration { cpu, bound, evidence })
    }

    /// Parses a [calibration file](Calibration#impl-Display-for-Calibration), on a CPU of the same
    /// model.
    ///
    /// # Errors
    ///
    /// If the text is not a calibration or was damaged, its bound is impossible, or it is for
    /// another CPU model.
    pub fn parse(text: &str) -> Result<Calibration, CalibrationError> {
        Calibration::parse_on(text, Cpu::here())
    }

    fn parse_on(text: &str, here: Option<Cpu>) -> Result<Calibration, CalibrationError> {
        let calibration = Calibration::parse_anywhere(text)?;
        match here {
            None => Err(CalibrationError::NoBoundHere),
            Some(here) if here != calibration.cpu => {
                Err(CalibrationError::OtherCpu { measured: Box::new(calibration.cpu), here: Box::new(here) })
            }
            Some(_) => Ok(calibration),
        }
    }

    /// Parses a calibration that may be for another CPU.
    ///
    /// Use it for display, not to make a delta for this CPU.
    ///
    /// # Errors
    ///
    /// If the text is not a calibration or was damaged, or its bound is impossible.
    pub fn parse_anywhere(text: &str) -> Result<Calibration, CalibrationError> {
        let mut lines = Lines::begin(text)?;
        let cpu = Cpu {
            vendor: lines.text("vendor")?,
            family: lines.number("family")?,
            model: lines.number("model")?,
            stepping: lines.number("stepping")?,
            brand: lines.text("brand")?,
        };
        let entries = lines.number("entries")?;
        let bound = lines.number("bound")?;
        let evidence = Evidence {
            entries,
            runs: lines.number("runs")?,
            largest_violation: lines.number_or_none("largest violation")?,
            hypervisor: lines.yes_or_no("hypervisor")?,
            date: lines.text("date")?,
        };
        lines.end()?;
        let bound = Bound::new(bound).map_err(|_| CalibrationError::AbsurdBound { bound })?;
        Calibration::new(cpu, bound, evidence)
    }

    /// Returns the bound.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// Returns the delta for pops with `extra_stores` stores beside the store to the tail.
    ///
    /// # Errors
    ///
    /// If `extra_stores` is 0 or too large, as for [`Delta::new`].
    pub fn delta(&self, extra_stores: usize) -> Result<Delta, BoundError> {
        Delta::new(self.bound, extra_stores)
    }

    /// Returns the CPU of the measurement.
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// Returns the measurements that the bound is based on.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Returns all lines but the last.
    fn body(&self) -> String {
        let Calibration { cpu: Cpu { vendor, family, model, stepping, brand }, bound, evidence } = self;
        let Evidence { entries, runs, largest_violation, hypervisor, date } = evidence;
        let (violation, hypervisor) = (or_none(*largest_violation), if *hypervisor { YES } else { NO });
        let bound = bound.get();
        alloc::format!(
            "{TITLE} {VERSION}\nvendor = {vendor}\nfamily = {family}\nmodel = {model}\nstepping = {stepping}\nbrand = {brand}\n\
             entries = {entries}\nbound = {bound}\nruns = {runs}\nlargest violation = {violation}\n\
             hypervisor = {hypervisor}\ndate = {date}\n"
        )
    }
}

/// Writes the text of a calibration file.
impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = self.body();
        writeln!(f, "{body}check = {:016x}", checksum(body.lines()))
    }
}

impl FromStr for Calibration {
    type Err = CalibrationError;

    fn from_str(text: &str) -> Result<Calibration, CalibrationError> {
        Calibration::parse(text)
    }
}

fn or_none(number: Option<usize>) -> String {
    number.map_or_else(|| NONE.to_string(), |number| number.to_string())
}

/// Returns a line safe to print on any terminal, and cut if it is long.
fn printable(line: &str) -> String {
    const LONGEST: usize = 60;
    line.chars().take(LONGEST).flat_map(char::escape_debug).collect()
}

/// Returns whether the text can be the value of a line.
fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control)
}

/// Returns whether the text has the form `YYYY-MM-DD` and is a valid date.
fn is_date(text: &str) -> bool {
    let pattern =
        |(index, byte): (usize, u8)| if matches!(index, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    if text.len() != 10 || !text.bytes().enumerate().all(pattern) {
        return false;
    }
    let number = |part: &str| part.parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(&text[..4]), number(&text[5..7]), number(&text[8..]));
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// The line of the date, counted from 1.
const DATE_LINE: usize = 12;

/// FNV-1a of the lines, independent of line endings.
///
/// It protects against accidents, not against malice.
fn checksum<'a>(lines: impl Iterator<Item = &'a str>) -> u64 {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    lines.flat_map(|line| line.bytes().chain([b'\n'])).fold(0xcbf2_9ce4_8422_2325, step)
}

/// The lines that are left to read.
struct Lines<'a> {
    lines: core::str::Lines<'a>,
    /// The number of lines read so far.
    read: usize,
    /// The line read last; empty after the end.
    last: &'a str,
}

impl<'a> Lines<'a> {
    /// Checks the title and the checksum, and returns the lines after the title.
    fn begin(text: &'a str) -> Result<Lines<'a>, CalibrationError> {
        let mut lines = text.lines();
        let version =
            lines.next().and_then(|line| line.strip_prefix(TITLE)).ok_or(CalibrationError::NotACalibration)?;
        let version = version.strip_prefix(' ').ok_or(CalibrationError::NotACalibration)?;
        if version.parse() != Ok(VERSION) {
            return Err(CalibrationError::UnknownVersion { found: version.chars().take(20).collect() });
        }
        let body = text.lines().take(DATE_LINE);
        let check = text.lines().nth(DATE_LINE).and_then(|line| line.strip_prefix("check = "));
        let mut expected = String::new();
        // Writing to a string cannot fail.
        let _ = write!(expected, "{:016x}", checksum(body));
        match check {
            Some(check) if check == expected => Ok(Lines { lines, read: 1, last: "" }),
            _ => Err(CalibrationError::Damaged),
        }
    }

    /// Returns the value of the next line, which must have the key `key`.
    fn value(&mut self, key: &'static str) -> Result<&'a str, CalibrationError> {
        self.read += 1;
        self.last = self.lines.next().unwrap_or_default();
        let value = self.last.strip_prefix(key).and_then(|rest| rest.strip_prefix(" = "));
        value.ok_or_else(|| self.malformed(key))
    }

    fn text(&mut self, key: &'static str) -> Result<String, CalibrationError> {
        self.value(key).map(String::from)
    }

    fn number<N: FromStr>(&mut self, key: &'static str) -> Result<N, CalibrationError> {
        self.value(key)?.parse().map_err(|_| self.malformed(key))
    }

    fn number_or_none(&mut self, key: &'static str) -> Result<Option<usize>, CalibrationError> {
        match self.value(key)? {
            NONE => Ok(None),
            number => number.parse().map(Some).map_err(|_| self.malformed(key)),
        }
    }

    fn yes_or_no(&mut self, key: &'static str) -> Result<bool, CalibrationError> {
        match self.value(key)? {
            YES => Ok(true),
            NO => Ok(false),
            _ => Err(self.malformed(key)),
        }
    }

    /// Checks that only the checksum is left, which `begin` has already checked.
    fn end(mut self) -> Result<(), CalibrationError> {
        match self.lines.nth(1) {
            None => Ok(()),
            Some(_) => Err(CalibrationError::Damaged),
        }
    }

    fn malformed(&self, key: &'static str) -> CalibrationError {
        CalibrationError::Malformed { line: self.read, key, found: printable(self.last) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::format;

    use super::*;

    fn cpu() -> Cpu {
        Cpu { vendor: "GenuineIntel".into(), family: 6, model: 106, stepping: 6, brand: "A CPU = fast @ 2 GHz".into() }
    }

    fn calibration() -> Calibration {
        let evidence = Evidence {
            entries: 72,
            runs: 1_500_000,
            largest_violation: Some(66),
            hypervisor: true,
            date: "2026-11-16".into(),
        };
        Calibration::new(cpu(), Bound::new(73).unwrap(), evidence).unwrap()
    }

    fn refusal(text: &str) -> CalibrationError {
        Calibration::parse_on(text, Some(cpu())).unwrap_err()
    }

    /// Returns the text with `from` replaced by `to`, and a matching checksum.
    fn forged(from: &str, to: &str) -> alloc::string::String {
        let body = calibration().body();
        assert!(body.contains(from));
        let body = body.replace(from, to);
        format!("{body}check = {:016x}\n", checksum(body.lines()))
    }

    #[test]
    fn a_written_calibration_is_read_back() {
        let written = calibration();
        assert_eq!(Calibration::parse_on(&written.to_string(), Some(cpu())), Ok(written.clone()));
        let evidence =
            Evidence { entries: 72, runs: 1, largest_violation: None, hypervisor: false, date: "2026-01-02".into() };
        let clean = Calibration::new(cpu(), Bound::new(512).unwrap(), evidence).unwrap();
        assert!(clean.to_string().contains("\nlargest violation = none\nhypervisor = no\n"));
        let read = Calibration::parse_anywhere(&clean.to_string()).unwrap();
        assert_eq!((read.evidence(), read.bound()), (clean.evidence(), clean.bound()));
        // The brand is not compared, but kept.
        assert_eq!(read.cpu().brand, cpu().brand);
    }

    #[test]
    fn the_file_in_the_documentation_is_valid() {
        let source = include_str!("calibration.rs");
        let shown = source.lines().skip_while(|line| *line != "//! ```text").skip(1).take(13);
        let text =
            shown.map(|line| line.trim_start_matches("//! ")).fold(String::new(), |text, line| text + line + "\n");
        assert_eq!(Calibration::parse_anywhere(&text).unwrap().to_string(), text);
    }

    #[test]
    fn ends_of_lines_do_not_matter() {
        let text = calibration().to_string();
        assert_eq!(Calibration::parse_anywhere(&text.replace('\n', "\r\n")), Ok(calibration()));
        assert_eq!(Calibration::parse_anywhere(text.trim_end()), Ok(calibration()));
    }

    #[test]
    fn a_calibration_gives_the_delta_of_its_bound() {
        let calibration = calibration();
        assert_eq!(calibration.bound().get(), 73);
        assert_eq!(calibration.delta(1).unwrap().get(), 37);
        assert_eq!(calibration.delta(0), Err(BoundError::NoExtraStore));
    }

    #[test]
    fn another_cpu_is_refused_by_name() {
        let other = Cpu { model: 85, brand: "Another".into(), ..cpu() };
        let error = Calibration::parse_on(&calibration().to_string(), Some(other.clone())).unwrap_err();
        assert_eq!(error, CalibrationError::OtherCpu { measured: Box::new(cpu()), here: Box::new(other) });
        let said = error.to_string();
        assert!(said.contains("A CPU = fast") && said.contains("of this CPU, Another"), "{said}");
        // The calibration can still be displayed.
        assert!(Calibration::parse_anywhere(&calibration().to_string()).is_ok());
    }

    #[test]
    fn a_cpu_without_a_bound_needs_none() {
        let error = Calibration::parse_on(&calibration().to_string(), None).unwrap_err();
        assert_eq!(error, CalibrationError::NoBoundHere);
        assert!(error.to_string().contains("have a fence here"));
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn parsing_compares_with_this_cpu() {
        let calibration = calibration();
        let here = Calibration { cpu: Cpu::here().unwrap(), ..calibration.clone() };
        assert_eq!(here.to_string().parse(), Ok(here));
        let elsewhere = Calibration { cpu: Cpu { stepping: 99, ..cpu() }, ..calibration };
        assert!(matches!(elsewhere.to_string().parse::<Calibration>(), Err(CalibrationError::OtherCpu { .. })));
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "\n", "hello", "filch calibration", "filch calibrations 1\n", "\u{feff}filch calibration 1"] {
            assert_eq!(refusal(text), CalibrationError::NotACalibration, "{text:?}");
        }
    }

    #[test]
    fn an_unknown_version_is_refused() {
        let text = calibration().to_string().replace("calibration 1", "calibration 2");
        assert_eq!(refusal(&text), CalibrationError::UnknownVersion { found: "2".into() });
        assert!(refusal(&text).to_string().contains("version 2"));
        assert_eq!(refusal("filch calibration one\n"), CalibrationError::UnknownVersion { found: "one".into() });
    }

    #[test]
    fn a_lost_or_changed_byte_is_detected() {
        let text = calibration().to_string();
        for length in 0..text.len() - 1 {
            assert!(Calibration::parse_anywhere(&text[..length]).is_err(), "{length}");
        }
        for index in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[index] ^= 1;
            let changed = alloc::string::String::from_utf8(bytes).unwrap();
            assert!(Calibration::parse_anywhere(&changed).is_err(), "{changed}");
        }
        assert_eq!(refusal(&text.replace("bound = 73", "bound = 33")), CalibrationError::Damaged);
        assert_eq!(refusal(&format!("{text}bound = 2\n")), CalibrationError::Damaged);
    }

    #[test]
    fn an_invalid_line_is_named_and_shown() {
        for (from, to, line, key) in [
            ("bound = 73", "bound = many", 8, "bound"),
            ("bound = 73", "bound = -1", 8, "bound"),
            ("bound = 73", "bound = 99999999999999999999999", 8, "bound"),
            ("entries = 72", "entries = ", 7, "entries"),
            ("entries = 72", "entry = 72", 7, "entries"),
            ("family = 6", "family=6", 3, "family"),
            // Without the entries, the smallest valid bound is unknown.
            ("entries = 72", "entries = none", 7, "entries"),
            ("runs = 1500000", "runs = 0", 9, "runs"),
            ("hypervisor = yes", "hypervisor = perhaps", 11, "hypervisor"),
            ("2026-11-16", "yesterday", 12, "date"),
            ("2026-11-16", "9999-99-99", 12, "date"),
            ("2026-11-16", "2026-00-16", 12, "date"),
            ("2026-11-16", "2026-11-31", 12, "date"),
            ("2026-11-16", "2026-02-29", 12, "date"),
            ("2026-11-16", "2100-02-29", 12, "date"),
        ] {
            let error = refusal(&forged(from, to));
            assert!(
                matches!(error, CalibrationError::Malformed { line: l, key: k, .. } if (l, k) == (line, key)),
                "{to}"
            );
        }
        let error = refusal(&forged("runs = ", "runs = x"));
        let reason = "expected `runs = …` with a valid value, found `runs = x1500000`; measure again";
        assert_eq!(error.to_string(), format!("line 9: {reason}"));
        assert_eq!(error.in_file("cpu.txt"), format!("cpu.txt:9: {reason}"));
    }

    #[test]
    fn a_leap_day_is_a_day() {
        for day in ["2028-02-29", "2000-02-29", "2026-12-31", "2026-01-01"] {
            assert!(Calibration::parse_anywhere(&forged("2026-11-16", day)).is_ok(), "{day}");
        }
    }

    #[test]
    fn values_that_cannot_be_read_back_are_refused() {
        let Calibration { cpu, bound, evidence } = calibration();
        let split = Cpu { brand: "two\nlines".into(), ..cpu.clone() };
        let error = Calibration::new(split, bound, evidence.clone()).unwrap_err();
        assert_eq!(error, CalibrationError::Malformed { line: 6, key: "brand", found: "brand = two\\nlines".into() });
        let unnamed = Cpu { vendor: "".into(), ..cpu };
        let error = Calibration::new(unnamed, bound, evidence).unwrap_err();
        assert_eq!(error, CalibrationError::Malformed { line: 2, key: "vendor", found: "vendor = ".into() });
    }

    #[test]
    fn a_bound_that_no_cpu_has_is_refused() {
        for bound in [0, 1, 513, usize::MAX] {
            let error = refusal(&forged("bound = 73", &format!("bound = {bound}")));
            assert_eq!(error, CalibrationError::AbsurdBound { bound });
        }
    }

    #[test]
    fn a_bound_below_what_was_seen_is_refused() {
        let error = refusal(&forged("bound = 73", "bound = 72"));
        assert_eq!(error, CalibrationError::Contradiction { bound: 72, seen: 72 });
        let error = refusal(&forged("violation = 66", "violation = 80"));
        assert_eq!(error, CalibrationError::Contradiction { bound: 73, seen: 80 });
    }
}
