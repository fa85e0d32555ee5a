//! The result of an exploration across ranks.

use std::time::Duration;

use filch::explore::Ending;
use serde::{Deserialize, Serialize};

/// What one rank did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RankCounts {
    /// The number of tasks that its workers ran.
    pub tasks: u64,
    /// The number of those tasks that were already done, as reported by
    /// [`Explorer::count_redundant`](super::Explorer::count_redundant).
    pub redundant: u64,
    /// The number of tasks that its workers stole from each other.
    pub steals: u64,
    /// The number of tasks that it sent to other ranks.
    pub sent: u64,
    /// The number of tasks that it received from other ranks.
    pub received: u64,
    /// The number of messages of all kinds that it sent.
    pub messages: u64,
    /// The number of bytes of these messages.
    pub bytes: u64,
    /// The number of rounds: one, and one more whenever tasks came while it was idle.
    pub rounds: u64,
    /// How long it had nothing to explore.
    pub idle: Duration,
}

/// The result of an exploration across ranks, the same on all of them.
#[must_use = "it says whether the exploration was stopped early"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploredByRanks {
    pub(super) ranks: Vec<RankCounts>,
    pub(super) ending: Ending,
}

impl ExploredByRanks {
    /// Returns what each rank did.
    pub fn ranks(&self) -> &[RankCounts] {
        &self.ranks
    }

    /// Returns the sum over all ranks.
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

    /// Returns how the exploration ended.
    ///
    /// Unless it is complete, this is the ending of the lowest rank that stopped it.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Returns whether no task was left on any rank.
    pub fn is_complete(&self) -> bool {
        self.ending == Ending::Complete
    }
}

/// Encodes an ending.
pub(super) fn to_byte(ending: Ending) -> u8 {
    match ending {
        Ending::Complete => 0,
        Ending::Cancelled => 2,
        Ending::TimedOut => 3,
        // Also any ending that `filch` adds later.
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
