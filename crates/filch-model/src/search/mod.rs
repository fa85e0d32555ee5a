//! Looking at every state that a machine can reach.
//!
//! [`run`] hands a [`Machine`] to stateright, which visits every state on several threads and stops at the first that breaks a claim. What a visit to single
//! states cannot tell, that every fair run comes to an end, is for [`fair`].

pub mod fair;
pub mod graph;
mod model;

pub(crate) use model::{properties, Watched};

use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::machine::{Action, Machine, State};

/// What is claimed of every machine, in the order in which they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// No assertion is false, every extracted task is one, every index is inside its row.
    NoFault,
    /// No task is extracted twice.
    AtMostOnce,
    /// At the end every task has been extracted.
    NothingLost,
    /// At the end what is said under `finally` is true.
    EndsWell,
    /// Unless all threads have ended something can happen.
    NeverStuck,
    /// Every fair run ends: one in which no step is possible for ever and yet never made.
    Ends,
}

impl Claim {
    /// All of them.
    pub const ALL: [Claim; 6] =
        [Claim::NoFault, Claim::AtMostOnce, Claim::NothingLost, Claim::EndsWell, Claim::NeverStuck, Claim::Ends];

    /// What is the case when the claim is not.
    pub fn refutation(self) -> &'static str {
        match self {
            Claim::NoFault => "a thread meets a fault",
            Claim::AtMostOnce => "a task is extracted twice",
            Claim::NothingLost => "a task is lost",
            Claim::EndsWell => "the last state is not as it should be",
            Claim::NeverStuck => "a thread is stuck",
            Claim::Ends => "a fair run goes on for ever",
        }
    }
}

impl Claim {
    /// The first claim that a state breaks. That a run ends is not for a single state to tell.
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
        (!machine.ends_well(state)).then_some(Claim::EndsWell)
    }
}

/// A run that breaks a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The claim it breaks.
    pub claim: Claim,
    /// The steps from the initial state.
    pub steps: Vec<Action>,
    /// For a run that goes on for ever: the step at which what is repeated begins.
    pub repeats_from: Option<usize>,
}

/// How far a search has come, or came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// States that were reached, each counted once.
    pub states: usize,
    /// Steps that were tried.
    pub steps: usize,
    /// Steps on the longest of the paths that were followed.
    pub depth: usize,
    /// How long it took.
    pub time: Duration,
    /// How much of that went into the search itself, and not into looking for endless runs or for the shortest of those that break a claim.
    pub search_time: Duration,
}

impl Progress {
    /// Steps tried in a second: each makes a state, which is then looked up.
    pub fn rate(&self) -> f64 {
        self.steps as f64 / self.search_time.as_secs_f64().max(1e-9)
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The shortest run that breaks a claim, if there is one. For a run without end it is the way to where it repeats itself that is short.
    pub counterexample: Option<Counterexample>,
    /// How much was looked at.
    pub progress: Progress,
}

impl Outcome {
    /// Whether every claim holds.
    pub fn holds(&self) -> bool {
        self.counterexample.is_none()
    }
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// On how many threads.
    pub threads: usize,
    /// Whether runs that go on for ever are looked for as well. That takes a second search, on one thread.
    pub ends: bool,
}

/// Searches all states, telling now and then how far it is.
pub fn run(machine: &Machine, effort: Effort, tell: &mut dyn FnMut(Progress)) -> Outcome {
    let start = Instant::now();
    let checker =
        machine.clone().checker().threads(effort.threads).finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
    let look = |checker: &dyn Checker<Machine>| Progress {
        states: checker.unique_state_count(),
        steps: checker.state_count(),
        depth: checker.max_depth(),
        time: start.elapsed(),
        search_time: start.elapsed(),
    };
    let mut told = Instant::now();
    while !checker.is_done() {
        std::thread::sleep(Duration::from_millis(2).min(start.elapsed()));
        if told.elapsed() > Duration::from_millis(200) {
            tell(look(&checker));
            told = Instant::now();
        }
    }
    // A thread that panicked has ended too, and its panic goes on here.
    let checker = checker.join();
    let progress = look(&checker);
    if let Some(path) = checker.discoveries().into_values().next() {
        let claim = Claim::broken_in(machine, path.last_state()).expect("this is why it was found");
        let found = Counterexample { claim, steps: path.into_actions(), repeats_from: None };
        // stateright goes on for a while and keeps the last that it found. Which that is, and which claim it breaks, may differ from run to run.
        let shortest = graph::shortest(machine).unwrap_or(found);
        return Outcome { counterexample: Some(shortest), progress: Progress { time: start.elapsed(), ..progress } };
    }
    if !effort.ends {
        return Outcome { counterexample: None, progress };
    }
    let endless = fair::endless(machine);
    Outcome { counterexample: endless, progress: Progress { time: start.elapsed(), ..progress } }
}
