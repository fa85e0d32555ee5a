//! The command line of the suites.

use anyhow::Result;
use clap::{Args, Subcommand};

use super::bulk::Bulk;
use super::cilk::Cilk;
use super::fork_join::ForkJoin;
use super::graphs::Graphs;
use super::mpi::Mpi;
use super::queues::{self, Queues};
use super::rayon::Rayon;
use super::solver::{self, Solver};
use super::suite::{self, Options, Suite};

/// A suite and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure push, pop and steal on every queue.
    #[command(mut_arg("threads", queues::threads_argument))]
    Queues(Arguments<Queues>),
    /// Measure joins, and the cost of a pool with little work.
    ForkJoin(Arguments<ForkJoin>),
    /// Measure programs that use rayon, on rayon's core and on filch's.
    ///
    /// Builds the programs on both cores first.
    Rayon(Arguments<Rayon>),
    /// Measure closure and spanning tree of large graphs on all queues and peers.
    Graphs(Arguments<Graphs>),
    /// Measure push, pop and steal of batches of tasks.
    Bulk(Arguments<Bulk>),
    /// Measure the time to prove an optimum, beside ddo with the same models.
    Solver(Arguments<Solver>),
    /// Measure two MPI ranks beside two threads, and the cost of checkpoints.
    ///
    /// Needs `mpirun`, and a `filch-lab` that was built with MPI. Always has 1 and 2 threads: this is
    /// the only suite without `--threads`.
    #[command(mut_arg("threads", |threads| threads.hide(true)))]
    Mpi(Arguments<Mpi>),
    /// Measure the Cilk programs on exactly-once queues, other schedulers and rayon.
    ///
    /// The programs run on every exactly-once queue under one engine, on the textbook's other
    /// schedulers, on filch's runtime and on rayon.
    Cilk(Arguments<Cilk>),
    /// Run one case of the solver suite once, in this process.
    #[command(hide = true)]
    SolverRun(solver::OneRun),
}

impl Command {
    /// Runs the suite.
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Command::Queues(arguments) => arguments.run(),
            Command::ForkJoin(arguments) => arguments.run(),
            Command::Rayon(arguments) => arguments.run(),
            Command::Graphs(arguments) => arguments.run(),
            Command::Bulk(arguments) => arguments.run(),
            Command::Solver(arguments) => arguments.run(),
            Command::Mpi(arguments) => arguments.run(),
            Command::Cilk(arguments) => arguments.run(),
            Command::SolverRun(run) => solver::run_one(&run),
        }
    }
}

/// The options of all suites, and those of one.
#[derive(Args, Debug)]
pub(crate) struct Arguments<S: Args> {
    #[command(flatten)]
    options: Options,

    #[command(flatten)]
    suite: S,
}

impl<S: Args + Suite> Arguments<S> {
    fn run(mut self) -> Result<()> {
        suite::run(&mut self.suite, &self.options)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::bench::{Limit, Threads};

    /// The program, as `filch-lab bench`.
    #[derive(Debug, Parser)]
    struct Bench {
        #[command(subcommand)]
        command: Command,
    }

    fn parse(words: &[&str]) -> Result<Command, String> {
        let all = std::iter::once(&"bench").chain(words);
        Bench::try_parse_from(all).map(|bench| bench.command).map_err(|error| error.to_string())
    }

    fn options(words: &[&str]) -> Options {
        match parse(words).unwrap() {
            Command::Queues(arguments) => arguments.options,
            Command::ForkJoin(arguments) => arguments.options,
            Command::Rayon(arguments) => arguments.options,
            Command::Graphs(arguments) => arguments.options,
            Command::Bulk(arguments) => arguments.options,
            Command::Solver(arguments) => arguments.options,
            Command::Mpi(arguments) => arguments.options,
            Command::Cilk(arguments) => arguments.options,
            Command::SolverRun(_) => panic!("{words:?} is not a suite"),
        }
    }

    const SUITES: [&str; 8] = ["queues", "fork-join", "rayon", "graphs", "bulk", "solver", "mpi", "cilk"];

    #[test]
    fn all_suites_have_the_same_options_and_defaults() {
        for suite in SUITES {
            let none = options(&[suite]);
            assert_eq!((none.quick, none.threads, none.json, none.limit), (false, Threads::default(), None, None));
            assert!(none.cases.is_empty());
            let all = options(&[suite, "--quick", "--threads", "1", "--json", "a", "--case", "b", "--case", "c"]);
            assert_eq!((all.quick, all.threads.counts(), all.json), (true, &[1][..], Some(PathBuf::from("a"))));
            assert_eq!(all.cases, ["b", "c"]);
            // Rounds are limited, and their time is not.
            let limit = Limit { rounds: 3, time: Duration::MAX };
            assert_eq!(options(&[suite, "--rounds", "3"]).limit, Some(limit));
        }
    }

    #[test]
    fn bad_input_is_refused_with_a_reason() {
        for suite in SUITES {
            for (arguments, reason) in [
                (["--threads", "two"], "not a number of threads"),
                (["--threads", "-1"], "unexpected argument"),
                (["--rounds", "0"], "at least one round is needed"),
                (["--rounds", "few"], "not a number of rounds"),
                (["--turns", "3"], "unexpected argument"),
            ] {
                let refusal = parse(&[&[suite], &arguments[..]].concat()).unwrap_err();
                assert!(refusal.contains(reason), "{suite} {arguments:?}: {refusal}");
            }
        }
        for (arguments, reason) in [
            (["queues", "--threads", "0"], "a pool needs a thread"),
            (["queues", "--bound", "1"], "give 2 or more"),
            (["queues", "--task-cost", "ten"], "not a whole number of nanoseconds"),
            (["queues", "--task-cost", "1,,2"], "not a whole number of nanoseconds"),
            (["queues", "--task-cost", "1000000001"], "at most"),
            (["fork-join", "--threads", "0"], "a pool needs a thread"),
            (["fork-join", "--threads", "1025"], "at most 1024"),
            (["rayon", "--plot", "b.svg"], "unexpected argument"),
            (["bulk", "--full", "--quick"], "cannot be used with"),
            (["cilk", "--bound", "0"], "give 2 or more"),
            (["cilk", "--bound", "261"], "at most 260"),
            (["cilk", "--bound", "many"], "not a number of stores"),
            (["graphs", "--bound", "1"], "give 2 or more"),
        ] {
            let refusal = parse(&arguments).unwrap_err();
            assert!(refusal.contains(reason), "{arguments:?}: {refusal}");
        }
        for suite in ["cilk", "graphs", "queues"] {
            let both = [suite, "--bound", "73", "--calibration", "a"];
            assert!(parse(&both).unwrap_err().contains("cannot be used with"));
        }
    }

    #[test]
    fn some_suites_have_options_of_their_own() {
        let Ok(Command::Queues(queues)) = parse(&["queues", "--task-cost", "5,0, 20"]) else { panic!() };
        assert_eq!(queues.suite.task_costs, [5, 0, 20]);
        let Ok(Command::Queues(queues)) = parse(&["queues"]) else { panic!() };
        assert_eq!(queues.suite.task_costs, queues::TASK_COSTS);
        let Ok(Command::ForkJoin(fork_join)) = parse(&["fork-join", "--plot", "b.svg"]) else { panic!() };
        assert_eq!(fork_join.suite.plot, Some(PathBuf::from("b.svg")));
        let Ok(Command::Bulk(bulk)) = parse(&["bulk", "--full"]) else { panic!() };
        assert!(bulk.suite.largest && !bulk.options.quick);
        let Ok(Command::Solver(solver)) = parse(&["solver", "--data", "here"]) else { panic!() };
        assert_eq!(solver.suite.data, Some(PathBuf::from("here")));
        for suite in SUITES {
            assert_eq!(options(&[suite, "--threads", "4,64"]).threads.counts(), [1, 4, 64]);
        }
    }
}
