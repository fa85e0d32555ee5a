//! The statistics of each rank of a run: as a table, as JSON, and as a chart.

use serde::Serialize;

use crate::chart::{BarSeries, Bars, Chart, Estimate};
use crate::format::{bytes, grid, grouped, number, time};

/// The statistics of one rank.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Rank {
    pub(super) rank: usize,
    /// The machine that it ran on.
    pub(super) host: String,
    pub(super) threads: u64,
    /// The number of nodes explored.
    pub(super) explored: u64,
    pub(super) pruned: u64,
    pub(super) diagram_nodes: u64,
    /// How often it gave nodes to others, and how many in all.
    pub(super) gifts: u64,
    pub(super) nodes_given: u64,
    pub(super) bytes_given: u64,
    /// How often it was asked and had no nodes to spare.
    pub(super) refusals: u64,
    /// How often others gave it nodes, and how many in all.
    pub(super) receipts: u64,
    pub(super) nodes_received: u64,
    pub(super) bytes_received: u64,
    pub(super) messages_sent: u64,
    pub(super) messages_received: u64,
    /// How long it had nothing to do.
    pub(super) idle_seconds: f64,
    /// How long its communication thread was busy.
    pub(super) communicating_seconds: f64,
    pub(super) seconds: f64,
}

impl Rank {
    /// The share of the time in which it was not idle.
    fn busy(&self) -> f64 {
        if self.seconds > 0.0 {
            (1.0 - self.idle_seconds / self.seconds).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

/// Formats a line for each rank.
pub(super) fn table(ranks: &[Rank]) -> String {
    let header =
        ["rank", "explored", "gifts", "nodes", "bytes", "receipts", "nodes", "bytes", "idle", "busy", "machine"];
    let line = |rank: &Rank| {
        let [explored, gifts, given, receipts, received] =
            [rank.explored, rank.gifts, rank.nodes_given, rank.receipts, rank.nodes_received]
                .map(|count| grouped(count as usize));
        let [bytes_given, bytes_received] = [rank.bytes_given, rank.bytes_received].map(|count| bytes(count as usize));
        let (idle, busy) = (time(rank.idle_seconds), format!("{} %", number(100.0 * rank.busy())));
        let (rank, host) = (rank.rank.to_string(), rank.host.clone());
        vec![rank, explored, gifts, given, bytes_given, receipts, received, bytes_received, idle, busy, host]
    };
    grid(&header.map(str::to_owned), &ranks.iter().map(line).collect::<Vec<_>>())
}

/// The panels of the chart.
const PANELS: [(&str, fn(&Rank) -> f64); 5] = [
    ("nodes explored", |rank| rank.explored as f64),
    ("kB given", |rank| rank.bytes_given as f64 / 1e3),
    ("kB received", |rank| rank.bytes_received as f64 / 1e3),
    ("seconds busy", |rank| rank.seconds * rank.busy()),
    ("seconds idle", |rank| rank.idle_seconds),
];

/// Returns a chart with a bar for each rank in each panel.
pub(super) fn chart(ranks: &[Rank]) -> Chart {
    let series = |rank: &Rank| BarSeries {
        name: format!("rank {}", rank.rank),
        bars: PANELS.iter().map(|(_, value)| Some(Estimate::exact(value(rank)))).collect(),
    };
    Chart::Bars(Bars {
        axis: String::new(),
        groups: PANELS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: ranks.iter().map(series).collect(),
        reference: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_ranks() -> Vec<Rank> {
        let of = |rank: usize, explored, idle_seconds| Rank {
            rank,
            host: format!("node{rank}"),
            threads: 2,
            explored,
            gifts: 3,
            nodes_given: 120,
            bytes_given: 12_000 * (3 - rank as u64),
            receipts: 2,
            nodes_received: 80,
            bytes_received: 8_000 * (rank as u64 + 1),
            idle_seconds,
            seconds: 2.0,
            ..Rank::default()
        };
        vec![of(0, 12_000, 0.1), of(1, 10_000, 0.5), of(2, 9_000, 1.0)]
    }

    #[test]
    fn a_table_has_a_line_for_each_rank() {
        let table = table(&three_ranks());
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 4, "{table}");
        for part in ["1 ", "10,000", "24.0 kB", "16.0 kB", "500 ms", "75.0 %", "node1"] {
            assert!(lines[2].contains(part), "{part}: {table}");
        }
    }

    #[test]
    fn every_rank_has_a_bar_in_each_panel() {
        let Chart::Bars(chart) = chart(&three_ranks()) else { unreachable!() };
        assert_eq!(chart.groups.len(), 5);
        assert_eq!(chart.series[1].name, "rank 1");
        let bars: Vec<f64> = chart.series[1].bars.iter().map(|bar| bar.unwrap().value).collect();
        assert_eq!(bars, [10_000.0, 24.0, 16.0, 1.5, 0.5]);
    }
}
