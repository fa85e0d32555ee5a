//! Exhaustive search of the states that a machine can reach.
//!
//! [`run`] gives a [`Machine`] to stateright, which visits every state on several threads and stops
//! at the first state that breaks a claim. A visit to single states cannot tell whether every fair
//! run ends; [`fair`] checks that.

pub mod fair;
pub mod graph;
mod model;

pub(crate) use model::{properties, MachineModel};

use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::history::History;
use crate::machine::{Action, Machine, State};

/// A claim about a machine, in the order of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// No thread has a fault: assertions hold, extracted values are tasks, indices are in range.
    NoFault,
    /// No task is extracted twice.
    AtMostOnce,
    /// Every task has been extracted at the end.
    NothingLost,
    /// The conditions under `finally` are true at the end.
    EndsWell,
    /// The [history](crate::history) of operations is linearizable, if the program records one.
    Linearizable,
    /// Some step is possible unless all threads have ended.
    NeverStuck,
    /// Every fair run ends. In a fair run no step stays possible forever without being made.
    Ends,
}

impl Claim {
    /// All claims.
    pub const ALL: [Claim; 7] = [
        Claim::NoFault,
        Claim::AtMostOnce,
        Claim::NothingLost,
        Claim::EndsWell,
        Claim::Linearizable,
        Claim::NeverStuck,
        Claim::Ends,
    ];

    /// Describes what happens if the claim is broken.
    pub fn refutation(self) -> &'static str {
        match self {
            Claim::NoFault => "a thread has a fault",
            Claim::AtMostOnce => "a task is extracted twice",
            Claim::NothingLost => "a task is lost",
            Claim::EndsWell => "a condition under `finally` is false",
            Claim::Linearizable => "the history is not linearizable",
            Claim::NeverStuck => "a thread is stuck",
            Claim::Ends => "a fair run never ends",
        }
    }
}

impl Claim {
    /// Returns the first claim that a state breaks. A single state cannot break [`Claim::Ends`].
    pub fn broken_in(machine: &Machine, state: &State) -> Option<Claim> {
        if machine.fault(state).is_some() {
            return Some(Claim::NoFault);
        }
        let claims = machine.claims();
        if claims.at_most_once && machine.all_extracted(state).any(|times| times > 1) {
            return Some(Claim::AtMostOnce);
        }
        if !machine.is_over(state) {
            return machine.is_stuck(state).then_some(Claim::NeverStuck);
        }
        if claims.nothing_lost && machine.all_extracted(state).any(|times| times == 0) {
            return Some(Claim::NothingLost);
        }
        if !machine.ends_well(state) {
            return Some(Claim::EndsWell);
        }
        let history = History::of(machine, state)?;
        (!history.is_linearizable()).then_some(Claim::Linearizable)
    }
}

/// A run that breaks a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The broken claim.
    pub claim: Claim,
    /// The steps from the initial state.
    pub steps: Vec<Action>,
    /// For an endless run: the step where the repeated part begins.
    pub repeats_from: Option<usize>,
}

/// The progress of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// The number of reached states, each counted once.
    pub states: usize,
    /// The number of tried steps.
    pub steps: usize,
    /// The number of steps on the longest followed path.
    pub depth: usize,
    /// The elapsed time.
    pub time: Duration,
    /// The part of the time that went into the search itself. It excludes the search for endless
    /// runs and for the shortest run that breaks a claim.
    pub search_time: Duration,
}

impl Progress {
    /// The number of tried steps per second. Each step makes a state, which is then looked up.
    pub fn rate(&self) -> f64 {
        self.steps as f64 / self.search_time.as_secs_f64().max(1e-9)
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The shortest run that breaks a claim, if there is one. For an endless run, only the path to
    /// its repeated part is the shortest.
    pub counterexample: Option<Counterexample>,
    /// The amount of work done.
    pub progress: Progress,
}

impl Outcome {
    /// Returns whether every claim holds.
    pub fn holds(&self) -> bool {
        self.counterexample.is_none()
    }
}

/// Options of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The number of threads.
    pub threads: usize,
    /// Whether to search for endless runs, too. That takes a second search, on one thread.
    pub ends: bool,
}

/// Searches all states, and reports progress from time to time.
pub fn run(machine: &Machine, effort: Effort, report: &mut dyn FnMut(Progress)) -> Outcome {
    let start = Instant::now();
    let checker =
        machine.clone().checker().threads(effort.threads).finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
    let progress_of = |checker: &dyn Checker<Machine>| Progress {
        states: checker.unique_state_count(),
        steps: checker.state_count(),
        depth: checker.max_depth(),
        time: start.elapsed(),
        search_time: start.elapsed(),
    };
    let mut last_report = Instant::now();
    while !checker.is_done() {
        std::thread::sleep(Duration::from_millis(2).min(start.elapsed()));
        if last_report.elapsed() > Duration::from_millis(200) {
            report(progress_of(&checker));
            last_report = Instant::now();
        }
    }
    // A thread that panicked has ended too, and `join` propagates its panic.
    let checker = checker.join();
    let progress = progress_of(&checker);
    if let Some(path) = checker.discoveries().into_values().next() {
        let claim = Claim::broken_in(machine, path.last_state()).expect("the search found a state that breaks a claim");
        let found = Counterexample { claim, steps: path.into_actions(), repeats_from: None };
        // stateright continues for a while and keeps the last counterexample that it found. That
        // counterexample, and the claim it breaks, may differ from run to run.
        let shortest = graph::shortest(machine).unwrap_or(found);
        return Outcome { counterexample: Some(shortest), progress: Progress { time: start.elapsed(), ..progress } };
    }
    if !effort.ends {
        return Outcome { counterexample: None, progress };
    }
    let endless = fair::endless(machine);
    Outcome { counterexample: endless, progress: Progress { time: start.elapsed(), ..progress } }
}
