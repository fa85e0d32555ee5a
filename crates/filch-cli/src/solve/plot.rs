//! The best solution and the bound over time, as a chart.

use filch_dd::Cost;

use super::history::Event;
use crate::chart::{Chart, Estimate, Line, Lines};

/// Returns the chart. `end` is when the search ended, in seconds.
pub(super) fn chart(events: &[Event], end: f64) -> Chart {
    let line = |name: &str, value: fn(&Event) -> Option<Cost>| {
        let changes = events.iter().filter_map(|event| Some((event.at(), value(event)? as f64)));
        let points = steps(changes, end).into_iter().map(|(at, value)| (at, Estimate::exact(value)));
        Line { name: name.to_owned(), points: points.collect() }
    };
    let best = line("best", |event| match *event {
        Event::Incumbent { cost, .. } => Some(cost),
        _ => None,
    });
    let bound = line("bound", |event| match *event {
        Event::Bound { bound, .. } => Some(bound),
        _ => None,
    });
    Chart::Lines(Lines {
        x_axis: "seconds".to_owned(),
        y_axis: "cost".to_owned(),
        log_x: false,
        log_y: false,
        lines: vec![best, bound],
        marker: None,
    })
}

/// Returns a line with a corner wherever the value changes, up to the end.
fn steps(changes: impl Iterator<Item = (f64, f64)>, end: f64) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for (at, value) in changes {
        line.extend(line.last().map(|&(_, before)| (at, before)));
        line.push((at, value));
    }
    line.extend(line.last().map(|&(_, last)| (end, last)));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_value_until_it_changes() {
        let events = [
            Event::Bound { at: 0.0, bound: 30, open: 1, explored: 0 },
            Event::Incumbent { at: 0.5, cost: 10 },
            Event::Incumbent { at: 1.0, cost: 8 },
        ];
        let Chart::Lines(chart) = chart(&events, 2.0) else { unreachable!() };
        let points = |line: &Line| line.points.iter().map(|(at, cost)| (*at, cost.value)).collect::<Vec<_>>();
        assert_eq!(points(&chart.lines[0]), [(0.5, 10.0), (1.0, 10.0), (1.0, 8.0), (2.0, 8.0)]);
        assert_eq!(points(&chart.lines[1]), [(0.0, 30.0), (2.0, 30.0)]);
    }

    #[test]
    fn a_search_without_events_has_an_empty_chart() {
        let Chart::Lines(chart) = chart(&[], 0.0) else { unreachable!() };
        assert!(chart.lines.iter().all(|line| line.points.is_empty()));
    }
}
