//! *Fence-Free Work Stealing on Bounded TSO Processors*: figures 1, 7, 8, 10 and 11.
//!
//! It also has the costs of fences, barriers, wake-ups and steals.

mod closure;
mod costs;
mod hardware;
mod programs;

pub(super) use hardware::verdicts;

use super::items::text;
use crate::bench::cilk;
use crate::report::collect::Results;
use crate::report::page::Section;

pub(super) fn section(results: &Results) -> Section {
    let mut items = vec![text(
        "A load can overtake only as many stores as the store buffer holds. A thief that knows this bound knows which tasks are \
         safe to steal, so the owner needs no fence. Thieves of FF-THE and FF-CL do not steal uncertain tasks. A \
         thief of THEP waits for an echo of the owner. The paper measured on a Haswell with 4 cores and a Westmere-EX with 10.",
    )];
    items.push(programs::fence_cost(results));
    items.push(hardware::store_buffer(results));
    items.push(hardware::litmus(results));
    items.extend(programs::normalised(results));
    items.push(text(cilk::differences()));
    items.push(closure::closure(results));
    items.push(costs::costs(results));
    Section { id: "fence-free", title: "Fence-Free Work Stealing on Bounded TSO Processors (2014)".to_owned(), items }
}
