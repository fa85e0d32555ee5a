//! Solves a case with a contender, in this process.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use filch_dd::master::queue::{Bulk, ChaseLev, Locked, Queue};
use filch_dd::problems::bits::{Bits, Words};
use filch_dd::problems::independent_set::IndependentSet;
use filch_dd::problems::Instance;
use filch_dd::{Dominance, Solution, Solver};

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

    fn solve_plain<P: Instance>(&self, problem: &P) -> Result<Answer> {
        let solve_with_ddo = || ddo::solve(problem, self.settings, self.threads, self.limit);
        self.run_contender(problem, || Solver::new(problem), solve_with_ddo)
    }

    fn solve_with_dominance<P: Instance + Dominance>(&self, problem: &P) -> Result<Answer> {
        self.run_contender(
            problem,
            || Solver::new(problem).dominance(),
            || ddo::solve_with_dominance(problem, self.settings, self.threads, self.limit),
        )
    }

    fn run_contender<'p, P: Instance>(
        &self,
        problem: &'p P,
        solver: impl Fn() -> Solver<'p, P> + Sync,
        solve_with_ddo: impl Fn() -> ddo::Solved,
    ) -> Result<Answer> {
        match self.contender {
            FILCH => self.solve_with_filch::<Bulk, P>(problem, solver(), self.threads),
            FILCH_CHASE_LEV => self.solve_with_filch::<ChaseLev, P>(problem, solver(), self.threads),
            FILCH_MUTEX => self.solve_with_filch::<Locked, P>(problem, solver(), self.threads),
            SERIAL_PAIR => {
                let start = Instant::now();
                let answers: Vec<Answer> = thread::scope(|scope| {
                    let threads = [(); 2].map(|()| scope.spawn(|| self.solve_with_filch::<Bulk, P>(problem, solver(), 1)));
                    let join = |thread: thread::ScopedJoinHandle<'_, Result<Answer>>| {
                        thread.join().map_err(|_| anyhow!("a serial run panicked"))?
                    };
                    threads.into_iter().map(join).collect::<Result<_>>()
                })?;
                let seconds = start.elapsed().as_secs_f64() / 2.0;
                let [first, second] = answers[..] else { bail!("a run did not end") };
                let proven = first.proven && second.proven;
                ensure!(
                    !proven || first.cost == second.cost,
                    "the two runs proved {:?} and {:?}",
                    first.cost,
                    second.cost
                );
                Ok(Answer { seconds, proven, ..first })
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

    fn solve_with_filch<Q: Queue, P: Instance>(
        &self,
        problem: &P,
        solver: Solver<'_, P>,
        threads: usize,
    ) -> Result<Answer> {
        let Settings { width, method } = self.settings;
        let start = Instant::now();
        let outcome = solver
            .width(width)
            .cutset(method.cutset())
            .cache(method.cache())
            .threads(threads)
            .time_limit(self.limit)
            .solve_on::<Q>()?;
        let seconds = start.elapsed().as_secs_f64();
        outcome.best.as_ref().map_or(Ok(()), |best| check_cost(problem, best))?;
        Ok(Answer {
            seconds,
            explored: outcome.statistics.explored as f64,
            diagram_nodes: Some(outcome.statistics.diagram_nodes as f64),
            cost: outcome.best.as_ref().map(|best| best.cost),
            proven: outcome.status.is_proven(),
            peak_bytes: None,
        })
    }
}

/// Checks that a solution has the cost that the search says, by the problem's definition.
fn check_cost<P: Instance>(problem: &P, best: &Solution) -> Result<()> {
    let cost = problem.check(&problem.answer(&best.decisions)?)?;
    ensure!(cost == best.cost, "the search says that its solution costs {}, but it costs {cost}", best.cost);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use filch_dd::problems::golomb::Golomb;
    use filch_dd::{Cost, Width};

    use super::super::check;
    use super::super::settings::Method;
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    fn solve(contender: &str, limit: Duration) -> Solve<'_> {
        let settings = Settings { width: Width::Unassigned { factor: 10 }, method: Method::LastExactLayer };
        Solve { contender, settings, threads: 2, limit }
    }

    /// The answer of filch's solver, and then that of a peer which says that this is the optimum.
    fn beside_a_peer(marks: usize, peer: Cost) -> Result<()> {
        let ruler = Golomb::new(marks)?;
        let optimum = Cell::new(None);
        let claimed = || ddo::Solved { cost: Some(peer), proven: true, explored: 1, elapsed: Duration::from_secs(1) };
        for contender in [FILCH, FILCH_CHASE_LEV, FILCH_MUTEX, SERIAL_PAIR, DDO] {
            let answer = solve(contender, LIMIT).run_contender(&ruler, || Solver::new(&ruler), claimed)?;
            check(&optimum, &answer, LIMIT)?;
        }
        Ok(())
    }

    #[test]
    fn a_wrong_optimum_fails_the_case() {
        beside_a_peer(5, 11).unwrap();
        let error = beside_a_peer(5, 12).unwrap_err().to_string();
        assert!(error.contains("the run proved 12, but 11 was proven before"), "{error}");
    }

    #[test]
    fn a_run_that_stops_early_fails_the_case() {
        let answer = solve(FILCH, Duration::ZERO).solve(Loaded::Golomb(Golomb::new(10).unwrap())).unwrap();
        let error = check(&Cell::new(None), &answer, LIMIT).unwrap_err().to_string();
        assert!(error.contains("without a proof"), "{error}");
    }

    #[test]
    fn a_solution_with_another_cost_fails_the_case() {
        let ruler = Golomb::new(5).unwrap();
        let mut best = Solver::new(&ruler).solve().unwrap().best.unwrap();
        check_cost(&ruler, &best).unwrap();
        best.cost -= 1;
        let error = check_cost(&ruler, &best).unwrap_err().to_string();
        assert!(error.contains("costs 10, but it costs 11"), "{error}");
    }
}
