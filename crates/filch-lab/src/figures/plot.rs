//! Bars: a panel for each case and number of threads, a bar for each implementation.

use std::path::Path;

use anyhow::Result;

use super::{threads, Series};
use crate::chart::{self, BarSeries, Bars, Chart, Estimate};
use crate::machine::Machine;

/// Draws the medians of all series in `unit` to `path`, as SVG. Replaces an existing file.
pub(crate) fn write_plot(path: &Path, series: &[Series], unit: &str, machine: &Machine) -> Result<()> {
    let title = format!("Median {unit}: shorter is better");
    chart::write(path, &Chart::Bars(panels(series, unit)), &title, &machine.to_string())
}

/// Returns a panel for each case and number of threads, in the order of the series. Serial runs are
/// in every panel of their case, for comparison. A panel with only serial runs compares nothing.
fn panels(series: &[Series], unit: &str) -> Bars {
    let is_serial = |series: &Series| series.name.starts_with("serial");
    let drawn: Vec<&Series> = series.iter().filter(|series| series.unit == unit).collect();
    let (mut groups, mut names) = (Vec::new(), Vec::new());
    for series in &drawn {
        let group = (&*series.case, series.threads);
        if !is_serial(series) && !groups.contains(&group) {
            groups.push(group);
        }
        if !names.contains(&series.name) {
            names.push(series.name);
        }
    }
    let bar = |name: &str, (case, threads): (&str, usize)| {
        let belongs = |series: &&&Series| {
            (series.name, &*series.case) == (name, case)
                && (series.threads == threads || (is_serial(series) && series.threads == 1))
        };
        drawn.iter().find(belongs).map(|series| Estimate::exact(series.median()))
    };
    let bars = |name: &&str| BarSeries {
        name: (*name).to_owned(),
        bars: groups.iter().map(|group| bar(name, *group)).collect(),
    };
    Bars {
        axis: unit.to_owned(),
        series: names.iter().map(bars).collect(),
        groups: groups.iter().map(|&(case, count)| format!("{case}, {}", threads(count))).collect(),
        reference: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::machine;
    use super::*;

    fn series(case: &str, name: &'static str, threads: usize, unit: &'static str) -> Series {
        Series { case: case.to_owned(), name, threads, unit, samples: vec![1.5], note: None }
    }

    #[test]
    fn a_panel_has_its_threads_and_the_serial_runs() {
        let all = [
            series("fib-38", "serial", 1, "ns/join"),
            series("fib-38", "rayon", 1, "ns/join"),
            series("fib-38", "rayon", 2, "ns/join"),
            series("fib-38", "serial-pair", 2, "ns/join"),
            series("idle", "rayon", 2, "cpu-ms/s"),
        ];
        let Bars { groups, series, .. } = panels(&all, "ns/join");
        assert_eq!(groups, ["fib-38, 1 thread", "fib-38, 2 threads"]);
        let bars: Vec<(&str, Vec<bool>)> =
            series.iter().map(|series| (&*series.name, series.bars.iter().map(Option::is_some).collect())).collect();
        let expected = [("serial", [true, true]), ("rayon", [true, true]), ("serial-pair", [false, true])];
        assert_eq!(bars, expected.map(|(name, bars)| (name, bars.to_vec())));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_drawing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plot.svg");
        write_plot(&path, &[], "ns/join", &machine()).unwrap();
        assert!(std::fs::read_to_string(path).unwrap().contains("a CPU"));
    }
}
