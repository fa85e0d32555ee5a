//! `--state` and `--resume`: saves the counts to a file, and resumes from it.

use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use serde::{Deserialize, Serialize};

use super::counts::{Counts, Key};
use super::race::{Tally, STORES, TASKS};
use super::Placement;
use crate::lab::calibration::{Cpu, LARGEST_BOUND};
use crate::lab::kinds::Kind;
use crate::{figures, input_file};

/// The format name in the file.
const FORMAT: &str = "filch litmus";
const VERSION: u32 = 1;

/// Counts, and the bound and store buffer that they belong to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    /// The bound under test. It decides which points there are; the counts do not depend on it.
    pub(super) supposed: usize,
    /// The entries of the store buffer that the bound comes from, if it was measured.
    pub(super) entries: Option<usize>,
    pub(super) counts: Counts,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: String,
    version: u32,
    cpu: Cpu,
    supposed: usize,
    entries: Option<usize>,
    /// The sum of all runs: it reveals a lost line.
    runs: u64,
    points: Vec<StoredPoint>,
}

/// The counts of a point in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredPoint {
    kind: Kind,
    placement: Placement,
    stores: usize,
    delta: usize,
    runs: u64,
    incorrect: u64,
}

impl State {
    /// The smallest sensible bound.
    pub(super) const LEAST_BOUND: usize = 2;

    /// Writes the whole file, or nothing.
    pub(super) fn write(&self, path: &Path, cpu: &Cpu) -> Result<()> {
        let stored = Stored {
            format: FORMAT.to_owned(),
            version: VERSION,
            cpu: cpu.clone(),
            supposed: self.supposed,
            entries: self.entries,
            runs: self.counts.total().runs,
            points: points(&self.counts),
        };
        figures::write_json(path, &stored)
    }

    /// Reads a file that was written on a CPU of the same model.
    pub(super) fn read(path: &Path, cpu: &Cpu) -> Result<State> {
        input_file::read_json(path, |text| State::parse(text, cpu))
    }

    fn parse(text: &str, cpu: &Cpu) -> Result<State> {
        let stored: Stored = input_file::parse_json(text, "a state file of `filch-lab lab litmus`", FORMAT, VERSION)?;
        ensure!(stored.cpu == *cpu, "expected a sweep on this CPU, {cpu}, found one on {}", stored.cpu);
        let (supposed, entries) = (stored.supposed, stored.entries);
        let bounds = State::LEAST_BOUND..=LARGEST_BOUND;
        ensure!(bounds.contains(&supposed), "the file is damaged: {supposed} is not a valid bound");
        if let Some(entries) = entries.filter(|&entries| entries >= supposed) {
            bail!("the file is damaged: a bound of {supposed} does not come from {entries} entries");
        }
        let mut counts = Counts::default();
        let mut sum = 0_u64;
        for point in &stored.points {
            let (key, tally) = point.checked().context("the file is damaged")?;
            ensure!(counts.of(key).runs == 0, "the file is damaged: a point occurs twice");
            sum = sum.checked_add(tally.runs).context("the file is damaged: the number of runs is too large")?;
            counts.add(key, tally);
        }
        ensure!(sum == stored.runs, "the file is damaged: its points do not add up to {} runs", stored.runs);
        Ok(State { supposed, entries, counts })
    }
}

/// Returns an entry for each point.
pub(super) fn points(counts: &Counts) -> Vec<StoredPoint> {
    let point = |(key, tally): (Key, Tally)| {
        let (Key { kind, placement, stores, delta }, Tally { runs, incorrect }) = (key, tally);
        StoredPoint { kind, placement, stores, delta, runs, incorrect }
    };
    counts.iter().map(point).collect()
}

impl StoredPoint {
    fn checked(&self) -> Result<(Key, Tally)> {
        let &StoredPoint { kind, placement, stores, delta, runs, incorrect } = self;
        ensure!(STORES.contains(&stores), "no run has {stores} stores between pops");
        ensure!((1..TASKS as usize).contains(&delta), "no run has a delta of {delta}");
        ensure!(runs > 0 && incorrect <= runs, "{incorrect} of {runs} runs cannot be incorrect");
        Ok((Key { kind, placement, stores, delta }, Tally { runs, incorrect }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::litmus::counts::tests::{counts, key};

    fn state() -> State {
        let small = Key { kind: Kind::Efficient, placement: Placement::SameCore, ..key(3, 7) };
        let counts = counts(&[(key(1, 36), 1_000, 3), (small, 20, 0), (key(0, 400), 5, 5)]);
        State { supposed: 73, entries: Some(72), counts }
    }

    fn text() -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        state().write(&path, &Cpu::ice_lake()).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    fn refusal(text: &str) -> String {
        format!("{:#}", State::parse(text, &Cpu::ice_lake()).unwrap_err())
    }

    #[test]
    fn a_written_state_is_read_back() {
        assert_eq!(State::parse(&text(), &Cpu::ice_lake()).unwrap(), state());
    }

    #[test]
    fn a_truncated_file_is_damaged() {
        let text = text();
        let text = text.trim_end();
        for length in (0..text.len()).step_by(7) {
            assert!(refusal(&text[..length]).contains("damaged"), "{length}");
        }
    }

    #[test]
    fn invalid_contents_are_refused_with_a_reason() {
        for (from, to, reason) in [
            ("filch litmus", "filch sweep", "expected a state file of `filch-lab lab litmus`"),
            ("\"version\": 1", "\"version\": 2", "expected version 1 of the format, found version 2"),
            ("\"version\": 1", "\"version\": \"x\"", "it has no version"),
            ("\"model\": 106", "\"model\": 85", "expected a sweep on this CPU"),
            ("\"supposed\": 73", "\"supposed\": 0", "0 is not a valid bound"),
            ("\"supposed\": 73", "\"supposed\": -73", "damaged"),
            ("\"supposed\": 73", "\"supposed\": 18446744073709551615", "18446744073709551615 is not a valid bound"),
            ("\"supposed\": 73", "\"supposed\": 513", "513 is not a valid bound"),
            ("\"entries\": 72", "\"entries\": 73", "does not come from 73 entries"),
            ("\"entries\": 72", "\"entries\": 18446744073709551615", "does not come from"),
            ("\"incorrect\": 3", "\"incorrect\": 1001", "1001 of 1000 runs"),
            ("\"delta\": 36", "\"delta\": 512", "delta of 512"),
            ("\"delta\": 36", "\"delta\": 0", "delta of 0"),
            ("\"stores\": 1,", "\"stores\": 9,", "9 stores"),
            ("\"runs\": 1000,", "\"runs\": 1001,", "do not add up"),
            ("\"runs\": 1000,", "\"run\": 1000,", "damaged"),
            ("same-core", "some-core", "damaged"),
        ] {
            let text = text();
            assert!(text.contains(from), "{from}: {text}");
            let refusal = refusal(&text.replace(from, to));
            assert!(refusal.contains(reason), "{to}: {refusal}");
        }
        assert!(refusal("[]").contains("expected a state file"));
    }

    #[test]
    fn a_point_that_occurs_twice_is_refused() {
        let text = text();
        let twice = text.replace("\"stores\": 0", "\"stores\": 1").replace("\"delta\": 400", "\"delta\": 36");
        assert!(refusal(&twice).contains("twice"));
    }

    #[test]
    fn the_error_names_a_missing_file() {
        let refusal = format!("{:#}", State::read(Path::new("nowhere.json"), &Cpu::ice_lake()).unwrap_err());
        assert!(refusal.contains("nowhere.json: cannot read the file"), "{refusal}");
    }
}
