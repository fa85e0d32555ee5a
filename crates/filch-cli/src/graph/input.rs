//! The graph of a command.

use std::time::{Duration, Instant};

use anyhow::{anyhow, Context, Result};
use filch_graph::read::{self, Names, Options, Progress};
use filch_graph::Graph;

use super::{progress, Arguments};

/// A graph and its source.
pub(super) struct Input {
    pub(super) graph: Graph,
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
        let graph = recipe.build();
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
    let loaded = read::load(path, &options(arguments).progress(&advance));
    bar.finish_and_clear();
    // Its message already contains the cause.
    let loaded = loaded.map_err(|error| anyhow!("{error}"))?;
    arguments.check_direction(loaded.directed).with_context(|| format!("{name} is directed"))?;
    Ok(Input {
        graph: loaded.graph,
        name,
        format: Some(loaded.format.to_string()),
        directed: loaded.directed,
        names: loaded.names,
        elapsed: start.elapsed(),
    })
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
