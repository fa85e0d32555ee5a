//! Workers as lanes, and the share of the time in which each was busy.

use super::canvas::{square, width, Align, Canvas, SIZE, SMALL};
use super::colour::Colour;
use super::scale::Scale;
use super::{Lane, Lanes};

const WIDTH: i32 = 900;
const LANE: i32 = 24;
const HEADING: i32 = 30;
const FOOT: i32 = 50;
/// The width of the share at the end of a lane.
const SHARE: i32 = 64;

const LEGEND: [&str; 3] = ["own work", "stolen work", "idle"];
const COLOURS: [Colour; 3] = [Colour::Series(0), Colour::Series(1), Colour::Grid];

impl Lanes {
    /// Draws the chart, and returns its width and height.
    pub(super) fn draw(&self, canvas: &mut Canvas) -> (i32, i32) {
        canvas.legend((0, 0), WIDTH, &LEGEND, |canvas, place, at| square(canvas, at, COLOURS[place]));
        let all = || self.groups.iter().flat_map(|(_, lanes)| lanes);
        let left = all().map(|(name, _)| width(name, SIZE)).max().unwrap_or(0).min(220) + 10;
        let right = WIDTH - SHARE;
        let scale = Scale::new((0.0, last(all())), (left, right), false);

        let mut top = 30;
        let bottom = top + self.groups.len() as i32 * (HEADING + 8) + all().count() as i32 * LANE;
        canvas.columns(&scale, 8, (top + HEADING, bottom), SMALL, 14);
        canvas.text(((left + right) / 2, bottom + 38), &self.axis, SIZE, Colour::Faint, Align::Middle);
        for (name, lanes) in &self.groups {
            canvas.heading((0, top + HEADING / 2), name, SIZE + 1.0);
            top += HEADING;
            for lane in lanes {
                draw_lane(canvas, lane, (left, top), last(lanes), &scale);
                top += LANE;
            }
            top += 8;
        }
        (WIDTH, bottom + FOOT)
    }
}

fn draw_lane(canvas: &mut Canvas, (name, pieces): &Lane, (left, top): (i32, i32), total: f64, scale: &Scale) {
    let middle = top + LANE / 2;
    canvas.text((left - 8, middle), name, SIZE, Colour::Text, Align::Right);
    let (high, low) = (top + 3, top + LANE - 3);
    canvas.rectangle((left, high), (scale.at(total), low), Colour::Grid, None);
    // Pieces that share a pixel become one rectangle: there may be many thousands.
    let mut merged: Vec<(i32, i32, bool)> = Vec::new();
    for &(start, end, stolen) in pieces.iter().filter(|(start, end, _)| start.is_finite() && end.is_finite()) {
        let (start, end) = (scale.at(start), scale.at(end));
        match merged.last_mut() {
            Some(last) if last.2 == stolen && start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end.max(start + 1), stolen)),
        }
    }
    for (start, end, stolen) in merged {
        canvas.rectangle((start, high), (end, low), COLOURS[usize::from(stolen)], None);
    }
    let busy: f64 = pieces.iter().map(|(start, end, _)| end - start).filter(|busy| *busy > 0.0).sum();
    if total > 0.0 {
        let share = format!("{:.0} %", 100.0 * busy / total);
        canvas.text((WIDTH, middle), &share, SIZE, Colour::Text, Align::Right);
    }
}

/// Returns the end of the last piece.
fn last<'a>(lanes: impl IntoIterator<Item = &'a Lane>) -> f64 {
    let ends = lanes.into_iter().flat_map(|(_, pieces)| pieces.iter().map(|(_, end, _)| *end));
    ends.filter(|end| end.is_finite()).fold(0.0, f64::max)
}
