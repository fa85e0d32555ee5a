//! The statistics of each rank, and the summary of all.

use std::time::Duration;

use filch_graph::generate::Recipe;
use filch_graph::part::Partition;
use filch_graph::Vertex;
use filch_mpi::explore::{Closure, RankCounts};
use serde::{Deserialize, Serialize};

use super::super::summary::{name, GraphSummary, Numbers, ResultSummary, Shares, Summary};
use crate::format::{bytes, grouped, time};
use crate::machine::Machine;

/// What a rank reports about itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct RankReport {
    pub(super) machine: String,
    pub(in super::super) threads: usize,
    pub(super) vertices: usize,
    pub(super) arcs: usize,
    pub(super) graph_bytes: usize,
    pub(super) marks_bytes: usize,
    pub(super) build_seconds: f64,
    pub(super) reached: u64,
}

/// The statistics of one rank.
#[derive(Debug, Serialize)]
pub(in super::super) struct RankSummary {
    rank: usize,
    #[serde(flatten)]
    pub(in super::super) report: RankReport,
    tasks: u64,
    redundant: u64,
    /// Tasks that its workers stole from each other.
    steals: u64,
    /// Tasks for other ranks, and from them.
    pub(in super::super) sent: u64,
    received: u64,
    messages: u64,
    message_bytes: u64,
    /// How often it began to explore.
    rounds: u64,
    idle_seconds: f64,
}

impl RankSummary {
    /// The header of the table.
    pub(in super::super) const HEADER: [&'static str; 11] =
        ["rank", "vertices", "reached", "tasks", "sent", "received", "messages", "bytes", "rounds", "idle", "machine"];

    fn new((rank, (report, counts)): (usize, (RankReport, &RankCounts))) -> RankSummary {
        RankSummary {
            rank,
            report,
            tasks: counts.tasks,
            redundant: counts.redundant,
            steals: counts.steals,
            sent: counts.sent,
            received: counts.received,
            messages: counts.messages,
            message_bytes: counts.bytes,
            rounds: counts.rounds,
            idle_seconds: counts.idle.as_secs_f64(),
        }
    }

    /// Its line of the table.
    pub(in super::super) fn line(&self) -> Vec<String> {
        let RankReport { vertices, reached, ref machine, .. } = self.report;
        let counts = [vertices as u64, reached, self.tasks, self.sent, self.received, self.messages];
        let mut line = vec![self.rank.to_string()];
        line.extend(counts.map(|count| grouped(count as usize)));
        line.extend([bytes(self.message_bytes as usize), grouped(self.rounds as usize), time(self.idle_seconds)]);
        line.push(machine.clone());
        line
    }
}

/// Makes the summary of a traversal. The result itself is not in it: each rank has a part of it.
pub(super) fn summary(
    recipe: &Recipe,
    partition: &Partition,
    roots: &[Vertex],
    found: &Closure,
    reports: Vec<RankReport>,
    elapsed: Duration,
) -> Summary {
    let explored = found.explored();
    let total = explored.total();
    let sum = |figure: fn(&RankReport) -> usize| reports.iter().map(figure).sum();
    Summary {
        task: "closure",
        process: None,
        graph: GraphSummary {
            name: recipe.to_string(),
            source: None,
            vertices: partition.vertices(),
            arcs: sum(|report| report.arcs),
            weights: None,
            partition: Some(if partition.is_hashed() { "hashed" } else { "blocks" }),
            memory_bytes: sum(|report| report.graph_bytes),
            seconds: reports.iter().map(|report| report.build_seconds).fold(0.0, f64::max),
        },
        roots: roots.iter().copied().map(u64::from).collect(),
        result: ResultSummary {
            numbers: Numbers::Closure { reached: found.reached() as usize },
            memory_bytes: sum(|report| report.marks_bytes),
        },
        ending: name(explored.ending()),
        seconds: elapsed.as_secs_f64(),
        tasks: total.tasks,
        redundant: Some(total.redundant),
        shares: Shares::Ranks {
            ranks: reports.into_iter().zip(explored.ranks()).enumerate().map(RankSummary::new).collect(),
        },
        machine: Machine::here(),
    }
}
