//! A measured bound, kept in a file: what `filch lab litmus --calibrate FILE` writes, and what a delta can be made from.
//!
//! The file says for which model of CPU it was measured, and is refused on any other. It is plain text, so that it can be looked at, and ends with a checksum, so that
//! nobody edits a bound by accident:
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
//! # What it is worth
//!
//! It is evidence, not proof. The bound is the number of entries that the store buffer was seen to have, plus one, or more: what somebody asked for, or what the file said before. Fewer than the store buffers of such CPUs are known to have are not believed. Hardware threads of one core share its store buffer while they are awake; where the
//! other was busy all the time, half of it was seen. So of a CPU that `filch` does not know, twice what was seen is taken. A violation is certain: a load did
//! overtake that many stores. That none was seen beyond is no proof that none can happen; so a clean litmus test never lowers the bound, and more runs only make it more credible. Where a load was
//! caught at more than the store buffer explains there is no calibration: what was caught is then the least that can happen, and nothing says what the most is. That was so on a CPU of AMD; for those there is none.
//!
//! "The same model" is what the CPU says of itself: vendor, family, model and stepping. Under a hypervisor it says what the hypervisor lets it say, and hosts that differ may say the same, above all
//! where virtual machines are moved between them. The file tells whether it was measured under one. It is not refused for that, and cannot be: whoever trusts it there trusts the host as well. An emulator of a CPU, on one of another architecture, may say the same, too, and then nothing holds.
//!
//! So nothing changes about who vouches for what. A queue made by a safe constructor from this delta is at least once, whatever the CPU does. The `unsafe`
//! constructors still take the caller's word that the bound holds on every CPU that the owner runs on: a program that may be moved to another machine while it runs,
//! or that reads the file on one and hands the delta to another, breaks it.
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

/// What the first line begins with.
const TITLE: &str = "filch calibration";
/// What it ends with.
const VERSION: u32 = 1;
/// What stands for a number that there is none of.
const NONE: &str = "none";
/// What stands for something that is so, and for something that is not.
const YES: &str = "yes";
const NO: &str = "no";

/// A bound that was measured, and on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibration {
    cpu: Cpu,
    bound: Bound,
    evidence: Evidence,
}

/// What a bound rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// How many entries the store buffer was found to have. Without it there is no calibration: a litmus test that finds nothing says nothing of how small a bound may be.
    pub entries: usize,
    /// How many runs of the litmus test there were.
    pub runs: u64,
    /// The most stores that a load was caught to have overtaken while another one waited; none if it was never caught.
    pub largest_violation: Option<usize>,
    /// Whether a hypervisor stood between, which decides what the CPU says of itself. See [`Cpu::is_under_hypervisor`].
    pub hypervisor: bool,
    /// When, as in `2026-11-16`.
    pub date: String,
}

impl Calibration {
    /// The largest bound that is believed. The largest store buffer known has 112 entries.
    pub const LARGEST_BOUND: usize = 512;

    /// What was found on this model of CPU.
    ///
    /// # Errors
    ///
    /// If the bound is absurd, or not above what was seen, or there was no run, or the date is none, or a name is empty or more than a line.
    pub fn new(cpu: Cpu, bound: Bound, evidence: Evidence) -> Result<Calibration, CalibrationError> {
        if !(2..=Calibration::LARGEST_BOUND).contains(&bound.get()) {
            return Err(CalibrationError::AbsurdBound { bound: bound.get() });
        }
        let seen = evidence.entries.max(evidence.largest_violation.unwrap_or(0));
        if seen >= bound.get() {
            return Err(CalibrationError::Contradiction { bound: bound.get(), seen });
        }
        for (is_fine, line, key) in [
            (is_line(&cpu.vendor), 2, "vendor"),
            (is_line(&cpu.brand), 6, "brand"),
            (evidence.runs > 0, 9, "runs"),
            (is_date(&evidence.date), DATE_LINE, "date"),
        ] {
            if !is_fine {
                return Err(CalibrationError::Malformed { line, key });
            }
        }
        Ok(Calibration { cpu, bound, evidence })
    }

    /// Reads what was [written](Calibration#impl-Display-for-Calibration), on a CPU of the same model.
    ///
    /// # Errors
    ///
    /// If the text is no calibration, or was damaged, or its bound cannot be, or it is about another CPU than the one at hand.
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

    /// The same of a calibration that may be about another CPU: to look at it, not to make a delta for this one.
    ///
    /// # Errors
    ///
    /// If the text is no calibration, or was damaged, or its bound cannot be.
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

    /// The bound.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The delta for pops that each make so many stores beside the one to the tail.
    ///
    /// # Errors
    ///
    /// If there are none, or too many, as for [`Delta::new`].
    pub fn delta(&self, extra_stores: usize) -> Result<Delta, BoundError> {
        Delta::new(self.bound, extra_stores)
    }

    /// The CPU that it is about.
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// What it rests on.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// All lines but the last.
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

/// The text of a calibration file.
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

/// Something that a line can end with.
fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control)
}

/// Four digits, two and two, and a day that there was.
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

/// FNV-1a of the lines, however they end: against accidents, not against malice.
fn checksum<'a>(lines: impl Iterator<Item = &'a str>) -> u64 {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    lines.flat_map(|line| line.bytes().chain([b'\n'])).fold(0xcbf2_9ce4_8422_2325, step)
}

/// What is left to read.
struct Lines<'a> {
    lines: core::str::Lines<'a>,
    /// How many were read.
    read: usize,
}

impl<'a> Lines<'a> {
    /// All after the title, if the rest is what was written.
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
            Some(check) if check == expected => Ok(Lines { lines, read: 1 }),
            _ => Err(CalibrationError::Damaged),
        }
    }

    /// The value of the next line, which has this key.
    fn value(&mut self, key: &'static str) -> Result<&'a str, CalibrationError> {
        self.read += 1;
        let line = self.lines.next().and_then(|line| line.strip_prefix(key));
        line.and_then(|rest| rest.strip_prefix(" = ")).ok_or(self.malformed(key))
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

    /// After the checksum, which was read before all others, there is nothing.
    fn end(mut self) -> Result<(), CalibrationError> {
        match self.lines.nth(1) {
            None => Ok(()),
            Some(_) => Err(CalibrationError::Damaged),
        }
    }

    fn malformed(&self, key: &'static str) -> CalibrationError {
        CalibrationError::Malformed { line: self.read, key }
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

    /// The text with another first part of a line, and a checksum that fits.
    fn forged(from: &str, to: &str) -> alloc::string::String {
        let body = calibration().body();
        assert!(body.contains(from));
        let body = body.replace(from, to);
        format!("{body}check = {:016x}\n", checksum(body.lines()))
    }

    #[test]
    fn what_is_written_is_read_back() {
        let written = calibration();
        assert_eq!(Calibration::parse_on(&written.to_string(), Some(cpu())), Ok(written.clone()));
        let evidence =
            Evidence { entries: 72, runs: 1, largest_violation: None, hypervisor: false, date: "2026-01-02".into() };
        let clean = Calibration::new(cpu(), Bound::new(512).unwrap(), evidence).unwrap();
        assert!(clean.to_string().contains("\nlargest violation = none\nhypervisor = no\n"));
        let read = Calibration::parse_anywhere(&clean.to_string()).unwrap();
        assert_eq!((read.evidence(), read.bound()), (clean.evidence(), clean.bound()));
        // The name is not compared, but kept.
        assert_eq!(read.cpu().brand, cpu().brand);
    }

    #[test]
    fn the_file_that_the_documentation_shows_is_one() {
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
        assert!(said.contains("A CPU = fast") && said.contains("this is Another"), "{said}");
        // Still there to look at.
        assert!(Calibration::parse_anywhere(&calibration().to_string()).is_ok());
    }

    #[test]
    fn a_cpu_without_a_bound_needs_none() {
        let error = Calibration::parse_on(&calibration().to_string(), None).unwrap_err();
        assert_eq!(error, CalibrationError::NoBoundHere);
        assert!(error.to_string().contains("keep their fence"));
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn the_cpu_at_hand_is_the_one_that_counts() {
        let calibration = calibration();
        let here = Calibration { cpu: Cpu::here().unwrap(), ..calibration.clone() };
        assert_eq!(here.to_string().parse(), Ok(here));
        let elsewhere = Calibration { cpu: Cpu { stepping: 99, ..cpu() }, ..calibration };
        assert!(matches!(elsewhere.to_string().parse::<Calibration>(), Err(CalibrationError::OtherCpu { .. })));
    }

    #[test]
    fn something_else_is_no_calibration() {
        for text in ["", "\n", "hello", "filch calibration", "filch calibrations 1\n", "\u{feff}filch calibration 1"] {
            assert_eq!(refusal(text), CalibrationError::NotACalibration, "{text:?}");
        }
    }

    #[test]
    fn a_version_that_is_not_known_is_refused_as_such() {
        let text = calibration().to_string().replace("calibration 1", "calibration 2");
        assert_eq!(refusal(&text), CalibrationError::UnknownVersion { found: "2".into() });
        assert!(refusal(&text).to_string().contains("version 2"));
        assert_eq!(refusal("filch calibration one\n"), CalibrationError::UnknownVersion { found: "one".into() });
    }

    #[test]
    fn any_byte_that_is_lost_or_changed_is_noticed() {
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
    fn a_line_that_makes_no_sense_is_named() {
        for (from, to, line, key) in [
            ("bound = 73", "bound = many", 8, "bound"),
            ("bound = 73", "bound = -1", 8, "bound"),
            ("bound = 73", "bound = 99999999999999999999999", 8, "bound"),
            ("entries = 72", "entries = ", 7, "entries"),
            ("entries = 72", "entry = 72", 7, "entries"),
            ("family = 6", "family=6", 3, "family"),
            // Without the entries nothing says how small a bound may be.
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
            assert_eq!(refusal(&forged(from, to)), CalibrationError::Malformed { line, key }, "{to}");
        }
        assert!(refusal(&forged("runs = ", "runs = x")).to_string().contains("line 9"));
    }

    #[test]
    fn a_leap_day_is_a_day() {
        for day in ["2028-02-29", "2000-02-29", "2026-12-31", "2026-01-01"] {
            assert!(Calibration::parse_anywhere(&forged("2026-11-16", day)).is_ok(), "{day}");
        }
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        let Calibration { cpu, bound, evidence } = calibration();
        let split = Cpu { brand: "two\nlines".into(), ..cpu.clone() };
        let error = Calibration::new(split, bound, evidence.clone()).unwrap_err();
        assert_eq!(error, CalibrationError::Malformed { line: 6, key: "brand" });
        let nobody = Cpu { vendor: "".into(), ..cpu };
        let error = Calibration::new(nobody, bound, evidence).unwrap_err();
        assert_eq!(error, CalibrationError::Malformed { line: 2, key: "vendor" });
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
