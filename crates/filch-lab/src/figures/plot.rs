//! Bars: a panel for each case and number of threads, a bar for each implementation.

use std::path::Path;

use anyhow::{anyhow, Result};
use plotters::backend::SVGBackend;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, TextStyle, BLACK, WHITE};

use super::{number, threads, write_text, Series};
use crate::machine::Machine;

const WIDTH: i32 = 980;
const MARGIN: i32 = 16;
const TITLE: i32 = 56;
const HEADING: i32 = 30;
const BAR: i32 = 18;
/// The width of the name before a bar, and of the figure after the longest.
const NAME: i32 = 126;
const FIGURE: i32 = 56;
/// The font. The backend draws letters at 1/1.24 of the given size.
const FONT: &str = "sans-serif";

/// Draws the medians of all series in `unit` to `path`, as SVG. Replaces an existing file.
pub(crate) fn write_plot(path: &Path, series: &[Series], unit: &str, machine: &Machine) -> Result<()> {
    let svg = draw(series, unit, machine)?;
    write_text(path, &svg)
}

/// A case with a number of threads. Serial runs are in every panel of their case, for comparison.
struct Panel<'a> {
    case: &'a str,
    threads: usize,
    bars: Vec<&'a Series>,
}

/// Returns a row of panels for each case, in the order of the series. Each number of threads has a
/// column.
fn panels<'a>(series: &[&'a Series]) -> Vec<Vec<Panel<'a>>> {
    let is_serial = |series: &Series| series.name.starts_with("serial");
    let mut cases: Vec<&str> = Vec::new();
    let mut counts: Vec<usize> = Vec::new();
    for series in series {
        if !cases.contains(&&*series.case) {
            cases.push(&series.case);
        }
        if !is_serial(series) && !counts.contains(&series.threads) {
            counts.push(series.threads);
        }
    }
    counts.sort_unstable();

    let panel = |case, threads| {
        let belongs = |series: &&&Series| {
            series.case == case && (series.threads == threads || (is_serial(series) && series.threads == 1))
        };
        let mut bars: Vec<&Series> = series.iter().filter(belongs).copied().collect();
        // A panel with only serial runs compares nothing.
        if bars.iter().all(|series| is_serial(series)) {
            bars.clear();
        }
        Panel { case, threads, bars }
    };
    let row = |case| counts.iter().map(|&threads| panel(case, threads)).collect();
    cases.into_iter().map(row).collect()
}

fn draw(series: &[Series], unit: &str, machine: &Machine) -> Result<String> {
    let drawn: Vec<&Series> =
        series.iter().filter(|series| series.unit == unit && series.median().is_finite()).collect();
    let rows = panels(&drawn);
    let heights: Vec<i32> = rows
        .iter()
        .map(|row| HEADING + BAR * row.iter().map(|panel| panel.bars.len()).max().unwrap_or(0) as i32 + MARGIN)
        .collect();
    let height = TITLE + heights.iter().sum::<i32>() + MARGIN;

    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
        let canvas = Canvas { area };
        canvas.area.fill(&WHITE).map_err(drawing_error)?;
        canvas.text(MARGIN, 20, &format!("Median {unit}: shorter is better"), 22, HPos::Left)?;
        canvas.text(MARGIN, 42, &machine.to_string(), 14, HPos::Left)?;
        let mut top = TITLE;
        for (row, height) in rows.iter().zip(&heights) {
            let width = (WIDTH - 2 * MARGIN) / row.len().max(1) as i32;
            for (column, panel) in row.iter().enumerate() {
                canvas.panel(panel, MARGIN + column as i32 * width, top, width)?;
            }
            top += height;
        }
        canvas.area.present().map_err(drawing_error)?;
    }
    Ok(svg)
}

struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
}

impl Canvas<'_> {
    fn panel(&self, panel: &Panel<'_>, left: i32, top: i32, width: i32) -> Result<()> {
        if panel.bars.is_empty() {
            return Ok(());
        }
        let threads = threads(panel.threads);
        self.text(left, top + HEADING / 2, &format!("{}, {threads}", panel.case), 17, HPos::Left)?;

        let longest = panel.bars.iter().map(|series| series.median()).fold(0.0, f64::max);
        let room = f64::from(width - NAME - FIGURE);
        let start = left + NAME;
        for (line, series) in panel.bars.iter().enumerate() {
            let top = top + HEADING + line as i32 * BAR;
            let middle = top + BAR / 2;
            let length = if longest > 0.0 { (room * series.median().max(0.0) / longest).round() as i32 } else { 0 };
            let bar = Rectangle::new(
                [(start, top + 2), (start + length.max(1), top + BAR - 2)],
                colour(series.name).filled(),
            );
            self.area.draw(&bar).map_err(drawing_error)?;
            self.text(start - 6, middle, series.name, 15, HPos::Right)?;
            self.text(start + length + 5, middle, &number(series.median()), 15, HPos::Left)?;
        }
        Ok(())
    }

    fn text(&self, x: i32, y: i32, text: &str, size: u32, anchor: HPos) -> Result<()> {
        let style = TextStyle::from((FONT, size).into_font()).color(&BLACK).pos(Pos::new(anchor, VPos::Center));
        self.area.draw(&Text::new(text.to_owned(), (x, y), style)).map_err(drawing_error)
    }
}

/// Returns the colour of a name. filch is blue, each peer has its own colour, serial runs are grey.
fn colour(name: &str) -> RGBColor {
    match name {
        "filch" | "filch-worker" => RGBColor(31, 95, 168),
        name if name.starts_with("filch") => RGBColor(133, 174, 219),
        "rayon" => RGBColor(200, 80, 60),
        "chili" => RGBColor(226, 150, 50),
        _ => RGBColor(160, 160, 160),
    }
}

/// Converts an error of the backend. Drawing to a string fails only if the drawing is invalid.
fn drawing_error(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw the figures: {error}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::machine;
    use super::*;

    fn series(case: &str, name: &'static str, threads: usize, unit: &'static str, median: f64) -> Series {
        Series { case: case.to_owned(), name, threads, unit, samples: vec![median], note: None }
    }

    #[test]
    fn only_figures_of_the_unit_are_drawn() {
        let svg = draw(
            &[
                series("fib-38", "serial", 1, "ns/join", 1.5),
                series("fib-38", "filch", 2, "ns/join", 2.5),
                series("fib-38", "rayon", 2, "ns/join", 12.25),
                series("idle", "rayon", 2, "cpu-ms/s", 4321.0),
            ],
            "ns/join",
            &machine(),
        )
        .unwrap();
        assert!(svg.starts_with("<svg"), "{svg}");
        assert!(svg.trim_end().ends_with("</svg>"), "{svg}");
        for text in ["fib-38, 2 threads", "serial", "filch", "1.50", "2.50", "12.2", "a CPU"] {
            assert!(svg.contains(text), "{text} is missing: {svg}");
        }
        assert!(!svg.contains("idle") && !svg.contains("4321"), "{svg}");
    }

    #[test]
    fn a_panel_has_its_threads_and_the_serial_runs() {
        let all = [
            series("fib-38", "serial", 1, "ns/join", 1.0),
            series("fib-38", "rayon", 1, "ns/join", 1.0),
            series("fib-38", "rayon", 2, "ns/join", 1.0),
            series("fib-38", "serial-pair", 2, "ns/join", 1.0),
        ];
        let rows = panels(&all.iter().collect::<Vec<_>>());
        let names: Vec<Vec<&str>> =
            rows[0].iter().map(|panel| panel.bars.iter().map(|series| series.name).collect()).collect();
        assert_eq!(names, [vec!["serial", "rayon"], vec!["serial", "rayon", "serial-pair"]]);
    }

    #[test]
    fn nothing_to_draw_is_an_empty_drawing() {
        assert!(draw(&[], "ns/join", &machine()).unwrap().contains("</svg>"));
    }
}
