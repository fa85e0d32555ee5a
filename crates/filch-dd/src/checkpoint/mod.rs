//! Checkpoints: files from which a search that was killed can resume.
//!
//! A [`Checkpoint`] has all that a search needs to continue: every open node, the best solution,
//! and the totals so far. Its [`Identity`] says which instance it belongs to, so that it is not
//! used for another one. [`CheckpointOptions`] say where and how often a search writes checkpoints,
//! and from which one it starts: see
//! [`Solver::solve_with_checkpoints`](crate::Solver::solve_with_checkpoints). A checkpoint can be
//! read with any number of threads or machines, whatever it was written with.
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
//! assert!(refusal.contains("found one of another instance"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why it is consistent
//!
//! The open nodes cover what is left of a search: every solution that is not below one of them is
//! no better than the best one known. So the nodes must be those of one moment at which no worker
//! is in the middle of a node. The best solution must be the one of that moment or a better one.
//! Both hold. The workers pause between two nodes while the nodes are copied. And a solution is
//! reported before any list of nodes from which it pruned something. Work that is done after that
//! moment is lost when the search is killed. A search that resumes does it again, with the same
//! result.
//!
//! # What is not in it
//!
//! Data that only saves time: the state cache, the dominance table, and what each worker had
//! learnt. These prune only what is covered anyway: the states that they refer to were explored
//! before the moment of the checkpoint, or are among its nodes. A resumed search learns them again,
//! and may explore some states twice. The checkpoint does not contain the instance or the settings
//! either: width, cutset and threads may differ each time.
//!
//! # The file
//!
//! | bytes | |
//! |---|---|
//! | 8 | `filch`, 255, carriage return, line feed |
//! | 4 | the version of the format, which is 1 |
//! | 8 | the number of bytes of contents |
//! | 4 | CRC-32 of the contents |
//! | 4 | CRC-32 of the 24 bytes before |
//! | … | the contents: a [`Checkpoint`] in [postcard](https://postcard.jamesmunns.com/wire-format) |
//!
//! Numbers are little-endian. The head is the same in every version, so that a damaged file and one
//! of another version can be told apart.
//!
//! A checkpoint is written to a file beside the one it replaces, synced to the disk, and moved
//! there. The old one stays as `FILE.previous`: at every moment at least one of the two is whole.
//! See [`Checkpoint::write`].

#![forbid(unsafe_code)]

mod error;
mod file;
mod format;
mod identity;
mod options;
mod writer;

use core::time::Duration;

use serde::{Deserialize, Serialize};

pub use error::{CheckpointError, Reason};
pub use file::{previous, remove_partial_files};
pub use format::VERSION;
pub use identity::{hash, Identity};
pub use options::CheckpointOptions;
pub use writer::CheckpointedOutcome;

use crate::port::{Package, Totals};
use crate::solver::Solution;

/// The open nodes of a search, and its totals so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The problem and instance that it belongs to.
    pub identity: Identity,
    /// The time searched so far, by all searches one after the other.
    pub elapsed: Duration,
    /// The totals so far, of all searches.
    pub totals: Totals,
    /// The best solution so far.
    pub best: Option<Solution>,
    /// All open nodes.
    ///
    /// If there are none, the search is over: the best solution is proven, or that there is none.
    pub packages: Vec<Package>,
    /// The number of machines of the last search, for information.
    pub ranks: u32,
    /// The number of threads on each machine, for information.
    pub threads: u32,
}

impl Checkpoint {
    /// Returns an empty checkpoint: of a search that is over and found nothing.
    pub fn new(identity: Identity) -> Self {
        Checkpoint {
            identity,
            elapsed: Duration::ZERO,
            totals: Totals::default(),
            best: None,
            packages: Vec::new(),
            ranks: 1,
            threads: 1,
        }
    }

    /// Returns the number of open nodes.
    pub fn open(&self) -> u64 {
        self.packages.iter().fold(0, |open: u64, package| open.saturating_add(package.nodes()))
    }

    /// Returns whether nothing is left to be done.
    pub fn is_over(&self) -> bool {
        self.packages.is_empty()
    }

    /// Checks that the checkpoint belongs to this instance.
    ///
    /// # Errors
    ///
    /// If it belongs to another problem or another instance.
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
