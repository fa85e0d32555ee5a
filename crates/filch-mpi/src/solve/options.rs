//! The options and the result of a run.

use core::fmt;
use core::time::Duration;

use filch::explore::Cancel;
use filch_dd::port::{Package, Totals};
use filch_dd::{Cost, Solution, SolveStatus};

use crate::protocol::{Policy, RankStatistics};

/// How a problem is solved across ranks.
///
/// Fields that must be the same on all ranks say so. Fields marked "Rank 0" are read on rank 0
/// only.
pub struct Options<'a> {
    /// A hash of the instance and of all that ranks must share. Ranks that differ are refused.
    pub identity: u64,
    /// The number of working threads of this rank; ranks may differ.
    pub threads: usize,
    /// The settings of load balancing. The same on all ranks.
    pub policy: Policy,
    /// Cancels the run on all ranks, from this rank. The open nodes are gathered before it ends.
    pub cancel: Option<Cancel>,
    /// The host of this rank, for the statistics.
    pub host: String,
    /// The state that an earlier run left. Rank 0.
    pub resume: Option<RunCheckpoint>,
    /// Ends the run after this time. Rank 0.
    pub time_limit: Option<Duration>,
    /// Ends the run after this number of nodes. Rank 0.
    ///
    /// Rank 0 notices it when the other ranks report, at least once a second.
    pub node_limit: Option<u64>,
    /// How often the open nodes are gathered. Rank 0.
    pub checkpoint_every: Option<Duration>,
    /// Called with each checkpoint, on a thread of its own, to save it. Rank 0.
    ///
    /// The last call comes at the end of every run that does not fail.
    pub on_checkpoint: Option<Box<dyn FnMut(RunCheckpoint) + Send + 'a>>,
    /// Called for each better solution, from any rank. Rank 0.
    pub on_solution: Option<Box<dyn FnMut(&Solution, Duration) + 'a>>,
    /// Called with the progress, about once per given interval. Rank 0.
    pub on_progress: Option<(Duration, Box<dyn FnMut(&Progress) + 'a>)>,
    /// How long a rank may be silent before the run fails. The same on all ranks.
    ///
    /// Rank 0 checks all ranks, and all ranks check rank 0.
    pub silence_timeout: Duration,
}

impl Options<'_> {
    /// Returns options with one thread per rank and no limits. `identity` is a hash of the
    /// instance.
    pub fn new(identity: u64) -> Self {
        Options {
            identity,
            threads: 1,
            policy: Policy::default(),
            cancel: None,
            host: String::new(),
            resume: None,
            time_limit: None,
            node_limit: None,
            checkpoint_every: None,
            on_checkpoint: None,
            on_solution: None,
            on_progress: None,
            silence_timeout: Duration::from_secs(60),
        }
    }
}

/// The open nodes and the best solution of a run, for a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCheckpoint {
    /// All open nodes. If there are none, the best solution is proven optimal, or there is no
    /// solution.
    pub packages: Vec<Package>,
    /// The best solution.
    pub best: Option<Solution>,
    /// The totals of all ranks in this run. Not used by a run that resumes from it.
    pub totals: Totals,
    /// How long this run has taken so far.
    pub elapsed: Duration,
    /// Whether the run has ended, so that no other checkpoint follows.
    pub last: bool,
}

/// The progress of a run, as far as rank 0 knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of open nodes.
    pub open: u64,
    /// The number of processed nodes.
    pub explored: u64,
    /// The cost of the best solution.
    pub best: Option<Cost>,
    /// No solution is better than this.
    pub bound: Option<Cost>,
    /// The number of idle ranks.
    pub idle: usize,
    /// The number of orders to move open nodes.
    pub transfers: u64,
    /// How long the run has been going on.
    pub elapsed: Duration,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// Why it ended.
    pub status: SolveStatus,
    /// The best solution found.
    pub best: Option<Solution>,
    /// No solution is better than this. `None` if there is no solution, or nothing is known.
    pub bound: Option<Cost>,
    /// The totals of all ranks.
    pub totals: Totals,
    /// What each rank did.
    pub ranks: Vec<RankStatistics>,
    /// The number of orders to move open nodes.
    pub transfers: u64,
    /// The number of checkpoints gathered.
    pub checkpoints: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// Error from a failed run: a sentence, the same on all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}
