//! Correct and incorrect points on a grid.
//!
//! Incorrect cells have a cross, for colour-blind readers. The share of incorrect runs is shown by
//! how much of a cell is filled, never by a paler colour: one incorrect run in a million is as
//! visible as any.

use std::collections::BTreeMap;

use super::canvas::{Align, Canvas, SIZE, SMALL};
use super::colour::Colour;
use super::scale::Scale;
use super::HeatMap;

const SIDE: i32 = 520;
const LEFT: i32 = 70;
const TOP: i32 = 34;
const FOOT: i32 = 54;

const LEGEND: [&str; 4] = ["all correct", "up to 0.1 % incorrect", "up to 10 % incorrect", "more"];

/// Returns the style of a cell, by the share of incorrect runs.
///
/// It is the fill, the edge, and the cross with its width.
fn cell_style(share: f64) -> (Colour, Colour, Option<(Colour, u32)>) {
    match share {
        share if share <= 0.0 => (Colour::Right, Colour::Faint, None),
        share if share <= 0.001 => (Colour::Paper, Colour::Wrong, Some((Colour::Wrong, 1))),
        share if share <= 0.1 => (Colour::Wrong, Colour::Wrong, Some((Colour::Paper, 1))),
        _ => (Colour::Wrong, Colour::Text, Some((Colour::Paper, 2))),
    }
}

/// Returns the ranges of the axes, and whether they are logarithmic.
///
/// Linear axes begin at 0. If their lengths differ much, most cells would lie in a corner, and the
/// axes are logarithmic. On both kinds of axes, y = x is a straight line.
fn ranges<'a>(cells: impl Iterator<Item = &'a (u32, u32)>, diagonal: bool) -> ((f64, f64), (f64, f64), bool) {
    let (widest, highest) = cells.fold((1, 1), |(widest, highest), &(x, y)| (widest.max(x), highest.max(y)));
    let (widest, highest) = (f64::from(widest), f64::from(highest));
    let (larger, smaller) = (widest.max(highest), widest.min(highest));
    if larger > 2.5 * smaller && larger > 40.0 {
        return ((0.8, 1.25 * widest), (0.8, 1.25 * highest), true);
    }
    // The same scale on both axes, if that wastes little space: then the line has 45 degrees.
    if diagonal && larger < 2.5 * smaller {
        return ((0.0, larger + 1.0), (0.0, larger + 1.0), false);
    }
    ((0.0, widest + 1.0), (0.0, highest + 1.0), false)
}

impl HeatMap {
    /// Draws the chart, and returns its width and height.
    pub(super) fn draw(&self, canvas: &mut Canvas) -> (i32, i32) {
        // Several points may fall on one cell: the worst counts.
        let mut cells: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for &(x, y, share) in &self.cells {
            let worst = cells.entry((x, y)).or_insert(0.0);
            *worst = worst.max(if share.is_finite() { share } else { 0.0 });
        }
        let (along, upwards, log) = ranges(cells.keys(), self.diagonal);
        let (right, bottom) = (LEFT + SIDE, TOP + SIDE);
        let x = Scale::new(along, (LEFT, right), log);
        let y = Scale::new(upwards, (bottom, TOP), log);
        canvas.rows(&y, 8, (LEFT, right), Colour::Grid);
        canvas.columns(&x, 8, (TOP, bottom), SMALL, 14);
        canvas.text(((LEFT + right) / 2, bottom + 38), &self.x_axis, SIZE, Colour::Faint, Align::Middle);
        canvas.vertical_text((12, (TOP + bottom) / 2), &self.y_axis);

        let half = |(low, high): (f64, f64)| match log {
            true => 4,
            false => (f64::from(SIDE) / (high - low) / 2.0).clamp(3.0, 13.0) as i32,
        };
        // If cells overlap, no correct cell hides an incorrect one.
        let mut cells: Vec<((u32, u32), f64)> = cells.into_iter().collect();
        cells.sort_by(|one, other| one.1.total_cmp(&other.1));
        for ((column, row), share) in cells {
            let at = (x.at(f64::from(column)), y.at(f64::from(row)));
            let runs =
                if share > 0.0 { format!("{} incorrect", percent(share)) } else { "all runs correct".to_owned() };
            cell(canvas, at, (half(along), half(upwards)), share, Some(format!("{column}, {row}: {runs}")));
        }
        if self.diagonal {
            let (start, end) = (along.0.max(upwards.0), along.1.min(upwards.1));
            canvas.dashed_line((x.at(start), y.at(start)), (x.at(end), y.at(end)), Colour::Text);
            canvas.text((x.at(end) + 6, y.at(end) + 8), "y = x", SIZE, Colour::Text, Align::Left);
        }
        canvas.legend((LEFT, 0), SIDE + 100, &LEGEND, |canvas, place, at| {
            cell(canvas, at, (6, 6), [0.0, 0.001, 0.1, 1.0][place], None);
        });
        (right + 100, bottom + FOOT)
    }
}

fn cell(canvas: &mut Canvas, (x, y): (i32, i32), half: (i32, i32), share: f64, note: Option<String>) {
    let (left, top, right, bottom) = (x - half.0, y - half.1, x + half.0, y + half.1);
    let (inside, edge, cross) = cell_style(share);
    canvas.rectangle((left, top), (right, bottom), inside, note);
    canvas.path(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], edge, 1);
    if let Some((colour, width)) = cross {
        let (dx, dy) = ((half.0 - 2).max(1), (half.1 - 2).max(1));
        canvas.path(&[(x - dx, y - dy), (x + dx, y + dy)], colour, width);
        canvas.path(&[(x - dx, y + dy), (x + dx, y - dy)], colour, width);
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 1.0 => format!("{percent:.0} %"),
        percent => format!("{percent:.3} %"),
    }
}
