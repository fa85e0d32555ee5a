//! Formats curves as text, as JSON, and as a chart.

use serde_json::{json, Value};

use super::Curve;
use crate::chart::{Chart, Estimate, Line, Lines};
use crate::figures::grid;
use crate::machine::Machine;

/// How many sequences on each side of the knee are listed.
const AROUND: usize = 4;

/// Formats the knees, the times around them, and the resulting bound.
pub(super) fn text(lines: &[Curve], one_word: &[Curve]) -> String {
    let mut text = String::new();
    for curve in lines {
        if lines.len() > 1 {
            text.push_str(&format!("\nOn the {}:\n", curve.core));
        }
        text.push_str(&curve_text(curve));
    }
    for (lines, one_word) in lines.iter().zip(one_word) {
        text.push_str(&one_word_text(lines, one_word));
    }
    match bound(lines) {
        Some(bound) => text.push_str(&format!(
            "\nBound S = {bound}: a load overtakes at most {bound} stores of its own thread. That is one more than the buffer holds, because a store that is leaving the buffer counts too.\n`filch-lab lab litmus` tests this bound.\n"
        )),
        None => text.push_str("\nWithout a knee the bound S is unknown; the queues have a generous bound for such machines.\n"),
    }
    text
}

fn curve_text(curve: &Curve) -> String {
    let Some(knee) = curve.knee else {
        let (first, last) = (curve.points.first(), curve.points.last());
        let (first, last) = (first.map_or(0, |point| point.stores), last.map_or(0, |point| point.stores));
        return format!(
            "\nNo knee stands out from the noise, with {first} to {last} stores in a sequence. A busy or emulated machine can hide it: try again when the machine is less busy.\n"
        );
    };
    let near = |stores: usize| stores.abs_diff(knee.entries) <= AROUND || stores == knee.entries + AROUND + 1;
    let cell = |text: &str| text.to_owned();
    let rows: Vec<Vec<String>> = curve
        .points
        .iter()
        .filter(|point| near(point.stores))
        .map(|point| {
            let note = if point.stores == knee.entries { "<- the longest without a stall" } else { "" };
            vec![
                point.stores.to_string(),
                tenths(point.median),
                format!("{}..{}", tenths(point.low), tenths(point.high)),
                cell(note),
            ]
        })
        .collect();
    let table = grid(&[cell("stores"), cell("ns/sequence"), cell("interval"), cell("")], &rows);
    format!(
        "\n{table}\nThe store buffer holds {} stores ({:.0} % of the resampled rounds agree).\n",
        knee.entries,
        100.0 * knee.confidence
    )
}

fn one_word_text(lines: &Curve, one_word: &Curve) -> String {
    let core = lines.core;
    match (lines.knee, one_word.knee) {
        (Some(lines), Some(one_word)) if lines.entries == one_word.entries => format!(
            "With all stores to one word the knee of the {core} is in the same place: stores that coalesce still take an entry each.\n"
        ),
        (_, Some(one_word)) => format!(
            "With all stores to one word the knee of the {core} is at {}: stores that coalesce use the buffer in another way than stores that do not.\n",
            one_word.entries
        ),
        (Some(_), None) => format!("With all stores to one word no knee of the {core} stands out from the noise.\n"),
        (None, None) => String::new(),
    }
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

/// Returns the largest buffer's capacity plus one, or `None` if any kind's capacity is unknown.
fn bound(curves: &[Curve]) -> Option<usize> {
    let entries: Option<Vec<usize>> = curves.iter().map(|curve| curve.knee.map(|knee| knee.entries)).collect();
    entries?.into_iter().max().map(|entries| entries + 1)
}

/// Returns the curves as JSON.
pub(super) fn json(lines: &[Curve], one_word: &[Curve], machine: &Machine) -> Value {
    json!({
        "instrument": "store-buffer",
        "unit": "ns/sequence",
        "bound": bound(lines),
        "curves": lines,
        "one_word": one_word,
        "machine": machine,
    })
}

/// Draws a line for each curve, and marks the largest knee.
pub(super) fn chart(lines: &[Curve], one_word: &[Curve]) -> Chart {
    let line = |places: &str, curve: &Curve| Line {
        name: format!("{places}, {}", curve.core),
        points: curve
            .points
            .iter()
            .map(|point| (point.stores as f64, Estimate { value: point.median, low: point.low, high: point.high }))
            .collect(),
    };
    let drawn = lines.iter().map(|curve| line("different lines", curve));
    let drawn = drawn.chain(one_word.iter().map(|curve| line("one word", curve))).collect();
    let marker = bound(lines).map(|bound| ((bound - 1) as f64, format!("{} entries", bound - 1)));
    Chart::Lines(Lines {
        x_axis: "stores in a sequence".to_owned(),
        y_axis: "nanoseconds per sequence".to_owned(),
        log_x: false,
        log_y: false,
        lines: drawn,
        marker,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{largest, Knee, Point};
    use super::*;
    use crate::figures::tests::machine;

    /// A curve with a knee at `entries`, or without a knee.
    fn curve(core: &'static str, entries: Option<usize>) -> Curve {
        let time = |stores: usize| {
            let beyond = stores.saturating_sub(entries.unwrap_or(usize::MAX));
            130.0 + if beyond > 0 { 5.0 + 0.3 * beyond as f64 } else { 0.0 }
        };
        let point = |stores| Point { stores, median: time(stores), low: time(stores), high: time(stores) };
        let knee = entries.map(|entries| Knee { entries, confidence: 1.0 });
        Curve { core, points: (8..=160).map(point).collect(), knee }
    }

    #[test]
    fn the_text_has_the_knee_the_points_around_it_and_the_bound() {
        let curves = [curve("core", Some(72))];
        let text = text(&curves, &curves);
        for part in [
            "72            130.0  130.0..130.0  <- the longest without a stall",
            "73            135.3  135.3..135.3",
            "holds 72 stores (100 % of",
            "Bound S = 73",
            "still take an entry each",
        ] {
            assert!(text.contains(part), "`{part}` is not in\n{text}");
        }
        assert!(!text.contains("On the core:"), "{text}");
    }

    #[test]
    fn the_text_says_that_there_is_no_knee() {
        let curves = [curve("core", None)];
        let text = text(&curves, &curves);
        assert!(text.contains("No knee stands out from the noise, with 8 to 160 stores"), "{text}");
        assert!(!text.contains("Bound S ="), "{text}");
    }

    #[test]
    fn the_bound_is_that_of_the_largest_buffer() {
        let curves = [curve("performance core", Some(72)), curve("efficiency core", Some(50))];
        assert_eq!(bound(&curves), Some(73));
        assert_eq!(largest(curves.to_vec()).unwrap().core, "performance core");
        let text = text(&curves, &curves);
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("`{part}` is not in\n{text}"));
        assert!(place("holds 72 stores") < place("On the efficiency core:"));
        assert!(place("On the efficiency core:") < place("holds 50 stores"));
        assert!(text.contains("Bound S = 73"));
    }

    #[test]
    fn a_buffer_of_unknown_size_counts_as_the_largest() {
        let curves = [curve("performance core", Some(72)), curve("efficiency core", None)];
        assert_eq!(bound(&curves), None);
        assert_eq!(largest(curves.to_vec()).unwrap().core, "efficiency core");
    }

    #[test]
    fn json_has_the_points_the_knee_and_the_bound() {
        let curves = [curve("core", Some(72))];
        let json = json(&curves, &curves, &machine());
        assert_eq!(json["bound"], 73);
        assert_eq!(json["machine"]["cpu"], "a CPU");
        let curve = &json["curves"][0];
        assert_eq!(curve["knee"], json!({"entries": 72, "confidence": 1.0}));
        assert_eq!(curve["points"].as_array().unwrap().len(), 153);
        assert_eq!(curve["points"][0], json!({"stores": 8, "median": 130.0, "low": 130.0, "high": 130.0}));
        assert_eq!(json["one_word"][0]["knee"]["entries"], 72);
    }

    #[test]
    fn the_knee_is_marked_in_the_chart() {
        let curves = [curve("core", Some(72))];
        let Chart::Lines(lines) = chart(&curves, &curves) else { panic!("not a line chart") };
        assert_eq!(lines.marker, Some((72.0, "72 entries".to_owned())));
        assert_eq!(lines.lines.len(), 2);
        assert_eq!(lines.lines[0].points.len(), 153);
    }
}
