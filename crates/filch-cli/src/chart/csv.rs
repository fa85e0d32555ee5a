//! The figures of a chart, for a spreadsheet.

use super::{Chart, Estimate};

/// Formats a line of comma-separated fields, quoted if necessary.
pub fn line<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = |field: &str| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.to_owned()
        }
    };
    fields.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// Returns the figures of the chart, as comma-separated values with a heading.
pub fn of(chart: &Chart) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let heading = match chart {
        Chart::Bars(bars) => {
            for (place, group) in bars.groups.iter().enumerate() {
                for series in &bars.series {
                    if let Some(estimate) = series.bars.get(place).copied().flatten() {
                        rows.push(estimated(group.clone(), series.name.clone(), estimate));
                    }
                }
            }
            "group,series,value,low,high"
        }
        Chart::Lines(lines) => {
            for line in &lines.lines {
                rows.extend(line.points.iter().map(|&(x, y)| estimated(line.name.clone(), x.to_string(), y)));
            }
            "line,x,value,low,high"
        }
        Chart::HeatMap(map) => {
            rows.extend(map.cells.iter().map(|(x, y, share)| vec![x.to_string(), y.to_string(), share.to_string()]));
            "x,y,share wrong"
        }
        Chart::Lanes(lanes) => {
            for (group, of_group) in &lanes.groups {
                for (lane, pieces) in of_group {
                    rows.extend(pieces.iter().map(|(start, end, stolen)| {
                        let stolen = if *stolen { "yes" } else { "no" };
                        vec![group.clone(), lane.clone(), start.to_string(), end.to_string(), stolen.to_owned()]
                    }));
                }
            }
            "group,lane,start,end,stolen"
        }
    };
    let rows = rows.iter().map(|row| line(row.iter().map(String::as_str)));
    format!("{heading}\n{}", rows.collect::<String>())
}

fn estimated(name: String, place: String, Estimate { value, low, high }: Estimate) -> Vec<String> {
    let figures = [value, low, high].map(|figure| if figure.is_finite() { figure.to_string() } else { String::new() });
    [name, place].into_iter().chain(figures).collect()
}
