//! What a user wants of a run, and what they get.

use core::fmt;
use core::time::Duration;

use filch::explore::Cancel;
use filch_dd::port::{Parcel, Totals};
use filch_dd::{Cost, Ending, Solution};

use crate::protocol::{Policy, RankStatistics};

/// How a problem is solved across ranks.
///
/// What is to be the same on all ranks is said there. The rest is for rank 0; the others need not be told.
pub struct Options<'a> {
    /// A hash of the instance and of all that must be the same on all ranks. Ranks with another one are refused.
    pub identity: u64,
    /// How many threads work on this rank; ranks may differ.
    pub threads: usize,
    /// How work is balanced. The same on all ranks.
    pub policy: Policy,
    /// Lets somebody on this rank end the run, on all: what is open is gathered before it ends.
    pub cancel: Option<Cancel>,
    /// Where this rank runs, for the statistics.
    pub host: String,
    /// What an earlier run left. Rank 0.
    pub resume: Option<Left>,
    /// Ends the run after so long. Rank 0.
    pub time_limit: Option<Duration>,
    /// Ends the run after so many nodes, as soon as rank 0 hears of it: others speak at least once a second. Rank 0.
    pub node_limit: Option<u64>,
    /// How often what is open is gathered. Rank 0.
    pub checkpoint_every: Option<Duration>,
    /// Gets what was gathered, on a thread of its own: to write it down. It gets a last one at the end of every run that does not fail. Rank 0.
    pub on_checkpoint: Option<Box<dyn FnMut(Left) + Send + 'a>>,
    /// Is told of each better solution, from wherever. Rank 0.
    pub on_solution: Option<Box<dyn FnMut(&Solution, Duration) + 'a>>,
    /// Is told how far the run is, about so often. Rank 0.
    pub on_progress: Option<(Duration, Box<dyn FnMut(&Progress) + 'a>)>,
    /// A rank of which nothing is heard for so long is given up, and the run with it: rank 0 listens to all, and all to rank 0. The same on all ranks.
    pub patience: Duration,
}

impl Options<'_> {
    /// For ranks that solve what this hash stands for: one thread each, no limits.
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
            patience: Duration::from_secs(60),
        }
    }
}

/// What is left of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// All that is open. Nothing: the best solution is proven to be one, or that there is none.
    pub parcels: Vec<Parcel>,
    /// The best solution.
    pub best: Option<Solution>,
    /// What was done by all ranks, in this run. Of one that is resumed, nothing is made of this.
    pub totals: Totals,
    /// How long this run took so far.
    pub elapsed: Duration,
    /// Whether the run has ended, so that no other follows.
    pub last: bool,
}

/// How far a run is, as far as rank 0 knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Open nodes.
    pub open: u64,
    /// Nodes looked at.
    pub explored: u64,
    /// The cost of the best solution.
    pub best: Option<Cost>,
    /// No solution is better than this.
    pub bound: Option<Cost>,
    /// How many ranks have nothing to do.
    pub idle: usize,
    /// How often open nodes were ordered to move.
    pub transfers: u64,
    /// How long the run has been going on.
    pub elapsed: Duration,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// Why it ended.
    pub ending: Ending,
    /// The best solution found.
    pub best: Option<Solution>,
    /// No solution is better than this. `None` if there is none, or nothing is known.
    pub bound: Option<Cost>,
    /// What was done by all.
    pub totals: Totals,
    /// What each rank did.
    pub ranks: Vec<RankStatistics>,
    /// How often open nodes were ordered to move.
    pub transfers: u64,
    /// How many checkpoints were gathered.
    pub checkpoints: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// Why a run failed, on all ranks alike: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}
