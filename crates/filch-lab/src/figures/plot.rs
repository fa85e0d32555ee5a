//! Bars: a group for each case and number of threads, a bar for each implementation.

use std::path::Path;

use anyhow::Result;

use super::Series;
use crate::chart::{self, BarSeries, Bars, Chart, Estimate};
use crate::machine::Machine;

/// Draws the medians of all series in `unit` to `path`, as SVG. Replaces an existing file.
pub(crate) fn write_plot(path: &Path, series: &[Series], unit: &str, machine: &Machine) -> Result<()> {
    let title = format!("Median {unit}: shorter is better");
    chart::write(path, &Chart::Bars(bars(series, unit)), &title, &machine.to_string())
}

/// Returns a group for each case and number of threads. Serial runs are in all groups of their case,
/// for comparison.
fn bars(series: &[Series], unit: &str) -> Bars {
    let drawn: Vec<&Series> =
        series.iter().filter(|series| series.unit == unit && series.median().is_finite()).collect();
    let is_serial = |series: &Series| series.name.starts_with("serial");
    let (mut groups, mut names) = (Vec::new(), Vec::new());
    for series in &drawn {
        // A group with only serial runs compares nothing.
        if !is_serial(series) && !groups.contains(&(&*series.case, series.threads)) {
            groups.push((&*series.case, series.threads));
        }
        if !names.contains(&series.name) {
            names.push(series.name);
        }
    }
    let bar = |name: &str, (case, threads): (&str, usize)| {
        let belongs = |series: &&&Series| {
            let is_there = series.threads == threads || (is_serial(series) && series.threads == 1);
            series.case == case && series.name == name && is_there
        };
        let value = drawn.iter().find(belongs)?.median();
        Some(Estimate { value, low: value, high: value })
    };
    let of_name =
        |name: &str| BarSeries { name: name.to_owned(), bars: groups.iter().map(|&group| bar(name, group)).collect() };
    Bars {
        axis: unit.to_owned(),
        series: names.into_iter().map(of_name).collect(),
        groups: groups.iter().map(|(case, threads)| format!("{case}, {}", super::threads(*threads))).collect(),
        reference: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::machine;
    use super::*;

    fn series(case: &str, name: &'static str, threads: usize, unit: &'static str, median: f64) -> Series {
        Series { case: case.to_owned(), name, threads, unit, samples: vec![median], note: None }
    }

    fn drawn(series: &[Series]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plot.svg");
        write_plot(&path, series, "ns/join", &machine()).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn only_figures_of_the_unit_are_drawn() {
        let svg = drawn(&[
            series("fib-38", "serial", 1, "ns/join", 1.5),
            series("fib-38", "filch", 2, "ns/join", 2.5),
            series("fib-38", "rayon", 2, "ns/join", 12.25),
            series("idle", "rayon", 2, "cpu-ms/s", 4321.0),
        ]);
        assert!(svg.starts_with("<svg"), "{svg}");
        assert!(svg.trim_end().ends_with("</svg>"), "{svg}");
        for text in ["fib-38, 2 threads", "serial", "filch", "1.50", "2.50", "12.2", "a CPU"] {
            assert!(svg.contains(text), "{text} is missing: {svg}");
        }
        assert!(!svg.contains("idle") && !svg.contains("4321"), "{svg}");
    }

    #[test]
    fn a_group_has_its_threads_and_the_serial_runs() {
        let bars = bars(
            &[
                series("fib-38", "serial", 1, "ns/join", 1.0),
                series("fib-38", "rayon", 1, "ns/join", 1.0),
                series("fib-38", "rayon", 2, "ns/join", 1.0),
                series("fib-38", "serial-pair", 2, "ns/join", 1.0),
            ],
            "ns/join",
        );
        assert_eq!(bars.groups, ["fib-38, 1 thread", "fib-38, 2 threads"]);
        let has = |series: &BarSeries| -> Vec<bool> { series.bars.iter().map(Option::is_some).collect() };
        let all: Vec<(&str, Vec<bool>)> = bars.series.iter().map(|series| (&*series.name, has(series))).collect();
        assert_eq!(all, [("serial", vec![true; 2]), ("rayon", vec![true; 2]), ("serial-pair", vec![false, true])]);
    }

    #[test]
    fn nothing_to_draw_is_an_empty_drawing() {
        assert!(drawn(&[]).contains("</svg>"));
    }
}
