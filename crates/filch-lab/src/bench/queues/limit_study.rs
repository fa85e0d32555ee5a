//! The limit study: the task cost at which the choice of queue stops mattering.

use std::collections::BTreeSet;

use super::cases::Case;
use super::contenders::{self, Entry};
use crate::bench::busy::Calibration;
use crate::figures::{self, Series};

/// The share of an operation's time below which the choice of the queue is negligible.
///
/// Below it, the choice is lost in the noise of most machines.
const NEGLIGIBLE: f64 = 0.05;

/// The limit study as text.
///
/// It has a column for each cost, and below it the effect of the choice of the queue on the total.
pub(super) fn summary(series: &[Series], calibration: Calibration) -> String {
    let entries = contenders::all();
    let cost = |series: &Series| series.case.strip_prefix("task-cost-")?.parse::<u64>().ok();
    let costs: BTreeSet<u64> = series.iter().filter_map(cost).collect();
    let costs: Vec<u64> = costs.into_iter().collect();
    if costs.is_empty() {
        return String::new();
    }

    let median = |entry: &Entry, cost: u64| {
        let name = Case::TaskCost(cost).to_string();
        series.iter().find(|series| series.case == name && series.name == entry.name).map(Series::median)
    };
    let mut header = vec!["impl".to_owned()];
    header.extend(costs.iter().map(|cost| format!("{cost} ns")));
    header.push(String::new());
    let mut lines: Vec<Vec<String>> = Vec::new();
    for entry in &entries {
        let figures = costs.iter().map(|&cost| median(entry, cost).map_or_else(String::new, figures::number));
        lines.push(std::iter::once(entry.name.to_owned()).chain(figures).collect());
    }
    let spreads: Vec<f64> = costs
        .iter()
        .map(|&cost| {
            let queues = entries.iter().filter(|entry| !entry.floor);
            spread(&queues.filter_map(|entry| median(entry, cost)).collect::<Vec<_>>())
        })
        .collect();
    let shares = spreads.iter().map(|spread| format!("{:.0} %", 100.0 * spread));
    lines.push(std::iter::once("spread".to_owned()).chain(shares).collect());

    let verdict = match stops_mattering(&costs, &spreads) {
        Some(cost) => format!(
            "The choice of the queue stops mattering (a spread below {:.0} %) at tasks of {cost} ns.",
            100.0 * NEGLIGIBLE
        ),
        None => "The choice of the queue matters at all of these costs.".to_owned(),
    };
    format!(
        "task-cost-N: {}, medians by task cost (in steps of {:.2} ns).\n\
         The spread is the difference between the slowest and the fastest queue (without floors), as a share of the slowest time.\n\n{}\n  {verdict}\n",
        Case::TaskCost(0).operation(),
        calibration.nanos_per_step(),
        figures::grid(&header, &lines)
    )
}

/// The difference between slowest and fastest, as a share of the slowest's time.
fn spread(medians: &[f64]) -> f64 {
    let slowest = medians.iter().copied().fold(0.0, f64::max);
    let fastest = medians.iter().copied().fold(f64::INFINITY, f64::min);
    if slowest > 0.0 {
        (slowest - fastest) / slowest
    } else {
        0.0
    }
}

/// The lowest cost from which every spread is negligible. `costs` must be ascending.
fn stops_mattering(costs: &[u64], spreads: &[f64]) -> Option<u64> {
    let negligible = spreads.iter().rev().take_while(|&&spread| spread < NEGLIGIBLE).count();
    (negligible > 0).then(|| costs[costs.len() - negligible])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_was_not_reached_is_not_judged() {
        let of = |name, nanos| Series {
            case: Case::TaskCost(0).to_string(),
            name,
            threads: 1,
            unit: "ns/op",
            samples: vec![nanos],
            note: None,
        };
        let series = [of("the", 1.0), of("chase_lev", 2.0)];
        let text = summary(&series, Calibration::measure());
        assert!(text.contains("matters at all of these costs") && !text.contains("1000 ns"), "{text}");
        assert!(summary(&[], Calibration::measure()).is_empty());
    }

    #[test]
    fn the_spread_is_a_share_of_the_slowest() {
        assert_eq!(spread(&[2.0, 8.0, 4.0]), 0.75);
        assert_eq!(spread(&[5.0]), 0.0);
        assert_eq!(spread(&[]), 0.0);
    }

    #[test]
    fn the_queue_stops_mattering_where_it_never_matters_again() {
        let costs = [0, 10, 100, 1000];
        assert_eq!(stops_mattering(&costs, &[0.8, 0.01, 0.2, 0.04]), Some(1000));
        assert_eq!(stops_mattering(&costs, &[0.8, 0.3, 0.04, 0.01]), Some(100));
        assert_eq!(stops_mattering(&costs, &[0.8, 0.3, 0.2, 0.1]), None);
        assert_eq!(stops_mattering(&[], &[]), None);
    }
}
