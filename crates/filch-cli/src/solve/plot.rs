//! Draws the best solution and the bound over time.

use anyhow::{anyhow, Result};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::history::Event;

const SIZE: (u32, u32) = (860, 460);
const BEST: RGBColor = RGBColor(31, 95, 168);
const BOUND: RGBColor = RGBColor(200, 80, 60);

/// Returns a drawing, as SVG. `end` is when the search ended, in seconds.
pub(super) fn draw(title: &str, events: &[Event], end: f64) -> Result<String> {
    let best: Vec<(f64, i64)> = events
        .iter()
        .filter_map(|event| match *event {
            Event::Incumbent { at, cost } => Some((at, cost)),
            _ => None,
        })
        .collect();
    let bound: Vec<(f64, i64)> = events
        .iter()
        .filter_map(|event| match *event {
            Event::Bound { at, bound, .. } => Some((at, bound)),
            _ => None,
        })
        .collect();
    let mut svg = String::new();
    paint(&mut svg, title, &steps(&best, end), &steps(&bound, end), end)
        .map_err(|error| anyhow!("cannot draw the plot: {error}"))?;
    Ok(svg)
}

/// Returns a line with a corner wherever the value changes, up to the end.
fn steps(points: &[(f64, i64)], end: f64) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for &(at, value) in points {
        if let Some(&(_, before)) = line.last() {
            line.push((at, before));
        }
        line.push((at, value as f64));
    }
    if let Some(&(_, last)) = line.last() {
        line.push((end, last));
    }
    line
}

/// Returns the range of an axis: all values, and a little room above and below.
fn range(lines: [&[(f64, f64)]; 2]) -> (f64, f64) {
    let values = || lines.into_iter().flatten().map(|(_, value)| *value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if !low.is_finite() {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.06).max(0.5);
    (low - room, high + room)
}

fn paint(
    svg: &mut String,
    title: &str,
    best: &[(f64, f64)],
    bound: &[(f64, f64)],
    end: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (low, high) = range([best, bound]);
    let mut chart = ChartBuilder::on(&area)
        .margin(18)
        .margin_right(84)
        .caption(title, ("sans-serif", 20))
        .x_label_area_size(42)
        .y_label_area_size(78)
        .build_cartesian_2d(0.0..end.max(1e-6), low..high)?;
    chart
        .configure_mesh()
        .x_desc("seconds")
        .y_desc("cost")
        .x_labels(8)
        .y_labels(8)
        .x_label_formatter(&|seconds| axis_label(*seconds, end))
        .y_label_formatter(&|cost| axis_label(*cost, high - low))
        .label_style(("sans-serif", 15))
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(228, 228, 228))
        .draw()?;
    let close = match (best.last(), bound.last()) {
        (Some((_, best)), Some((_, bound))) => ((best - bound) / (high - low)).abs() < 0.06,
        _ => false,
    };
    for (name, line, colour) in [("bound", bound, BOUND), ("best", best, BEST)] {
        let Some(&last) = line.last() else { continue };
        chart.draw_series([PathElement::new(line.to_vec(), colour.stroke_width(2))])?;
        // The name stands at the end of its line. If both lines end together, one name is above the
        // other.
        let anchor = match (close, name) {
            (false, _) => VPos::Center,
            (true, "bound") => VPos::Bottom,
            (true, _) => VPos::Top,
        };
        let style = TextStyle::from(("sans-serif", 16).into_font()).color(&colour).pos(Pos::new(HPos::Left, anchor));
        let (x, y) = chart.backend_coord(&last);
        area.draw(&Text::new(name, (x + 8, y), style))?;
    }
    area.present()?;
    Ok(())
}

/// Formats a number with as many digits as its axis needs.
fn axis_label(value: f64, span: f64) -> String {
    match span {
        span if span >= 10.0 => format!("{value:.0}"),
        span if span >= 1.0 => format!("{value:.1}"),
        span if span >= 0.1 => format!("{value:.2}"),
        span if span >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_value_until_it_changes() {
        assert_eq!(steps(&[(0.5, 10), (1.0, 8)], 2.0), [(0.5, 10.0), (1.0, 10.0), (1.0, 8.0), (2.0, 8.0)]);
        assert!(steps(&[], 2.0).is_empty());
    }

    #[test]
    fn both_lines_are_drawn_with_their_names() {
        let events = [
            Event::Bound { at: 0.0, bound: 30, open: 1, explored: 0 },
            Event::Incumbent { at: 0.1, cost: 10 },
            Event::Incumbent { at: 0.2, cost: 12 },
            Event::Bound { at: 0.5, bound: 12, open: 0, explored: 100 },
        ];
        let svg = draw("misp a.clq", &events, 0.5).unwrap();
        for part in ["misp a.clq", "best", "bound", "seconds"] {
            assert!(svg.contains(part), "{part} is missing");
        }
        assert!(svg.matches("<polyline").count() >= 2);
    }

    #[test]
    fn a_search_without_events_has_an_empty_plot() {
        assert!(draw("nothing", &[], 0.0).unwrap().contains("</svg>"));
    }
}
