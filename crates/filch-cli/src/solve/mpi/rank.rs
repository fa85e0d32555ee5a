//! A rank of a run.
//!
//! All ranks read the same command line and the same instance. Rank 0 reports the result.

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, Context, Result};
use filch::explore::Cancel;
use filch_dd::checkpoint::{hash, Checkpoint};
use filch_dd::{Incumbent, Outcome, Solution, SolveStatus, Statistics};
use filch_mpi::network::{agree, Mpi, Network};
use filch_mpi::protocol::RankStatistics;
use filch_mpi::{Options, RunCheckpoint, Solved as RanksSolved};

use super::super::checkpoint::Plan;
use super::super::progress::{self, ProgressDisplay};
use super::super::ranks::Rank;
use super::super::{interrupt, report, Arguments, Mode, Search};
use super::checkpoints::SavedCheckpoints;
use crate::problem::Loaded;
use crate::{output_file, say};

/// How long the other ranks may take to end after the run failed.
const END_TIMEOUT: Duration = Duration::from_secs(3);
/// How long an interrupted run may take before it prints how to resume.
///
/// Open MPI gives it a second.
const HINT_DELAY: Duration = Duration::from_millis(300);

/// Solves the instance together with the other ranks.
pub(in super::super) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut network = Mpi::start()?;
    let is_first = network.rank() == 0;
    // If a rank fails, for example to read the file, all ranks know it before any of them begins.
    let prepared = prepare(arguments, is_first);
    let status = prepared.as_ref().map(|_| ()).map_err(|error| format!("{error:#}"));
    let agreed = agree(&mut network, status);
    let Prepared { problem, plan, cancel } = match agreed.map_err(|reason| anyhow!(reason)).and(prepared) {
        Ok(prepared) => prepared,
        Err(error) => {
            network.finish();
            return if is_first { Err(error) } else { Ok(ExitCode::SUCCESS) };
        }
    };

    let cores = thread::available_parallelism().map_or(1, usize::from);
    if is_first && arguments.threads() > cores && !arguments.quiet {
        say(&format!(
            "warning: this rank has more threads ({}) than cores that it may use ({cores}); with Open MPI, `mpirun --bind-to none` allows all cores",
            arguments.threads()
        ));
    }
    let title = format!("{} {}", arguments.problem.name(), arguments.file.display());
    let checkpoints = plan.checkpoints();
    let Plan { identity, file, every, resumed } = plan;
    let resumed = resumed.map(|(_, checkpoint)| checkpoint);
    let resumed_from = arguments.resume.as_deref();
    let (saved, ranks) = (SavedCheckpoints::default(), network.ranks());
    let mut all = Checkpoint {
        packages: Vec::new(),
        best: None,
        ..resumed.clone().unwrap_or_else(|| Checkpoint::new(identity.clone()))
    };
    (all.ranks, all.threads) = (to_u32(ranks), to_u32(arguments.threads()));
    let before = (all.elapsed, all.totals);

    let display = ProgressDisplay::begin(&title, arguments.quiet || !is_first, before.0);
    let mut options = Options::new(hash(format!("{} {}", identity.problem, identity.instance).as_bytes()));
    options.threads = arguments.threads();
    options.cancel = Some(cancel.clone());
    options.host = Mpi::machine();
    if is_first {
        options.resume = resumed.map(|Checkpoint { packages, best, .. }| RunCheckpoint {
            packages,
            best,
            ..RunCheckpoint::default()
        });
        (options.time_limit, options.node_limit) = (arguments.time, arguments.nodes);
        if let Some(file) = &file {
            options.checkpoint_every = Some(every);
            options.on_checkpoint = Some(Box::new(saved.writer(file, all)));
        }
        options.on_solution = Some(Box::new(|solution, after| {
            display.incumbent(&Incumbent { cost: solution.cost, decisions: Vec::new(), after });
        }));
        options.on_progress = Some((
            progress::PROGRESS_INTERVAL,
            Box::new(|progress| display.progress(&single_search_progress(progress))),
        ));
    }
    let resume_hint = || saved.resume_hint(file.as_deref(), resumed_from, ranks);
    let found = thread::scope(|scope| {
        // Dropped when the run is over.
        let (_over, is_over) = channel::<()>();
        if is_first {
            let cancel = &cancel;
            scope.spawn(move || print_hint_if_stuck(&is_over, cancel, resume_hint));
        }
        // A panic on one rank must not leave the other ranks waiting.
        let search = Search { arguments, mode: Mode::Ranks(&mut network, options) };
        panic::catch_unwind(AssertUnwindSafe(|| problem.visit(search)))
            .unwrap_or_else(|_| Err(anyhow!("the search of this rank panicked")))
    });
    let history = display.end();
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            if is_first {
                say(&format!("error: {error:#}. The run has ended. {}", resume_hint()));
            }
            network.finish_within(END_TIMEOUT);
            return Ok(ExitCode::FAILURE);
        }
    };
    network.finish();
    let Some(mut found) = found else { return Ok(ExitCode::SUCCESS) };
    let statistics = &mut found.outcome.statistics;
    statistics.elapsed = statistics.elapsed.saturating_add(before.0);
    let totals = before.1;
    statistics.explored += totals.explored;
    statistics.closed += totals.closed;
    statistics.diagram_nodes += totals.diagram_nodes;
    statistics.pruned += totals.pruned;
    found.checkpoints = checkpoints;
    (found.checkpoints.written, found.checkpoints.error) = saved.written_and_error();
    report(arguments, &title, found, history)
}

/// Everything that a rank needs to begin.
struct Prepared {
    problem: Loaded,
    plan: Plan,
    cancel: Cancel,
}

/// Reads the instance and the checkpoint. Only rank 0 writes files.
fn prepare(arguments: &Arguments, is_first: bool) -> Result<Prepared> {
    if is_first {
        for (_, path) in arguments.files() {
            output_file::check_writable(path)?;
        }
    }
    let problem = Loaded::read(arguments.problem, &arguments.file)?;
    let plan = if is_first { Plan::read(arguments, &problem)? } else { Plan::without_resume(arguments, &problem) };
    let cancel = Cancel::new();
    // The first rank prints for all.
    let message = is_first.then_some("Stopping with the best solution so far, on all ranks.");
    interrupt::cancel_on_signal(&cancel, message, interrupt::SAME_SIGNAL)
        .context("signals cannot be handled on this rank")?;
    Ok(Prepared { problem, plan, cancel })
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Converts the progress of a run to that of a single search.
fn single_search_progress(progress: &filch_mpi::Progress) -> filch_dd::Progress {
    let filch_mpi::Progress { open, explored, best, bound, elapsed, .. } = *progress;
    let so_far = best.map(|cost| Solution { cost, decisions: Vec::new() });
    let gap = Outcome { status: SolveStatus::Cancelled, best: so_far, bound, statistics: Statistics::default() }.gap();
    filch_dd::Progress { open, explored, best, bound, gap, elapsed, memory: 0 }
}

/// Prints how to resume if an interrupted run does not end.
///
/// A rank may be lost, and `mpirun`, which sent the signal, does not wait for long.
fn print_hint_if_stuck(over: &Receiver<()>, cancel: &Cancel, resume_hint: impl Fn() -> String) {
    let wait = |time| over.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    while wait(Duration::from_millis(50)) {
        if cancel.is_cancelled() {
            if wait(HINT_DELAY) {
                say(&format!(
                    "Some ranks have not ended yet. If a rank was lost, the run ends without a last checkpoint. {}",
                    resume_hint()
                ));
            }
            return;
        }
    }
}

/// Converts the result of all ranks to that of a single search.
pub(in super::super) fn outcome(solved: RanksSolved) -> (Outcome, Vec<Rank>) {
    let RanksSolved { status, best, bound, totals, ranks, transfers, elapsed, .. } = solved;
    let statistics = Statistics {
        explored: totals.explored,
        closed: totals.closed,
        diagram_nodes: totals.diagram_nodes,
        pruned: totals.pruned,
        transfers,
        elapsed,
        ..Statistics::default()
    };
    (Outcome { status, best, bound, statistics }, ranks.iter().enumerate().map(rank).collect())
}

fn rank((rank, statistics): (usize, &RankStatistics)) -> Rank {
    let seconds = |nanoseconds: u64| Duration::from_nanos(nanoseconds).as_secs_f64();
    Rank {
        rank,
        host: statistics.host.clone(),
        threads: statistics.threads,
        explored: statistics.totals.explored,
        pruned: statistics.totals.pruned,
        diagram_nodes: statistics.totals.diagram_nodes,
        gifts: statistics.gifts,
        nodes_given: statistics.nodes_given,
        bytes_given: statistics.bytes_given,
        refusals: statistics.refusals,
        receipts: statistics.receipts,
        nodes_received: statistics.nodes_received,
        bytes_received: statistics.bytes_received,
        messages_sent: statistics.messages_sent,
        messages_received: statistics.messages_received,
        idle_seconds: seconds(statistics.idle),
        communicating_seconds: seconds(statistics.communicating),
        seconds: seconds(statistics.elapsed),
    }
}
