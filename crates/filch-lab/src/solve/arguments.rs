//! Command-line arguments of `filch solve`.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{ensure, Result};
use clap::{Args, ValueEnum};
use filch_dd::{Cutset, Width};

use crate::problem::Kind;
use crate::{pool_threads, seconds};

/// Solve a problem by branch and bound on decision diagrams, on all cores.
///
/// Ctrl-C, or a limit, ends it with the best solution so far and how far that may be from the best there is; a second Ctrl-C ends it at once. With --checkpoint, what is left is kept for --resume.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes:\n  \
    0  the solution is proven to be a best one\n  \
    1  something went wrong, such as a file that is not an instance, or a last checkpoint that could not be written\n  \
    2  the command line was not understood\n  \
    3  there is a solution, but a limit or Ctrl-C came before the proof\n  \
    4  it is proven that there is no solution\n  \
    5  a limit or Ctrl-C came before any solution was found")]
pub(crate) struct Arguments {
    /// Which problem.
    pub(super) problem: Kind,

    /// The instance; `filch generate` makes some. For golomb, the number of marks or a file with it.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    /// How many threads work; as many as there are cores, if this is left out. With 1, a run can be repeated exactly.
    #[arg(long, value_name = "N", value_parser = pool_threads)]
    pub(super) threads: Option<usize>,

    /// How many nodes a layer of a diagram may have: a number, or one with an x such as 2x for so many a variable that is not decided yet [default: 1x].
    #[arg(long, value_name = "N|Nx", value_parser = width)]
    pub(super) width: Option<Width>,

    /// Which nodes of a diagram are left to explore.
    #[arg(long, value_name = "CUTSET")]
    pub(super) cutset: Option<CutsetName>,

    /// Keep what is known of states that were expanded, so that they are not expanded again in vain.
    #[arg(long, overrides_with = "no_cache")]
    pub(super) cache: bool,

    /// Keep nothing of the kind.
    #[arg(long)]
    pub(super) no_cache: bool,

    /// Leave out states that are no better than others, in problems that have a way to tell: it is on there, unless told otherwise.
    #[arg(long, overrides_with = "no_dominance")]
    pub(super) dominance: bool,

    /// Look at such states all the same.
    #[arg(long)]
    pub(super) no_dominance: bool,

    /// Stop after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time: Option<Duration>,

    /// Stop after so many nodes.
    #[arg(long, value_name = "N", value_parser = nodes)]
    pub(super) nodes: Option<u64>,

    /// Write all that was found out as JSON to this file, or in place of the text if there is none.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(super) json: Option<PathBuf>,

    /// Write the solution to this file, as text; its form is said in the documentation of each problem.
    #[arg(long, value_name = "FILE")]
    pub(super) solution: Option<PathBuf>,

    /// Write what happened to this file, a line of JSON an event: solutions found, bounds proven, nodes moved from one worker to another.
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,

    /// Draw the best solution and the bound over time to this file, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,

    /// Keep what is left of the search in this file, so that nothing is lost if it is killed: at once, then every so often, and when it ends by a limit, Ctrl-C or SIGTERM. The one before is kept as FILE.previous.
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,

    /// How many seconds lie between two checkpoints.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60", requires = "checkpoint")]
    pub(super) every: Duration,

    /// Go on from this checkpoint, with any number of threads. It may be the file that --checkpoint goes on writing to. Limits are for what is done from here on; what is told in the end is of all of it.
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,

    /// Solve it on all ranks that `mpirun` started; each works on as many threads as --threads says, and reads the instance. Rank 0 says what was found. Without `mpirun` there is one rank.
    #[arg(long)]
    pub(super) mpi: bool,

    /// Draw what each rank did to this file, as SVG: nodes explored, bytes given and received, time busy and idle.
    #[arg(long, value_name = "FILE.svg", requires = "mpi")]
    pub(super) plot_ranks: Option<PathBuf>,

    /// Say nothing on the way.
    #[arg(long)]
    pub(super) quiet: bool,
}

/// A cutset by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CutsetName {
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
                anyhow::bail!("--{other} and --{option} are the same file; the one would replace the other");
            }
            ensure!(*path != self.file, "--{option} is the file that the instance is read from");
            let replaces = *option != "checkpoint" && self.resume.as_deref() == Some(*path);
            ensure!(!replaces, "--{option} is the checkpoint to go on from, which it would replace");
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
    let (number, of_each) = match text.strip_suffix('x') {
        Some(number) => (number, true),
        None => (text, false),
    };
    match number.parse::<usize>() {
        Ok(0) => Err("a layer must have room for a node; give 1 or more".to_owned()),
        Ok(factor) if of_each => Ok(Width::Unassigned { factor }),
        Ok(width) => Ok(Width::Fixed(width)),
        Err(_) => Err("this is not a width; examples are 100 and 2x".to_owned()),
    }
}

fn nodes(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|&nodes| nodes > 0)
        .ok_or_else(|| "this is not a number of nodes; an example is 100000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    fn parse(words: &[&str]) -> Result<Arguments, String> {
        let arguments: Arguments = command_line::parse(words)?;
        arguments.check().map_err(|error| error.to_string())?;
        Ok(arguments)
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let arguments = parse(&["misp", "graph.clq"]).unwrap();
        assert_eq!(arguments.problem, Kind::Misp);
        assert!(arguments.width.is_none() && arguments.cutset.is_none() && arguments.time.is_none());
        assert_eq!((arguments.cache(), arguments.dominance(), arguments.prints_json()), (None, true, false));
    }

    #[test]
    fn options_are_taken_as_given() {
        let words = [
            "knapsack",
            "sack",
            "--width",
            "2x",
            "--cutset",
            "frontier",
            "--no-cache",
            "--no-dominance",
            "--time",
            "0.5",
        ];
        let arguments = parse(&words).unwrap();
        assert_eq!(arguments.width, Some(Width::Unassigned { factor: 2 }));
        assert_eq!(arguments.cutset, Some(CutsetName::Frontier));
        assert_eq!((arguments.cache(), arguments.dominance()), (Some(false), false));
        assert_eq!(arguments.time, Some(Duration::from_millis(500)));
        assert_eq!(parse(&["golomb", "7", "--width", "40"]).unwrap().width, Some(Width::Fixed(40)));
    }

    #[test]
    fn checkpoints_may_go_to_the_file_that_is_resumed() {
        let arguments = parse(&["misp", "graph", "--checkpoint", "a", "--resume", "a"]).unwrap();
        assert_eq!((arguments.checkpoint, arguments.every), (arguments.resume, Duration::from_secs(60)));
        let arguments = parse(&["misp", "graph", "--checkpoint", "a", "--every", "0.5"]).unwrap();
        assert_eq!((arguments.every, arguments.resume), (Duration::from_millis(500), None));
    }

    #[test]
    fn json_goes_to_a_file_or_is_printed() {
        let arguments = parse(&["golomb", "7", "--json"]).unwrap();
        assert!(arguments.prints_json() && arguments.files().is_empty());
        let arguments = parse(&["golomb", "7", "--json", "a.json", "--plot", "b.svg"]).unwrap();
        assert!(!arguments.prints_json());
        assert_eq!(arguments.files(), [("json", Path::new("a.json")), ("plot", Path::new("b.svg"))]);
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for (words, reason) in [
            (&["misp"][..], "required"),
            (&["colouring", "graph"], "possible values: knapsack, misp, clique, tsptw, golomb, flow"),
            (&["misp", "graph", "--width", "0"], "room for a node"),
            (&["misp", "graph", "--width", "0x"], "room for a node"),
            (&["misp", "graph", "--width", "wide"], "not a width"),
            (&["misp", "graph", "--cutset", "all"], "last-exact-layer, frontier"),
            (&["misp", "graph", "--threads", "0"], "a pool needs a thread"),
            (&["misp", "graph", "--time", "0"], "above 0"),
            (&["misp", "graph", "--time", "NaN"], "above 0"),
            (&["misp", "graph", "--time", "soon"], "not a number of seconds"),
            (&["misp", "graph", "--nodes", "0"], "not a number of nodes"),
            (&["misp", "graph", "--plot-ranks", "a"], "--mpi"),
            (&["misp", "graph", "--every", "5"], "--checkpoint"),
            (&["misp", "graph", "--checkpoint", "a", "--every", "0"], "above 0"),
            (&["misp", "graph", "--checkpoint", "a", "--json", "a"], "the same file"),
            (&["misp", "graph", "--checkpoint", "graph"], "the file that the instance is read from"),
            (&["misp", "graph", "--resume", "a", "--solution", "a"], "the checkpoint to go on from"),
            (&["misp", "graph", "--plot", "a", "--trace", "a"], "the same file"),
            (&["misp", "graph", "--solution", "graph"], "the file that the instance is read from"),
        ] {
            let refusal = parse(words).expect_err(&format!("{words:?} should be refused"));
            assert!(refusal.contains(reason), "{words:?}: {refusal}");
        }
    }
}
