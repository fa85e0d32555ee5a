//! Solves a case with a contender, in this process.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use filch_dd::master::queue::{Bulk, ChaseLev, Locked, Queue};
use filch_dd::problems::bits::{Bits, Words};
use filch_dd::problems::independent_set::IndependentSet;
use filch_dd::{Dominance, Relaxation, Solver};

use super::child::Answer;
use super::settings::Settings;
use super::{cases, ddo, OneRun, DDO, FILCH, FILCH_CHASE_LEV, FILCH_MUTEX, SERIAL_PAIR};
use crate::bench::memory;
use crate::print;
use crate::problem::Loaded;

/// Solves a case once and prints the result as a line of JSON.
pub(crate) fn run_one(run: &OneRun) -> Result<()> {
    let cases = cases::all(run.data.as_deref())?;
    let case = cases.iter().find(|case| case.to_string() == run.case);
    let case = case.with_context(|| format!("there is no case `{}`", run.case))?;
    let limit = Duration::try_from_secs_f64(run.limit).context("--limit is not a valid number of seconds")?;
    let solve = Solve { contender: &run.contender, settings: case.settings, threads: run.threads, limit };
    let mut answer = solve.solve(case.load()?)?;
    answer.peak_bytes = memory::peak();
    print(&format!("{}\n", serde_json::to_string(&answer)?))
}

/// The parameters of a run, except for the problem.
struct Solve<'a> {
    contender: &'a str,
    settings: Settings,
    threads: usize,
    limit: Duration,
}

impl Solve<'_> {
    /// Solves a problem.
    ///
    /// Only the types that the cases need are here: both solvers are compiled for each.
    fn solve(&self, problem: Loaded) -> Result<Answer> {
        match problem {
            Loaded::Knapsack(sack) => self.solve_with_dominance(&sack),
            Loaded::Misp(graph) => {
                ensure!(
                    graph.vertices() <= Words::<4>::CAPACITY,
                    "graphs have at most {} vertices here",
                    Words::<4>::CAPACITY
                );
                self.solve_plain(&IndependentSet::<Words<4>>::new(graph))
            }
            Loaded::Tsptw(tour) => self.solve_with_dominance(&tour),
            Loaded::Golomb(ruler) => self.solve_plain(&ruler),
            Loaded::Clique(_) | Loaded::Flow(_) => bail!("this suite has no case of this problem"),
        }
    }

    fn solve_plain<P: Relaxation>(&self, problem: &P) -> Result<Answer> {
        self.run_contender(|| Solver::new(problem), || ddo::solve(problem, self.settings, self.threads, self.limit))
    }

    fn solve_with_dominance<P: Relaxation + Dominance>(&self, problem: &P) -> Result<Answer> {
        self.run_contender(
            || Solver::new(problem).dominance(),
            || ddo::solve_with_dominance(problem, self.settings, self.threads, self.limit),
        )
    }

    fn run_contender<'p, P: Relaxation + 'p>(
        &self,
        solver: impl Fn() -> Solver<'p, P> + Sync,
        solve_with_ddo: impl Fn() -> ddo::Solved,
    ) -> Result<Answer> {
        match self.contender {
            FILCH => self.solve_with_filch::<Bulk, P>(solver(), self.threads),
            FILCH_CHASE_LEV => self.solve_with_filch::<ChaseLev, P>(solver(), self.threads),
            FILCH_MUTEX => self.solve_with_filch::<Locked, P>(solver(), self.threads),
            SERIAL_PAIR => {
                let start = Instant::now();
                let answers: Vec<Answer> = thread::scope(|scope| {
                    let threads = [(); 2].map(|()| scope.spawn(|| self.solve_with_filch::<Bulk, P>(solver(), 1)));
                    let join = |thread: thread::ScopedJoinHandle<'_, Result<Answer>>| {
                        thread.join().map_err(|_| anyhow!("a serial run panicked"))?
                    };
                    threads.into_iter().map(join).collect::<Result<_>>()
                })?;
                let seconds = start.elapsed().as_secs_f64() / 2.0;
                let first = answers.first().context("no run ended")?;
                Ok(Answer { seconds, proven: answers.iter().all(|answer| answer.proven), ..*first })
            }
            DDO => {
                let ddo::Solved { cost, proven, explored, elapsed } = solve_with_ddo();
                Ok(Answer {
                    seconds: elapsed.as_secs_f64(),
                    explored: explored as f64,
                    diagram_nodes: None,
                    cost,
                    proven,
                    peak_bytes: None,
                })
            }
            unknown => bail!(
                "there is no contender `{unknown}`; there are {FILCH}, {FILCH_CHASE_LEV}, {FILCH_MUTEX}, {DDO} and {SERIAL_PAIR}"
            ),
        }
    }

    fn solve_with_filch<Q: Queue, P: Relaxation>(&self, solver: Solver<'_, P>, threads: usize) -> Result<Answer> {
        let Settings { width, method } = self.settings;
        let start = Instant::now();
        let outcome = solver
            .width(width)
            .cutset(method.cutset())
            .cache(method.cache())
            .threads(threads)
            .time_limit(self.limit)
            .solve_on::<Q>()?;
        Ok(Answer {
            seconds: start.elapsed().as_secs_f64(),
            explored: outcome.statistics.explored as f64,
            diagram_nodes: Some(outcome.statistics.diagram_nodes as f64),
            cost: outcome.best.as_ref().map(|best| best.cost),
            proven: outcome.status.is_proven(),
            peak_bytes: None,
        })
    }
}
