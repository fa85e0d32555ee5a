//! The queues for an exploration, by their names in plots.
//!
//! All traversals of this program tolerate repeats. So no caller has to guarantee the bound of the
//! fence-free queues: they are the untrusting ones here. Their first push after a pop is a full
//! barrier, which the trusting ones do not need.

use std::fmt;
use std::str::FromStr;

pub use filch::queue::Kind;
use filch::queue::{
    Asymmetric, Bound, ChaseLev, Delta, DoubleEnded, Fifo, Lifo, The, UntrustedFfCl, UntrustedFfThe, UntrustedThep,
};
use filch_graph::Vertex;
use filch_queue::BoundError;

/// A queue of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// `chase_lev`.
    ChaseLev,
    /// `the`.
    The,
    /// `asymmetric`.
    Asymmetric,
    /// `ff_the`.
    FfThe,
    /// `ff_cl`.
    FfCl,
    /// `thep`.
    Thep,
    /// `idempotent::lifo`.
    Lifo,
    /// `idempotent::fifo`.
    Fifo,
    /// `idempotent::double_ended`.
    DoubleEnded,
}

/// An operation on a kind of queue.
pub trait WithKind {
    /// The result of the operation.
    type Output;

    /// Runs the operation.
    fn with<K: Kind<Vertex> + Clone + Send>(self, kind: K) -> Self::Output;
}

impl Queue {
    /// All queues, in the order of tables.
    pub const ALL: [Queue; 9] = [
        Queue::ChaseLev,
        Queue::The,
        Queue::Asymmetric,
        Queue::FfThe,
        Queue::FfCl,
        Queue::Thep,
        Queue::Lifo,
        Queue::Fifo,
        Queue::DoubleEnded,
    ];

    /// Its name, which is that of its module.
    pub const fn name(self) -> &'static str {
        match self {
            Queue::ChaseLev => "chase_lev",
            Queue::The => "the",
            Queue::Asymmetric => "asymmetric",
            Queue::FfThe => "ff_the",
            Queue::FfCl => "ff_cl",
            Queue::Thep => "thep",
            Queue::Lifo => "idempotent::lifo",
            Queue::Fifo => "idempotent::fifo",
            Queue::DoubleEnded => "idempotent::double_ended",
        }
    }

    /// Runs an operation with its kind.
    pub fn with<W: WithKind>(self, work: W) -> Result<W::Output, BoundError> {
        Ok(match self {
            Queue::ChaseLev => work.with(ChaseLev),
            Queue::The => work.with(The),
            Queue::Asymmetric => work.with(Asymmetric),
            Queue::FfThe => work.with(UntrustedFfThe(delta()?)),
            Queue::FfCl => work.with(UntrustedFfCl(delta()?)),
            Queue::Thep => work.with(UntrustedThep(delta()?)),
            Queue::Lifo => work.with(Lifo),
            Queue::Fifo => work.with(Fifo),
            Queue::DoubleEnded => work.with(DoubleEnded),
        })
    }
}

/// The delta for one extra store per pop. Worklists of traversals are long, so thieves can afford a
/// large delta.
fn delta() -> Result<Delta, BoundError> {
    Delta::new(Bound::GENEROUS, 1)
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Queue {
    type Err = String;

    fn from_str(text: &str) -> Result<Queue, String> {
        Queue::ALL.into_iter().find(|queue| queue.name() == text).ok_or_else(|| {
            let known = Queue::ALL.map(Queue::name).join(", ");
            format!("no queue has this name; there are {known}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_is_parsed_from_its_name() {
        for queue in Queue::ALL {
            assert_eq!(queue.name().parse(), Ok(queue));
        }
        let refusal = "lifo".parse::<Queue>().unwrap_err();
        assert!(refusal.contains("there are chase_lev, the, asymmetric"), "{refusal}");
    }
}
