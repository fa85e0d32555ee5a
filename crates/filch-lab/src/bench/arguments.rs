//! Command-line arguments of each suite.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::{bulk, cilk, fork_join, mpi, queues, solver, Limit, Options, THREADS};
use crate::command_line::pool_threads;

/// A suite and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Suite {
    /// Measure push, pop and steal on every queue.
    Queues(QueuesArguments),
    /// Measure joins, and the cost of a pool with little work.
    ForkJoin(ForkJoinArguments),
    /// Measure programs that use rayon, on rayon's core and on filch's.
    ///
    /// Builds the programs on both cores first.
    Rayon(RayonArguments),
    /// Measure closure and spanning tree of large graphs on all queues and peers.
    Graphs(GraphsArguments),
    /// Measure push, pop and steal of batches of tasks.
    Bulk(BulkArguments),
    /// Measure the time to prove an optimum, beside ddo with the same models.
    Solver(SolverArguments),
    /// Measure two MPI ranks beside two threads, and the cost of checkpoints.
    ///
    /// Needs `mpirun`, and a `filch-lab` that was built with MPI.
    Mpi(MpiArguments),
    /// Measure the Cilk programs on exactly-once queues, other schedulers and rayon.
    ///
    /// The programs run on every exactly-once queue under one engine, on the textbook's other
    /// schedulers, on filch's runtime and on rayon.
    Cilk(CilkArguments),
    /// Run one case of the solver suite once, in this process.
    #[command(hide = true)]
    SolverRun(SolverRunArguments),
}

impl Suite {
    /// Runs the suite.
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Suite::Queues(arguments) => super::run_queues(&arguments.into()),
            Suite::ForkJoin(arguments) => super::run_fork_join(&arguments.into()),
            Suite::Rayon(arguments) => super::run_rayon(&arguments.into()),
            Suite::Graphs(arguments) => super::run_graphs(&arguments.into()),
            Suite::Bulk(arguments) => super::run_bulk(&arguments.into()),
            Suite::Solver(arguments) => super::run_solver(&arguments.into()),
            Suite::Mpi(arguments) => super::run_mpi(&arguments.into()),
            Suite::Cilk(arguments) => super::run_cilk(&arguments.options()?),
            Suite::SolverRun(arguments) => solver::run_one(&arguments.into()),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct QueuesArguments {
    /// Measure smaller counts in fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    rounds: RoundsArgument,

    /// Use 2 threads, an owner and a thief, or 1 without the case that needs a thief.
    #[arg(long, value_name = "N", default_value = "2", value_parser = queue_threads)]
    threads: usize,

    /// Also write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Set the task costs of the limit study, in nanoseconds.
    #[arg(long, value_name = "NS,NS,...", value_delimiter = ',', value_parser = task_cost,
          default_values_t = queues::TASK_COSTS)]
    task_cost: Vec<u64>,
}

impl From<QueuesArguments> for queues::Options {
    fn from(arguments: QueuesArguments) -> Self {
        let QueuesArguments { quick, rounds, threads, json, task_cost } = arguments;
        queues::Options { quick, threads, json, task_costs: task_cost, limit: rounds.limit() }
    }
}

/// The option of all suites that measure in rounds.
#[derive(Args, Debug)]
struct RoundsArgument {
    /// Measure at most N rounds of each case.
    ///
    /// One round shows that everything works, but not how much the figures scatter.
    #[arg(long, value_name = "N", value_parser = most_rounds)]
    rounds: Option<usize>,
}

impl RoundsArgument {
    fn limit(self) -> Option<Limit> {
        self.rounds.map(|rounds| Limit { rounds, time: Duration::MAX })
    }
}

/// The options of all suites that measure pools.
#[derive(Args, Debug)]
pub(crate) struct PoolsArguments {
    #[command(flatten)]
    rounds: RoundsArgument,

    /// Use pools of N threads, and of 1 thread as well. The claims are for 2.
    #[arg(long, value_name = "N", default_value_t = THREADS, value_parser = pool_threads)]
    threads: usize,

    /// Also write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure only cases whose names begin with NAME; may be given several times.
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
}

impl PoolsArguments {
    fn options(self, quick: bool) -> Options {
        let PoolsArguments { rounds, threads, json, case } = self;
        Options { quick, threads, json, cases: case, limit: rounds.limit() }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ForkJoinArguments {
    /// Measure fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,

    /// Also draw the cost of a join to this file as SVG.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

impl From<ForkJoinArguments> for fork_join::Options {
    fn from(arguments: ForkJoinArguments) -> Self {
        let Options { quick, threads, json, cases, limit } = arguments.pools.options(arguments.quick);
        fork_join::Options { quick, threads, json, cases, limit, plot: arguments.plot }
    }
}

#[derive(Args, Debug)]
pub(crate) struct RayonArguments {
    /// Measure fewer rounds and no published programs: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,
}

impl From<RayonArguments> for Options {
    fn from(arguments: RayonArguments) -> Self {
        arguments.pools.options(arguments.quick)
    }
}

#[derive(Args, Debug)]
pub(crate) struct GraphsArguments {
    /// Measure only the smallest graphs in fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,
}

impl From<GraphsArguments> for Options {
    fn from(arguments: GraphsArguments) -> Self {
        arguments.pools.options(arguments.quick)
    }
}

#[derive(Args, Debug)]
pub(crate) struct CilkArguments {
    /// Measure smaller inputs in fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,

    /// Set the bound that the fence-free queues rely on (default 128).
    ///
    /// The bound is the number of entries in this CPU's store buffer, plus one. You vouch for it:
    /// if it is too small, jobs may run twice and memory may be corrupted. The default is above
    /// every known store buffer.
    #[arg(long, value_name = "N", value_parser = store_bound)]
    bound: Option<usize>,

    /// Read the bound from a file that `filch-lab lab litmus --calibrate` has written.
    ///
    /// The file must be from this model of CPU. It is evidence, not proof: you vouch that it
    /// describes this CPU. Under a hypervisor, a CPU of the same name may have another store
    /// buffer.
    #[arg(long, value_name = "FILE", conflicts_with = "bound")]
    calibration: Option<PathBuf>,
}

impl CilkArguments {
    fn options(self) -> Result<cilk::Options> {
        let bound = match (self.bound, &self.calibration) {
            (Some(bound), _) => cilk::TrustedBound::given(bound)?,
            (None, Some(path)) => cilk::TrustedBound::from_calibration(path)?,
            (None, None) => cilk::TrustedBound::default(),
        };
        Ok(cilk::Options { common: self.pools.options(self.quick), bound: Some(bound) })
    }
}

#[derive(Args, Debug)]
pub(crate) struct BulkArguments {
    /// Measure fewer shares in fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    /// Also explore graphs of 50 million nodes: takes long, and about a gigabyte.
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
pub(crate) struct SolverArguments {
    /// Measure only the smallest instances in fewer rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    pools: PoolsArguments,

    /// Also measure published instances of this folder: misp/*.clq and knapsack/*.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

impl From<SolverArguments> for solver::Options {
    fn from(arguments: SolverArguments) -> Self {
        solver::Options { common: arguments.pools.options(arguments.quick), data: arguments.data }
    }
}

#[derive(Args, Debug)]
pub(crate) struct MpiArguments {
    /// Measure one small instance in a few rounds: well under a minute.
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    rounds: RoundsArgument,

    /// Also write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure only cases whose names begin with NAME; may be given several times.
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,

    /// Also measure the published instance misp/brock200_4.clq of this folder.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

impl From<MpiArguments> for mpi::Options {
    fn from(arguments: MpiArguments) -> Self {
        let MpiArguments { quick, rounds, json, case, data } = arguments;
        let common = Options { quick, threads: THREADS, json, cases: case, limit: rounds.limit() };
        mpi::Options { common, data }
    }
}

#[derive(Args, Debug)]
pub(crate) struct SolverRunArguments {
    /// Name of the case.
    case: String,

    /// Solve it with this contender.
    #[arg(long)]
    contender: String,

    /// Use N threads.
    #[arg(long, value_parser = pool_threads)]
    threads: usize,

    /// Stop after this many seconds.
    #[arg(long)]
    limit: f64,

    /// Read published instances from this folder.
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
        Ok(threads @ 1..=queues::MAX_THREADS) => Ok(threads),
        Ok(0) => Err("the owner needs a thread; give 1 or 2".to_owned()),
        Ok(_) => Err("this suite uses at most 2 threads, the owner and one thief; give 1 or 2".to_owned()),
        Err(_) => Err("this is not a number of threads; give 1 or 2".to_owned()),
    }
}

fn most_rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one round is needed; give 1 or more".to_owned()),
        Ok(rounds) => Ok(rounds),
        Err(_) => Err("this is not a number of rounds; an example is 3".to_owned()),
    }
}

fn store_bound(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0 | 1) => {
            Err("too small: the bound is the number of entries in the store buffer, plus one; give 2 or more"
                .to_owned())
        }
        Ok(bound @ 2..=cilk::LARGEST_BOUND) => Ok(bound),
        Ok(_) => {
            Err(format!("too large: every known store buffer is much smaller; give at most {}", cilk::LARGEST_BOUND))
        }
        Err(_) => Err("this is not a number of stores; an example is 73".to_owned()),
    }
}

fn task_cost(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(cost) if cost <= queues::MAX_TASK_COST => Ok(cost),
        Ok(_) => Err(format!("a task may cost at most {} ns here", queues::MAX_TASK_COST)),
        Err(_) => Err("this is not a whole number of nanoseconds; an example is 0,10,100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::parse;

    fn options(words: &[&str]) -> Result<queues::Options, String> {
        parse::<QueuesArguments>(words).map(Into::into)
    }

    fn fork_join_options(words: &[&str]) -> Result<fork_join::Options, String> {
        parse::<ForkJoinArguments>(words).map(Into::into)
    }

    #[test]
    fn omitted_options_have_defaults() {
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
            (["--rounds", "0"], "at least one round is needed"),
            (["--rounds", "few"], "not a number of rounds"),
            (["--turns", "3"], "unexpected argument"),
        ] {
            let refusal = options(&arguments).unwrap_err();
            assert!(refusal.contains(reason), "{arguments:?}: {refusal}");
        }
    }

    #[test]
    fn rounds_are_limited_and_their_time_is_not() {
        let limit = Some(Limit { rounds: 3, time: Duration::MAX });
        assert_eq!(options(&["--rounds", "3"]).unwrap().limit, limit);
        assert_eq!(fork_join_options(&["--rounds", "3"]).unwrap().limit, limit);
        assert_eq!(mpi::Options::from(parse::<MpiArguments>(&["--rounds", "3"]).unwrap()).common.limit, limit);
        assert_eq!(options(&[]).unwrap().limit, None);
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
        let options = |words: &[&str]| parse::<RayonArguments>(words).map(Options::from);
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
        let options = |words: &[&str]| parse::<GraphsArguments>(words).map(Options::from);
        let all = options(&["--quick", "--threads", "4", "--json", "a", "--case", "closure"]).unwrap();
        assert!(all.quick);
        assert_eq!((all.threads, all.json, all.cases), (4, Some(PathBuf::from("a")), vec!["closure".into()]));
        let none = options(&[]).unwrap();
        assert_eq!((none.quick, none.threads, none.json), (false, 2, None));
        assert!(options(&["--threads", "0"]).unwrap_err().contains("a pool needs a thread"));
    }

    #[test]
    fn bulk_and_solver_have_options_of_their_own() {
        let options = bulk::Options::from(parse::<BulkArguments>(&["--full", "--case", "dag"]).unwrap());
        assert!(options.largest && !options.common.quick);
        assert_eq!(options.common.cases, ["dag"]);
        let options = solver::Options::from(parse::<SolverArguments>(&["--quick", "--data", "here"]).unwrap());
        assert!(options.common.quick);
        assert_eq!(options.data, Some(PathBuf::from("here")));
    }

    #[test]
    fn cilk_takes_the_bound_from_its_options() {
        let options = |words: &[&str]| parse::<CilkArguments>(words).map_err(anyhow::Error::msg)?.options();
        assert_eq!(options(&[]).unwrap().bound, Some(cilk::TrustedBound::default()));
        let given = options(&["--bound", "73", "--quick", "--case", "fib"]).unwrap();
        assert_eq!(given.bound, Some(cilk::TrustedBound::given(73).unwrap()));
        assert!(given.common.quick);
        for (words, reason) in [
            (&["--bound", "0"][..], "give 2 or more"),
            (&["--bound", "261"], "at most 260"),
            (&["--bound", "many"], "not a number of stores"),
            (&["--bound", "73", "--calibration", "a"], "cannot be used with"),
            (&["--calibration", "/no/such/file"], "/no/such/file: cannot read the file"),
        ] {
            let refusal = options(words).unwrap_err().to_string();
            assert!(refusal.contains(reason), "{words:?}: {refusal}");
        }
    }
}
