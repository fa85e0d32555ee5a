//! The queues for an exploration, by their names in plots.
//!
//! All traversals of this program tolerate repeats. So no caller has to guarantee the bound of the
//! fence-free queues: they are the untrusting ones here, and their names say so. Their first push
//! after a pop is a full barrier, which the trusting ones do not need.

use std::fmt;
use std::str::FromStr;

pub use filch::queue::Kind;
use filch::queue::{
    Asymmetric, Bound, ChaseLev, Delta, DoubleEnded, Fifo, Lifo, Split, The, UntrustedFfCl, UntrustedFfThe,
    UntrustedThep,
};
use filch_graph::Vertex;
use filch_queue::BoundError;

/// The end of the names of queues that could trust a bound and do not.
const UNTRUSTED: &str = "-untrusted";

/// A queue of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// `split`, of `filch::queue`.
    Split,
    /// `chase_lev`.
    ChaseLev,
    /// `the`.
    The,
    /// `asymmetric`.
    Asymmetric,
    /// `ff_the` without trust in a bound.
    UntrustedFfThe,
    /// `ff_cl` without trust in a bound.
    UntrustedFfCl,
    /// `thep` without trust in a bound.
    UntrustedThep,
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
    pub const ALL: [Queue; 10] = [
        Queue::Split,
        Queue::ChaseLev,
        Queue::The,
        Queue::Asymmetric,
        Queue::UntrustedFfThe,
        Queue::UntrustedFfCl,
        Queue::UntrustedThep,
        Queue::Lifo,
        Queue::Fifo,
        Queue::DoubleEnded,
    ];

    /// Its name: that of its module, or `split`, and `-untrusted` if it could trust a bound and does
    /// not.
    pub const fn name(self) -> &'static str {
        match self {
            Queue::Split => "split",
            Queue::ChaseLev => "chase_lev",
            Queue::The => "the",
            Queue::Asymmetric => "asymmetric",
            Queue::UntrustedFfThe => "ff_the-untrusted",
            Queue::UntrustedFfCl => "ff_cl-untrusted",
            Queue::UntrustedThep => "thep-untrusted",
            Queue::Lifo => "idempotent::lifo",
            Queue::Fifo => "idempotent::fifo",
            Queue::DoubleEnded => "idempotent::double_ended",
        }
    }

    /// Runs an operation with its kind.
    pub fn with<W: WithKind>(self, work: W) -> Result<W::Output, BoundError> {
        Ok(match self {
            Queue::Split => work.with(Split),
            Queue::ChaseLev => work.with(ChaseLev),
            Queue::The => work.with(The),
            Queue::Asymmetric => work.with(Asymmetric),
            Queue::UntrustedFfThe => work.with(UntrustedFfThe(delta()?)),
            Queue::UntrustedFfCl => work.with(UntrustedFfCl(delta()?)),
            Queue::UntrustedThep => work.with(UntrustedThep(delta()?)),
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

    /// Parses a name. Without `-untrusted` it is an earlier name of the same queue.
    fn from_str(text: &str) -> Result<Queue, String> {
        let is_name = |name: &str| name == text || name.strip_suffix(UNTRUSTED) == Some(text);
        Queue::ALL.into_iter().find(|queue| is_name(queue.name())).ok_or_else(|| {
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
        assert_eq!("ff_cl".parse(), Ok(Queue::UntrustedFfCl));
        assert_eq!(Queue::UntrustedFfCl.to_string(), "ff_cl-untrusted");
        let refusal = "lifo".parse::<Queue>().unwrap_err();
        assert!(refusal.contains("there are split, chase_lev, the"), "{refusal}");
    }
}
