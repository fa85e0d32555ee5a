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
use filch_dd::{Ending, Incumbent, Outcome, Solution, Statistics};
use filch_mpi::network::{agree, Mpi, Network};
use filch_mpi::protocol::RankStatistics;
use filch_mpi::{Left, Options, Solved as Together};

use super::super::checkpoint::{Parts, Plan};
use super::super::ranks::Rank;
use super::super::watch::{self, Watch};
use super::super::{interrupt, tell, Arguments, Search, Way};
use super::keep::Kept;
use crate::problem::Loaded;
use crate::{figures, say};

/// How long the other ranks may take to end after the run failed.
const FAREWELL: Duration = Duration::from_secs(3);
/// How long an interrupted run may take before it prints how to resume.
///
/// Open MPI gives it a second.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Solves the instance together with the other ranks.
pub(in super::super) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut network = Mpi::start()?;
    let is_first = network.rank() == 0;
    // If a rank fails, for example to read the file, all ranks know it before any of them begins.
    let prepared = prepare(arguments, is_first);
    let word = prepared.as_ref().map(|_| ()).map_err(|error| format!("{error:#}"));
    let agreed = agree(&mut network, word);
    let Prepared { problem, parts, cancel } = match agreed.map_err(|words| anyhow!(words)).and(prepared) {
        Ok(prepared) => prepared,
        Err(error) => {
            network.finish();
            return if is_first { Err(error) } else { Ok(ExitCode::SUCCESS) };
        }
    };

    let cores = thread::available_parallelism().map_or(1, usize::from);
    if is_first && arguments.threads() > cores && !arguments.quiet {
        say(&format!(
            "warning: this rank may run on {cores} of the cores and has {} threads; with Open MPI, `mpirun --bind-to none` lets it run on all",
            arguments.threads()
        ));
    }
    let title = format!("{} {}", arguments.problem.name(), arguments.file.display());
    let Parts { identity, file, every, resumed, checkpoints } = parts;
    let from = arguments.resume.as_deref();
    let (kept, ranks) = (Kept::default(), network.ranks());
    let mut all = Checkpoint {
        parcels: Vec::new(),
        best: None,
        ..resumed.clone().unwrap_or_else(|| Checkpoint::new(identity.clone()))
    };
    (all.ranks, all.threads) = (number(ranks), number(arguments.threads()));
    let before = (all.elapsed, all.totals);

    let watch = Watch::begin(&title, arguments.quiet || !is_first, before.0);
    let mut options = Options::new(hash(format!("{} {}", identity.problem, identity.instance).as_bytes()));
    options.threads = arguments.threads();
    options.cancel = Some(cancel.clone());
    options.host = Mpi::machine();
    if is_first {
        options.resume = resumed.map(|Checkpoint { parcels, best, .. }| Left { parcels, best, ..Left::default() });
        (options.time_limit, options.node_limit) = (arguments.time, arguments.nodes);
        if let Some(file) = &file {
            options.checkpoint_every = Some(every);
            options.on_checkpoint = Some(Box::new(kept.writer(file, all)));
        }
        options.on_solution = Some(Box::new(|solution, after| {
            watch.incumbent(&Incumbent { cost: solution.cost, decisions: Vec::new(), after });
        }));
        options.on_progress = Some((watch::EVERY, Box::new(|progress| watch.progress(&of_one(progress)))));
    }
    let consolation = || kept.consolation(file.as_deref(), from, ranks);
    let found = thread::scope(|scope| {
        // Dropped when the run is over.
        let (_over, is_over) = channel::<()>();
        if is_first {
            let cancel = &cancel;
            scope.spawn(move || last_words(&is_over, cancel, consolation));
        }
        // A panic on one rank must not leave the other ranks waiting.
        let search = Search { arguments, way: Way::Ranks(&mut network, options) };
        panic::catch_unwind(AssertUnwindSafe(|| problem.visit(search)))
            .unwrap_or_else(|_| Err(anyhow!("the search of this rank panicked")))
    });
    let history = watch.end();
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            if is_first {
                say(&format!("error: {error:#}. The run is over. {}", consolation()));
            }
            network.finish_within(FAREWELL);
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
    (found.checkpoints.written, found.checkpoints.trouble) = kept.conclude();
    tell(arguments, &title, found, history)
}

/// Everything that a rank needs to begin.
struct Prepared {
    problem: Loaded,
    parts: Parts,
    cancel: Cancel,
}

/// Reads the instance and the checkpoint. Only rank 0 writes files.
fn prepare(arguments: &Arguments, is_first: bool) -> Result<Prepared> {
    if is_first {
        for (_, path) in arguments.files() {
            figures::check_writable(path)?;
        }
    }
    let problem = Loaded::read(arguments.problem, &arguments.file)?;
    let plan = if is_first { Plan::read(arguments, &problem)? } else { Plan::of(arguments, &problem) };
    let cancel = Cancel::new();
    interrupt::listen_on_rank(&cancel, is_first).context("this rank cannot be asked to end")?;
    Ok(Prepared { problem, parts: plan.into_parts(), cancel })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Converts the progress of a run to that of a single search.
fn of_one(progress: &filch_mpi::Progress) -> filch_dd::Progress {
    let filch_mpi::Progress { open, explored, best, bound, elapsed, .. } = *progress;
    let so_far = best.map(|cost| Solution { cost, decisions: Vec::new() });
    let gap = Outcome { ending: Ending::Cancelled, best: so_far, bound, statistics: Statistics::default() }.gap();
    filch_dd::Progress { open, explored, best, bound, gap, elapsed, memory: 0 }
}

/// Prints how to resume if an interrupted run does not end.
///
/// A rank may be lost, and `mpirun`, which sent the signal, does not wait for long.
fn last_words(over: &Receiver<()>, cancel: &Cancel, consolation: impl Fn() -> String) {
    let wait = |time| over.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    while wait(Duration::from_millis(50)) {
        if cancel.is_cancelled() {
            if wait(LAST_WORDS) {
                say(&format!(
                    "Not all ranks have ended yet. If one was lost, the run is over without a last checkpoint. {}",
                    consolation()
                ));
            }
            return;
        }
    }
}

/// Converts the result of all ranks to that of a single search.
pub(in super::super) fn outcome(together: Together) -> (Outcome, Vec<Rank>) {
    let Together { ending, best, bound, totals, ranks, transfers, elapsed, .. } = together;
    let statistics = Statistics {
        explored: totals.explored,
        closed: totals.closed,
        diagram_nodes: totals.diagram_nodes,
        pruned: totals.pruned,
        transfers,
        elapsed,
        ..Statistics::default()
    };
    (Outcome { ending, best, bound, statistics }, ranks.iter().enumerate().map(rank).collect())
}

fn rank((rank, did): (usize, &RankStatistics)) -> Rank {
    let seconds = |nanoseconds: u64| Duration::from_nanos(nanoseconds).as_secs_f64();
    Rank {
        rank,
        host: did.host.clone(),
        threads: did.threads,
        explored: did.totals.explored,
        pruned: did.totals.pruned,
        diagram_nodes: did.totals.diagram_nodes,
        gifts: did.gifts,
        nodes_given: did.nodes_given,
        bytes_given: did.bytes_given,
        refusals: did.refusals,
        receipts: did.receipts,
        nodes_received: did.nodes_received,
        bytes_received: did.bytes_received,
        messages_sent: did.messages_sent,
        messages_received: did.messages_received,
        idle_seconds: seconds(did.idle),
        communicating_seconds: seconds(did.communicating),
        seconds: seconds(did.elapsed),
    }
}
