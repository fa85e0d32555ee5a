//! The filch program: measures the queues and the runtime of this workspace beside their peers, on the machine it runs on, explores graphs, and
//! searches every state of the models.
//!
//! Without arguments it runs the quick form of every suite, so that `cargo run --release` shows something useful at once.

mod bench;
mod graph;
mod machine;
mod queue;
mod report;
mod stats;
mod verify;

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};

use bench::{fork_join, queues};

/// Work stealing, measured.
///
/// Without a command, runs the quick forms of `filch bench queues`, `filch bench fork-join` and `filch bench graphs`.
#[derive(Debug, Parser)]
#[command(name = "filch", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure, with every peer in the same run.
    Bench {
        #[command(subcommand)]
        suite: Suite,
    },
    /// Explore a graph: reachability, spanning trees, components, distances.
    Graph(graph::Arguments),
    /// Search every state of the models, and say what holds and what is refuted.
    Verify(verify::Arguments),
}

#[derive(Debug, Subcommand)]
enum Suite {
    /// What push, pop and steal cost on every queue.
    Queues(QueuesArguments),
    /// What a join costs, and what a pool costs that has little to do.
    ForkJoin(ForkJoinArguments),
    /// What programs that use rayon gain from our core; builds them on both cores first.
    Rayon(RayonArguments),
    /// What closure and spanning tree of large graphs gain from queues that may repeat a task.
    Graphs(GraphsArguments),
}

#[derive(Args, Debug)]
struct QueuesArguments {
    /// Smaller counts and fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    /// 2 for an owner and one thief; 1 leaves out the case that needs the thief's thread.
    #[arg(long, value_name = "N", default_value = "2", value_parser = queue_threads)]
    threads: usize,

    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// What a task costs in the limit study, in nanoseconds.
    #[arg(long, value_name = "NS,NS,...", value_delimiter = ',', value_parser = task_cost,
          default_values_t = queues::TASK_COSTS)]
    task_cost: Vec<u64>,
}

impl From<QueuesArguments> for queues::Options {
    fn from(arguments: QueuesArguments) -> Self {
        let QueuesArguments { quick, threads, json, task_cost } = arguments;
        queues::Options { quick, threads, json, task_costs: task_cost }
    }
}

/// What the suites that measure pools can all be told.
#[derive(Args, Debug)]
struct PoolsArguments {
    /// How many threads a pool has; everything is also measured with 1. The goals are for 2.
    #[arg(long, value_name = "N", default_value_t = bench::THREADS, value_parser = pool_threads)]
    threads: usize,

    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Only the cases whose names begin with this; may be given several times.
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
}

impl PoolsArguments {
    fn options(self, quick: bool) -> bench::Options {
        let PoolsArguments { threads, json, case } = self;
        bench::Options { quick, threads, json, cases: case }
    }
}

#[derive(Args, Debug)]
struct ForkJoinArguments {
    /// Fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,

    /// Also draw what a join costs to this file, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

impl From<ForkJoinArguments> for fork_join::Options {
    fn from(arguments: ForkJoinArguments) -> Self {
        let bench::Options { quick, threads, json, cases } = arguments.pools.options(arguments.quick);
        fork_join::Options { quick, threads, json, cases, plot: arguments.plot }
    }
}

#[derive(Args, Debug)]
struct RayonArguments {
    /// Fewer rounds, and none of published programs: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,
}

impl From<RayonArguments> for bench::Options {
    fn from(arguments: RayonArguments) -> Self {
        arguments.pools.options(arguments.quick)
    }
}

#[derive(Args, Debug)]
struct GraphsArguments {
    /// The smallest graphs only, and fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,
}

impl From<GraphsArguments> for bench::Options {
    fn from(arguments: GraphsArguments) -> Self {
        arguments.pools.options(arguments.quick)
    }
}

fn queue_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=queues::MOST_THREADS) => Ok(threads),
        Ok(0) => Err("the owner needs a thread; give 1 or 2".to_owned()),
        Ok(_) => Err("this suite uses at most 2 threads, the owner and one thief; give 1 or 2".to_owned()),
        Err(_) => Err("this is not a number of threads; give 1 or 2".to_owned()),
    }
}

fn pool_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=fork_join::MOST_THREADS) => Ok(threads),
        Ok(0) => Err("a pool needs a thread; give 1 or more".to_owned()),
        Ok(_) => Err(format!("a pool may have at most {} threads here", fork_join::MOST_THREADS)),
        Err(_) => Err("this is not a number of threads; an example is 2".to_owned()),
    }
}

fn task_cost(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(cost) if cost <= queues::DEAREST_TASK => Ok(cost),
        Ok(_) => Err(format!("a task may cost at most {} ns here", queues::DEAREST_TASK)),
        Err(_) => Err("this is not a whole number of nanoseconds; an example is 0,10,100".to_owned()),
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Some(Command::Bench { suite: Suite::Queues(arguments) }) => bench::run_queues(&arguments.into()),
        Some(Command::Bench { suite: Suite::ForkJoin(arguments) }) => bench::run_fork_join(&arguments.into()),
        Some(Command::Bench { suite: Suite::Rayon(arguments) }) => bench::run_rayon(&arguments.into()),
        Some(Command::Bench { suite: Suite::Graphs(arguments) }) => bench::run_graphs(&arguments.into()),
        Some(Command::Graph(arguments)) => graph::run(&arguments),
        Some(Command::Verify(arguments)) => verify::run(&arguments),
        None => {
            say(
                "No command was given: this is `filch bench queues --quick`, then the same of fork-join and of graphs.",
            );
            say("`filch --help` lists what there is.");
            bench::run_queues(&queues::Options::quick())
                .and_then(|()| bench::run_fork_join(&fork_join::Options::quick()))
                .and_then(|()| bench::run_graphs(&bench::Options::quick()))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints something on standard output.
fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Who reads through `head` has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("the report could not be printed"),
    }
}

/// Says something on standard error. Unlike `eprintln`, it does not panic when nobody listens.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn options(arguments: &[&str]) -> Result<queues::Options, String> {
        let words = ["filch", "bench", "queues"].iter().chain(arguments);
        match Cli::try_parse_from(words).map_err(|error| error.to_string())?.command {
            Some(Command::Bench { suite: Suite::Queues(arguments) }) => Ok(arguments.into()),
            _ => Err("another command".to_owned()),
        }
    }

    fn fork_join_options(arguments: &[&str]) -> Result<fork_join::Options, String> {
        let words = ["filch", "bench", "fork-join"].iter().chain(arguments);
        match Cli::try_parse_from(words).map_err(|error| error.to_string())?.command {
            Some(Command::Bench { suite: Suite::ForkJoin(arguments) }) => Ok(arguments.into()),
            _ => Err("another command".to_owned()),
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_is_allowed() {
        assert!(Cli::try_parse_from(["filch"]).unwrap().command.is_none());
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let options = options(&[]).unwrap();
        assert!(!options.quick);
        assert_eq!(options.threads, 2);
        assert_eq!(options.json, None);
        assert_eq!(options.task_costs, queues::TASK_COSTS);
    }

    #[test]
    fn options_are_taken_as_given() {
        let options = options(&["--quick", "--threads", "1", "--json", "out.json", "--task-cost", "5,0, 20"]).unwrap();
        assert!(options.quick);
        assert_eq!(options.threads, 1);
        assert_eq!(options.json, Some(PathBuf::from("out.json")));
        assert_eq!(options.task_costs, [5, 0, 20]);
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for (arguments, reason) in [
            (["--threads", "0"], "the owner needs a thread"),
            (["--threads", "3"], "at most 2 threads, the owner and one thief"),
            (["--threads", "two"], "not a number of threads"),
            (["--threads", "-1"], "unexpected argument"),
            (["--task-cost", "ten"], "not a whole number of nanoseconds"),
            (["--task-cost", "1,,2"], "not a whole number of nanoseconds"),
            (["--task-cost", "1000000001"], "at most"),
            (["--rounds", "3"], "unexpected argument"),
        ] {
            let refusal = options(&arguments).unwrap_err();
            assert!(refusal.contains(reason), "{arguments:?}: {refusal}");
        }
    }

    #[test]
    fn a_pool_may_have_more_threads_than_a_queue() {
        let options = fork_join_options(&[]).unwrap();
        assert!(!options.quick);
        assert_eq!((options.threads, options.json, options.plot), (2, None, None));
        let options = fork_join_options(&["--quick", "--threads", "64", "--json", "a", "--plot", "b.svg"]).unwrap();
        assert!(options.quick);
        assert_eq!(options.threads, 64);
        assert_eq!((options.json, options.plot), (Some(PathBuf::from("a")), Some(PathBuf::from("b.svg"))));
        for (threads, reason) in [("0", "a pool needs a thread"), ("1025", "at most 1024"), ("x", "not a number")] {
            let refusal = fork_join_options(&["--threads", threads]).unwrap_err();
            assert!(refusal.contains(reason), "{threads}: {refusal}");
        }
    }

    #[test]
    fn rayon_has_the_options_of_fork_join_but_no_plot() {
        let options = |arguments: &[&str]| {
            let words = ["filch", "bench", "rayon"].iter().chain(arguments);
            match Cli::try_parse_from(words).map_err(|error| error.to_string())?.command {
                Some(Command::Bench { suite: Suite::Rayon(arguments) }) => Ok(bench::Options::from(arguments)),
                _ => Err("another command".to_owned()),
            }
        };
        let all = options(&["--quick", "--threads", "4", "--json", "a", "--case", "tsp", "--case", "life"]).unwrap();
        assert!(all.quick);
        assert_eq!(
            (all.threads, all.json, all.cases),
            (4, Some(PathBuf::from("a")), vec!["tsp".into(), "life".into()])
        );
        assert_eq!(options(&[]).unwrap().threads, 2);
        assert!(options(&["--plot", "b.svg"]).unwrap_err().contains("unexpected argument"));
        assert!(options(&["--threads", "0"]).unwrap_err().contains("a pool needs a thread"));
    }

    #[test]
    fn graphs_has_the_options_of_rayon() {
        let options = |arguments: &[&str]| {
            let words = ["filch", "bench", "graphs"].iter().chain(arguments);
            match Cli::try_parse_from(words).map_err(|error| error.to_string())?.command {
                Some(Command::Bench { suite: Suite::Graphs(arguments) }) => Ok(bench::Options::from(arguments)),
                _ => Err("another command".to_owned()),
            }
        };
        let all = options(&["--quick", "--threads", "4", "--json", "a", "--case", "closure"]).unwrap();
        assert!(all.quick);
        assert_eq!((all.threads, all.json, all.cases), (4, Some(PathBuf::from("a")), vec!["closure".into()]));
        let none = options(&[]).unwrap();
        assert_eq!((none.quick, none.threads, none.json), (false, 2, None));
        assert!(options(&["--threads", "0"]).unwrap_err().contains("a pool needs a thread"));
    }

    #[test]
    fn an_unknown_suite_is_refused() {
        assert!(Cli::try_parse_from(["filch", "bench", "nothing"]).is_err());
        assert!(Cli::try_parse_from(["filch", "bench"]).is_err());
    }
}
