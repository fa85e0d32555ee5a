//! Colours by purpose: the page's colours, or fixed ones.

/// The number of series colours. Further series start again.
pub(super) const SERIES: usize = SERIES_COLOURS.len();

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

/// Where the colours of a drawing come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    /// The page: light or dark.
    Page,
    /// Dark on white.
    Fixed,
}

impl Colour {
    /// Returns the colour as an attribute's value.
    pub(super) fn text(self, palette: Palette) -> &'static str {
        let (page, fixed) = match self {
            Colour::Paper => ("var(--paper)", "#ffffff"),
            Colour::Text => ("currentColor", "#1b1f27"),
            Colour::Faint => ("var(--faint)", "#5c6370"),
            Colour::Grid => ("var(--grid)", "#e1e4ea"),
            Colour::Right => ("var(--right)", "#9cc3e6"),
            Colour::Wrong => ("var(--wrong)", "#c2410c"),
            Colour::Series(series) => SERIES_COLOURS[series % SERIES],
        };
        match palette {
            Palette::Page => page,
            Palette::Fixed => fixed,
        }
    }
}

/// The colours of series.
///
/// Most colour-blind readers can tell them apart: neighbours also differ in lightness.
const SERIES_COLOURS: [(&str, &str); 8] = [
    ("var(--series-1)", "#0b66b0"),
    ("var(--series-2)", "#d1500f"),
    ("var(--series-3)", "#0a8a63"),
    ("var(--series-4)", "#b4528f"),
    ("var(--series-5)", "#3e97d1"),
    ("var(--series-6)", "#c08000"),
    ("var(--series-7)", "#878a91"),
    ("var(--series-8)", "#4b5468"),
];

/// Returns a colour for each series.
///
/// Series that are in many charts have the same colour in all of them. Others get the first free
/// colour.
pub(super) fn of_names(names: &[&str]) -> Vec<Colour> {
    let mut places: Vec<Option<usize>> = Vec::new();
    for name in names {
        places.push(reserved_place(name).filter(|place| !places.contains(&Some(*place))));
    }
    // Grey comes last: it looks unimportant, and is for baselines.
    let free = [0, 1, 2, 3, 5, 4, 7, 6].into_iter().filter(|place| !places.contains(&Some(*place)));
    let mut rest = free.chain((0..SERIES).cycle());
    places.iter().map(|place| Colour::Series(place.or_else(|| rest.next()).unwrap_or(0))).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_name_keeps_its_colour_and_others_get_the_free_ones() {
        for (names, places) in [
            (&["rayon", "filch"][..], &[1, 0][..]),
            (&["filch", "filch, in place"], &[0, 4]),
            (&["thep", "filch", "ff_the", "rayon"], &[3, 0, 2, 1]),
            // Two series of one chart that would have the same colour.
            (&["rayon", "crossbeam-lifo"], &[1, 0]),
        ] {
            assert_eq!(of_names(names), places.iter().map(|&place| Colour::Series(place)).collect::<Vec<_>>());
        }
        let colours = of_names(&["series"; 15]);
        for first in &colours[..SERIES] {
            assert_eq!(colours[..SERIES].iter().filter(|colour| *colour == first).count(), 1);
        }
    }
}
