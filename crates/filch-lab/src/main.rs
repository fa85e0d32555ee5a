//! The filch program: measures the queues, the runtime and the solver of this workspace beside their peers, on the machine it runs on, explores graphs,
//! solves problems, and searches every state of the models.
//!
//! Without arguments it runs the quick form of every suite, so that `cargo run --release` shows something useful at once.

mod bench;
#[cfg(test)]
mod command_line;
mod generate;
mod graph;
mod machine;
mod mpi;
mod problem;
mod queue;
mod report;
mod simulate;
mod solve;
mod stats;
mod verify;

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};

use bench::{bulk, fork_join, queues, solver};

/// Work stealing, measured.
///
/// Without a command, runs the quick forms of `filch bench queues`, `fork-join`, `graphs`, `bulk` and `solver`.
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
    /// Solve a problem to the proven optimum: knapsack, independent set, clique, tours with time windows, Golomb rulers, flows.
    Solve(solve::Arguments),
    /// Make a random instance of a problem to solve.
    Generate(generate::Arguments),
    /// Simulate a run across machines, with thousands of ranks and the real coordinator.
    Simulate(simulate::Arguments),
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
    /// What push, pop and steal of whole batches cost.
    Bulk(BulkArguments),
    /// How fast optima are proven, beside ddo with the same models.
    Solver(SolverArguments),
    /// What two ranks gain on MPI, beside two threads, and what checkpoints cost; needs `mpirun`, and a filch that was built with MPI.
    Mpi(MpiArguments),
    /// One run of the solver suite, in this process.
    #[command(hide = true)]
    SolverRun(SolverRunArguments),
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

#[derive(Args, Debug)]
struct BulkArguments {
    /// Fewer shares and fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    /// Also explore graphs of 50 million nodes, which takes long and about a gigabyte.
    #[arg(long, conflicts_with = "quick")]
    full: bool,

    #[command(flatten)]
    pools: PoolsArguments,
}

impl From<BulkArguments> for bulk::Options {
    fn from(arguments: BulkArguments) -> Self {
        bulk::Options { common: arguments.pools.options(arguments.quick), largest: arguments.full }
    }
}

#[derive(Args, Debug)]
struct SolverArguments {
    /// The smallest instances only, and fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,

    /// A folder with published instances: misp/*.clq and knapsack/*.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

impl From<SolverArguments> for solver::Options {
    fn from(arguments: SolverArguments) -> Self {
        solver::Options { common: arguments.pools.options(arguments.quick), data: arguments.data }
    }
}

#[derive(Args, Debug)]
struct MpiArguments {
    /// One small instance, and few rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Only the cases whose names begin with this; may be given several times.
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,

    /// A folder with a published instance: misp/brock200_4.clq.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

impl From<MpiArguments> for bench::mpi::Options {
    fn from(arguments: MpiArguments) -> Self {
        let MpiArguments { quick, json, case, data } = arguments;
        let common = bench::Options { quick, threads: bench::THREADS, json, cases: case };
        bench::mpi::Options { common, data }
    }
}

#[derive(Args, Debug)]
struct SolverRunArguments {
    /// The case.
    case: String,

    /// Who solves it.
    #[arg(long)]
    contender: String,

    /// How many threads work.
    #[arg(long, value_parser = pool_threads)]
    threads: usize,

    /// When to give up, in seconds.
    #[arg(long)]
    limit: f64,

    /// Where published instances are.
    #[arg(long)]
    data: Option<PathBuf>,
}

impl From<SolverRunArguments> for solver::OneRun {
    fn from(arguments: SolverRunArguments) -> Self {
        let SolverRunArguments { case, contender, threads, limit, data } = arguments;
        solver::OneRun { case, contender, threads, data, limit }
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

/// A time limit, in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "this is not a number of seconds; an example is 2.5".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err("a time limit must be above 0, and not as long as this".to_owned()),
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
        Some(Command::Bench { suite }) => suite.run().map(|()| ExitCode::SUCCESS),
        Some(Command::Graph(arguments)) => graph::run(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::Solve(arguments)) => solve::run(&arguments),
        Some(Command::Generate(arguments)) => generate::run(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::Simulate(arguments)) => simulate::run(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::Verify(arguments)) => verify::run(&arguments).map(|()| ExitCode::SUCCESS),
        None => everything_quick().map(|()| ExitCode::SUCCESS),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

impl Suite {
    fn run(self) -> Result<()> {
        match self {
            Suite::Queues(arguments) => bench::run_queues(&arguments.into()),
            Suite::ForkJoin(arguments) => bench::run_fork_join(&arguments.into()),
            Suite::Rayon(arguments) => bench::run_rayon(&arguments.into()),
            Suite::Graphs(arguments) => bench::run_graphs(&arguments.into()),
            Suite::Bulk(arguments) => bench::run_bulk(&arguments.into()),
            Suite::Solver(arguments) => bench::run_solver(&arguments.into()),
            Suite::Mpi(arguments) => bench::run_mpi(&arguments.into()),
            Suite::SolverRun(arguments) => solver::run_one(&arguments.into()),
        }
    }
}

/// What is done for somebody who asks for nothing in particular.
fn everything_quick() -> Result<()> {
    say("No command was given: this is `filch bench queues --quick`, then the same of fork-join, graphs, bulk and solver.");
    say("`filch --help` lists what there is.");
    bench::run_queues(&queues::Options::quick())?;
    bench::run_fork_join(&fork_join::Options::quick())?;
    bench::run_graphs(&bench::Options::quick())?;
    bench::run_bulk(&bulk::Options::quick())?;
    bench::run_solver(&solver::Options::quick())
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
    fn bulk_and_solver_have_options_of_their_own() {
        let suite = |words: &[&str]| match Cli::try_parse_from([&["filch", "bench"], words].concat()).unwrap().command {
            Some(Command::Bench { suite }) => suite,
            _ => panic!("another command"),
        };
        let Suite::Bulk(arguments) = suite(&["bulk", "--full", "--case", "dag"]) else { panic!("another suite") };
        let options = bulk::Options::from(arguments);
        assert!(options.largest && !options.common.quick);
        assert_eq!(options.common.cases, ["dag"]);
        let Suite::Solver(arguments) = suite(&["solver", "--quick", "--data", "here"]) else { panic!("another suite") };
        let options = solver::Options::from(arguments);
        assert!(options.common.quick);
        assert_eq!(options.data, Some(PathBuf::from("here")));
    }

    #[test]
    fn an_unknown_suite_is_refused() {
        assert!(Cli::try_parse_from(["filch", "bench", "nothing"]).is_err());
        assert!(Cli::try_parse_from(["filch", "bench"]).is_err());
    }
}
