//! What the figures mean: a file for each section, with its paper's claims.
//!
//! Nothing is measured here, and nothing is drawn.

mod batches;
mod blitz;
mod bulk;
mod cilk;
mod claim;
mod describe;
mod fence_free;
mod fork_join;
mod graphs;
mod idempotent;
mod items;
mod models;
mod ratio;
mod rayon;
mod rounds;
mod solver;
#[cfg(test)]
mod tests;
mod timeline;
mod top;

use super::collect::Results;
use super::page::Page;

/// Returns the page.
pub(super) fn page(results: &Results) -> Page {
    let verdicts = [
        fence_free::verdicts,
        idempotent::verdicts,
        bulk::verdicts,
        blitz::verdicts,
        fork_join::verdicts,
        cilk::verdicts,
        rayon::verdicts,
        graphs::verdicts,
        batches::verdicts,
        solver::verdicts,
        models::verdicts,
    ];
    let sections = [
        fence_free::section,
        idempotent::section,
        bulk::section,
        blitz::section,
        fork_join::section,
        cilk::section,
        rayon::section,
        graphs::section,
        batches::section,
        solver::section,
        models::section,
        timeline::section,
    ];
    let mut verdicts: Vec<_> = verdicts.iter().flat_map(|verdicts| verdicts(results)).collect();
    // The papers' claims come before this project's, whatever section they are in.
    verdicts.sort_by_key(|verdict| verdict.source == claim::FILCH);
    Page {
        facts: top::facts(results),
        notices: top::notices(results),
        verdicts,
        sections: sections.iter().map(|section| section(results)).collect(),
    }
}
