//! `filch solve`: reads an instance, solves it, and reports the solution and what is proven.

mod arguments;
mod checkpoint;
mod history;
mod interrupt;
mod mpi;
mod plot;
mod progress;
mod ranks;
mod summary;

pub use arguments::Arguments;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, ensure, Result};
use filch::explore::Cancel;
use filch_dd::master::Transfer;
use filch_dd::problems::Instance;
use filch_dd::{Dominance, Outcome, Sense, SolveStatus, Solver};

use crate::problem::{Loaded, Visit};
use crate::{chart, output_file, print};
use checkpoint::{Checkpoints, Plan};
use history::{Event, History};
use progress::ProgressDisplay;
use ranks::Rank;
use summary::Summary;

/// Runs `filch solve`. The exit code says what is proven.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.check()?;
    if arguments.mpi {
        return mpi::run(arguments);
    }
    for (_, path) in arguments.files() {
        output_file::check_writable(path)?;
    }
    let problem = Loaded::read(arguments.problem, &arguments.file)?;
    let plan = Plan::read(arguments, &problem)?;
    let cancel = Cancel::new();
    let (message, same_signal) = match arguments.checkpoint {
        Some(_) => ("Stopping with the best solution so far, after a last checkpoint.", interrupt::SAME_SIGNAL),
        None => ("Stopping with the best solution so far; a second Ctrl-C stops at once.", Duration::ZERO),
    };
    interrupt::cancel_on_signal(&cancel, Some(message), same_signal)?;
    let title = format!("{} {}", arguments.problem.name(), arguments.file.display());
    let display = ProgressDisplay::begin(&title, arguments.quiet, plan.elapsed_before());
    let found =
        problem.visit(Search { arguments, mode: Mode::SingleProcess { plan, cancel: &cancel, display: &display } });
    let history = display.end();
    let found = found?.ok_or_else(|| anyhow!("the search returned no result"))?;
    report(arguments, &title, found, history)
}

/// Writes and prints the result, and returns the exit code, which says what is proven.
fn report(arguments: &Arguments, title: &str, found: Found, history: History) -> Result<ExitCode> {
    let outcome = &found.outcome;
    let (code, proven, statistics) = (exit_code(outcome), outcome.status.is_proven(), &outcome.statistics);
    let (explored, transfers, seconds) = (statistics.explored, statistics.transfers, statistics.elapsed.as_secs_f64());
    if let Some(bound) = outcome.bound {
        history.bound(statistics.elapsed, bound, 0, explored);
    }
    let before = found.checkpoints.resumed.as_ref().map_or(0.0, |resumed| resumed.seconds);
    for &Transfer { at, from, to, tasks, nearness, .. } in &statistics.last_transfers {
        history.add(Event::Transfer { at: before + at.as_secs_f64(), from, to, nodes: tasks, nearness });
    }
    history.add(Event::End { at: seconds, ending: summary::name(outcome.status), explored, transfers });
    let events = history.events();
    let summary = Summary::new(arguments, found);
    // Before anything is printed: if the reader closes the pipe early, the files still exist.
    if let Some(path) = arguments.json_file() {
        output_file::write_json(path, &summary)?;
    }
    if let (Some(path), Some(solution)) = (&arguments.solution, &summary.solution) {
        output_file::write(path, |file| Ok(writeln!(file, "{}", solution.trim_end())?))?;
    }
    if let Some(path) = &arguments.trace {
        output_file::write(path, |file| write_trace(&events, file))?;
    }
    if let Some(path) = &arguments.plot {
        chart::write(path, &plot::chart(&events, seconds), title, "the best solution and the proven bound")?;
    }
    if let Some(path) = &arguments.plot_ranks {
        chart::write(path, &ranks::chart(&summary.ranks), title, "what each rank did")?;
    }
    if arguments.prints_json() {
        print(&format!("{}\n", serde_json::to_string_pretty(&summary)?))?;
    } else {
        print(&summary.to_string())?;
    }
    summary.checkpoints.conclude(arguments, proven)?;
    Ok(code)
}

/// The exit code for scripts; `--help` lists them.
fn exit_code(outcome: &Outcome) -> ExitCode {
    ExitCode::from(match (outcome.status, &outcome.best) {
        (SolveStatus::Optimal, _) => 0,
        (SolveStatus::Infeasible, _) => 4,
        (_, Some(_)) => 3,
        (_, None) => 5,
    })
}

fn write_trace(events: &[Event], file: &mut dyn std::io::Write) -> Result<()> {
    for event in events {
        serde_json::to_writer(&mut *file, event)?;
        file.write_all(b"\n")?;
    }
    Ok(())
}

/// All parameters of a search except the problem.
struct Search<'a> {
    arguments: &'a Arguments,
    mode: Mode<'a>,
}

/// Whether the search runs in one process or on several ranks.
enum Mode<'a> {
    /// A single process, with limits and a progress display.
    SingleProcess { plan: Plan, cancel: &'a Cancel, display: &'a ProgressDisplay },
    /// One of several processes, each on its rank.
    #[cfg(feature = "mpi")]
    Ranks(&'a mut filch_mpi::network::Mpi, filch_mpi::Options<'a>),
}

/// The result of a search.
struct Found {
    outcome: Outcome,
    checkpoints: Checkpoints,
    /// The best solution as text.
    solution: Option<String>,
    variables: usize,
    sense: Sense,
    /// Whether dominance was used.
    dominance: bool,
    /// The statistics of each rank, if there are several.
    ranks: Vec<Rank>,
}

impl Visit for Search<'_> {
    /// The result; `None` on all ranks but the first.
    type Output = Result<Option<Found>>;

    fn plain<P: Instance>(self, problem: &P) -> Result<Option<Found>> {
        self.run(problem, |solver| solver, false)
    }

    fn dominated<P: Instance + Dominance>(self, problem: &P) -> Result<Option<Found>> {
        if self.arguments.dominance() {
            self.run(problem, Solver::dominance, true)
        } else {
            self.plain(problem)
        }
    }
}

impl<'a> Search<'a> {
    fn run<P: Instance>(
        self,
        problem: &'a P,
        configure_dominance: fn(Solver<'a, P>) -> Solver<'a, P>,
        dominance: bool,
    ) -> Result<Option<Found>> {
        let Search { arguments, mode } = self;
        let (outcome, checkpoints, ranks) = match mode {
            Mode::SingleProcess { plan, cancel, display } => {
                let mut solver = configured(arguments, configure_dominance(Solver::new(problem)));
                if let Some(limit) = arguments.time {
                    solver = solver.time_limit(limit);
                }
                if let Some(limit) = arguments.nodes {
                    solver = solver.node_limit(limit);
                }
                solver = solver
                    .threads(arguments.threads())
                    .cancel(cancel)
                    .on_incumbent(|incumbent| display.incumbent(incumbent))
                    .on_progress(progress::PROGRESS_INTERVAL, |progress| display.progress(progress));
                let result = plan.solve(solver);
                let (outcome, checkpoints) =
                    result.map_err(|error| anyhow!("{}: {error}", arguments.file.display()))?;
                (outcome, checkpoints, Vec::new())
            }
            #[cfg(feature = "mpi")]
            Mode::Ranks(network, options) => {
                let configure = |solver| configured(arguments, configure_dominance(solver));
                let Some(solved) = filch_mpi::solve(network, problem, options, configure)? else { return Ok(None) };
                let (outcome, ranks) = mpi::outcome(solved);
                (outcome, Checkpoints::default(), ranks)
            }
        };
        let solution = outcome.best.as_ref().map(|best| checked_text(problem, best)).transpose()?;
        let (variables, sense) = (problem.variables(), problem.sense());
        Ok(Some(Found { outcome, checkpoints, solution, variables, sense, dominance, ranks }))
    }
}

/// Applies the search settings of the arguments to a solver.
fn configured<'a, P: Instance>(arguments: &Arguments, mut solver: Solver<'a, P>) -> Solver<'a, P> {
    if let Some(width) = arguments.width {
        solver = solver.width(width);
    }
    if let Some(cutset) = arguments.cutset {
        solver = solver.cutset(cutset.into());
    }
    if let Some(cache) = arguments.cache() {
        solver = solver.cache(cache);
    }
    solver
}

/// Formats a solution, after checking it against the definition of the problem.
fn checked_text<P: Instance>(problem: &P, best: &filch_dd::Solution) -> Result<String> {
    let answer = problem.answer(&best.decisions)?;
    let cost = problem.check(&answer)?;
    ensure!(
        cost == best.cost,
        "the solution costs {cost} by the definition of the problem, but {} by its model; this is a bug",
        best.cost
    );
    Ok(answer.to_string())
}
