//! The result and the statistics of each rank, as text and as JSON.

use std::fmt;
use std::time::Duration;

use filch::explore::Ending;
use filch_graph::generate::Recipe;
use filch_graph::part::Partition;
use filch_graph::Vertex;
use filch_mpi::explore::{Closure, RankCounts};
use serde::{Deserialize, Serialize};

use crate::format::{bytes, grid, grouped, number, threads, time};
use crate::machine::Machine;

/// The summary of a run. The result itself is not in it: each rank has a part of it.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    task: &'static str,
    graph: GraphSummary,
    roots: Vec<Vertex>,
    result: ResultSummary,
    ending: &'static str,
    /// How long the traversal took on this rank.
    seconds: f64,
    tasks: u64,
    /// Tasks whose vertex was already visited.
    redundant: u64,
    ranks: Vec<RankSummary>,
    machine: Machine,
}

#[derive(Debug, Serialize)]
struct GraphSummary {
    name: String,
    vertices: usize,
    arcs: usize,
    /// `blocks` or `hashed`.
    partition: &'static str,
    /// The memory of all parts.
    memory_bytes: usize,
    /// How long the slowest rank took to build its part.
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct ResultSummary {
    reached: u64,
    memory_bytes: usize,
}

/// What a rank reports about itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RankReport {
    pub(super) machine: String,
    pub(super) threads: usize,
    pub(super) vertices: usize,
    pub(super) arcs: usize,
    pub(super) graph_bytes: usize,
    pub(super) marks_bytes: usize,
    pub(super) build_seconds: f64,
    pub(super) reached: u64,
}

/// The statistics of one rank.
#[derive(Debug, Serialize)]
struct RankSummary {
    rank: usize,
    #[serde(flatten)]
    report: RankReport,
    tasks: u64,
    redundant: u64,
    /// Tasks that its workers stole from each other.
    steals: u64,
    /// Tasks for other ranks, and from them.
    sent: u64,
    received: u64,
    messages: u64,
    message_bytes: u64,
    /// How often it began to explore.
    rounds: u64,
    idle_seconds: f64,
}

impl Summary {
    /// Makes the summary of a traversal.
    pub(super) fn new(
        recipe: &Recipe,
        partition: &Partition,
        roots: &[Vertex],
        found: &Closure,
        reports: Vec<RankReport>,
        elapsed: Duration,
    ) -> Summary {
        let explored = found.explored();
        let rank_summary = |(rank, (report, counts)): (usize, (RankReport, &RankCounts))| RankSummary {
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
        };
        let total = explored.total();
        Summary {
            task: "closure",
            graph: GraphSummary {
                name: recipe.to_string(),
                vertices: partition.vertices(),
                arcs: reports.iter().map(|report| report.arcs).sum(),
                partition: if partition.is_hashed() { "hashed" } else { "blocks" },
                memory_bytes: reports.iter().map(|report| report.graph_bytes).sum(),
                seconds: reports.iter().map(|report| report.build_seconds).fold(0.0, f64::max),
            },
            roots: roots.to_vec(),
            result: ResultSummary {
                reached: found.reached(),
                memory_bytes: reports.iter().map(|report| report.marks_bytes).sum(),
            },
            ending: match explored.ending() {
                Ending::Complete => "complete",
                Ending::TimedOut => "timed-out",
                _ => "stopped",
            },
            seconds: elapsed.as_secs_f64(),
            tasks: total.tasks,
            redundant: total.redundant,
            ranks: reports.into_iter().zip(explored.ranks()).enumerate().map(rank_summary).collect(),
            machine: Machine::here(),
        }
    }

    /// Whether everything was explored.
    pub(super) fn is_complete(&self) -> bool {
        self.ending == "complete"
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GraphSummary { name, vertices, arcs, partition, memory_bytes, seconds } = &self.graph;
        let parts = if *partition == "hashed" { "hashed" } else { "in blocks" };
        let (vertices_text, arcs_text) = (grouped(*vertices), grouped(*arcs));
        let (memory, took) = (bytes(*memory_bytes), time(*seconds));
        writeln!(
            f,
            "{name}: {vertices_text} vertices, {arcs_text} arcs (two per edge), {memory}; generated in {took}"
        )?;

        let from = match &*self.roots {
            [root] => format!(" from vertex {root}"),
            roots => format!(" from {} vertices", grouped(roots.len())),
        };
        let ranks = match self.ranks.len() {
            1 => "1 rank".to_owned(),
            ranks => format!("{} ranks", grouped(ranks)),
        };
        let all_threads = self.ranks.iter().map(|rank| rank.report.threads).sum();
        writeln!(f, "closure{from} on {ranks}, {parts}, {} in all\n", threads(all_threads))?;

        let share = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
        let reached = self.result.reached;
        let percent = share(reached, *vertices as u64);
        writeln!(f, "  reached   {} of {vertices_text} ({percent:.2} %) vertices", grouped(reached as usize))?;
        if !self.is_complete() {
            writeln!(f, "  ending    {}: the result is incomplete", self.ending)?;
        }
        let each = 1e9 * self.seconds / (*vertices).max(1) as f64;
        writeln!(f, "  time      {}, {} ns per vertex of the graph", time(self.seconds), number(each))?;
        writeln!(f, "  memory    {} besides the graph and the worklists", bytes(self.result.memory_bytes))?;
        let sent: u64 = self.ranks.iter().map(|rank| rank.sent).sum();
        writeln!(
            f,
            "  tasks     {}, {} redundant ({:.2} %), {} sent to other ranks ({:.2} %)\n",
            grouped(self.tasks as usize),
            grouped(self.redundant as usize),
            share(self.redundant, self.tasks),
            grouped(sent as usize),
            share(sent, self.tasks)
        )?;

        let header =
            ["rank", "vertices", "reached", "tasks", "sent", "received", "messages", "bytes", "rounds", "idle"];
        let header: Vec<String> = header.into_iter().chain(["machine"]).map(str::to_owned).collect();
        let line = |rank: &RankSummary| {
            let counts = [rank.report.vertices, rank.report.reached as usize, rank.tasks as usize, rank.sent as usize];
            let messages = [rank.received as usize, rank.messages as usize];
            let mut line = vec![rank.rank.to_string()];
            line.extend(counts.into_iter().chain(messages).map(grouped));
            line.extend([bytes(rank.message_bytes as usize), grouped(rank.rounds as usize), time(rank.idle_seconds)]);
            line.push(rank.report.machine.clone());
            line
        };
        f.write_str(&grid(&header, &self.ranks.iter().map(line).collect::<Vec<_>>()))
    }
}
