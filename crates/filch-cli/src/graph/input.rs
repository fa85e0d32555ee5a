//! The graph of a command.

use std::time::{Duration, Instant};

use anyhow::{anyhow, Context, Result};
use filch_graph::generate::{GenerateError, Recipe};
use filch_graph::read::{self, Loaded, Names, Options, Progress};
use filch_graph::{Graph, WeightedGraph};

use super::{progress, Arguments};

/// A graph, with weights if the task needs them.
pub(super) enum Stored {
    Plain(Graph),
    Weighted(WeightedGraph),
}

impl Stored {
    /// The graph without its weights.
    pub(super) fn graph(&self) -> &Graph {
        match self {
            Stored::Plain(graph) => graph,
            Stored::Weighted(graph) => graph.graph(),
        }
    }

    /// The bytes that it holds.
    pub(super) fn memory(&self) -> usize {
        match self {
            Stored::Plain(graph) => graph.memory(),
            Stored::Weighted(graph) => graph.memory(),
        }
    }

    /// What its weights are: `whole` or `real`.
    pub(super) fn weights(&self) -> Option<&'static str> {
        match self {
            Stored::Plain(_) => None,
            Stored::Weighted(graph) => Some(if graph.has_whole_weights() { "whole" } else { "real" }),
        }
    }

    fn generate(recipe: &Recipe, weighted: bool) -> Result<Stored, GenerateError> {
        match weighted {
            false => recipe.build().map(Stored::Plain),
            true => recipe.build_weighted().map(Stored::Weighted),
        }
    }
}

/// A graph and its source.
pub(super) struct Input {
    pub(super) graph: Stored,
    /// Its name to display.
    pub(super) name: String,
    /// The format that it was read as; `None` if it was generated.
    pub(super) format: Option<String>,
    /// Whether its arcs are directed.
    pub(super) directed: bool,
    /// The ids of its vertices in the file, if they were renumbered.
    pub(super) names: Option<Names>,
    /// How long it took to read or generate it.
    pub(super) elapsed: Duration,
}

/// Reads or generates the graph.
pub(super) fn load(arguments: &Arguments) -> Result<Input> {
    let start = Instant::now();
    if let Some(recipe) = &arguments.generate {
        let name = recipe.to_string();
        let spinner = progress::spinner(format!("generating {name}"));
        let graph = Stored::generate(recipe, arguments.task.needs_weights());
        spinner.finish_and_clear();
        let graph = graph.map_err(|error| anyhow!("{name} cannot be generated: {error}"))?;
        return Ok(Input { graph, name, format: None, directed: false, names: None, elapsed: start.elapsed() });
    }
    // One of the two is required.
    let path = arguments.file.as_deref().context("no graph: give a file or --generate")?;
    let name = path.display().to_string();
    let bar = progress::reading_bar(&name);
    let advance = |progress: Progress| {
        if let Some(total) = progress.total {
            bar.set_length(total);
        }
        bar.set_position(progress.bytes);
    };
    let options = options(arguments).progress(&advance);
    let loaded = match arguments.task.needs_weights() {
        false => read::load(path, &options).map(|loaded| source(loaded, Stored::Plain, name, start)),
        true => read::load_weighted(path, &options).map(|loaded| source(loaded, Stored::Weighted, name, start)),
    };
    bar.finish_and_clear();
    // Its message already contains the cause.
    let input = loaded.map_err(|error| anyhow!("{error}"))?;
    arguments.check_direction(input.directed).with_context(|| format!("{} is directed", input.name))?;
    Ok(input)
}

/// The graph of a file, and its source.
fn source<G>(loaded: Loaded<G>, store: impl FnOnce(G) -> Stored, name: String, start: Instant) -> Input {
    Input {
        graph: store(loaded.graph),
        name,
        format: Some(loaded.format.to_string()),
        directed: loaded.directed,
        names: loaded.names,
        elapsed: start.elapsed(),
    }
}

fn options(arguments: &Arguments) -> Options<'static> {
    let mut options = Options::new().renumber(arguments.renumber).allow_isolated(arguments.allow_isolated);
    if let Some(format) = arguments.format {
        options = options.format(format);
    }
    if arguments.directed || arguments.undirected {
        options = options.directed(arguments.directed);
    }
    options
}
