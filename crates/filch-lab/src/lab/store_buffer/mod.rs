//! Measures the capacity of the store buffer.
//!
//! The method is that of figures 6 and 7 of *Fence-Free Work Stealing on Bounded TSO Processors*.
//! Sequences of stores alternate with long chains of other instructions. If all stores of a
//! sequence fit, they drain during the chain and cost nothing. The first store that does not fit
//! stalls the pipeline. The longest sequence that costs nothing is the capacity.

mod knee;
mod show;
mod sweep;

#[cfg(target_arch = "x86_64")]
mod sequence;
#[cfg(not(target_arch = "x86_64"))]
#[path = "sequence_unsupported.rs"]
mod sequence;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::chart;
use crate::figures;
use crate::lab::kinds::{self, Kind, Kinds};
use crate::machine::Machine;
use crate::{print, say, stats};

/// Measure the capacity of the store buffer of this CPU.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Also write the measurements to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Also draw the curves to this file, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// A measured curve, and its knee.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Curve {
    /// The kind of core that it was measured on.
    pub(crate) core: &'static str,
    /// The points, in the order of their numbers of stores.
    pub(crate) points: Vec<Point>,
    /// The knee; `None` if none stands out from noise.
    pub(crate) knee: Option<Knee>,
}

/// The time of a sequence of stores.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Point {
    /// The number of stores in the sequence.
    pub(crate) stores: usize,
    /// Nanoseconds for a sequence with its chain of other instructions: the median of the rounds.
    pub(crate) median: f64,
    /// The lower end of the median's confidence interval.
    pub(crate) low: f64,
    /// The upper end of the median's confidence interval.
    pub(crate) high: f64,
}

/// Where sequences begin to stall.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Knee {
    /// The longest sequence that does not stall: the capacity.
    pub(crate) entries: usize,
    /// The share of the resampled rounds that have the knee in the same place.
    pub(crate) confidence: f64,
}

/// Where the stores of a sequence go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Places {
    /// To different cache lines in turn, so that no two consecutive stores can be combined.
    Lines,
    /// All to one word, so that they can be combined.
    OneWord,
}

/// The lengths tried first. No CPU of the last twenty years has a smaller buffer, and none known
/// has a larger.
const LENGTHS: RangeInclusive<usize> = 8..=160;

/// The lengths tried if the first have no knee. Longer sequences would not drain during their
/// chain.
const LONGER_LENGTHS: RangeInclusive<usize> = 8..=320;

/// The confidence below which no knee is reported.
const MIN_CONFIDENCE: f64 = 0.8;

/// The confidence that a bound needs. Below it, a knee may be noise.
pub(crate) const SURE: f64 = 0.9;

/// How long `lab store-buffer` measures stores to different lines, and stores to one word.
const TIME_FOR_LINES: Duration = Duration::from_secs(6);
const TIME_FOR_ONE_WORD: Duration = Duration::from_secs(3);

/// Measures for about `time`, or twice that if the first lengths show no knee.
///
/// On a machine with several kinds of cores, the result is the curve of the largest buffer: a
/// thread may run on any core.
pub(crate) fn measure(time: Duration) -> Result<Curve> {
    largest(measure_kinds(time, Places::Lines)?).context("there is no core to measure on")
}

fn measure_kinds(time: Duration, places: Places) -> Result<Vec<Curve>> {
    let kinds = Kinds::here().usable(&kinds::allowed());
    let time = time / kinds.len() as u32;
    kinds.into_iter().map(|(kind, threads)| measure_kind(kind, threads.first().copied(), places, time)).collect()
}

fn measure_kind(kind: Kind, core: Option<usize>, places: Places, time: Duration) -> Result<Curve> {
    let curve = |lengths: RangeInclusive<usize>| {
        let rounds = sweep::sweep(lengths.clone(), places, (kind, core), time)?;
        anyhow::Ok(Curve::new(core_name(kind), *lengths.start(), &rounds))
    };
    let first = curve(LENGTHS)?;
    if first.knee.is_none() && places == Places::Lines {
        return curve(LONGER_LENGTHS);
    }
    Ok(first)
}

/// The common name of a core of this kind.
fn core_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Any => "core",
        Kind::Performance => "performance core",
        Kind::Efficient => "efficiency core",
    }
}

/// Returns the curve of the largest buffer. A curve without a knee counts as the largest, because
/// its buffer may have any size.
fn largest(curves: Vec<Curve>) -> Option<Curve> {
    curves.into_iter().max_by_key(|curve| curve.knee.map_or(usize::MAX, |knee| knee.entries))
}

impl Curve {
    /// Makes a curve of rounds with a time for every length from `shortest` on.
    fn new(core: &'static str, shortest: usize, rounds: &[Vec<f64>]) -> Curve {
        let lengths = rounds.first().map_or(0, Vec::len);
        let point = |index: usize| {
            let times: Vec<f64> = rounds.iter().map(|round| round[index]).collect();
            let interval = stats::interval(&times)?;
            Some(Point { stores: shortest + index, median: interval.median, low: interval.low, high: interval.high })
        };
        let knee = knee::find_with_confidence(rounds)
            .filter(|&(_, confidence)| confidence >= MIN_CONFIDENCE)
            .map(|(level, confidence)| Knee { entries: shortest + level - 1, confidence });
        Curve { core, points: (0..lengths).filter_map(point).collect(), knee }
    }
}

/// Runs `filch-lab lab store-buffer`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    arguments.json.iter().chain(&arguments.plot).try_for_each(|path| figures::check_writable(path))?;
    let machine = Machine::here();
    say(&format!(
        "Measuring sequences of stores on {machine}: about {} seconds.",
        (TIME_FOR_LINES + TIME_FOR_ONE_WORD).as_secs()
    ));
    let lines = measure_kinds(TIME_FOR_LINES, Places::Lines)?;
    let one_word = measure_kinds(TIME_FOR_ONE_WORD, Places::OneWord)?;

    if let Some(path) = &arguments.json {
        figures::write_json(path, &show::json(&lines, &one_word, &machine))?;
    }
    if let Some(path) = &arguments.plot {
        let (title, chart) = ("Time for a sequence of stores", show::chart(&lines, &one_word));
        chart::write(path, &chart, title, &machine.to_string())?;
    }
    print(&show::text(&lines, &one_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a round with this knee.
    fn round(knee: u32) -> Vec<f64> {
        (8..=60).map(|stores| if stores <= knee { 130.0 } else { 135.0 + f64::from(stores) }).collect()
    }

    #[test]
    fn each_kind_of_core_has_its_common_name() {
        let names = [Kind::Performance, Kind::Efficient, Kind::Any].map(core_name);
        assert_eq!(names, ["performance core", "efficiency core", "core"]);
    }

    #[test]
    fn the_knee_of_a_curve_is_the_longest_sequence_without_a_stall() {
        let curve = Curve::new("core", 8, &vec![round(42); 24]);
        assert_eq!(curve.knee.map(|knee| (knee.entries, knee.confidence)), Some((42, 1.0)));
        assert_eq!(curve.points.len(), 53);
        let at = curve.points.iter().find(|point| point.stores == 43).unwrap();
        assert_eq!((at.low, at.median, at.high), (178.0, 178.0, 178.0));
    }

    #[test]
    fn a_knee_on_which_the_rounds_disagree_is_not_reported() {
        let rounds: Vec<_> = (0..25).map(|number| round(21 + 21 * (number % 2))).collect();
        assert!(Curve::new("core", 8, &rounds).knee.is_none());
    }
}
