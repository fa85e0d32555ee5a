//! The result and the statistics, as text and as JSON.

use std::fmt;
use std::time::Duration;

use filch::explore::{Counts, Ending};
use filch_graph::Vertex;
use serde::Serialize;

use super::answer::Answer;
use super::input::Input;
use super::ranks::RankSummary;
use super::Arguments;
use crate::format::{bytes, grid, grouped, number, threads, time};
use crate::machine::Machine;

/// The summary of a run, without the result itself.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) task: &'static str,
    /// The queue and the number of threads of a run in one process.
    #[serde(flatten)]
    pub(super) process: Option<Process>,
    pub(super) graph: GraphSummary,
    /// The roots, by their ids in the file.
    pub(super) roots: Vec<u64>,
    pub(super) result: ResultSummary,
    pub(super) ending: &'static str,
    /// How long the traversal took, on this rank if there are several.
    pub(super) seconds: f64,
    pub(super) tasks: u64,
    /// The number of redundant tasks; unknown if the traversal of one process did not complete.
    pub(super) redundant: Option<u64>,
    #[serde(flatten)]
    pub(super) shares: Shares,
    pub(super) machine: Machine,
}

#[derive(Debug, Serialize)]
pub(super) struct Process {
    /// `None` if it runs level by level.
    queue: Option<&'static str>,
    threads: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct GraphSummary {
    pub(super) name: String,
    /// How it was read or generated as a whole.
    #[serde(flatten)]
    pub(super) source: Option<Source>,
    pub(super) vertices: usize,
    pub(super) arcs: usize,
    /// `whole` or `real`, if arcs have weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) weights: Option<&'static str>,
    /// `blocks` or `hashed`, if it is divided among ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) partition: Option<&'static str>,
    /// The memory of all parts.
    pub(super) memory_bytes: usize,
    /// How long it took to read or to generate it, on the slowest rank if there are several.
    pub(super) seconds: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Source {
    /// The format that it was read as; `None` if it was generated.
    format: Option<String>,
    directed: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct ResultSummary {
    #[serde(flatten)]
    pub(super) numbers: Numbers,
    pub(super) memory_bytes: usize,
}

/// The result, in numbers.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Numbers {
    Closure { reached: usize },
    Tree { reached: usize, trees: usize },
    Components { components: usize, largest: usize },
    Distances { reached: usize, farthest: u32 },
    ShortestPaths { reached: usize, farthest: f64, delta: f64, visits: u64 },
}

/// What each worker did, or each rank.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Shares {
    /// The workers that ran tasks.
    Workers {
        steals: u64,
        workers: Vec<WorkerSummary>,
    },
    Ranks {
        ranks: Vec<RankSummary>,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct WorkerSummary {
    tasks: u64,
    steals: u64,
    aborts: u64,
    /// The most tasks that were observed in its queue.
    longest: usize,
    idle_seconds: f64,
}

impl Summary {
    /// Makes the summary of a traversal.
    pub(super) fn new(
        arguments: &Arguments,
        input: &Input,
        answer: &Answer,
        roots: &[Vertex],
        threads: usize,
        elapsed: Duration,
    ) -> Summary {
        let effort = answer.effort();
        let id = |&vertex: &Vertex| input.names.as_ref().map_or(u64::from(vertex), |names| names.id(vertex));
        let worker = |counts: &Counts| WorkerSummary {
            tasks: counts.tasks,
            steals: counts.steals,
            aborts: counts.aborts,
            longest: counts.longest,
            idle_seconds: counts.idle.as_secs_f64(),
        };
        Summary {
            task: arguments.task.name(),
            process: Some(Process { queue: arguments.queue_name(), threads }),
            graph: GraphSummary {
                name: input.name.clone(),
                source: Some(Source { format: input.format.clone(), directed: input.directed }),
                vertices: input.graph.graph().vertices(),
                arcs: input.graph.graph().arcs(),
                weights: input.graph.weights(),
                partition: None,
                memory_bytes: input.graph.memory(),
                seconds: input.elapsed.as_secs_f64(),
            },
            roots: roots.iter().map(id).collect(),
            result: ResultSummary {
                numbers: match answer {
                    Answer::Closure(closure) => Numbers::Closure { reached: closure.reached() },
                    Answer::Tree(tree) => Numbers::Tree { reached: tree.reached(), trees: tree.roots().len() },
                    Answer::Components(components) => Numbers::Components {
                        components: components.count(),
                        largest: components.sizes().into_iter().max().unwrap_or(0),
                    },
                    Answer::Distances(distances) => Numbers::Distances {
                        reached: distances.reached(),
                        farthest: distances.farthest().map_or(0, |(_, distance)| distance),
                    },
                    Answer::ShortestPaths(paths) => Numbers::ShortestPaths {
                        reached: paths.reached(),
                        farthest: paths.farthest().map_or(0.0, |(_, distance)| distance),
                        delta: paths.width(),
                        visits: paths.visits(),
                    },
                },
                memory_bytes: answer.memory(),
            },
            ending: name(effort.ending()),
            seconds: elapsed.as_secs_f64(),
            tasks: effort.tasks(),
            redundant: effort.redundant(),
            shares: Shares::Workers { steals: effort.steals(), workers: effort.counts().iter().map(worker).collect() },
            machine: Machine::here(),
        }
    }

    /// Whether everything was explored.
    pub(super) fn is_complete(&self) -> bool {
        self.ending == "complete"
    }
}

/// Returns the name of an ending in JSON.
pub(super) fn name(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::TimedOut => "timed-out",
        _ => "stopped",
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GraphSummary { name, source, vertices, arcs, weights, partition, memory_bytes, seconds } = &self.graph;
        let (format, directed) = source.as_ref().map_or((&None, false), |source| (&source.format, source.directed));
        let made = format.as_ref().map_or_else(|| "generated".to_owned(), |format| format!("read as {format}"));
        let per_edge = if directed { "" } else { " (two per edge)" };
        let (vertices_text, arcs) = (grouped(*vertices), grouped(*arcs));
        let (memory, took) = (bytes(*memory_bytes), time(*seconds));
        let weights = weights.map(|kind| format!(", {kind} weights")).unwrap_or_default();
        writeln!(f, "{name}: {vertices_text} vertices, {arcs} arcs{per_edge}{weights}, {memory}; {made} in {took}")?;

        let from = match &*self.roots {
            [] => String::new(),
            [root] => format!(" from vertex {root}"),
            roots => format!(" from {} vertices", grouped(roots.len())),
        };
        write!(f, "{}{from} on ", self.task)?;
        if let Some(Process { queue, threads: count }) = self.process {
            writeln!(f, "{}, {}\n", threads(count), queue.unwrap_or("level by level"))?;
        }
        if let Shares::Ranks { ranks } = &self.shares {
            let count = counted(ranks.len(), "rank", "ranks");
            let parts = if *partition == Some("hashed") { "hashed" } else { "in blocks" };
            let all_threads = ranks.iter().map(|rank| rank.report.threads).sum();
            writeln!(f, "{count}, {parts}, {} in all\n", threads(all_threads))?;
        }

        let share_of_all = |part: usize| match *vertices {
            0 => grouped(part),
            all => format!("{} of {vertices_text} ({:.2} %)", grouped(part), 100.0 * part as f64 / all as f64),
        };
        match self.result.numbers {
            Numbers::Closure { reached } => writeln!(f, "  reached   {} vertices", share_of_all(reached))?,
            Numbers::Tree { reached, trees } => {
                let trees = counted(trees, "tree", "trees");
                writeln!(f, "  in trees  {} vertices, {trees}", share_of_all(reached))?;
            }
            Numbers::Components { components, largest } => {
                let components = counted(components, "component", "components");
                writeln!(f, "  found     {components}, the largest with {} vertices", share_of_all(largest))?;
            }
            Numbers::Distances { reached, farthest } => {
                let (reached, farthest) = (share_of_all(reached), grouped(farthest as usize));
                writeln!(f, "  reached   {reached} vertices, the farthest at distance {farthest}")?;
            }
            Numbers::ShortestPaths { reached, farthest, delta, visits } => {
                let again = visits.saturating_sub(reached as u64) as usize;
                let share = 100.0 * again as f64 / visits.max(1) as f64;
                let (reached, farthest) = (share_of_all(reached), distance(farthest));
                writeln!(f, "  reached   {reached} vertices, the farthest at distance {farthest}")?;
                let (width, visits, again) = (number(delta), grouped(visits as usize), grouped(again));
                writeln!(f, "  visits    {visits}, {again} again ({share:.2} %), in buckets of width {width}")?;
            }
        }
        if !self.is_complete() {
            writeln!(f, "  ending    {}: the result is incomplete", self.ending)?;
        }
        let each = 1e9 * self.seconds / (*vertices).max(1) as f64;
        writeln!(f, "  time      {}, {} ns per vertex of the graph", time(self.seconds), number(each))?;
        writeln!(f, "  memory    {} besides the graph and the worklists", bytes(self.result.memory_bytes))?;
        let share = |part: u64, what: &str| {
            format!("{} {what} ({:.2} %)", grouped(part as usize), 100.0 * part as f64 / self.tasks.max(1) as f64)
        };
        let redundant =
            self.redundant.map_or_else(|| "redundant unknown".to_owned(), |tasks| share(tasks, "redundant"));
        let moved = match &self.shares {
            Shares::Workers { steals, .. } => share(*steals, "stolen"),
            Shares::Ranks { ranks } => share(ranks.iter().map(|rank| rank.sent).sum(), "sent to other ranks"),
        };
        writeln!(f, "  tasks     {}, {redundant}, {moved}\n", grouped(self.tasks as usize))?;
        f.write_str(&self.shares.table())
    }
}

impl Shares {
    /// Formats a line for each worker or rank.
    fn table(&self) -> String {
        let (header, lines): (&[&str], Vec<Vec<String>>) = match self {
            Shares::Workers { workers, .. } => (
                &["worker", "tasks", "stolen", "aborts", "longest queue", "idle", ""],
                workers.iter().enumerate().map(|(index, worker)| worker.line(index)).collect(),
            ),
            Shares::Ranks { ranks } => (&RankSummary::HEADER, ranks.iter().map(RankSummary::line).collect()),
        };
        grid(&header.iter().map(ToString::to_string).collect::<Vec<_>>(), &lines)
    }
}

impl WorkerSummary {
    fn line(&self, index: usize) -> Vec<String> {
        let counts = [self.tasks, self.steals, self.aborts, self.longest as u64].map(|count| grouped(count as usize));
        let mut line = vec![index.to_string()];
        line.extend(counts);
        line.extend([time(self.idle_seconds), String::new()]);
        line
    }
}

/// Formats a distance: exactly, but for the commas of a whole number.
fn distance(distance: f64) -> String {
    match distance {
        whole if whole.fract() == 0.0 && whole < 1e15 => grouped(whole as usize),
        large if large >= 1e15 => format!("{large:e}"),
        other => other.to_string(),
    }
}

/// Formats a number of things.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}
