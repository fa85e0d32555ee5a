//! Bars in groups.
//!
//! A few bars stand side by side under a legend. Many bars lie in panels, a panel for each group,
//! and each bar has its name: fifteen colours cannot be told apart.

use anyhow::Result;

use super::canvas::{width, Align, Canvas, Legend, SIZE, SMALL};
use super::colour::{self, Colour};
use super::scale::{round_up, Scale};
use super::{interval, Bars, Drawing, Estimate};
use crate::format::number;

const WIDTH: i32 = 960;
/// The width of a panel that stands alone.
const NARROW: i32 = 300;

/// Columns: the width of the axis on the left, and the height.
const AXIS: i32 = 58;
const HEIGHT: i32 = 300;
const TITLE: i32 = 26;
/// The narrowest column, and the smallest gap between two groups.
const COLUMN: i32 = 11;
const BETWEEN: i32 = 18;

/// Panels: a heading, bars, and an axis below.
const HEADING: i32 = 28;
const BAR: i32 = 17;
const FOOT: i32 = 34;
/// The width of the figure after a bar.
const FIGURE: i32 = 50;

impl Bars {
    /// The names of the series, in the order of the legend.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.series.iter().map(|series| &*series.name)
    }

    /// The bars of a group: the index of the series, and the figure.
    fn group(&self, group: usize) -> impl Iterator<Item = (usize, Estimate)> + '_ {
        self.series.iter().enumerate().filter_map(move |(place, series)| {
            let estimate = series.bars.get(group).copied().flatten()?;
            estimate.value.is_finite().then_some((place, estimate))
        })
    }

    /// The largest figure or interval end of a group; 0 if there is none.
    fn largest(&self, group: usize) -> f64 {
        self.group(group).map(|(_, estimate)| estimate.value.max(finite(estimate.high))).fold(0.0, f64::max)
    }

    /// Returns the end of the axis. If a few bars are far longer than all others, it cuts them, so
    /// that the others can be told apart.
    fn end(&self, groups: std::ops::Range<usize>) -> f64 {
        let mut all: Vec<f64> = groups
            .clone()
            .flat_map(|group| self.group(group).map(|(_, estimate)| estimate.value.max(finite(estimate.high))))
            .collect();
        all.sort_by(f64::total_cmp);
        let Some(&largest) = all.last() else { return 1.0 };
        let most = all[(all.len() - 1) * 9 / 10].max(self.reference.map_or(0.0, |reference| 1.6 * reference));
        let end = if largest > 2.5 * most { 1.3 * most } else { largest };
        round_up(end.max(self.reference.unwrap_or(0.0)))
    }

    /// Whether all groups share an axis.
    ///
    /// Normalised groups must. Other groups do if none is much smaller than another.
    fn has_one_axis(&self) -> bool {
        let largest: Vec<f64> =
            (0..self.groups.len()).map(|group| self.largest(group)).filter(|largest| *largest > 0.0).collect();
        let (low, high) = largest.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &x| (low.min(x), high.max(x)));
        self.reference.is_some() || high <= 8.0 * low
    }

    fn uses_columns(&self) -> bool {
        let groups = self.groups.len().max(1) as i32;
        let room = (WIDTH - AXIS - 12) / groups;
        let fits = self.groups.iter().all(|name| name_lines(name, room - 6).is_some());
        self.series.len() <= colour::SERIES
            && self.series.len() as i32 * COLUMN + BETWEEN <= room
            && fits
            && self.has_one_axis()
    }
}

impl Drawing for Bars {
    fn size(&self) -> (i32, i32) {
        if self.uses_columns() {
            let legend = Legend::new(self.names(), WIDTH - AXIS);
            (WIDTH, TITLE + legend.height() + HEIGHT + 48)
        } else {
            let panels = Panels::new(self);
            (WIDTH, TITLE + panels.heights.iter().sum::<i32>())
        }
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<()> {
        if self.uses_columns() {
            columns(self, canvas)
        } else {
            Panels::new(self).draw(canvas)
        }
    }
}

fn columns(bars: &Bars, canvas: &Canvas<'_>) -> Result<()> {
    let legend = Legend::new(bars.names(), WIDTH - AXIS);
    let colours = colour::of_names(bars.names());
    canvas.text((0, TITLE / 2), &bars.axis, SIZE, Colour::Faint, Align::Left)?;
    legend.draw(canvas, (AXIS, TITLE), bars.names(), |place, (x, y)| {
        canvas.rectangle((x - 6, y - 6), (x + 6, y + 6), colours[place], 1.0, None)
    })?;

    // The space above the highest bar is for its figure.
    let top = TITLE + legend.height() + 22;
    let bottom = top + HEIGHT - 22;
    let groups = 0..bars.groups.len();
    let end = bars.end(groups.clone());
    let scale = Scale::new((0.0, end), (bottom, top), false);
    for (figure, label) in scale.ticks(5) {
        let y = scale.at(figure);
        canvas.path(&[(AXIS, y), (WIDTH, y)], if figure == 0.0 { Colour::Faint } else { Colour::Grid }, 1)?;
        canvas.text((AXIS - 8, y), &label, SMALL, Colour::Faint, Align::Right)?;
    }

    let room = (WIDTH - AXIS - 12) / bars.groups.len().max(1) as i32;
    let column = ((room - BETWEEN) / bars.series.len().max(1) as i32).min(52);
    for group in groups {
        let left = AXIS + 6 + group as i32 * room + (room - column * bars.series.len() as i32) / 2;
        for (place, estimate) in bars.group(group) {
            let x = left + place as i32 * column;
            let (high, note) = (scale.at(estimate.value), note(bars, group, place, estimate));
            canvas.rectangle(
                (x + 1, high.min(bottom - 1)),
                (x + column - 1, bottom),
                colours[place],
                1.0,
                Some(note),
            )?;
            let middle = x + column / 2;
            let mut above = high;
            if estimate.value > end {
                canvas.rectangle((x, top + 8), (x + column, top + 12), Colour::Paper, 1.0, None)?;
            } else if has_interval(&estimate) {
                let (low, high) = (scale.at(estimate.low), scale.at(estimate.high));
                canvas.error_bar((middle, low), (middle, high), (column / 4).clamp(2, 5))?;
                above = above.min(high);
            }
            let figure = number(estimate.value);
            if estimate.value > end || width(&figure, SMALL) <= column {
                canvas.text((middle, above - 9), &figure, SMALL, Colour::Text, Align::Middle)?;
            }
        }
        let middle = AXIS + 6 + group as i32 * room + room / 2;
        let lines = name_lines(&bars.groups[group], room - 6).unwrap_or_default();
        for (line, words) in lines.iter().enumerate() {
            canvas.text((middle, bottom + 16 + 15 * line as i32), words, SIZE, Colour::Text, Align::Middle)?;
        }
    }
    if let Some(reference) = bars.reference {
        let y = scale.at(reference);
        canvas.dashed_line((AXIS, y), (WIDTH, y), Colour::Text)?;
    }
    Ok(())
}

/// A panel for each group, in rows.
struct Panels<'a> {
    bars: &'a Bars,
    /// The number of panels in a row.
    across: usize,
    /// The height of each row of panels.
    heights: Vec<i32>,
    /// The width of the longest name before a bar.
    name: i32,
}

impl<'a> Panels<'a> {
    fn new(bars: &'a Bars) -> Self {
        let name = bars.names().map(|name| width(name, SIZE)).max().unwrap_or(0).clamp(40, 260) + 8;
        let across = if bars.groups.len() > 1 { ((WIDTH / (name + FIGURE + 130)) as usize).clamp(1, 3) } else { 1 };
        let groups: Vec<usize> = (0..bars.groups.len()).collect();
        let most = |row: &[usize]| row.iter().map(|&group| bars.group(group).count()).max().unwrap_or(0);
        let heights = groups.chunks(across).map(|row| HEADING + most(row) as i32 * BAR + FOOT).collect();
        Self { bars, across, heights, name }
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<()> {
        canvas.text((0, TITLE / 2), &self.bars.axis, SIZE, Colour::Faint, Align::Left)?;
        let groups = 0..self.bars.groups.len();
        let common = self.bars.has_one_axis().then(|| self.bars.end(groups.clone()));
        let colours = colour::of_names(self.bars.names());
        let across = WIDTH / self.across as i32;
        let mut top = TITLE;
        for (row, height) in self.heights.iter().enumerate() {
            for column in 0..self.across {
                let group = row * self.across + column;
                if group < groups.end {
                    let end = common.unwrap_or_else(|| self.bars.end(group..group + 1));
                    self.panel(canvas, &colours, group, end, (column as i32 * across, top, across - 20))?;
                }
            }
            top += height;
        }
        Ok(())
    }

    fn panel(
        &self,
        canvas: &Canvas<'_>,
        colours: &[Colour],
        group: usize,
        end: f64,
        (left, top, room): (i32, i32, i32),
    ) -> Result<()> {
        let bars = self.bars;
        canvas.heading((left, top + HEADING / 2), &bars.groups[group], SIZE + 1.0)?;
        let start = left + self.name;
        let scale = Scale::new((0.0, end), (start, left + room - FIGURE), false);
        let first = top + HEADING;
        let bottom = first + bars.group(group).count() as i32 * BAR;
        for (figure, label) in scale.ticks(((room - self.name - FIGURE) / 36) as usize) {
            let x = scale.at(figure);
            canvas.path(&[(x, first), (x, bottom + 4)], Colour::Grid, 1)?;
            canvas.text((x, bottom + 13), &label, SMALL - 1.0, Colour::Faint, Align::Middle)?;
        }
        for (line, (place, estimate)) in bars.group(group).enumerate() {
            let y = first + line as i32 * BAR;
            let middle = y + BAR / 2;
            let x = scale.at(estimate.value);
            let note = note(bars, group, place, estimate);
            canvas.rectangle((start, y + 2), (x.max(start + 1), y + BAR - 2), colours[place], 1.0, Some(note))?;
            if estimate.value > end {
                canvas.rectangle((x - 10, y), (x - 6, y + BAR), Colour::Paper, 1.0, None)?;
            } else if has_interval(&estimate) {
                let (low, high) = (scale.at(estimate.low), scale.at(estimate.high));
                canvas.error_bar((low, middle), (high, middle), 3)?;
            }
            canvas.text((start - 7, middle), &bars.series[place].name, SIZE, Colour::Text, Align::Right)?;
            canvas.text((left + room, middle), &number(estimate.value), SMALL, Colour::Text, Align::Right)?;
        }
        if let Some(reference) = bars.reference {
            let x = scale.at(reference);
            canvas.dashed_line((x, first - 2), (x, bottom + 4), Colour::Text)?;
        }
        Ok(())
    }
}

/// The first group of bars as a panel that stands alone.
pub(super) struct NarrowPanel<'a>(pub(super) &'a Bars);

impl Drawing for NarrowPanel<'_> {
    fn size(&self) -> (i32, i32) {
        (NARROW, HEADING + self.0.group(0).count() as i32 * BAR + FOOT)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<()> {
        let colours = colour::of_names(self.0.names());
        Panels::new(self.0).panel(canvas, &colours, 0, self.0.end(0..1), (0, 0, NARROW))
    }
}

fn note(bars: &Bars, group: usize, place: usize, estimate: Estimate) -> String {
    format!("{}, {}: {}", bars.groups[group], bars.series[place].name, interval(estimate))
}

fn has_interval(estimate: &Estimate) -> bool {
    estimate.low.is_finite() && estimate.high.is_finite() && estimate.low < estimate.high
}

fn finite(figure: f64) -> f64 {
    if figure.is_finite() {
        figure
    } else {
        0.0
    }
}

/// Splits a name into one line or two; `None` if it does not fit.
fn name_lines(name: &str, room: i32) -> Option<Vec<&str>> {
    let fits = |words: &str| width(words, SIZE) <= room;
    if fits(name) {
        return Some(vec![name]);
    }
    let breaks = name.char_indices().filter(|(_, c)| " -/_".contains(*c)).map(|(at, c)| at + c.len_utf8());
    let halves = breaks.map(|at| name.split_at(at));
    let best = halves.min_by_key(|(first, second)| first.len().max(second.len()))?;
    (fits(best.0) && fits(best.1)).then(|| vec![best.0, best.1])
}
