//! What is left of a search, in a file: killed at any moment, it goes on from there.
//!
//! A [`Checkpoint`] has all that a search needs to go on: every open node, the best solution, and what was done so far. It says what it is
//! of ([`Identity`]), so that it is not taken for one of another instance. A [`Keeper`] writes them while a search goes on, and begins with one: see
//! [`Solver::solve_with_checkpoints`](crate::Solver::solve_with_checkpoints). On how many threads or machines it was written makes no difference to who reads it.
//!
//! ```
//! use filch_dd::checkpoint::{Checkpoint, Identity};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("search");
//! let identity = Identity::new("knapsack", "3 10\n60 5\n50 4\n70 6\n");
//! let checkpoint = Checkpoint::new(identity.clone());
//! checkpoint.write(&path)?;
//! assert_eq!(Checkpoint::read_for(&path, &identity)?, checkpoint);
//!
//! let another = Identity::new("knapsack", "1 10\n60 5\n");
//! let refusal = Checkpoint::read_for(&path, &another).unwrap_err().to_string();
//! assert!(refusal.contains("of another instance of knapsack"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why it is consistent
//!
//! What is left of a search is covered by its open nodes: every solution that is not below one of them is no better than the best one known. So
//! the nodes must be those of one moment at which nobody is in the middle of a node, and the best solution must be the one of that moment or a better one. It is
//! both: the workers pause between two nodes to have them written down, and a solution is told before any list of nodes from which it had something pruned.
//! What is done after that moment and before the end is done again by who resumes, and comes to the same.
//!
//! # What is not in it
//!
//! What only saves time: the cache of states and of states that dominate others, and what each worker had learnt. Nothing is pruned by these that would not be covered all the
//! same: what they stand for was looked at before the moment of the checkpoint, or is among its nodes. A resumed search learns them anew, and may look at some states again.
//! Nor is the instance itself in it, nor the settings: width, cutset and threads may be others each time.
//!
//! # The file
//!
//! | bytes | |
//! |---|---|
//! | 8 | `filch`, 255, carriage return, line feed |
//! | 4 | the version of the format, which is 1 |
//! | 8 | how many bytes of contents there are |
//! | 4 | CRC-32 of the contents |
//! | 4 | CRC-32 of the 24 bytes before |
//! | … | the contents: a [`Checkpoint`] in [postcard](https://postcard.jamesmunns.com/wire-format) |
//!
//! Numbers have their least byte first. The head is the same in every version, so that a damaged file and one of another version can be told apart.
//!
//! It is written beside the file it replaces, brought to the disk, and moved there. What was there stays, as `FILE.previous`: at every moment at least one of
//! the two is whole. See [`Checkpoint::write`].

#![forbid(unsafe_code)]

mod error;
mod file;
mod format;
mod identity;
mod keeper;

use core::time::Duration;

use serde::{Deserialize, Serialize};

pub use error::{CheckpointError, Reason};
pub use file::{previous, sweep};
pub use format::VERSION;
pub use identity::{hash, Identity};
pub use keeper::{Keeper, Kept};

use crate::port::{Parcel, Totals};
use crate::solver::Solution;

/// What is left of a search, and what was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What it is of.
    pub identity: Identity,
    /// How long was searched so far, by all who did one after the other.
    pub elapsed: Duration,
    /// What was done so far, by all.
    pub totals: Totals,
    /// The best solution so far.
    pub best: Option<Solution>,
    /// All open nodes. None are left of a search that is over: the best solution is proven, or that there is none.
    pub parcels: Vec<Parcel>,
    /// On how many machines it was searched last, to be told.
    pub ranks: u32,
    /// With how many threads on each, to be told.
    pub threads: u32,
}

impl Checkpoint {
    /// One of a search that is over and found nothing, to be filled in.
    pub fn new(identity: Identity) -> Self {
        Checkpoint {
            identity,
            elapsed: Duration::ZERO,
            totals: Totals::default(),
            best: None,
            parcels: Vec::new(),
            ranks: 1,
            threads: 1,
        }
    }

    /// How many nodes are open.
    pub fn open(&self) -> u64 {
        self.parcels.iter().fold(0, |open: u64, parcel| open.saturating_add(parcel.nodes()))
    }

    /// Whether nothing is left to be done.
    pub fn is_over(&self) -> bool {
        self.parcels.is_empty()
    }

    /// Whether it is of this very instance.
    ///
    /// # Errors
    ///
    /// If it is not: of which problem it is, or that it is of another instance.
    pub fn check(&self, identity: &Identity) -> Result<(), CheckpointError> {
        let Identity { problem, instance } = &self.identity;
        if *problem != identity.problem {
            let (found, wanted) = (problem.clone(), identity.problem.clone());
            return Err(CheckpointError::new(Reason::AnotherProblem { found, wanted }));
        }
        if *instance != identity.instance {
            return Err(CheckpointError::new(Reason::AnotherInstance { problem: problem.clone() }));
        }
        Ok(())
    }
}
