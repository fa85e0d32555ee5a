//! Claims about the figures, and their verdicts.
//!
//! A suite lists its claims in its `claims.rs`, each with its source and its bounds. `filch-lab bench`
//! and the report show the same verdicts. A claim holds only if the whole interval of each of its
//! figures is within its bound.

mod claim;
mod lookup;
mod rounds;
mod text;

pub(crate) use claim::{Bound, Claim, Criterion};
#[cfg(test)]
pub(crate) use lookup::tests::MISSING;
pub(crate) use lookup::{Contender, Figures};
pub(crate) use rounds::{geometric_mean, Rounds};
pub(crate) use text::listing;

/// The explanation of the brackets after figures.
pub(crate) const BRACKETS: &str =
    "After a median: the interval of the true median with a confidence of at least 95 %. With fewer than six rounds: \
     their range. With fewer than five rounds, verdicts allow for an error of a third. A gain that a paper claims \
     counts from three quarters of it on";

/// A source of claims: its short title, and the section of the report with the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) title: &'static str,
    pub(crate) section: &'static str,
}

impl Source {
    pub(crate) const FENCE_FREE: Source = Source { title: "Fence-Free Work Stealing", section: "fence-free" };
    pub(crate) const IDEMPOTENT: Source = Source { title: "Idempotent Work Stealing", section: "idempotent" };
    pub(crate) const BULK: Source = Source { title: "Bulk Operations", section: "bulk" };
    pub(crate) const BLITZ: Source = Source { title: "Blitz", section: "blitz" };

    /// This project, with claims in any section.
    pub(crate) const fn filch(section: &'static str) -> Source {
        Source { title: "filch", section }
    }

    /// Whether this is no paper.
    pub(crate) fn is_filch(self) -> bool {
        self == Source::filch(self.section)
    }
}

/// Whether a claim holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The claim holds.
    Yes,
    /// The claim does not hold.
    No,
    /// The interval includes both.
    Unclear,
    /// It was not measured in this run.
    NotMeasured,
}

impl Holds {
    /// The word to display.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Holds::Yes => "holds",
            Holds::No => "does not hold",
            Holds::Unclear => "unclear",
            Holds::NotMeasured => "not measured",
        }
    }
}

/// A claim and its result.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// The source of the claim.
    pub(crate) source: Source,
    /// The claim, in the words of this project.
    pub(crate) claim: String,
    /// The figures, with their interval.
    pub(crate) measured: String,
    /// The bounds of the figures; empty if the claim was judged in another way.
    pub(crate) required: String,
    /// Whether it holds.
    pub(crate) holds: Holds,
}
