//! Lines over a number.

use super::canvas::{width, Align, Canvas, SIZE, SMALL};
use super::colour::{self, Colour};
use super::scale::{round_up, Scale};
use super::{Estimate, Line, Lines};
use crate::format::number;

const WIDTH: i32 = 900;
const HEIGHT: i32 = 340;
const LEFT: i32 = 70;
const RIGHT: i32 = 16;
const FOOT: i32 = 54;
/// The most points of a line with marks and error bars. A longer line has a band.
const FEW: usize = 24;

impl Lines {
    /// Returns the points that can be drawn: a logarithmic axis has no place for 0.
    fn points<'a>(&'a self, line: &'a Line) -> impl Iterator<Item = (f64, Estimate)> + 'a {
        line.points.iter().copied().filter(|(x, y)| {
            x.is_finite() && y.value.is_finite() && (!self.log_x || *x > 0.0) && (!self.log_y || y.value > 0.0)
        })
    }

    fn x_range(&self) -> (f64, f64) {
        let marker = self.marker.iter().map(|(x, _)| *x).filter(|x| x.is_finite() && (!self.log_x || *x > 0.0));
        let (low, high) = min_max(self.lines.iter().flat_map(|line| self.points(line).map(|(x, _)| x)).chain(marker));
        match (low < high, self.log_x) {
            (true, _) => (low, high),
            // A single value is in the middle.
            (false, true) => (low / 2.0, low * 2.0),
            (false, false) => (low - 1.0, low + 1.0),
        }
    }

    fn y_range(&self) -> (f64, f64) {
        let points = || self.lines.iter().flat_map(|line| self.points(line).map(|(_, y)| y));
        let bounds = points().flat_map(|y| [y.value, y.low, y.high]);
        let (low, high) = min_max(bounds.filter(|y| y.is_finite() && (!self.log_y || *y > 0.0)));
        if self.log_y {
            return (low / 1.15, high * 1.15);
        }
        // From 0, unless all values are so far above it that no difference would be visible.
        let low = if low > 0.6 * high { (low - (high - low) * 0.15).max(0.0) } else { low.min(0.0) };
        (low, if low > 0.0 { high + (high - low) * 0.08 } else { round_up(high) })
    }

    /// Draws the chart, and returns its width and height.
    pub(super) fn draw(&self, canvas: &mut Canvas) -> (i32, i32) {
        let names: Vec<&str> = self.lines.iter().map(|line| &*line.name).collect();
        let colours = colour::of_names(&names);
        let legend = canvas.legend((LEFT, 0), WIDTH - LEFT, &names, |canvas, place, (x, y)| {
            canvas.path(&[(x - 9, y), (x + 9, y)], colours[place], 2);
            mark(canvas, (x, y), place, colours[place], None);
        });

        let (top, bottom) = (legend + 20, legend + HEIGHT);
        let x = Scale::new(self.x_range(), (LEFT + 6, WIDTH - RIGHT - 6), self.log_x);
        let y = Scale::new(self.y_range(), (bottom, top), self.log_y);
        canvas.rows(&y, 6, (LEFT, WIDTH - RIGHT), Colour::Grid);
        canvas.path(&[(LEFT, bottom), (WIDTH - RIGHT, bottom)], Colour::Faint, 1);
        let mut free = 0;
        for (figure, label) in x.ticks(10) {
            let at = x.at(figure);
            canvas.path(&[(at, bottom), (at, bottom + 5)], Colour::Faint, 1);
            let half = width(&label, SMALL) / 2;
            if at - half >= free {
                canvas.text((at, bottom + 16), &label, SMALL, Colour::Faint, Align::Middle);
                free = at + half + 6;
            }
        }
        canvas.text(((LEFT + WIDTH - RIGHT) / 2, bottom + 40), &self.x_axis, SIZE, Colour::Faint, Align::Middle);
        canvas.vertical_text((12, (top + bottom) / 2), &self.y_axis);

        if let Some((at, name)) = self.marker.as_ref().filter(|(at, _)| at.is_finite()) {
            let at = x.at(*at);
            canvas.dashed_line((at, top - 6), (at, bottom), Colour::Text);
            let (align, at) =
                if at > WIDTH - RIGHT - width(name, SIZE) - 8 { (Align::Right, at - 7) } else { (Align::Left, at + 7) };
            canvas.text((at, top - 4), name, SIZE, Colour::Text, align);
        }
        for (place, line) in self.lines.iter().enumerate() {
            self.line(canvas, place, line, colours[place], &x, &y);
        }
        (WIDTH, legend + HEIGHT + FOOT)
    }

    fn line(&self, canvas: &mut Canvas, place: usize, line: &Line, colour: Colour, x: &Scale, y: &Scale) {
        let mut points: Vec<(f64, Estimate)> = self.points(line).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let bounds = |estimate: &Estimate| {
            let low = if estimate.low.is_finite() { estimate.low } else { estimate.value };
            let high = if estimate.high.is_finite() { estimate.high } else { estimate.value };
            (y.at(low), y.at(high))
        };
        if points.len() > FEW {
            let upper = points.iter().map(|(figure, estimate)| (x.at(*figure), bounds(estimate).1));
            let lower = points.iter().rev().map(|(figure, estimate)| (x.at(*figure), bounds(estimate).0));
            canvas.polygon(&upper.chain(lower).collect::<Vec<_>>(), colour, 0.18, None);
        }
        let path: Vec<(i32, i32)> = points.iter().map(|(figure, to)| (x.at(*figure), y.at(to.value))).collect();
        if path.len() > 1 {
            canvas.path(&path, colour, 2);
        }
        for (at, (figure, estimate)) in path.iter().zip(&points) {
            let note = format!("{}, {}: {}", line.name, number(*figure), estimate.with_interval());
            if points.len() > FEW {
                canvas.circle(*at, 2, colour, Some(note));
                continue;
            }
            let (low, high) = bounds(estimate);
            if low - high > 1 {
                canvas.path(&[(at.0, low), (at.0, high)], colour, 1);
                for y in [low, high] {
                    canvas.path(&[(at.0 - 3, y), (at.0 + 3, y)], colour, 1);
                }
            }
            mark(canvas, *at, place, colour, Some(note));
        }
    }
}

/// Draws a mark. Each line has its own shape, so that lines differ without colours.
fn mark(canvas: &mut Canvas, (x, y): (i32, i32), place: usize, colour: Colour, note: Option<String>) {
    match place % 4 {
        0 => canvas.circle((x, y), 4, colour, note),
        1 => canvas.rectangle((x - 4, y - 4), (x + 4, y + 4), colour, note),
        2 => canvas.polygon(&[(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)], colour, 1.0, note),
        _ => canvas.polygon(&[(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], colour, 1.0, note),
    }
}

/// Returns the smallest and the largest figure; 0 and 1 if there are none.
fn min_max(figures: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = figures.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low <= high {
        (low, high)
    } else {
        (0.0, 1.0)
    }
}
