//! The result and the statistics, as text and as JSON.

use std::fmt;
use std::time::Duration;

use filch::explore::{Counts, Ending};
use filch_graph::Vertex;
use serde::Serialize;

use super::answer::Answer;
use super::input::Input;
use super::Arguments;
use crate::format::{bytes, grid, grouped, number, threads, time};
use crate::machine::Machine;

/// The summary of a run, without the result itself.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    task: &'static str,
    queue: &'static str,
    threads: usize,
    graph: GraphSummary,
    /// The roots, by their ids in the file.
    roots: Vec<u64>,
    result: ResultSummary,
    ending: &'static str,
    /// How long the traversal took.
    seconds: f64,
    tasks: u64,
    /// The number of redundant tasks; unknown if the traversal did not complete.
    redundant: Option<u64>,
    steals: u64,
    /// The workers that ran tasks.
    workers: Vec<WorkerSummary>,
    machine: Machine,
}

#[derive(Debug, Serialize)]
struct GraphSummary {
    name: String,
    /// The format that it was read as; `None` if it was generated.
    format: Option<String>,
    directed: bool,
    vertices: usize,
    arcs: usize,
    memory_bytes: usize,
    /// How long it took to read or to generate it.
    seconds: f64,
}

/// The result, in numbers.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ResultSummary {
    Closure { reached: usize, memory_bytes: usize },
    Tree { reached: usize, trees: usize, memory_bytes: usize },
    Components { components: usize, largest: usize, memory_bytes: usize },
    Distances { reached: usize, farthest: u32, memory_bytes: usize },
}

#[derive(Debug, Serialize)]
struct WorkerSummary {
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
        let memory_bytes = answer.memory();
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
            queue: arguments.queue.name(),
            threads,
            graph: GraphSummary {
                name: input.name.clone(),
                format: input.format.clone(),
                directed: input.directed,
                vertices: input.graph.vertices(),
                arcs: input.graph.arcs(),
                memory_bytes: input.graph.memory(),
                seconds: input.elapsed.as_secs_f64(),
            },
            roots: roots.iter().map(id).collect(),
            result: match answer {
                Answer::Closure(closure) => ResultSummary::Closure { reached: closure.reached(), memory_bytes },
                Answer::Tree(tree) => {
                    ResultSummary::Tree { reached: tree.reached(), trees: tree.roots().len(), memory_bytes }
                }
                Answer::Components(components) => ResultSummary::Components {
                    components: components.count(),
                    largest: components.sizes().into_iter().max().unwrap_or(0),
                    memory_bytes,
                },
                Answer::Distances(distances) => ResultSummary::Distances {
                    reached: distances.reached(),
                    farthest: distances.farthest().map_or(0, |(_, distance)| distance),
                    memory_bytes,
                },
            },
            ending: match effort.ending() {
                Ending::Complete => "complete",
                Ending::TimedOut => "timed-out",
                _ => "stopped",
            },
            seconds: elapsed.as_secs_f64(),
            tasks: effort.tasks(),
            redundant: effort.redundant(),
            steals: effort.steals(),
            workers: effort.counts().iter().map(worker).collect(),
            machine: Machine::here(),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GraphSummary { name, format, directed, vertices, arcs, memory_bytes, seconds } = &self.graph;
        let source = match format {
            Some(format) => format!("read as {format}"),
            None => "generated".to_owned(),
        };
        let links = if *directed {
            format!("{} arcs", grouped(*arcs))
        } else {
            format!("{} arcs (two per edge)", grouped(*arcs))
        };
        writeln!(
            f,
            "{name}: {} vertices, {links}, {}; {source} in {}",
            grouped(*vertices),
            bytes(*memory_bytes),
            time(*seconds)
        )?;

        let threads = threads(self.threads);
        let from = match &*self.roots {
            [] => String::new(),
            [root] => format!(" from vertex {root}"),
            roots => format!(" from {} vertices", grouped(roots.len())),
        };
        writeln!(f, "{}{from} on {threads}, {}\n", self.task, self.queue)?;

        let share_of = |part: usize, all: usize| match all {
            0 => grouped(part),
            all => format!("{} of {} ({:.2} %)", grouped(part), grouped(all), 100.0 * part as f64 / all as f64),
        };
        let memory_bytes = match self.result {
            ResultSummary::Closure { reached, memory_bytes } => {
                writeln!(f, "  reached   {} vertices", share_of(reached, *vertices))?;
                memory_bytes
            }
            ResultSummary::Tree { reached, trees, memory_bytes } => {
                writeln!(
                    f,
                    "  in trees  {} vertices, {} {}",
                    share_of(reached, *vertices),
                    grouped(trees),
                    if trees == 1 { "tree" } else { "trees" }
                )?;
                memory_bytes
            }
            ResultSummary::Components { components, largest, memory_bytes } => {
                writeln!(
                    f,
                    "  found     {} {}, the largest with {} vertices",
                    grouped(components),
                    if components == 1 { "component" } else { "components" },
                    share_of(largest, *vertices)
                )?;
                memory_bytes
            }
            ResultSummary::Distances { reached, farthest, memory_bytes } => {
                writeln!(
                    f,
                    "  reached   {} vertices, the farthest at distance {}",
                    share_of(reached, *vertices),
                    grouped(farthest as usize)
                )?;
                memory_bytes
            }
        };
        if self.ending != "complete" {
            writeln!(f, "  ending    {}: the result is incomplete", self.ending)?;
        }
        let each = 1e9 * self.seconds / (*vertices).max(1) as f64;
        writeln!(f, "  time      {}, {} ns per vertex of the graph", time(self.seconds), number(each))?;
        writeln!(f, "  memory    {} besides the graph and the worklists", bytes(memory_bytes))?;
        let share = |part: u64| format!("{:.2} %", 100.0 * part as f64 / self.tasks.max(1) as f64);
        let redundant = match self.redundant {
            Some(redundant) => format!("{} redundant ({})", grouped(redundant as usize), share(redundant)),
            None => "redundant unknown".to_owned(),
        };
        let stolen = format!("{} stolen ({})", grouped(self.steals as usize), share(self.steals));
        writeln!(f, "  tasks     {}, {redundant}, {stolen}\n", grouped(self.tasks as usize))?;

        let header = ["worker", "tasks", "stolen", "aborts", "longest queue", "idle", ""].map(str::to_owned);
        let line = |(index, worker): (usize, &WorkerSummary)| {
            vec![
                index.to_string(),
                grouped(worker.tasks as usize),
                grouped(worker.steals as usize),
                grouped(worker.aborts as usize),
                grouped(worker.longest),
                time(worker.idle_seconds),
                String::new(),
            ]
        };
        f.write_str(&grid(&header, &self.workers.iter().enumerate().map(line).collect::<Vec<_>>()))
    }
}
