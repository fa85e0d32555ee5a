//! Workers as lanes, and the share of the time in which each was busy.

use anyhow::Result;

use super::canvas::{width, Align, Canvas, Legend, SIZE, SMALL};
use super::colour::Colour;
use super::scale::Scale;
use super::{Drawing, Lane, Lanes};

const WIDTH: i32 = 900;
const LANE: i32 = 24;
const HEADING: i32 = 30;
const FOOT: i32 = 50;
/// The width of the share at the end of a lane.
const SHARE: i32 = 64;

const LEGEND: [&str; 3] = ["own work", "stolen work", "idle"];
const COLOURS: [Colour; 3] = [Colour::Series(0), Colour::Series(1), Colour::Grid];

impl Drawing for Lanes {
    fn size(&self) -> (i32, i32) {
        let lanes: usize = self.groups.iter().map(|(_, lanes)| lanes.len()).sum();
        (WIDTH, 30 + self.groups.len() as i32 * (HEADING + 8) + lanes as i32 * LANE + FOOT)
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<()> {
        let legend = Legend::new(LEGEND.into_iter(), WIDTH);
        legend.draw(canvas, (0, 0), LEGEND.into_iter(), |place, (x, y)| {
            canvas.rectangle((x - 6, y - 6), (x + 6, y + 6), COLOURS[place], 1.0, None)
        })?;
        let names = self.groups.iter().flat_map(|(_, lanes)| lanes.iter().map(|(name, _)| width(name, SIZE)));
        let left = names.max().unwrap_or(0).min(220) + 10;
        let right = WIDTH - SHARE;
        let end = self.groups.iter().map(|(_, lanes)| last(lanes)).fold(0.0, f64::max);
        let scale = Scale::new((0.0, end), (left, right), false);

        let mut top = 30;
        let first = top + HEADING;
        let bottom = self.size().1 - FOOT;
        for (figure, label) in scale.ticks(8) {
            let x = scale.at(figure);
            canvas.path(&[(x, first), (x, bottom)], Colour::Grid, 1)?;
            canvas.text((x, bottom + 14), &label, SMALL, Colour::Faint, Align::Middle)?;
        }
        canvas.text(((left + right) / 2, bottom + 38), &self.axis, SIZE, Colour::Faint, Align::Middle)?;
        for (name, lanes) in &self.groups {
            canvas.heading((0, top + HEADING / 2), name, SIZE + 1.0)?;
            top += HEADING;
            let total = last(lanes);
            for lane in lanes {
                draw_lane(canvas, lane, (left, top), total, &scale)?;
                top += LANE;
            }
            top += 8;
        }
        Ok(())
    }
}

fn draw_lane(
    canvas: &Canvas<'_>,
    (name, pieces): &Lane,
    (left, top): (i32, i32),
    total: f64,
    scale: &Scale,
) -> Result<()> {
    let middle = top + LANE / 2;
    canvas.text((left - 8, middle), name, SIZE, Colour::Text, Align::Right)?;
    let (high, low) = (top + 3, top + LANE - 3);
    canvas.rectangle((left, high), (scale.at(total), low), Colour::Grid, 1.0, None)?;
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
        canvas.rectangle((start, high), (end, low), COLOURS[usize::from(stolen)], 1.0, None)?;
    }
    let busy: f64 = pieces.iter().map(|(start, end, _)| end - start).filter(|busy| *busy > 0.0).sum();
    if total > 0.0 {
        let share = format!("{:.0} %", 100.0 * busy / total);
        canvas.text((WIDTH, middle), &share, SIZE, Colour::Text, Align::Right)?;
    }
    Ok(())
}

/// Returns the end of the last piece.
fn last(lanes: &[Lane]) -> f64 {
    let ends = lanes.iter().flat_map(|(_, pieces)| pieces.iter().map(|(_, end, _)| *end));
    ends.filter(|end| end.is_finite()).fold(0.0, f64::max)
}
