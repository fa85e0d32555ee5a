//! The canvas of charts: a few shapes, in pixels, with colours by purpose.

use std::cell::RefCell;

use anyhow::{anyhow, Result};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, IntoFont, RGBAColor, ShapeStyle, TextStyle};

use super::colour::Colour;

/// The factor by which the backend reduces font sizes.
const FONT_SCALE: f64 = 1.24;

/// The normal font size.
pub(super) const SIZE: f64 = 13.0;
/// The font size of axes.
pub(super) const SMALL: f64 = 12.0;

/// The position of a text relative to its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Align {
    Left,
    Middle,
    Right,
}

/// A canvas to draw on.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    /// The height of the heading above.
    top: i32,
    notes: RefCell<Vec<String>>,
}

impl<'a> Canvas<'a> {
    /// Makes a canvas of this size, below a heading of `top` pixels.
    pub(super) fn new(svg: &'a mut String, (width, height): (i32, i32), top: i32) -> Self {
        let size = (width.max(1) as u32, (height + top).max(1) as u32);
        Self { area: SVGBackend::with_string(svg, size).into_drawing_area(), top, notes: RefCell::default() }
    }

    /// Ends the drawing, and returns the notes of its shapes.
    pub(super) fn finish(self) -> Result<Vec<String>> {
        self.area.present().map_err(drawing_error)?;
        Ok(self.notes.into_inner())
    }

    /// Draws a filled rectangle. A note is shown when the pointer is over it.
    pub(super) fn rectangle(
        &self,
        (x0, y0): (i32, i32),
        (x1, y1): (i32, i32),
        colour: Colour,
        opacity: f64,
        note: Option<String>,
    ) -> Result<()> {
        let noted = note.is_some();
        self.notes.borrow_mut().extend(note);
        let corners = [(x0, y0 + self.top), (x1, y1 + self.top)];
        self.area.draw(&Rectangle::new(corners, filled(colour, opacity, noted))).map_err(drawing_error)
    }

    /// Draws a line through points.
    pub(super) fn path(&self, points: &[(i32, i32)], colour: Colour, width: u32) -> Result<()> {
        let points = self.shifted(points);
        self.area.draw(&PathElement::new(points, colour.placeholder(false).stroke_width(width))).map_err(drawing_error)
    }

    /// Draws an error bar with a stroke at each end, outlined in the background colour.
    pub(super) fn error_bar(&self, from: (i32, i32), to: (i32, i32), half: i32) -> Result<()> {
        let across = if from.0 == to.0 { (half, 0) } else { (0, half) };
        for (colour, width) in [(Colour::Paper, 3), (Colour::Text, 1)] {
            self.path(&[from, to], colour, width)?;
            for (x, y) in [from, to] {
                self.path(&[(x - across.0, y - across.1), (x + across.0, y + across.1)], colour, width)?;
            }
        }
        Ok(())
    }

    /// Draws a dashed line from one point to another.
    pub(super) fn dashed_line(&self, from: (i32, i32), to: (i32, i32), colour: Colour) -> Result<()> {
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        let at = |distance: f64| {
            let part = if length > 0.0 { (distance / length).min(1.0) } else { 0.0 };
            ((f64::from(from.0) + dx * part).round() as i32, (f64::from(from.1) + dy * part).round() as i32)
        };
        let mut distance = 0.0;
        while distance < length {
            self.path(&[at(distance), at(distance + 5.0)], colour, 1)?;
            distance += 9.0;
        }
        Ok(())
    }

    /// Draws a filled polygon.
    pub(super) fn polygon(
        &self,
        points: &[(i32, i32)],
        colour: Colour,
        opacity: f64,
        note: Option<String>,
    ) -> Result<()> {
        let noted = note.is_some();
        self.notes.borrow_mut().extend(note);
        self.area.draw(&Polygon::new(self.shifted(points), filled(colour, opacity, noted))).map_err(drawing_error)
    }

    /// Draws a filled circle.
    pub(super) fn circle(&self, (x, y): (i32, i32), radius: i32, colour: Colour, note: Option<String>) -> Result<()> {
        let noted = note.is_some();
        self.notes.borrow_mut().extend(note);
        self.area.draw(&Circle::new((x, y + self.top), radius, filled(colour, 1.0, noted))).map_err(drawing_error)
    }

    /// Draws text, vertically centred.
    pub(super) fn text(&self, at: (i32, i32), words: &str, size: f64, colour: Colour, align: Align) -> Result<()> {
        self.draw_text(at, words, size, colour, align, FontStyle::Normal, FontTransform::None)
    }

    /// Draws bold text.
    pub(super) fn heading(&self, at: (i32, i32), words: &str, size: f64) -> Result<()> {
        self.draw_text(at, words, size, Colour::Text, Align::Left, FontStyle::Bold, FontTransform::None)
    }

    /// Draws text that runs upwards, for an axis.
    pub(super) fn vertical_text(&self, at: (i32, i32), words: &str) -> Result<()> {
        self.draw_text(at, words, SIZE, Colour::Faint, Align::Middle, FontStyle::Normal, FontTransform::Rotate270)
    }

    #[allow(clippy::too_many_arguments)]
    fn draw_text(
        &self,
        (x, y): (i32, i32),
        words: &str,
        size: f64,
        colour: Colour,
        align: Align,
        style: FontStyle,
        transform: FontTransform,
    ) -> Result<()> {
        let align = match align {
            Align::Left => HPos::Left,
            Align::Middle => HPos::Center,
            Align::Right => HPos::Right,
        };
        let font = ("sans-serif", size * FONT_SCALE).into_font().style(style).transform(transform);
        let colour = colour.placeholder(false);
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(align, VPos::Center));
        self.area.draw(&Text::new(words.to_owned(), (x, y + self.top), style)).map_err(drawing_error)
    }

    fn shifted(&self, points: &[(i32, i32)]) -> Vec<(i32, i32)> {
        points.iter().map(|&(x, y)| (x, y + self.top)).collect()
    }
}

fn filled(colour: Colour, opacity: f64, noted: bool) -> ShapeStyle {
    let colour: RGBAColor = colour.placeholder(noted).mix(opacity);
    colour.filled()
}

/// Estimates the width of text in pixels: no font is available.
pub(super) fn width(words: &str, size: f64) -> i32 {
    (words.chars().count() as f64 * size * 0.58).ceil() as i32
}

/// A legend: names with samples of their colour, in as many lines as they need.
pub(super) struct Legend {
    /// The position of each name, from the left and the top of the legend.
    places: Vec<(i32, i32)>,
    height: i32,
}

impl Legend {
    const LINE: i32 = 22;
    const SAMPLE: i32 = 22;

    /// Lays names out in lines of at most `room` pixels. A single name needs no legend.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>, room: i32) -> Self {
        let (mut x, mut y) = (0, 0);
        let mut places = Vec::new();
        for name in names {
            let needs = Self::SAMPLE + width(name, SIZE) + 18;
            if x > 0 && x + needs > room {
                (x, y) = (0, y + Self::LINE);
            }
            places.push((x, y));
            x += needs;
        }
        let height = if places.len() > 1 { y + Self::LINE + 6 } else { 0 };
        Self { places, height }
    }

    /// The height of the legend.
    pub(super) fn height(&self) -> i32 {
        self.height
    }

    /// Draws the legend. `sample` draws each sample around the given centre.
    pub(super) fn draw<'a>(
        &self,
        canvas: &Canvas<'_>,
        (left, top): (i32, i32),
        names: impl Iterator<Item = &'a str>,
        sample: impl Fn(usize, (i32, i32)) -> Result<()>,
    ) -> Result<()> {
        if self.height == 0 {
            return Ok(());
        }
        for (place, (name, &(x, y))) in names.zip(&self.places).enumerate() {
            let middle = top + y + Self::LINE / 2;
            sample(place, (left + x + 8, middle))?;
            canvas.text((left + x + Self::SAMPLE, middle), name, SIZE, Colour::Text, Align::Left)?;
        }
        Ok(())
    }
}

/// Converts an error of the backend. Drawing to a string fails only if the drawing is invalid.
fn drawing_error(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw the chart: {error}")
}
