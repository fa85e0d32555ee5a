//! The figures of a chart, for a spreadsheet.

use super::{Chart, Estimate};

/// Formats a line of comma-separated fields, quoted if necessary.
pub fn line<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for (place, field) in fields.into_iter().enumerate() {
        if place > 0 {
            line.push(',');
        }
        if field.contains([',', '"', '\n', '\r']) {
            line.push_str(&format!("\"{}\"", field.replace('"', "\"\"")));
        } else {
            line.push_str(field);
        }
    }
    line.push('\n');
    line
}

/// Returns all figures of the chart, with a heading.
pub(super) fn of(chart: &Chart) -> String {
    let mut rows = Vec::new();
    match chart {
        Chart::Bars(bars) => {
            rows.push(line(["group", "series", "value", "low", "high"]));
            for (place, group) in bars.groups.iter().enumerate() {
                for series in &bars.series {
                    if let Some(estimate) = series.bars.get(place).copied().flatten() {
                        rows.push(estimated(&[group, &series.name], estimate));
                    }
                }
            }
        }
        Chart::Lines(lines) => {
            rows.push(line(["line", "x", "value", "low", "high"]));
            for one in &lines.lines {
                for (x, estimate) in &one.points {
                    rows.push(estimated(&[&one.name, &x.to_string()], *estimate));
                }
            }
        }
        Chart::HeatMap(map) => {
            rows.push(line(["x", "y", "share wrong"]));
            rows.extend(map.cells.iter().map(|(x, y, share)| format!("{x},{y},{share}\n")));
        }
        Chart::Lanes(lanes) => {
            rows.push(line(["group", "lane", "start", "end", "stolen"]));
            for (group, of_group) in &lanes.groups {
                for (lane, pieces) in of_group {
                    for (start, end, stolen) in pieces {
                        let stolen = if *stolen { "yes" } else { "no" };
                        rows.push(line([&**group, lane, &start.to_string(), &end.to_string(), stolen]));
                    }
                }
            }
        }
    }
    rows.concat()
}

fn estimated(names: &[&str], Estimate { value, low, high }: Estimate) -> String {
    let figures = [value, low, high].map(|figure| if figure.is_finite() { figure.to_string() } else { String::new() });
    line(names.iter().copied().chain(figures.iter().map(String::as_str)))
}
