//! Describes a chart in words, with its main figures, for screen readers.

use crate::chart::{Bars, Chart, HeatMap, Lanes, Lines};
use crate::figures::number;

/// The most bars that are described one by one.
const FEW: usize = 24;

/// Returns the description of a chart.
pub(in crate::report) fn describe(chart: &Chart) -> String {
    match chart {
        Chart::Bars(chart) => bars(chart),
        Chart::Lines(chart) => lines(chart),
        Chart::HeatMap(chart) => heat_map(chart),
        Chart::Lanes(chart) => lanes(chart),
    }
}

fn bars(chart: &Bars) -> String {
    let named = |name: &str, value: f64| format!("{name} {}", number(value));
    let count = chart.groups.len() * chart.series.len();
    let parts: Vec<String> = if count <= FEW {
        let group = |(place, group): (usize, &String)| {
            let bars = chart.series.iter().filter_map(|series| Some((&series.name, (*series.bars.get(place)?)?)));
            let bars: Vec<String> = bars.map(|(name, bar)| named(name, bar.value)).collect();
            format!("{group}: {}", bars.join(", "))
        };
        chart.groups.iter().enumerate().map(group).collect()
    } else {
        let series = chart.series.iter().filter_map(|series| {
            let bars = || series.bars.iter().zip(&chart.groups).filter_map(|(bar, group)| Some(((*bar)?.value, group)));
            let least = bars().min_by(|a, b| a.0.total_cmp(&b.0))?;
            let most = bars().max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some(format!("{} from {} to {}", series.name, named(least.1, least.0), named(most.1, most.0)))
        });
        series.collect()
    };
    format!("Bars, {}. {}.", chart.axis, parts.join("; "))
}

fn lines(chart: &Lines) -> String {
    let line = |line: &crate::chart::Line| {
        let (first, last) = (line.points.first()?, line.points.last()?);
        let (from, to) = (number(first.1.value), number(last.1.value));
        Some(format!("{} from {from} at {} to {to} at {}", line.name, plain(first.0), plain(last.0)))
    };
    let parts: Vec<String> = chart.lines.iter().filter_map(line).collect();
    let marker = chart.marker.as_ref().map(|(at, name)| format!(" Marked at {}: {name}.", plain(*at)));
    format!("Lines, {} over {}. {}.{}", chart.y_axis, chart.x_axis, parts.join("; "), marker.unwrap_or_default())
}

fn heat_map(chart: &HeatMap) -> String {
    let wrong = chart.cells.iter().filter(|(_, _, share)| *share > 0.0).count();
    let beyond = chart.cells.iter().filter(|(x, y, share)| *share > 0.0 && y >= x).count();
    let line = if chart.diagonal { format!(" On or above the line y = x: {beyond}.") } else { String::new() };
    format!(
        "A grid, {} over {}: {} points, {wrong} of them with incorrect runs.{line}",
        chart.y_axis,
        chart.x_axis,
        chart.cells.len()
    )
}

fn lanes(chart: &Lanes) -> String {
    let group = |(name, lanes): &(String, Vec<crate::chart::Lane>)| {
        let end = lanes.iter().flat_map(|(_, pieces)| pieces).map(|piece| piece.1).fold(0.0, f64::max);
        let lanes: Vec<String> = lanes
            .iter()
            .map(|(name, pieces)| {
                let busy: f64 = pieces.iter().map(|piece| piece.1 - piece.0).sum();
                let stolen = pieces.iter().filter(|piece| piece.2).count();
                format!("{name} busy for {} in {} pieces, {stolen} of them stolen", number(busy), pieces.len())
            })
            .collect();
        format!("{name}, until {}: {}", number(end), lanes.join(", "))
    };
    format!("Lanes, {}. {}.", chart.axis, chart.groups.iter().map(group).collect::<Vec<_>>().join("; "))
}

/// Formats a number of an axis, without superfluous digits.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        number(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{BarSeries, Estimate, Line};

    fn at(value: f64) -> Estimate {
        Estimate { value, low: value, high: value }
    }

    #[test]
    fn few_bars_are_listed_and_many_are_described_by_their_range() {
        let chart = |groups: usize| {
            let bars = (0..groups).map(|group| Some(at(1.0 + group as f64))).collect();
            let groups = (0..groups).map(|group| format!("g{group}")).collect();
            let series = vec![BarSeries { name: "the".to_owned(), bars }];
            describe(&Chart::Bars(Bars { axis: "ns".to_owned(), groups, series, reference: None }))
        };
        assert_eq!(chart(2), "Bars, ns. g0: the 1.00; g1: the 2.00.");
        assert_eq!(chart(30), "Bars, ns. the from g0 1.00 to g29 30.0.");
    }

    #[test]
    fn lines_are_described_by_their_ends_and_the_marker() {
        let line = Line { name: "median".to_owned(), points: vec![(1.0, at(2.0)), (90.0, at(3.5))] };
        let chart = Lines {
            x_axis: "stores".to_owned(),
            y_axis: "ns".to_owned(),
            log_x: false,
            log_y: false,
            lines: vec![line],
            marker: Some((72.0, "the knee".to_owned())),
        };
        assert_eq!(
            describe(&Chart::Lines(chart)),
            "Lines, ns over stores. median from 2.00 at 1 to 3.50 at 90. Marked at 72: the knee."
        );
    }

    #[test]
    fn incorrect_cells_are_counted_on_both_sides_of_the_line() {
        let cells = vec![(4, 2, 0.5), (4, 4, 0.0), (4, 5, 0.1)];
        let (x_axis, y_axis) = ("x".to_owned(), "y".to_owned());
        let text = describe(&Chart::HeatMap(HeatMap { x_axis, y_axis, cells, diagonal: true }));
        assert_eq!(text, "A grid, y over x: 3 points, 2 of them with incorrect runs. On or above the line y = x: 1.");
    }

    #[test]
    fn lanes_are_described_by_their_busy_time() {
        let lanes = vec![("worker 0".to_owned(), vec![(0.0, 2.0, false), (3.0, 4.0, true)])];
        let text = describe(&Chart::Lanes(Lanes { axis: "ms".to_owned(), groups: vec![("static".to_owned(), lanes)] }));
        assert_eq!(text, "Lanes, ms. static, until 4.00: worker 0 busy for 3.00 in 2 pieces, 1 of them stolen.");
    }
}
