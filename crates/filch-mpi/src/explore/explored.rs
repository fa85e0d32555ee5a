//! What an exploration across ranks leaves.

use std::time::Duration;

use filch::explore::Ending;
use serde::{Deserialize, Serialize};

/// What one rank did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RankCounts {
    /// Tasks that its workers ran.
    pub tasks: u64,
    /// Tasks of those that were found to be done already, as far as [`Explorer::found_done`](super::Explorer::found_done) was told.
    pub redundant: u64,
    /// Tasks that its workers stole of each other.
    pub steals: u64,
    /// Tasks that it sent to other ranks.
    pub sent: u64,
    /// Tasks that it received from them.
    pub received: u64,
    /// Messages that it sent, whatever they were about.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How often it began to explore: once, and once more whenever it had run dry and tasks came.
    pub rounds: u64,
    /// How long it had nothing to explore.
    pub idle: Duration,
}

/// What an exploration across ranks leaves, the same on all of them.
#[must_use = "it says whether the exploration was stopped early"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    pub(super) ranks: Vec<RankCounts>,
    pub(super) ending: Ending,
}

impl Explored {
    /// What each rank did.
    pub fn ranks(&self) -> &[RankCounts] {
        &self.ranks
    }

    /// What they did together.
    pub fn total(&self) -> RankCounts {
        self.ranks.iter().fold(RankCounts::default(), |total, rank| RankCounts {
            tasks: total.tasks + rank.tasks,
            redundant: total.redundant + rank.redundant,
            steals: total.steals + rank.steals,
            sent: total.sent + rank.sent,
            received: total.received + rank.received,
            messages: total.messages + rank.messages,
            bytes: total.bytes + rank.bytes,
            rounds: total.rounds + rank.rounds,
            idle: total.idle + rank.idle,
        })
    }

    /// How it ended. Unless it is complete, this is how it ended on the first of the ranks that ended it.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Whether no task was left, on any rank.
    pub fn is_complete(&self) -> bool {
        self.ending == Ending::Complete
    }
}

/// An ending that travels.
pub(super) fn to_byte(ending: Ending) -> u8 {
    match ending {
        Ending::Complete => 0,
        Ending::Cancelled => 2,
        Ending::TimedOut => 3,
        // Also what may be added to it.
        _ => 1,
    }
}

pub(super) fn from_byte(byte: u8) -> Ending {
    match byte {
        0 => Ending::Complete,
        2 => Ending::Cancelled,
        3 => Ending::TimedOut,
        _ => Ending::Stopped,
    }
}
