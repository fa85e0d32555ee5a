//! `filch solve`: reads an instance, solves it, and tells what it found and what is proven.

mod arguments;
mod history;
mod interrupt;
mod plot;
mod summary;
mod watch;

pub(crate) use arguments::Arguments;

use std::process::ExitCode;
use std::thread;

use anyhow::{anyhow, ensure, Result};
use filch::explore::Cancel;
use filch_dd::master::Transfer;
use filch_dd::problems::Instance;
use filch_dd::{Dominance, Ending, Outcome, Solver};

use crate::problem::{Loaded, Visit};
use crate::{print, report};
use history::Event;
use summary::{Solved, Summary};
use watch::Watch;

/// Does what the arguments ask for. The exit code says what is proven.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.check()?;
    for (_, path) in arguments.files() {
        report::check_writable(path)?;
    }
    let problem = Loaded::read(arguments.problem, &arguments.file)?;
    let cancel = Cancel::new();
    interrupt::listen(&cancel)?;
    let title = format!("{} {}", arguments.problem.name(), arguments.file.display());
    let watch = Watch::begin(&title, arguments.quiet);
    let found = problem.visit(Search { arguments, cancel: &cancel, watch: &watch });
    let history = watch.end();
    let Found { outcome, solution, solved } = found?;

    let seconds = outcome.statistics.elapsed.as_secs_f64();
    if let Some(bound) = outcome.bound {
        history.bound(outcome.statistics.elapsed, bound, 0, outcome.statistics.explored);
    }
    let (ending, explored, transfers) =
        (summary::name(outcome.ending), outcome.statistics.explored, outcome.statistics.transfers);
    for &Transfer { at, from, to, tasks, nearness, .. } in &outcome.statistics.last_transfers {
        history.add(Event::Transfer { at: at.as_secs_f64(), from, to, nodes: tasks, nearness });
    }
    history.add(Event::End { at: seconds, ending, explored, transfers });
    let events = history.events();
    let summary = Summary::new(arguments, solved, &outcome, solution.clone());
    // Before anything is printed: whoever closes the pipe early still has the files.
    if let Some(path) = arguments.json_file() {
        report::write_json(path, &summary)?;
    }
    if let (Some(path), Some(solution)) = (&arguments.solution, &solution) {
        report::write_file(path, |file| Ok(writeln!(file, "{}", solution.trim_end())?))?;
    }
    if let Some(path) = &arguments.trace {
        report::write_file(path, |file| write_trace(&events, file))?;
    }
    if let Some(path) = &arguments.plot {
        let svg = plot::draw(&title, &events, seconds)?;
        report::write_file(path, |file| Ok(file.write_all(svg.as_bytes())?))?;
    }
    if arguments.prints_json() {
        print(&format!("{}\n", serde_json::to_string_pretty(&summary)?))?;
    } else {
        print(&summary.to_string())?;
    }
    Ok(code(&outcome))
}

/// What a script is told; `--help` lists it.
fn code(outcome: &Outcome) -> ExitCode {
    ExitCode::from(match (outcome.ending, &outcome.best) {
        (Ending::Optimal, _) => 0,
        (Ending::Infeasible, _) => 4,
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

/// All that a search takes but the problem.
struct Search<'a> {
    arguments: &'a Arguments,
    cancel: &'a Cancel,
    watch: &'a Watch,
}

/// What came of it.
struct Found {
    outcome: Outcome,
    /// The best solution as text.
    solution: Option<String>,
    solved: Solved,
}

impl Visit for Search<'_> {
    type Output = Result<Found>;

    fn plain<P: Instance>(self, problem: &P) -> Result<Found> {
        self.run(problem, Solver::new(problem), false)
    }

    fn dominated<P: Instance + Dominance>(self, problem: &P) -> Result<Found> {
        if self.arguments.dominance() {
            let solver = Solver::new(problem).dominance();
            self.run(problem, solver, true)
        } else {
            self.plain(problem)
        }
    }
}

impl<'a> Search<'a> {
    fn run<P: Instance>(self, problem: &'a P, mut solver: Solver<'a, P>, dominance: bool) -> Result<Found> {
        let Search { arguments, cancel, watch } = self;
        let threads = arguments.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
        solver = solver.threads(threads).cancel(cancel);
        if let Some(width) = arguments.width {
            solver = solver.width(width);
        }
        if let Some(cutset) = arguments.cutset {
            solver = solver.cutset(cutset.into());
        }
        if let Some(cache) = arguments.cache() {
            solver = solver.cache(cache);
        }
        if let Some(limit) = arguments.time {
            solver = solver.time_limit(limit);
        }
        if let Some(limit) = arguments.nodes {
            solver = solver.node_limit(limit);
        }
        let outcome = solver
            .on_incumbent(|incumbent| watch.incumbent(incumbent))
            .on_progress(watch::EVERY, |progress| watch.progress(progress))
            .solve()
            .map_err(|error| anyhow!("{}: {error}", arguments.file.display()))?;
        let solution = outcome.best.as_ref().map(|best| answer(problem, best)).transpose()?;
        let solved = Solved { variables: problem.variables(), sense: problem.sense(), dominance, threads };
        Ok(Found { outcome, solution, solved })
    }
}

/// A solution as text, once it was seen to be one by the definition of the problem.
fn answer<P: Instance>(problem: &P, best: &filch_dd::Solution) -> Result<String> {
    let answer = problem.answer(&best.decisions)?;
    let cost = problem.check(&answer)?;
    ensure!(
        cost == best.cost,
        "the solution costs {cost} by the definition of the problem, and {} by its model",
        best.cost
    );
    Ok(answer.to_string())
}
