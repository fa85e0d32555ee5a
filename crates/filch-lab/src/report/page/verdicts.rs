//! The table of verdicts: each claim, the measurement, and whether the claim holds.
//!
//! Readers look for it first.

use maud::{html, Markup};

use super::links;
use super::table::sort_button;
use crate::claims::{Holds, Verdict};

/// All values, in the order of counting and sorting.
const ALL: [Holds; 4] = [Holds::Yes, Holds::No, Holds::Unclear, Holds::NotMeasured];

impl Holds {
    /// A symbol, for colour-blind readers.
    fn symbol(self) -> &'static str {
        match self {
            Holds::Yes => "✓",
            Holds::No => "✗",
            Holds::Unclear => "?",
            Holds::NotMeasured => "–",
        }
    }

    /// The class name in the style sheet.
    fn class(self) -> &'static str {
        match self {
            Holds::Yes => "verdict yes",
            Holds::No => "verdict no",
            Holds::Unclear => "verdict unclear",
            Holds::NotMeasured => "verdict none",
        }
    }

    fn place(self) -> usize {
        ALL.iter().position(|holds| *holds == self).unwrap_or(ALL.len())
    }
}

/// Returns a line with the number of each verdict.
pub(super) fn tally(verdicts: &[Verdict]) -> Markup {
    html! {
        ul class="tally" {
            @for holds in ALL {
                @let count = verdicts.iter().filter(|verdict| verdict.holds == holds).count();
                @if count > 0 {
                    li class=(holds.class()) {
                        span class="symbol" aria-hidden="true" { (holds.symbol()) }
                        strong { (count) } " " (counted(holds, count))
                    }
                }
            }
        }
    }
}

fn counted(holds: Holds, count: usize) -> &'static str {
    match (holds, count) {
        (Holds::Yes, 1) => "claim holds",
        (Holds::Yes, _) => "claims hold",
        (Holds::No, 1) => "does not",
        (Holds::No, _) => "do not",
        (Holds::Unclear | Holds::NotMeasured, _) => holds.word(),
    }
}

/// Returns the table of all verdicts.
///
/// On a narrow screen each row is a block. The roles keep it a table for screen readers.
pub(super) fn html(verdicts: &[Verdict]) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-labelledby="verdicts-caption" {
            table class="sortable verdicts" role="table" {
                caption id="verdicts-caption" { "Each claim, the measurement on this machine, and the verdict" }
                thead role="rowgroup" {
                    tr role="row" {
                        @for name in ["Verdict", "Claim", "Measured", "Required", "Source"] {
                            th scope="col" role="columnheader" aria-sort="none" { (sort_button(name)) }
                        }
                    }
                }
                tbody role="rowgroup" {
                    @for verdict in verdicts {
                        tr role="row" {
                            td role="cell" data-number=(verdict.holds.place()) {
                                span class=(verdict.holds.class()) {
                                    span class="symbol" aria-hidden="true" { (verdict.holds.symbol()) }
                                    (verdict.holds.word())
                                }
                            }
                            th scope="row" role="rowheader" {
                                a href=(format!("#{}", verdict.source.section)) { (links::prose(&verdict.claim)) }
                            }
                            td role="cell" class="measured" { (links::prose(&verdict.measured)) }
                            td role="cell" class="required" { (verdict.required) }
                            td role="cell" class="claim-source" { (verdict.source.title) }
                        }
                    }
                }
            }
        }
    }
}
