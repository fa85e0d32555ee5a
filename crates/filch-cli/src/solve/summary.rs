//! The result of a search and its statistics, as text and as JSON.

use std::fmt;

use filch_dd::{Cost, Outcome, Sense, SolveStatus, Width};
use serde::Serialize;

use super::arguments::CutsetName;
use super::checkpoint::Checkpoints;
use super::progress::signed;
use super::ranks::{self, Rank};
use super::{Arguments, Found};
use crate::format::{bytes, grouped, number, threads, time};
use crate::machine::Machine;

/// The summary of a search.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    problem: &'static str,
    file: String,
    /// `maximise` or `minimise`.
    sense: &'static str,
    variables: usize,
    /// `optimal`, `infeasible`, `timed-out`, `cancelled` or `node-limit`.
    ending: &'static str,
    /// The cost of the best solution, if any was found.
    cost: Option<Cost>,
    /// The proven bound: no solution is better than this.
    bound: Option<Cost>,
    /// The possible distance from the optimum: 0 if it is proven, 1 for 100 %.
    gap: Option<f64>,
    /// The best solution, in the format of `--solution`.
    pub(super) solution: Option<String>,
    seconds: f64,
    threads: usize,
    settings: Settings,
    statistics: Statistics,
    /// The statistics of each rank, in a run on several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) ranks: Vec<Rank>,
    /// The checkpoints of the search. Time and nodes include all that was done before them.
    #[serde(skip_serializing_if = "Checkpoints::is_empty")]
    pub(super) checkpoints: Checkpoints,
    machine: Machine,
}

/// The settings of the search. Settings that were not given are up to the solver, and left out.
#[derive(Debug, Serialize)]
struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cutset: Option<CutsetName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<bool>,
    /// Whether the problem has a dominance and it was used.
    dominance: bool,
}

#[derive(Debug, Serialize)]
struct Statistics {
    explored: u64,
    pruned: u64,
    diagram_nodes: u64,
    most_open: u64,
    bytes_of_an_open_node: usize,
    transfers: u64,
    /// The number of nodes that each worker explored.
    workers: Vec<u64>,
}

impl Summary {
    /// Makes the summary.
    pub(super) fn new(arguments: &Arguments, found: Found) -> Summary {
        let gap = found.outcome.gap();
        let Found { outcome, checkpoints, solution, variables, sense, dominance, ranks } = found;
        let Outcome { status, best, bound, statistics } = outcome;
        Summary {
            problem: arguments.problem.name(),
            file: arguments.file.display().to_string(),
            sense: match sense {
                Sense::Maximise => "maximise",
                Sense::Minimise => "minimise",
            },
            variables,
            ending: name(status),
            cost: best.map(|best| best.cost),
            bound,
            gap,
            solution,
            seconds: statistics.elapsed.as_secs_f64(),
            threads: arguments.threads(),
            settings: Settings {
                width: arguments.width.map(|width| match width {
                    Width::Fixed(width) => width.to_string(),
                    Width::Unassigned { factor } => format!("{factor}x"),
                }),
                cutset: arguments.cutset,
                cache: arguments.cache(),
                dominance,
            },
            statistics: Statistics {
                explored: statistics.explored,
                pruned: statistics.pruned,
                diagram_nodes: statistics.diagram_nodes,
                most_open: statistics.most_open,
                bytes_of_an_open_node: statistics.bytes_of_an_open_node,
                transfers: statistics.transfers,
                workers: statistics.workers.iter().map(|worker| worker.explored).collect(),
            },
            ranks,
            checkpoints,
            machine: Machine::here(),
        }
    }
}

/// Returns the name of a status in JSON.
pub(super) fn name(status: SolveStatus) -> &'static str {
    match status {
        SolveStatus::Optimal => "optimal",
        SolveStatus::Infeasible => "infeasible",
        SolveStatus::TimedOut => "timed-out",
        SolveStatus::Cancelled => "cancelled",
        SolveStatus::NodeLimit => "node-limit",
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { problem, file, variables, seconds, statistics, .. } = self;
        let ranks = match self.ranks.len() {
            0 => String::new(),
            1 => "1 rank of ".to_owned(),
            ranks => format!("{} ranks of ", grouped(ranks)),
        };
        writeln!(f, "{problem} {file}: {} variables, {ranks}{}", grouped(*variables), threads(self.threads))?;
        let bound =
            self.bound.map_or_else(|| "the bound is unknown".to_owned(), |bound| format!("bound {}", signed(bound)));
        match (self.ending, self.cost) {
            ("optimal", Some(cost)) => writeln!(f, "  optimum   {}, proven", signed(cost))?,
            ("infeasible", _) => writeln!(f, "  optimum   none: it is proven that there is no solution")?,
            (_, Some(cost)) => {
                let gap = self.gap.map_or_else(String::new, |gap| format!(", gap {} %", number(100.0 * gap)));
                writeln!(f, "  best      {}, not proven: {bound}{gap}", signed(cost))?;
            }
            (_, None) => writeln!(f, "  best      none found: {bound}")?,
        }
        if let Some(solution) = &self.solution {
            writeln!(f, "  solution  {}", solution.trim_end().replace('\n', "\n            "))?;
        }
        writeln!(f, "  ending    {}", self.ending)?;
        let rate = grouped((statistics.explored as f64 / seconds.max(1e-9)) as usize);
        writeln!(f, "  time      {}, {rate} nodes per second", time(*seconds))?;
        let [explored, pruned, in_diagrams] =
            [statistics.explored, statistics.pruned, statistics.diagram_nodes].map(|nodes| grouped(nodes as usize));
        write!(f, "  nodes     {explored} explored, {pruned} pruned, {in_diagrams} in diagrams")?;
        // The number of nodes open on all ranks at the same time is unknown.
        if self.ranks.is_empty() {
            let (most, each) = (grouped(statistics.most_open as usize), bytes(statistics.bytes_of_an_open_node));
            write!(f, ", {most} open at most, {each} per node")?;
        }
        writeln!(f)?;
        if let Some(resumed) = &self.checkpoints.resumed {
            let (seconds, explored) = (time(resumed.seconds), grouped(resumed.explored as usize));
            writeln!(f, "  resumed   after {seconds} and {explored} nodes, from {}", resumed.file)?;
        }
        if let Checkpoints { file: Some(file), written, .. } = &self.checkpoints {
            writeln!(f, "  saved     to {file}, {} times", grouped(*written as usize))?;
        }
        if !self.ranks.is_empty() {
            return f.write_str(&ranks::table(&self.ranks));
        }
        if self.threads > 1 {
            let workers: Vec<String> = statistics.workers.iter().map(|&nodes| grouped(nodes as usize)).collect();
            let (workers, transfers) = (workers.join(", "), grouped(statistics.transfers as usize));
            writeln!(f, "  workers   {workers} explored; {transfers} transfers")?;
        }
        Ok(())
    }
}
