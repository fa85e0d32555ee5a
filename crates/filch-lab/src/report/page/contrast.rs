//! Tests the contrast of colours in both themes, by the accessibility guidelines (WCAG).

use super::document;

const LIGHT: &str = include_str!("colours.css");
const DARK: &str = include_str!("dark.css");

/// Returns the red, green and blue of a named colour, from 0 to 1.
fn colour(style: &str, name: &str) -> [f64; 3] {
    let (_, rest) = style.split_once(&format!("{name}: #")).expect(name);
    [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&rest[at..at + 2], 16).expect(name)) / 255.0)
}

/// The relative luminance.
fn brightness(colour: [f64; 3]) -> f64 {
    let linear = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    let [red, green, blue] = colour.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// The contrast ratio, from 1 (equal) to 21 (black on white).
fn contrast(style: &str, one: &str, other: &str) -> f64 {
    let (one, other) = (brightness(colour(style, one)), brightness(colour(style, other)));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn text_and_shapes_have_enough_contrast() {
    assert!(contrast("--ink: #000000; --sheet: #ffffff", "--ink", "--sheet") > 20.99);
    for style in [LIGHT, DARK] {
        for (words, ground) in [
            ("--text", "--paper"),
            ("--text", "--ground"),
            ("--text", "--code"),
            ("--faint", "--paper"),
            ("--faint", "--ground"),
            ("--accent", "--paper"),
            ("--accent", "--ground"),
            ("--wrong", "--paper"),
            ("--yes", "--yes-ground"),
            ("--no", "--no-ground"),
            ("--unclear", "--unclear-ground"),
            ("--none", "--none-ground"),
        ] {
            let contrast = contrast(style, words, ground);
            assert!(contrast >= 4.5, "{words} on {ground}: {contrast}");
        }
        for series in 1..=8 {
            let contrast = contrast(style, &format!("--series-{series}"), "--paper");
            assert!(contrast >= 3.0, "series {series}: {contrast}");
        }
    }
}

#[test]
fn the_style_reduces_no_opacity() {
    let html = document::html(&super::tests::sample_page()).unwrap();
    let style = &html[html.find("<style>").unwrap()..html.find("</style>").unwrap()];
    let pale: Vec<&str> = style.split("opacity: ").skip(1).filter(|rest| rest.starts_with("0.")).collect();
    assert!(pale.is_empty(), "{pale:?}");
}

#[test]
fn without_scripts_the_page_follows_a_dark_preference() {
    let html = document::html(&super::tests::sample_page()).unwrap();
    let (_, preferred) = html.split_once("@media screen and (prefers-color-scheme: dark) {").unwrap();
    let (preferred, _) = preferred.split_once("</style>").unwrap();
    let (_, rules) =
        preferred.split_once(":root:not([data-theme]) {").expect("no rules for a page without a theme attribute");
    let (_, dark) = DARK.split_once('{').unwrap();
    assert_eq!(rules.trim_end(), format!("{}\n}}", dark.trim_end()));
}
