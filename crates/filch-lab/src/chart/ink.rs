//! Colours by what they are for. A drawing is made in stand-ins, one a purpose, which then become the page's colours or fixed ones.

use plotters::style::RGBColor;

/// How many colours there are for series; what comes after begins again.
pub(super) const SERIES: usize = 8;

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// What is drawn on.
    Paper,
    /// Words and axes.
    Text,
    /// Words that are not read first.
    Faint,
    /// Lines behind, and what is empty.
    Grid,
    /// A series, from 0.
    Series(usize),
    /// Went right.
    Right,
    /// Went wrong.
    Wrong,
}

/// What a stand-in begins with; no other colour is drawn with.
const FIRST: u8 = 0xFE;
/// Added to the place of a stand-in whose shape has a note.
const NOTED: u8 = 0x80;

impl Ink {
    /// What it is drawn with. A shape that is drawn `noted` gets the next note of the drawing.
    pub(super) fn stand_in(self, noted: bool) -> RGBColor {
        RGBColor(FIRST, 0, self.place() | if noted { NOTED } else { 0 })
    }

    fn place(self) -> u8 {
        match self {
            Ink::Paper => 0,
            Ink::Text => 1,
            Ink::Faint => 2,
            Ink::Grid => 3,
            Ink::Right => 4,
            Ink::Wrong => 5,
            Ink::Series(series) => 6 + (series % SERIES) as u8,
        }
    }
}

/// For each place: a colour of the page, and the fixed one of a drawing that stands alone.
///
/// The series are told apart by most colour-blind readers: neighbours differ in lightness too.
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

/// A colour a series. Those that are in many charts have the same in all of them, and others the first that is left.
pub(super) fn of_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Ink> {
    let mut places: Vec<Option<usize>> = Vec::new();
    for name in names {
        places.push(known(name).filter(|place| !places.contains(&Some(*place))));
    }
    // Grey looks like an afterthought, and is for what one compares with: last.
    let mut free = [0, 1, 2, 3, 5, 4, 7, 6].into_iter().filter(|place| !places.contains(&Some(*place)));
    let mut rest = Vec::new();
    for _ in places.iter().filter(|place| place.is_none()) {
        rest.push(free.next());
    }
    let mut again = (0..SERIES).cycle();
    let mut rest = rest.into_iter().map(|place| place.or_else(|| again.next()));
    places.iter_mut().map(|place| Ink::Series(place.or_else(|| rest.next().flatten()).unwrap_or(0))).collect()
}

fn known(name: &str) -> Option<usize> {
    match name {
        "filch" | "bulk" => Some(0),
        "rayon" | "crossbeam-lifo" => Some(1),
        "chase_lev" => Some(2),
        "thep" => Some(3),
        "filch-worker" | "filch, in place" => Some(4),
        "chili" => Some(5),
        "the" => Some(7),
        name if name.starts_with("serial") => Some(6),
        _ => None,
    }
}

/// Puts colours for the stand-ins, and the notes into the shapes that have one, as titles: a browser shows them.
///
/// Every element that plotters writes is a line, and no text has a bare quotation mark.
pub(super) fn dress(svg: &str, palette: Palette, notes: &[String]) -> String {
    let mut notes = notes.iter();
    let mut dressed = String::with_capacity(svg.len() + svg.len() / 4);
    for line in svg.split_inclusive('\n') {
        let (line, noted) = colour(line, palette);
        match line.trim_end().strip_suffix("/>").and_then(|element| Some((element, element.strip_prefix('<')?))) {
            Some((element, inner)) if noted => {
                let name = inner.split(' ').next().unwrap_or(inner);
                let note = escape(notes.next().map_or("", |note| note));
                dressed.push_str(&format!("{element}><title>{note}</title></{name}>\n"));
            }
            _ => dressed.push_str(&line),
        }
    }
    dressed
}

/// The line with its colours, and whether it has a note.
fn colour(line: &str, palette: Palette) -> (String, bool) {
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

/// Text, as XML needs it.
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
    fn a_name_keeps_its_colour_and_others_take_what_is_left() {
        assert_eq!(of_names(["rayon", "filch"].into_iter()), [Ink::Series(1), Ink::Series(0)]);
        assert_eq!(of_names(["filch", "filch, in place"].into_iter()), [Ink::Series(0), Ink::Series(4)]);
        let inks = of_names(["thep", "filch", "ff_the", "rayon"].into_iter());
        assert_eq!(inks, [Ink::Series(3), Ink::Series(0), Ink::Series(2), Ink::Series(1)]);
        // Two that would have the same, in one chart.
        assert_eq!(of_names(["rayon", "crossbeam-lifo"].into_iter()), [Ink::Series(1), Ink::Series(0)]);
        let many: Vec<String> = (0..15).map(|n| n.to_string()).collect();
        let inks = of_names(many.iter().map(String::as_str));
        for first in &inks[..SERIES] {
            assert_eq!(inks[..SERIES].iter().filter(|ink| *ink == first).count(), 1);
        }
    }

    #[test]
    fn stand_ins_become_colours_and_notes_titles() {
        let svg = "<rect fill=\"#FE0086\" stroke=\"none\"/>\n<text fill=\"#FE0001\">\n#FE0001\n</text>\n";
        let notes = ["a < b".to_owned()];
        assert_eq!(
            dress(svg, Palette::Page, &notes),
            "<rect fill=\"var(--series-1)\" stroke=\"none\"><title>a &lt; b</title></rect>\n\
             <text fill=\"currentColor\">\n#FE0001\n</text>\n"
        );
        assert!(dress(svg, Palette::Fixed, &notes).contains("fill=\"#0b66b0\""));
    }
}
