//! Plain text tables.

use std::collections::BTreeSet;

use super::{grid, number, Series};
use crate::stats;

/// Formats a table for each unit and number of threads of a case.
///
/// Serial runs are in all of them, for comparison. Ratios are to the names in `against`.
pub(crate) fn tables(series: &[Series], against: &[&str]) -> String {
    let mut units: Vec<&str> = Vec::new();
    for series in series {
        if !units.contains(&series.unit) {
            units.push(series.unit);
        }
    }
    let mut text = String::new();
    for unit in units {
        let of_unit: Vec<&Series> = series.iter().filter(|series| series.unit == unit).collect();
        let pools = of_unit.iter().filter(|series| !series.name.starts_with("serial"));
        let counts: BTreeSet<usize> = pools.map(|series| series.threads).collect();
        for threads in counts {
            let table: Vec<&Series> = of_unit
                .iter()
                .copied()
                .filter(|series| {
                    series.threads == threads || (series.name.starts_with("serial") && series.threads == 1)
                })
                .collect();
            let threads = super::threads(threads);
            text.push_str(&format!("\n  {unit}, {threads}\n"));
            text.push_str(&comparison(&table, against));
        }
    }
    text
}

/// Formats a case as a table: a line for each implementation.
///
/// It has the ratio of its median to that of each name in `against`. A name that is not among the
/// series gets no column.
fn comparison(series: &[&Series], against: &[&str]) -> String {
    let peers: Vec<&Series> =
        against.iter().filter_map(|name| series.iter().copied().find(|series| series.name == *name)).collect();

    let mut header = vec!["impl".to_owned(), "median".to_owned(), "min".to_owned(), "p90".to_owned()];
    header.extend(peers.iter().map(|peer| format!("/ {}", peer.name)));
    header.push(String::new());

    let lines = series.iter().map(|series| {
        let of = |statistic: fn(&[f64]) -> Option<f64>| statistic(&series.samples).map_or_else(String::new, number);
        let mut line = vec![series.name.to_owned(), of(stats::median), of(stats::min), of(stats::p90)];
        line.extend(peers.iter().map(|peer| ratio(series.median() / peer.median())));
        line.push(series.note.clone().unwrap_or_default());
        line
    });
    grid(&header, &lines.collect::<Vec<_>>())
}

/// Formats a ratio. A division by zero or by a missing figure has no number to show.
fn ratio(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.2}")
    } else {
        "-".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::series;
    use super::*;

    #[test]
    fn ratios_are_to_the_named_peer_and_missing_peers_have_no_column() {
        let (ours, peer) = (series("the", &[2.0, 2.0, 9.0]), series("crossbeam-lifo", &[4.0, 5.0, 3.0]));
        let text = comparison(&[&ours, &peer], &["crossbeam-lifo", "unknown"]);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "impl            median   min   p90  / crossbeam-lifo",
                "the               2.00  2.00  9.00              0.50",
                "crossbeam-lifo    4.00  3.00  5.00              1.00",
            ]
        );
    }

    #[test]
    fn a_ratio_to_zero_is_a_dash() {
        let nothing = series("rayon", &[0.0]);
        assert!(comparison(&[&nothing], &["rayon"]).contains("0.00        -"));
    }

    #[test]
    fn there_is_a_table_for_each_unit_and_number_of_threads() {
        let series = |name, threads, unit| Series {
            case: "fib-38".to_owned(),
            name,
            threads,
            unit,
            samples: vec![1.0],
            note: None,
        };
        let text = tables(
            &[
                series("serial", 1, "ns/join"),
                series("rayon", 1, "ns/join"),
                series("rayon", 2, "ns/join"),
                series("serial-pair", 2, "ns/join"),
                series("rayon", 2, "cpu-us/call"),
            ],
            &["serial", "rayon"],
        );
        let headings: Vec<&str> = text.lines().filter(|line| line.contains(", ")).map(str::trim).collect();
        assert_eq!(headings, ["ns/join, 1 thread", "ns/join, 2 threads", "cpu-us/call, 2 threads"]);
        assert_eq!(text.matches("serial ").count(), 4, "{text}");
        assert_eq!(text.matches("serial-pair").count(), 1);
    }
}
