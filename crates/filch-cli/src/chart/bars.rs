//! Bars in groups.
//!
//! A few bars stand side by side under a legend. Many bars lie in panels, a panel for each group,
//! and each bar has its name: fifteen colours cannot be told apart.

use super::canvas::{square, width, Align, Canvas, SIZE, SMALL};
use super::colour::{self, Colour};
use super::scale::{round_up, Scale};
use super::{Bars, Estimate};
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
    fn names(&self) -> Vec<&str> {
        self.series.iter().map(|series| &*series.name).collect()
    }

    /// The bars of a group: the index of the series, and the figure.
    fn group(&self, group: usize) -> impl Iterator<Item = (usize, Estimate)> + '_ {
        self.series.iter().enumerate().filter_map(move |(place, series)| {
            let estimate = series.bars.get(group).copied().flatten()?;
            estimate.value.is_finite().then_some((place, estimate))
        })
    }

    /// The figures of a group, or the ends of their intervals.
    fn ends(&self, group: usize) -> impl Iterator<Item = f64> + '_ {
        self.group(group)
            .map(|(_, Estimate { value, high, .. })| if high.is_finite() { value.max(high) } else { value })
    }

    /// Returns the end of the axis. If a few bars are far longer than all others, it cuts them, so
    /// that the others can be told apart.
    fn end(&self, groups: std::ops::Range<usize>) -> f64 {
        let mut all: Vec<f64> = groups.flat_map(|group| self.ends(group)).collect();
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
        let largest = (0..self.groups.len()).map(|group| self.ends(group).fold(0.0, f64::max));
        let (low, high) = largest
            .filter(|largest| *largest > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), largest| (low.min(largest), high.max(largest)));
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

    /// Draws the chart, and returns its width and height.
    pub(super) fn draw(&self, canvas: &mut Canvas) -> (i32, i32) {
        canvas.text((0, TITLE / 2), &self.axis, SIZE, Colour::Faint, Align::Left);
        let height = if self.uses_columns() { self.columns(canvas) } else { self.panels(canvas) };
        (WIDTH, height)
    }

    /// Draws all groups side by side, and returns the height.
    fn columns(&self, canvas: &mut Canvas) -> i32 {
        let colours = colour::of_names(&self.names());
        let legend = canvas.legend((AXIS, TITLE), WIDTH - AXIS, &self.names(), |canvas, place, at| {
            square(canvas, at, colours[place]);
        });

        // The space above the highest bar is for its figure.
        let top = TITLE + legend + 22;
        let bottom = top + HEIGHT - 22;
        let end = self.end(0..self.groups.len());
        let scale = Scale::new((0.0, end), (bottom, top), false);
        canvas.rows(&scale, 5, (AXIS, WIDTH), Colour::Faint);

        let room = (WIDTH - AXIS - 12) / self.groups.len().max(1) as i32;
        let column = ((room - BETWEEN) / self.series.len().max(1) as i32).min(52);
        for (group, name) in self.groups.iter().enumerate() {
            let start = AXIS + 6 + group as i32 * room;
            let left = start + (room - column * self.series.len() as i32) / 2;
            for (place, estimate) in self.group(group) {
                let x = left + place as i32 * column;
                let high = scale.at(estimate.value);
                let corners = ((x + 1, high.min(bottom - 1)), (x + column - 1, bottom));
                canvas.rectangle(corners.0, corners.1, colours[place], Some(self.note(group, place, estimate)));
                let middle = x + column / 2;
                let mut above = high;
                if estimate.value > end {
                    canvas.rectangle((x, top + 8), (x + column, top + 12), Colour::Paper, None);
                } else if let Some((low, high)) = estimate.interval() {
                    let (low, high) = (scale.at(low), scale.at(high));
                    canvas.error_bar((middle, low), (middle, high), (column / 4).clamp(2, 5));
                    above = above.min(high);
                }
                let figure = number(estimate.value);
                if estimate.value > end || width(&figure, SMALL) <= column {
                    canvas.text((middle, above - 9), &figure, SMALL, Colour::Text, Align::Middle);
                }
            }
            for (line, words) in name_lines(name, room - 6).into_iter().flatten().enumerate() {
                let at = (start + room / 2, bottom + 16 + 15 * line as i32);
                canvas.text(at, words, SIZE, Colour::Text, Align::Middle);
            }
        }
        if let Some(reference) = self.reference {
            let y = scale.at(reference);
            canvas.dashed_line((AXIS, y), (WIDTH, y), Colour::Text);
        }
        TITLE + legend + HEIGHT + 48
    }

    /// The width of the longest name before a bar of a panel.
    fn name_width(&self) -> i32 {
        self.names().into_iter().map(|name| width(name, SIZE)).max().unwrap_or(0).clamp(40, 260) + 8
    }

    /// Draws a panel for each group, in rows, and returns the height.
    fn panels(&self, canvas: &mut Canvas) -> i32 {
        let groups: Vec<usize> = (0..self.groups.len()).collect();
        let fit = (WIDTH / (self.name_width() + FIGURE + 130)) as usize;
        let in_a_row = if groups.len() > 1 { fit.clamp(1, 3) } else { 1 };
        let common = self.has_one_axis().then(|| self.end(0..groups.len()));
        let across = WIDTH / in_a_row as i32;
        let mut top = TITLE;
        for row in groups.chunks(in_a_row) {
            let panels = row.iter().zip((0..).step_by(across as usize)).map(|(&group, left)| {
                let end = common.unwrap_or_else(|| self.end(group..group + 1));
                self.panel(canvas, group, end, (left, top, across - 20))
            });
            top += panels.max().unwrap_or(0);
        }
        top
    }

    /// Draws the first group as a panel that stands alone, and returns its width and height.
    pub(super) fn narrow_panel(&self, canvas: &mut Canvas) -> (i32, i32) {
        (NARROW, self.panel(canvas, 0, self.end(0..1), (0, 0, NARROW)))
    }

    /// Draws the panel of a group, and returns its height.
    fn panel(&self, canvas: &mut Canvas, group: usize, end: f64, (left, top, room): (i32, i32, i32)) -> i32 {
        let colours = colour::of_names(&self.names());
        canvas.heading((left, top + HEADING / 2), &self.groups[group], SIZE + 1.0);
        let name = self.name_width();
        let start = left + name;
        let scale = Scale::new((0.0, end), (start, left + room - FIGURE), false);
        let first = top + HEADING;
        let bottom = first + self.group(group).count() as i32 * BAR;
        canvas.columns(&scale, ((room - name - FIGURE) / 36) as usize, (first, bottom + 4), SMALL - 1.0, 9);
        for (line, (place, estimate)) in self.group(group).enumerate() {
            let y = first + line as i32 * BAR;
            let middle = y + BAR / 2;
            let x = scale.at(estimate.value);
            let corners = ((start, y + 2), (x.max(start + 1), y + BAR - 2));
            canvas.rectangle(corners.0, corners.1, colours[place], Some(self.note(group, place, estimate)));
            if estimate.value > end {
                canvas.rectangle((x - 10, y), (x - 6, y + BAR), Colour::Paper, None);
            } else if let Some((low, high)) = estimate.interval() {
                canvas.error_bar((scale.at(low), middle), (scale.at(high), middle), 3);
            }
            canvas.text((start - 7, middle), &self.series[place].name, SIZE, Colour::Text, Align::Right);
            canvas.text((left + room, middle), &number(estimate.value), SMALL, Colour::Text, Align::Right);
        }
        if let Some(reference) = self.reference {
            let x = scale.at(reference);
            canvas.dashed_line((x, first - 2), (x, bottom + 4), Colour::Text);
        }
        bottom + FOOT - top
    }

    fn note(&self, group: usize, place: usize, estimate: Estimate) -> String {
        format!("{}, {}: {}", self.groups[group], self.series[place].name, estimate.with_interval())
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
