//! What the figures mean: a file for each section, with the claims that no suite has.
//!
//! Nothing is measured here, and nothing is drawn.

mod answers;
mod batches;
mod blitz;
mod bulk;
mod cilk;
mod fence_free;
mod fork_join;
mod graphs;
mod idempotent;
mod items;
mod models;
mod over_threads;
mod rayon;
mod solver;
#[cfg(test)]
pub(super) mod tests;
mod timeline;
mod top;

use super::collect::Results;
use super::page::Page;
use crate::bench::{self, mpi};
use crate::claims::Verdict;

/// Returns the page.
pub(super) fn page(results: &Results) -> Page {
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
    let sections: Vec<_> = sections.iter().map(|section| section(results)).collect();
    let mut verdicts = fence_free::verdicts(results);
    verdicts.push(blitz::balanced(results));
    // No report measures MPI.
    let of_suites = bench::CLAIMS.iter().filter(|(suite, _)| *suite != mpi::SUITE);
    verdicts.extend(of_suites.flat_map(|(suite, verdicts)| verdicts(results.figures(suite))));
    verdicts.extend([bulk::linearizable(results), models::verdict(results)]);
    // The papers' claims come before this project's, and then in the order of the sections.
    let place = |verdict: &Verdict| sections.iter().position(|section| section.id == verdict.source.section);
    verdicts.sort_by_key(|verdict| (verdict.source.is_filch(), place(verdict)));
    let (facts, notices, answers) = (top::facts(results), top::notices(results), answers::answers(results));
    Page { facts, notices, answers, verdicts, sections }
}
