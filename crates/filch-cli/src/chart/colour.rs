//! Colours by purpose.
//!
//! A drawing is made in placeholder colours, one for each purpose. They are then replaced by the
//! page's colours or by fixed ones.

use plotters::style::RGBColor;

/// The number of series colours. Further series start again.
pub(super) const SERIES: usize = 8;

/// The purpose of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    /// The background.
    Paper,
    /// Text and axes.
    Text,
    /// Secondary text.
    Faint,
    /// Grid lines, and empty areas.
    Grid,
    /// A series, from 0.
    Series(usize),
    /// Correct.
    Right,
    /// Incorrect.
    Wrong,
}

/// The first byte of a placeholder; no other colour is drawn.
const FIRST: u8 = 0xFE;
/// The flag of a placeholder whose shape has a note.
const NOTED: u8 = 0x80;

impl Colour {
    /// Returns the placeholder colour. A `noted` shape gets the next note of the drawing.
    pub(super) fn placeholder(self, noted: bool) -> RGBColor {
        RGBColor(FIRST, 0, self.place() | if noted { NOTED } else { 0 })
    }

    fn place(self) -> u8 {
        match self {
            Colour::Paper => 0,
            Colour::Text => 1,
            Colour::Faint => 2,
            Colour::Grid => 3,
            Colour::Right => 4,
            Colour::Wrong => 5,
            Colour::Series(series) => 6 + (series % SERIES) as u8,
        }
    }
}

/// For each index, the page's colour and the fixed colour of a standalone drawing.
///
/// Most colour-blind readers can tell the series apart: neighbours also differ in lightness.
const COLOURS: [(&str, &str); 6 + SERIES] = [
    ("var(--paper)", "#ffffff"),
    ("currentColor", "#1b1f27"),
    ("var(--faint)", "#5c6370"),
    ("var(--grid)", "#e1e4ea"),
    ("var(--right)", "#9cc3e6"),
    ("var(--wrong)", "#c2410c"),
    ("var(--series-1)", "#0b66b0"),
    ("var(--series-2)", "#d1500f"),
    ("var(--series-3)", "#0a8a63"),
    ("var(--series-4)", "#b4528f"),
    ("var(--series-5)", "#3e97d1"),
    ("var(--series-6)", "#c08000"),
    ("var(--series-7)", "#878a91"),
    ("var(--series-8)", "#4b5468"),
];

/// Where the colours of a drawing come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    /// The page: light or dark.
    Page,
    /// Dark on white.
    Fixed,
}

/// Returns a colour for each series.
///
/// Series that are in many charts have the same colour in all of them. Others get the first free
/// colour.
pub(super) fn of_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Colour> {
    let mut places: Vec<Option<usize>> = Vec::new();
    for name in names {
        places.push(reserved_place(name).filter(|place| !places.contains(&Some(*place))));
    }
    // Grey comes last: it looks unimportant, and is for baselines.
    let mut free = [0, 1, 2, 3, 5, 4, 7, 6].into_iter().filter(|place| !places.contains(&Some(*place)));
    let mut rest = Vec::new();
    for _ in places.iter().filter(|place| place.is_none()) {
        rest.push(free.next());
    }
    let mut again = (0..SERIES).cycle();
    let mut rest = rest.into_iter().map(|place| place.or_else(|| again.next()));
    places.iter_mut().map(|place| Colour::Series(place.or_else(|| rest.next().flatten()).unwrap_or(0))).collect()
}

fn reserved_place(name: &str) -> Option<usize> {
    match name {
        "filch" | "filch, exactly once" | "bulk" => Some(0),
        "rayon" | "crossbeam-lifo" | "crossbeam-pool" => Some(1),
        "chase_lev" => Some(2),
        "thep" => Some(3),
        "filch-worker" | "filch, in place" | "filch, at least once" => Some(4),
        "chili" => Some(5),
        "the" => Some(7),
        name if name.starts_with("serial") => Some(6),
        _ => None,
    }
}

/// Replaces the placeholders by colours, and adds the notes as titles, which browsers show.
///
/// Every element that plotters writes is a line, and no text has a bare quotation mark.
pub(super) fn apply_palette(svg: &str, palette: Palette, notes: &[String]) -> String {
    let mut notes = notes.iter();
    let mut output = String::with_capacity(svg.len() + svg.len() / 4);
    for line in svg.split_inclusive('\n') {
        let (line, noted) = replace_colours(line, palette);
        match line.trim_end().strip_suffix("/>").and_then(|element| Some((element, element.strip_prefix('<')?))) {
            Some((element, inner)) if noted => {
                let name = inner.split(' ').next().unwrap_or(inner);
                let note = escape(notes.next().map_or("", |note| note));
                output.push_str(&format!("{element}><title>{note}</title></{name}>\n"));
            }
            _ => output.push_str(&line),
        }
    }
    output
}

/// Replaces the colours of a line, and returns whether it has a note.
fn replace_colours(line: &str, palette: Palette) -> (String, bool) {
    let mark = format!("\"#{FIRST:02X}00");
    let mut rest = line;
    let mut coloured = String::with_capacity(line.len());
    let mut noted = false;
    while let Some(at) = rest.find(&mark) {
        let digits = at + mark.len();
        let place = rest.get(digits..digits + 2).and_then(|place| u8::from_str_radix(place, 16).ok()).unwrap_or(1);
        noted |= place & NOTED != 0;
        let (page, fixed) = COLOURS[usize::from(place & !NOTED) % COLOURS.len()];
        coloured.push_str(&rest[..=at]);
        coloured.push_str(match palette {
            Palette::Page => page,
            Palette::Fixed => fixed,
        });
        rest = &rest[digits + 2..];
    }
    coloured.push_str(rest);
    (coloured, noted)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_name_keeps_its_colour_and_others_get_the_free_ones() {
        assert_eq!(of_names(["rayon", "filch"].into_iter()), [Colour::Series(1), Colour::Series(0)]);
        assert_eq!(of_names(["filch", "filch, in place"].into_iter()), [Colour::Series(0), Colour::Series(4)]);
        let colours = of_names(["thep", "filch", "ff_the", "rayon"].into_iter());
        assert_eq!(colours, [Colour::Series(3), Colour::Series(0), Colour::Series(2), Colour::Series(1)]);
        // Two series of one chart that would have the same colour.
        assert_eq!(of_names(["rayon", "crossbeam-lifo"].into_iter()), [Colour::Series(1), Colour::Series(0)]);
        let many: Vec<String> = (0..15).map(|n| n.to_string()).collect();
        let colours = of_names(many.iter().map(String::as_str));
        for first in &colours[..SERIES] {
            assert_eq!(colours[..SERIES].iter().filter(|colour| *colour == first).count(), 1);
        }
    }

    #[test]
    fn placeholders_become_colours_and_notes_become_titles() {
        let svg = "<rect fill=\"#FE0086\" stroke=\"none\"/>\n<text fill=\"#FE0001\">\n#FE0001\n</text>\n";
        let notes = ["a < b".to_owned()];
        assert_eq!(
            apply_palette(svg, Palette::Page, &notes),
            "<rect fill=\"var(--series-1)\" stroke=\"none\"><title>a &lt; b</title></rect>\n\
             <text fill=\"currentColor\">\n#FE0001\n</text>\n"
        );
        assert!(apply_palette(svg, Palette::Fixed, &notes).contains("fill=\"#0b66b0\""));
    }
}
