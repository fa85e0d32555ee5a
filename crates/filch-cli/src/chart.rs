//! Charts: what can be drawn, separate from how it is drawn.
//!
//! They are drawn as SVG. The same drawing serves light and dark pages: it uses the page's
//! colours.

mod bars;
mod canvas;
mod colour;
mod csv;
mod heat_map;
mod lanes;
mod lines;
#[doc(hidden)]
pub mod samples;
mod scale;

use std::path::Path;

use anyhow::Result;

use self::canvas::{escape, Align, Canvas, SIZE};
use self::colour::{Colour, Palette};
use crate::format::number;
use crate::output_file::write_text;

pub use self::csv::{line as csv_line, of as csv};

/// The texts of a chart on a page, also for screen readers.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The prefix of its elements' ids, unique on the page.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// A description of what it shows.
    pub description: &'a str,
}

/// Returns the chart for a page, in the page's colours.
///
/// They are `--paper`, `--faint`, `--grid`, `--right`, `--wrong` and `--series-1` to `--series-8`.
pub fn svg(chart: &Chart, words: Texts<'_>) -> String {
    on_page(|canvas| chart.draw(canvas), words)
}

/// Returns the first group of bars for a page, narrow enough for a phone.
pub fn panel_svg(bars: &Bars, words: Texts<'_>) -> String {
    on_page(|canvas| bars.narrow_panel(canvas), words)
}

fn on_page(draw: impl FnOnce(&mut Canvas) -> (i32, i32), words: Texts<'_>) -> String {
    let mut canvas = Canvas::new(Palette::Page, 0);
    let (width, height) = draw(&mut canvas);
    let [id, title, description] = [words.id, words.title, words.description].map(escape);
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         style=\"--wide:{width}px\" role=\"img\" \
         aria-labelledby=\"{id}-title\" aria-describedby=\"{id}-description\">\n\
         <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-description\">{description}</desc>\n{}</svg>\n",
        canvas.finish()
    )
}

/// Writes the chart to a file, dark on white, replacing an existing file.
pub fn write(path: &Path, chart: &Chart, title: &str, subtitle: &str) -> Result<()> {
    write_all(path, std::slice::from_ref(chart), title, subtitle)
}

/// The height of a heading, and the margin around each drawing in a file.
const HEADING: i32 = 62;
const MARGIN: i32 = 20;

/// Writes charts to one file in the same way, one below the other.
pub fn write_all(path: &Path, charts: &[Chart], title: &str, subtitle: &str) -> Result<()> {
    let (mut body, mut size) = (String::new(), (0, 0));
    for (place, chart) in charts.iter().enumerate() {
        let top = if place == 0 { HEADING } else { 0 };
        let mut canvas = Canvas::new(Palette::Fixed, top);
        if place == 0 {
            canvas.heading((0, 12 - top), title, 18.0);
            canvas.text((0, 36 - top), subtitle, SIZE, Colour::Faint, Align::Left);
        }
        let (width, height) = chart.draw(&mut canvas);
        // A margin, and a background under the whole drawing.
        let (across, down) = (width + 2 * MARGIN, height + top + 2 * MARGIN);
        let area = format!("width=\"{across}\" height=\"{down}\"");
        body.push_str(&format!(
            "<svg y=\"{}\" {area} viewBox=\"-{MARGIN} -{MARGIN} {across} {down}\">\n\
             <rect x=\"-{MARGIN}\" y=\"-{MARGIN}\" {area} fill=\"#ffffff\"/>\n{}</svg>\n",
            size.1,
            canvas.finish()
        ));
        size = (size.0.max(across), size.1 + down);
    }
    let (width, height) = size;
    let start = format!("<svg width=\"{width}\" height=\"{height}\" xmlns=\"http://www.w3.org/2000/svg\">\n");
    write_text(path, &(start + &body + "</svg>\n"))
}

/// A chart of any kind.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Groups of bars side by side, with error bars. An example is ratios by program and
    /// implementation.
    Bars(Bars),
    /// Lines over a number, with bands or error bars.
    Lines(Lines),
    /// Points on a grid that are correct or incorrect: delta over the most hidden pops.
    HeatMap(HeatMap),
    /// Workers as lanes, with their busy times.
    Lanes(Lanes),
}

impl Chart {
    /// Draws the chart, and returns its width and height.
    fn draw(&self, canvas: &mut Canvas) -> (i32, i32) {
        match self {
            Chart::Bars(bars) => bars.draw(canvas),
            Chart::Lines(lines) => lines.draw(canvas),
            Chart::HeatMap(map) => map.draw(canvas),
            Chart::Lanes(lanes) => lanes.draw(canvas),
        }
    }
}

/// Groups of bars.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The title of the axis: `run time, THE = 1`.
    pub axis: String,
    /// Names of the groups, along the axis.
    pub groups: Vec<String>,
    /// The series, each with its own colour.
    pub series: Vec<BarSeries>,
    /// The value of a reference line: the baseline of normalised values.
    pub reference: Option<f64>,
}

/// The bars of one colour.
#[derive(Clone, Debug)]
pub struct BarSeries {
    /// Its name in the legend.
    pub name: String,
    /// A bar for each group; `None` if there is none.
    pub bars: Vec<Option<Estimate>>,
}

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Makes a figure without an interval.
    pub fn exact(value: f64) -> Estimate {
        Estimate { value, low: value, high: value }
    }

    /// The interval, if it has a length.
    fn interval(&self) -> Option<(f64, f64)> {
        let Estimate { low, high, .. } = *self;
        (low.is_finite() && high.is_finite() && low < high).then_some((low, high))
    }

    /// Formats the figure with its interval.
    fn with_interval(&self) -> String {
        let interval = self.interval().map(|(low, high)| format!(" ({} to {})", number(low), number(high)));
        number(self.value) + &interval.unwrap_or_default()
    }
}

/// Lines over a number.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The title of the x axis.
    pub x_axis: String,
    /// The title of the y axis.
    pub y_axis: String,
    /// Whether the x axis is logarithmic.
    pub log_x: bool,
    /// Whether the y axis is logarithmic.
    pub log_y: bool,
    /// The lines.
    pub lines: Vec<Line>,
    /// A vertical line at this x value, with a name: a knee.
    pub marker: Option<(f64, String)>,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by x.
    pub points: Vec<(f64, Estimate)>,
}

/// Correct and incorrect points on a grid.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// The title of the x axis.
    pub x_axis: String,
    /// The title of the y axis.
    pub y_axis: String,
    /// Cells: x, y, and the share of incorrect runs, from 0 to 1.
    pub cells: Vec<(u32, u32, f64)>,
    /// Whether the line y = x is drawn.
    pub diagonal: bool,
}

/// Workers and their busy times.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// The title of the time axis: `milliseconds`.
    pub axis: String,
    /// Groups of lanes, one below the other, each with a name.
    pub groups: Vec<(String, Vec<Lane>)>,
}

/// A worker: its name, and its pieces: start, end, and whether it was stolen.
pub type Lane = (String, Vec<(f64, f64, bool)>);

#[cfg(test)]
mod tests;
