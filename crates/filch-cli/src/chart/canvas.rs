//! The canvas of charts: a few shapes of SVG, in pixels, with colours by purpose.

use super::colour::{Colour, Palette};
use super::scale::Scale;

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
pub(super) struct Canvas {
    palette: Palette,
    /// The height of the heading above.
    top: i32,
    svg: String,
}

impl Canvas {
    /// Makes a canvas below a heading of `top` pixels.
    pub(super) fn new(palette: Palette, top: i32) -> Self {
        Self { palette, top, svg: String::new() }
    }

    /// Ends the drawing, and returns its elements, one in each line.
    pub(super) fn finish(self) -> String {
        self.svg
    }

    /// Draws a filled rectangle. A note is shown when the pointer is over it.
    pub(super) fn rectangle(&mut self, from: (i32, i32), to: (i32, i32), colour: Colour, note: Option<String>) {
        let (x, y) = (from.0.min(to.0), from.1.min(to.1) + self.top);
        let (width, height) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        let place = format!(r#"x="{x}" y="{y}" width="{width}" height="{height}""#);
        let fill = colour.text(self.palette);
        self.element("rect", &format!(r#"{place} opacity="1" fill="{fill}" stroke="none""#), note);
    }

    /// Draws a line through points.
    pub(super) fn path(&mut self, points: &[(i32, i32)], colour: Colour, width: u32) {
        let (stroke, points) = (colour.text(self.palette), self.points(points));
        let style = format!(r#"fill="none" opacity="1" stroke="{stroke}" stroke-width="{width}""#);
        self.element("polyline", &format!(r#"{style} points="{points}""#), None);
    }

    /// Draws an error bar with a stroke at each end, outlined in the background colour.
    pub(super) fn error_bar(&mut self, from: (i32, i32), to: (i32, i32), half: i32) {
        let across = if from.0 == to.0 { (half, 0) } else { (0, half) };
        for (colour, width) in [(Colour::Paper, 3), (Colour::Text, 1)] {
            self.path(&[from, to], colour, width);
            for (x, y) in [from, to] {
                self.path(&[(x - across.0, y - across.1), (x + across.0, y + across.1)], colour, width);
            }
        }
    }

    /// Draws a dashed line from one point to another.
    pub(super) fn dashed_line(&mut self, from: (i32, i32), to: (i32, i32), colour: Colour) {
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        let at = |distance: f64| {
            let part = if length > 0.0 { (distance / length).min(1.0) } else { 0.0 };
            ((f64::from(from.0) + dx * part).round() as i32, (f64::from(from.1) + dy * part).round() as i32)
        };
        let mut distance = 0.0;
        while distance < length {
            self.path(&[at(distance), at(distance + 5.0)], colour, 1);
            distance += 9.0;
        }
    }

    /// Draws a filled polygon.
    pub(super) fn polygon(&mut self, points: &[(i32, i32)], colour: Colour, opacity: f64, note: Option<String>) {
        let (fill, points) = (colour.text(self.palette), self.points(points));
        self.element("polygon", &format!(r#"opacity="{opacity}" fill="{fill}" points="{points}""#), note);
    }

    /// Draws a filled circle.
    pub(super) fn circle(&mut self, (x, y): (i32, i32), radius: i32, colour: Colour, note: Option<String>) {
        let place = format!(r#"cx="{x}" cy="{}" r="{radius}""#, y + self.top);
        let fill = colour.text(self.palette);
        self.element("circle", &format!(r#"{place} opacity="1" fill="{fill}" stroke="none" stroke-width="1""#), note);
    }

    /// Draws text, vertically centred.
    pub(super) fn text(&mut self, at: (i32, i32), words: &str, size: f64, colour: Colour, align: Align) {
        self.styled_text(at, words, size, colour, align, "");
    }

    /// Draws bold text.
    pub(super) fn heading(&mut self, at: (i32, i32), words: &str, size: f64) {
        self.styled_text(at, words, size, Colour::Text, Align::Left, r#" font-weight="bold""#);
    }

    /// Draws text that runs upwards, for an axis.
    pub(super) fn vertical_text(&mut self, (x, y): (i32, i32), words: &str) {
        let upwards = format!(r#" transform="rotate(270, {x}, {})""#, y + self.top);
        self.styled_text((x, y), words, SIZE, Colour::Faint, Align::Middle, &upwards);
    }

    fn styled_text(
        &mut self,
        (x, y): (i32, i32),
        words: &str,
        size: f64,
        colour: Colour,
        align: Align,
        attributes: &str,
    ) {
        let anchor = match align {
            Align::Left => "start",
            Align::Middle => "middle",
            Align::Right => "end",
        };
        let (y, fill, words) = (y + self.top, colour.text(self.palette), escape(words));
        let font = format!(r#"font-family="sans-serif" font-size="{size}""#);
        let style = format!(r#"text-anchor="{anchor}" {font} opacity="1" fill="{fill}"{attributes}"#);
        self.svg.push_str(&format!("<text x=\"{x}\" y=\"{y}\" dy=\"0.5ex\" {style}>\n{words}\n</text>\n"));
    }

    /// Draws a horizontal line for each of about `about` figures, with labels on the left.
    ///
    /// The line of 0 has its own colour.
    pub(super) fn rows(&mut self, y: &Scale, about: usize, (left, right): (i32, i32), zero: Colour) {
        for (figure, label) in y.ticks(about) {
            let at = y.at(figure);
            self.path(&[(left, at), (right, at)], if figure == 0.0 { zero } else { Colour::Grid }, 1);
            self.text((left - 8, at), &label, SMALL, Colour::Faint, Align::Right);
        }
    }

    /// Draws a vertical line for each of about `about` figures, with labels below.
    pub(super) fn columns(&mut self, x: &Scale, about: usize, (top, bottom): (i32, i32), size: f64, below: i32) {
        for (figure, label) in x.ticks(about) {
            let at = x.at(figure);
            self.path(&[(at, top), (at, bottom)], Colour::Grid, 1);
            self.text((at, bottom + below), &label, size, Colour::Faint, Align::Middle);
        }
    }

    /// Draws a legend in lines of at most `room` pixels, and returns its height.
    ///
    /// `sample` draws the sample of a name around the given centre. A single name needs no legend.
    pub(super) fn legend(
        &mut self,
        (left, top): (i32, i32),
        room: i32,
        names: &[&str],
        sample: impl Fn(&mut Canvas, usize, (i32, i32)),
    ) -> i32 {
        const LINE: i32 = 22;
        const SAMPLE: i32 = 22;
        if names.len() < 2 {
            return 0;
        }
        let (mut x, mut y) = (0, 0);
        for (place, name) in names.iter().enumerate() {
            let needs = SAMPLE + width(name, SIZE) + 18;
            if x > 0 && x + needs > room {
                (x, y) = (0, y + LINE);
            }
            let middle = top + y + LINE / 2;
            sample(self, place, (left + x + 8, middle));
            self.text((left + x + SAMPLE, middle), name, SIZE, Colour::Text, Align::Left);
            x += needs;
        }
        y + LINE + 6
    }

    fn points(&self, points: &[(i32, i32)]) -> String {
        points.iter().map(|(x, y)| format!("{x},{} ", y + self.top)).collect()
    }

    fn element(&mut self, name: &str, attributes: &str, note: Option<String>) {
        self.svg.push_str(&match note {
            Some(note) => format!("<{name} {attributes}><title>{}</title></{name}>\n", escape(&note)),
            None => format!("<{name} {attributes}/>\n"),
        });
    }
}

/// Draws the sample of a colour in a legend.
pub(super) fn square(canvas: &mut Canvas, (x, y): (i32, i32), colour: Colour) {
    canvas.rectangle((x - 6, y - 6), (x + 6, y + 6), colour, None);
}

/// Estimates the width of text in pixels: no font is available.
pub(super) fn width(words: &str, size: f64) -> i32 {
    (words.chars().count() as f64 * size * 0.58).ceil() as i32
}

/// Escapes text for XML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
