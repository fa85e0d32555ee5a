//! Command-line arguments of `filch solve`.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Result};
use clap::{Args, ValueEnum};
use filch_dd::{Cutset, Width};
use serde::Serialize;

use crate::command_line::{pool_threads, seconds};
use crate::problem::Kind;

/// The options of `solve`.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes:\n  \
    0  the solution is proven optimal\n  \
    1  an error, such as an invalid instance or a last checkpoint that could not be written\n  \
    2  an invalid command line\n  \
    3  a solution was found, but a limit or Ctrl-C stopped the search before the proof\n  \
    4  it is proven that there is no solution\n  \
    5  a limit or Ctrl-C stopped the search before any solution was found")]
pub struct Arguments {
    /// The problem to solve.
    pub(super) problem: Kind,

    /// The file of the instance; `filch generate` makes some.
    ///
    /// For golomb, the number of marks or a file that contains it.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    /// The number of threads [default: the number of cores].
    ///
    /// With 1, a run can be repeated exactly.
    #[arg(long, value_name = "N", value_parser = pool_threads)]
    pub(super) threads: Option<usize>,

    /// The maximum number of nodes in a layer of a diagram [default: 1x].
    ///
    /// A number, or a factor such as 2x: two nodes for each variable that is not decided yet.
    #[arg(long, value_name = "N|Nx", value_parser = width)]
    pub(super) width: Option<Width>,

    /// Which nodes of a diagram become open nodes.
    #[arg(long, value_name = "CUTSET")]
    pub(super) cutset: Option<CutsetName>,

    /// Enable the state cache, which avoids expanding a state again in vain.
    #[arg(long, overrides_with = "no_cache")]
    pub(super) cache: bool,

    /// Disable the state cache.
    #[arg(long)]
    pub(super) no_cache: bool,

    /// Prune dominated states. This is the default for problems with a dominance.
    #[arg(long, overrides_with = "no_dominance")]
    pub(super) dominance: bool,

    /// Do not prune dominated states.
    #[arg(long)]
    pub(super) no_dominance: bool,

    /// Stop after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time: Option<Duration>,

    /// Stop after this many explored nodes.
    #[arg(long, value_name = "N", value_parser = nodes)]
    pub(super) nodes: Option<u64>,

    /// Write the summary as JSON to FILE, or to standard output instead of the text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(super) json: Option<PathBuf>,

    /// Write the best solution to this file, as text.
    ///
    /// The documentation of each problem describes the format.
    #[arg(long, value_name = "FILE")]
    pub(super) solution: Option<PathBuf>,

    /// Write the events of the search to this file, one JSON object per line.
    ///
    /// Events are solutions found, bounds proven, and nodes moved from one worker to another.
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,

    /// Draw the best solution and the bound over time to this file, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,

    /// Save the rest of the search to this file, so that a killed run can be resumed.
    ///
    /// A checkpoint is written at the start, then at the interval of --every, and when a limit,
    /// Ctrl-C or SIGTERM stops the search. The previous one stays in FILE.previous.
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,

    /// The time between two checkpoints, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60", requires = "checkpoint")]
    pub(super) every: Duration,

    /// Resume from this checkpoint, with any number of threads.
    ///
    /// It may be the file of --checkpoint. Limits apply to this run; the summary covers the runs
    /// before it as well.
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,

    /// Solve the instance on all ranks that `mpirun` started.
    ///
    /// Each rank reads the instance and uses the number of --threads. Rank 0 prints the result.
    /// Without `mpirun` there is one rank.
    #[arg(long)]
    pub(super) mpi: bool,

    /// Draw the statistics of each rank to this file, as SVG.
    ///
    /// These are nodes explored, bytes given and received, and time busy and idle.
    #[arg(long, value_name = "FILE.svg", requires = "mpi")]
    pub(super) plot_ranks: Option<PathBuf>,

    /// Print no progress.
    #[arg(long)]
    pub(super) quiet: bool,
}

/// A cutset by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum CutsetName {
    /// The deepest layer in which nothing was merged.
    LastExactLayer,
    /// Every exact node with a child that is not exact.
    Frontier,
}

impl From<CutsetName> for Cutset {
    fn from(name: CutsetName) -> Cutset {
        match name {
            CutsetName::LastExactLayer => Cutset::LastExactLayer,
            CutsetName::Frontier => Cutset::Frontier,
        }
    }
}

impl Arguments {
    /// Returns an error if arguments contradict each other.
    pub(super) fn check(&self) -> Result<()> {
        let files = self.files();
        for (index, (option, path)) in files.iter().enumerate() {
            let same = files[..index].iter().find(|(_, other)| other == path);
            if let Some((other, _)) = same {
                anyhow::bail!("--{other} and --{option} are the same file; give two different files");
            }
            ensure!(*path != self.file, "--{option} is the file of the instance, which it would replace");
            let replaces = *option != "checkpoint" && self.resume.as_deref() == Some(*path);
            ensure!(!replaces, "--{option} is the checkpoint to resume from, which it would replace");
        }
        Ok(())
    }

    /// The files to write, each with the name of its option.
    pub(super) fn files(&self) -> Vec<(&'static str, &Path)> {
        [
            ("json", self.json_file()),
            ("solution", self.solution.as_deref()),
            ("trace", self.trace.as_deref()),
            ("plot", self.plot.as_deref()),
            ("plot-ranks", self.plot_ranks.as_deref()),
            ("checkpoint", self.checkpoint.as_deref()),
        ]
        .into_iter()
        .filter_map(|(option, path)| Some((option, path?)))
        .collect()
    }

    /// The file for JSON, if it is not standard output.
    pub(super) fn json_file(&self) -> Option<&Path> {
        self.json.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Whether JSON is printed instead of text.
    pub(super) fn prints_json(&self) -> bool {
        self.json.is_some() && self.json_file().is_none()
    }

    /// The number of threads, on each rank if there are several.
    pub(super) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
    }

    /// Whether the cache is enabled, if an option says so.
    pub(super) fn cache(&self) -> Option<bool> {
        (self.cache || self.no_cache).then_some(self.cache)
    }

    /// Whether dominance is used, if the problem has any.
    pub(super) fn dominance(&self) -> bool {
        self.dominance || !self.no_dominance
    }
}

fn width(text: &str) -> Result<Width, String> {
    let (number, is_factor) = match text.strip_suffix('x') {
        Some(number) => (number, true),
        None => (text, false),
    };
    match number.parse::<usize>() {
        Ok(0) => Err("a layer must have room for a node; give 1 or more".to_owned()),
        Ok(factor) if is_factor => Ok(Width::Unassigned { factor }),
        Ok(width) => Ok(Width::Fixed(width)),
        Err(_) => Err("not a width; examples are 100 and 2x".to_owned()),
    }
}

fn nodes(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|&nodes| nodes > 0).ok_or_else(|| "not a number of nodes; an example is 100000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    fn parse(words: &str) -> Result<Arguments, String> {
        let arguments: Arguments = command_line::parse(&words.split(' ').collect::<Vec<_>>())?;
        arguments.check().map_err(|error| error.to_string())?;
        Ok(arguments)
    }

    #[test]
    fn omitted_options_have_defaults() {
        let arguments = parse("misp graph.clq").unwrap();
        assert_eq!(arguments.problem, Kind::Misp);
        assert!(arguments.width.is_none() && arguments.cutset.is_none() && arguments.time.is_none());
        assert_eq!((arguments.cache(), arguments.dominance(), arguments.prints_json()), (None, true, false));
    }

    #[test]
    fn options_are_taken_as_given() {
        let arguments =
            parse("knapsack sack --width 2x --cutset frontier --no-cache --no-dominance --time 0.5").unwrap();
        assert_eq!(arguments.width, Some(Width::Unassigned { factor: 2 }));
        assert_eq!(arguments.cutset, Some(CutsetName::Frontier));
        assert_eq!((arguments.cache(), arguments.dominance()), (Some(false), false));
        assert_eq!(arguments.time, Some(Duration::from_millis(500)));
        assert_eq!(parse("golomb 7 --width 40").unwrap().width, Some(Width::Fixed(40)));
    }

    #[test]
    fn checkpoints_may_go_to_the_file_that_is_resumed() {
        let arguments = parse("misp graph --checkpoint a --resume a").unwrap();
        assert_eq!((arguments.checkpoint, arguments.every), (arguments.resume, Duration::from_secs(60)));
        let arguments = parse("misp graph --checkpoint a --every 0.5").unwrap();
        assert_eq!((arguments.every, arguments.resume), (Duration::from_millis(500), None));
    }

    #[test]
    fn json_goes_to_a_file_or_is_printed() {
        let arguments = parse("golomb 7 --json").unwrap();
        assert!(arguments.prints_json() && arguments.files().is_empty());
        let arguments = parse("golomb 7 --json a.json --plot b.svg").unwrap();
        assert!(!arguments.prints_json());
        assert_eq!(arguments.files(), [("json", Path::new("a.json")), ("plot", Path::new("b.svg"))]);
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for (words, reason) in [
            ("colouring graph", "possible values: knapsack, misp, clique, tsptw, golomb, flow"),
            ("misp graph --width 0x", "room for a node"),
            ("misp graph --width wide", "not a width"),
            ("misp graph --time 0", "above 0"),
            ("misp graph --time NaN", "above 0"),
            ("misp graph --time soon", "not a number of seconds"),
            ("misp graph --nodes 0", "not a number of nodes"),
            ("misp graph --plot-ranks a", "--mpi"),
            ("misp graph --every 5", "--checkpoint"),
            ("misp graph --checkpoint a --every 0", "above 0"),
            ("misp graph --checkpoint graph", "the file of the instance"),
            ("misp graph --resume a --solution a", "the checkpoint to resume from"),
        ] {
            let refusal = parse(words).expect_err(words);
            assert!(refusal.contains(reason), "{words}: {refusal}");
        }
    }
}
