//! *A Lock-Free Work-Stealing Algorithm for Bulk Operations*: figures 6 to 10.
//!
//! They are measured on the corrected queue of this project.

use super::items::{bars, bench, figure, lines, text, Texts};
use super::models::line;
use crate::bench::bulk::{
    dag_case, Case, Fill, NodeCost, BATCHES, BULK, CHASE_LEV, CROSSBEAM, MUTEX, NANOS_A_NODE, NANOS_A_PUSH,
    NANOS_A_STEAL, SERIAL, SHARES,
};
use crate::bench::{bulk, THREADS};
use crate::claims::{Claim, Holds, Source, Verdict};
use crate::figures::{grouped, threads};
use crate::report::collect::Results;
use crate::report::page::{Item, Section};

const ID: &str = "bulk";

/// The published queue, unchanged.
const PUBLISHED: &str = "bulk/published";

fn push(size: usize) -> String {
    Case::Push(size).to_string()
}

fn steal(percent: usize, fill: Fill, busy: bool) -> String {
    Case::Steal { percent, fill, busy }.to_string()
}

/// Judges by the models' search, not by time.
pub(super) fn linearizable(results: &Results) -> Verdict {
    let claim = Claim::new(Source::BULK, "The published queue is linearizable: no task is taken twice or lost.");
    let Some(model) = line(results, PUBLISHED) else { return claim.not_measured() };
    let searched = format!(
        "`{PUBLISHED}`, {} searches, {} states",
        model.searches,
        grouped(usize::try_from(model.states).unwrap_or(usize::MAX))
    );
    match model.refuted {
        0 => claim.verdict(format!("{searched}: no counterexample"), Holds::Unclear),
        refuted => {
            claim.verdict(format!("{searched}: {refuted} of them found a run that takes a task twice"), Holds::No)
        }
    }
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: ID,
        title: "A Lock-Free Work-Stealing Algorithm for Bulk Operations (2025)".to_owned(),
        items: vec![
            text(
                "The owner pushes whole batches, and one thief at a time steals a share of the queue. The paper measured on two \
                 Xeon Platinum 8358 with 64 cores and compared with two queues of Taskflow. The published queue can return a \
                 task twice, as the models below show. `bulk` is a different algorithm with the guarantees of the paper. \
                 It is compared with crossbeam's deque and a deque behind a mutex.",
            ),
            pushes(results),
            steals(results),
            steals_from_bulk(results),
            explorations(results),
        ],
    }
}

fn pushes(results: &Results) -> Item {
    let figures = results.figures(bulk::SUITE);
    let sizes = BATCHES.map(|size| size as f64);
    let chart = lines(
        ("tasks per batch", true),
        ("nanoseconds per push", true),
        &[BULK, CROSSBEAM, MUTEX, CHASE_LEV],
        &sizes,
        |other, size| figures.figure(&push(size as usize), NANOS_A_PUSH, (other, 1)),
    );
    figure(
        Texts {
            id: "bulk-push",
            title: "Figure 6: time of a push, by batch size".to_owned(),
            caption: "The paper's queue stays below 500 ns for up to 1,024 tasks. Taskflow's queues reach nearly 5,000 ns. Both axes are logarithmic.".to_owned(),
            command: bench(bulk::SUITE, results.full, &["push"]),
        },
        chart,
    )
}

fn steals(results: &Results) -> Item {
    let figures = results.figures(bulk::SUITE);
    let shares = SHARES.map(|share| share as f64);
    let chart = lines(
        ("share stolen, %", false),
        ("microseconds per steal", true),
        &[BULK, CROSSBEAM, MUTEX],
        &shares,
        |other, share| {
            let case = steal(share as usize, Fill::Batch, false);
            figures.figure(&case, NANOS_A_STEAL, (other, 2))?.map(|nanos| nanos / 1e3)
        },
    );
    figure(
        Texts {
            id: "bulk-steal",
            title: "Figure 7: time of a steal, by the share of 10,000 tasks".to_owned(),
            caption: "The paper's queue takes about 40 us for any share, because it walks its list. Taskflow's queues take 16 us \
                      for 10 % and 112 us for 60 %. The y axis is logarithmic."
                .to_owned(),
            command: bench(bulk::SUITE, results.full, &["steal"]),
        },
        chart,
    )
}

fn steals_from_bulk(results: &Results) -> Item {
    let figures = results.figures(bulk::SUITE);
    let ways: Vec<(String, Fill, bool)> = [false, true]
        .into_iter()
        .flat_map(|busy| {
            let owner = if busy { "owner busy" } else { "owner idle" };
            Fill::ALL.map(|fill| (format!("{}, {owner}", fill.description()), fill, busy))
        })
        .collect();
    let names: Vec<&str> = ways.iter().map(|(name, ..)| &**name).collect();
    let shares = SHARES.map(|share| share as f64);
    let chart = lines(("share stolen, %", false), ("microseconds per steal", false), &names, &shares, |name, share| {
        let &(_, fill, busy) = ways.iter().find(|(known, ..)| known == name)?;
        figures.figure(&steal(share as usize, fill, busy), NANOS_A_STEAL, (BULK, 2))?.map(|nanos| nanos / 1e3)
    });
    figure(
        Texts {
            id: "bulk-steal-ours",
            title: "Instead of figure 8: a steal from bulk, by how the tasks were pushed and what the owner does".to_owned(),
            caption: "Figure 8 shows a shortcut of the paper's steal for an idle owner: 37.7 us for 10 % and 12.5 us for 60 %. \
                      `bulk` needs no shortcut. The cost of its steal depends on the number of segments that contain the tasks."
                .to_owned(),
            command: bench(bulk::SUITE, results.full, &["steal"]),
        },
        chart,
    )
}

fn explorations(results: &Results) -> Item {
    let figures = results.figures(bulk::SUITE);
    let groups: Vec<(String, NodeCost, usize)> =
        [(NodeCost::Uniform, "equal nodes"), (NodeCost::Skewed, "some nodes long")]
            .into_iter()
            .flat_map(|(cost, name)| [1, THREADS].map(|count| (format!("{name}, {}", threads(count)), cost, count)))
            .collect();
    let labels: Vec<&str> = groups.iter().map(|(label, ..)| &**label).collect();
    let chart = bars("nanoseconds per node", None, &labels, &[BULK, CROSSBEAM, MUTEX, SERIAL], |label, other| {
        let &(_, cost, count) = groups.iter().find(|(known, ..)| known == label)?;
        figures.figure(&dag_case(figures, cost)?, NANOS_A_NODE, (other, count))
    });
    figure(
        Texts {
            id: "bulk-graphs",
            title: "Figures 9 and 10: graphs explored by workers that steal half".to_owned(),
            caption: "The paper, with 1 to 128 threads: the time halves when the number of threads doubles, and is the same for all \
                      queues. It expects a difference for nodes of uneven cost, without figures."
                .to_owned(),
            command: bench(bulk::SUITE, results.full, &["dag"]),
        },
        chart,
    )
}
