//! Charts: what can be drawn, apart from how. Drawn by plotters as SVG; the same drawing is for a page in light and dark, where its colours are the page's.

mod bars;
mod canvas;
mod csv;
mod heat_map;
mod ink;
mod lanes;
mod lines;
mod scale;

use std::path::Path;

use anyhow::Result;

use self::canvas::{Canvas, Side, SIZE};
use self::ink::{escape, Ink, Palette};
use crate::figures::{number, write_file};

pub(crate) use self::csv::line as csv_line;

/// What a page says of a chart, to those who do not see it too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    /// What its elements are named by: unique on the page.
    pub(crate) id: &'a str,
    /// What it is.
    pub(crate) title: &'a str,
    /// What is to be seen in it.
    pub(crate) description: &'a str,
}

/// The chart for a page, whose colours it has: `--paper`, `--faint`, `--grid`, `--right`, `--wrong` and `--series-1` to `--series-8`.
pub(crate) fn svg(chart: &Chart, words: Words<'_>) -> Result<String> {
    let (svg, (width, height)) = draw(chart, None, Palette::Page)?;
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let Words { id, title, description } = words;
    let id = escape(id);
    Ok(format!(
        "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         style=\"--wide:{width}px\" role=\"img\" \
         aria-labelledby=\"{id}-title\" aria-describedby=\"{id}-description\">\n\
         <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-description\">{}</desc>{body}",
        escape(title),
        escape(description)
    ))
}

/// The chart as a file of its own, dark on white, in place of what is there.
pub(crate) fn write(path: &Path, chart: &Chart, title: &str, subtitle: &str) -> Result<()> {
    let (svg, _) = draw(chart, Some((title, subtitle)), Palette::Fixed)?;
    write_file(path, |writer| Ok(writer.write_all(svg.as_bytes())?))
}

/// The figures of the chart, as comma-separated values with a heading.
pub(crate) fn csv(chart: &Chart) -> String {
    csv::of(chart)
}

/// How something is drawn.
trait Drawing {
    /// Pixels across and down.
    fn size(&self) -> (i32, i32);

    /// Draws it.
    fn draw(&self, canvas: &Canvas<'_>) -> Result<()>;
}

/// Around a drawing that stands alone.
const MARGIN: i32 = 20;

fn draw(chart: &Chart, heading: Option<(&str, &str)>, palette: Palette) -> Result<(String, (i32, i32))> {
    let drawing: &dyn Drawing = match chart {
        Chart::Bars(bars) => bars,
        Chart::Lines(lines) => lines,
        Chart::HeatMap(map) => map,
        Chart::Lanes(lanes) => lanes,
    };
    let size = drawing.size();
    let top = if heading.is_some() { 62 } else { 0 };
    let mut svg = String::new();
    let canvas = Canvas::new(&mut svg, size, top);
    if let Some((title, subtitle)) = heading {
        canvas.heading((0, 12 - top), title, 18.0)?;
        canvas.text((0, 36 - top), subtitle, SIZE, Ink::Faint, Side::Left)?;
    }
    drawing.draw(&canvas)?;
    let notes = canvas.finish()?;
    let svg = ink::dress(&svg, palette, &notes);
    let (width, height) = (size.0, size.1 + top);
    if palette == Palette::Page {
        return Ok((svg, (width, height)));
    }
    // A margin, and paper under all of it.
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let (across, down) = (width + 2 * MARGIN, height + 2 * MARGIN);
    let (left, above) = (-MARGIN, -MARGIN);
    let svg = format!(
        "<svg width=\"{across}\" height=\"{down}\" viewBox=\"{left} {above} {across} {down}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n\
         <rect x=\"{left}\" y=\"{above}\" width=\"{across}\" height=\"{down}\" fill=\"#ffffff\"/>{body}"
    );
    Ok((svg, (across, down)))
}

/// A figure, and where it may lie.
fn interval(Estimate { value, low, high }: Estimate) -> String {
    if low.is_finite() && high.is_finite() && low < high {
        format!("{} ({} to {})", number(value), number(low), number(high))
    } else {
        number(value)
    }
}

/// Something to draw.
#[derive(Clone, Debug)]
pub(crate) enum Chart {
    /// Groups of bars side by side, with error bars: ratios by program and implementation, say.
    Bars(Bars),
    /// Lines over a number, with bands or error bars.
    Lines(Lines),
    /// Points on a grid that are right or wrong: delta over the most hidden pops.
    HeatMap(HeatMap),
    /// Workers as lanes, and what they were busy with.
    Lanes(Lanes),
}

/// Groups of bars.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// What the numbers are: `run time, THE = 1`.
    pub(crate) axis: String,
    /// Names of the groups, along the axis.
    pub(crate) groups: Vec<String>,
    /// The bars of each colour.
    pub(crate) series: Vec<BarSeries>,
    /// A line across at this value: what is normalised to.
    pub(crate) reference: Option<f64>,
}

/// The bars of one colour.
#[derive(Clone, Debug)]
pub(crate) struct BarSeries {
    /// Its name in the legend.
    pub(crate) name: String,
    /// One a group; None where there is none.
    pub(crate) bars: Vec<Option<Estimate>>,
}

/// A figure with where it may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// The figure.
    pub(crate) value: f64,
    /// The lower end.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
}

/// Lines over a number.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// What runs along.
    pub(crate) x_axis: String,
    /// What runs upwards.
    pub(crate) y_axis: String,
    /// Whether the axis along is logarithmic.
    pub(crate) log_x: bool,
    /// Whether the axis upwards is logarithmic.
    pub(crate) log_y: bool,
    /// Each line.
    pub(crate) lines: Vec<Line>,
    /// A line upwards at this value, with a name: a knee.
    pub(crate) marker: Option<(f64, String)>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its name in the legend.
    pub(crate) name: String,
    /// Its points, by x.
    pub(crate) points: Vec<(f64, Estimate)>,
}

/// Right and wrong on a grid.
#[derive(Clone, Debug)]
pub(crate) struct HeatMap {
    /// What runs along.
    pub(crate) x_axis: String,
    /// What runs upwards.
    pub(crate) y_axis: String,
    /// Cells: x, y, and the share of runs that went wrong, from 0 to 1.
    pub(crate) cells: Vec<(u32, u32, f64)>,
    /// Whether the line y = x is drawn.
    pub(crate) diagonal: bool,
}

/// Workers and what they were busy with.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    /// What runs along: `milliseconds`.
    pub(crate) axis: String,
    /// Groups of lanes, one above the other, with a name each.
    pub(crate) groups: Vec<(String, Vec<Lane>)>,
}

/// A worker: its name, and from when to when it was busy, and whether with something stolen.
pub(crate) type Lane = (String, Vec<(f64, f64, bool)>);

#[cfg(test)]
pub(crate) mod tests;
