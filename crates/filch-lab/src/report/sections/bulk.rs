//! *A Lock-Free Work-Stealing Algorithm for Bulk Operations*: figures 6 to 10.
//!
//! They are measured on the corrected queue of this project.

use super::claim::{Bound, Claim, Criterion};
use super::items::{bars, bench, figure, lines, text, Texts};
use super::models::line;
use super::ratio::Figures;
use super::rounds::Rounds;
use crate::bench::bulk::{
    Case, Fill, NodeCost, BATCHES, BULK, CHASE_LEV, CROSSBEAM, GRAPHS, MUTEX, NANOS_A_NODE, NANOS_A_POP, NANOS_A_PUSH,
    NANOS_A_STEAL, SERIAL, SHARES,
};
use crate::bench::{bulk, THREADS};
use crate::figures::{grouped, threads};
use crate::report::collect::Results;
use crate::report::page::{Holds, Item, Section, Verdict};

pub(super) const ID: &str = "bulk";
const SOURCE: &str = "Bulk Operations";

/// The published queue, unchanged.
const PUBLISHED: &str = "bulk/published";

fn push(size: usize) -> String {
    Case::Push(size).to_string()
}

fn steal(percent: usize, fill: Fill, busy: bool) -> String {
    Case::Steal { percent, fill, busy }.to_string()
}

/// Returns the smallest and the largest of a list.
fn min_max(numbers: &[usize]) -> (usize, usize) {
    (numbers.iter().copied().min().unwrap_or(0), numbers.iter().copied().max().unwrap_or(0))
}

/// Returns the exploration of the largest graph that was measured.
fn dag_case(figures: Figures<'_>, cost: NodeCost) -> Option<String> {
    let measured = figures.cases(NANOS_A_NODE);
    let cases = GRAPHS.into_iter().map(|(nodes, size)| (nodes, Case::Dag { cost, nodes, size }.to_string()));
    cases.filter(|(_, case)| measured.contains(&&**case)).max().map(|(_, case)| case)
}

/// The ratio of the times of this project's queue and another, to explore a graph.
fn dag_ratio(figures: Figures<'_>, cost: NodeCost, count: usize, other: &str) -> Option<Rounds> {
    figures.ratio(&dag_case(figures, cost)?, NANOS_A_NODE, (BULK, count), (other, count))
}

pub(super) fn verdicts(results: &Results) -> Vec<Verdict> {
    let figures = Figures::of(results, bulk::SUITE);
    let claim = |text: &str| Claim::new(SOURCE, ID, text);
    let ((small, large), (few, many)) = (min_max(&BATCHES), min_max(&SHARES));
    let stealing = |case: &str| figures.ratio(case, NANOS_A_STEAL, (CROSSBEAM, 2), (BULK, 2));
    vec![
        claim(
            "A push of a batch takes constant time: 1,024 tasks take as long as one. (Tolerance: 1.5 times as long.)",
        )
        .judged(
            "push/1024 / push/1",
            vec![Criterion::new(
                "",
                figures.ratio_of_cases(&push(large), &push(small), NANOS_A_PUSH, (BULK, 1)),
                Bound::AtMost(1.5),
            )],
        ),
        claim("A push of 1,024 tasks takes less than 500 ns.").judged(
            "",
            vec![Criterion::new("", figures.figure(&push(large), NANOS_A_PUSH, (BULK, 1)), Bound::AtMost(500.0))
                .with_unit("ns")],
        ),
        claim("Queues without batches take about ten times as long to push 1,024 tasks.").judged(
            "crossbeam-lifo / bulk",
            vec![Criterion::new(
                "",
                figures.ratio(&push(large), NANOS_A_PUSH, (CROSSBEAM, 1), (BULK, 1)),
                Bound::faster_by_about(9.0),
            )],
        ),
        claim("A pop costs no more than on other queues. (Tolerance: 10 %.)").judged(
            "bulk / crossbeam-lifo",
            vec![Criterion::new(
                "",
                figures.ratio(&Case::Pop(Fill::Batch).to_string(), NANOS_A_POP, (BULK, 1), (CROSSBEAM, 1)),
                Bound::AtMost(1.1),
            )],
        ),
        claim("The time of a steal does not depend on the share: 60 % takes as long as 10 %. (Tolerance: 1.3 times as long.)")
            .judged(
                "steal/60% / steal/10%",
                vec![Criterion::new(
                    "",
                    figures.ratio_of_cases(
                        &steal(many, Fill::Batch, false),
                        &steal(few, Fill::Batch, false),
                        NANOS_A_STEAL,
                        (BULK, 2),
                    ),
                    Bound::AtMost(1.3),
                )],
            ),
        claim("Other queues take 2.8 times as long to steal 60 % of 10,000 tasks.").judged(
            "crossbeam-lifo / bulk",
            vec![Criterion::new("", stealing(&steal(many, Fill::Batch, false)), Bound::AtLeast(2.8))],
        ),
        claim(
            "Other queues take less than half as long to steal 10 %. (The published queue walks its list; bulk does not.)",
        )
        .judged(
            "crossbeam-lifo / bulk",
            vec![Criterion::new("", stealing(&steal(few, Fill::Batch, false)), Bound::AtMost(0.5))],
        ),
        claim("If all nodes cost the same, all queues explore a graph in the same time. (Tolerance: 10 %.)")
            .judged(
                "bulk / crossbeam-lifo",
                vec![Criterion::new(
                    format!("{}:", threads(THREADS)),
                    dag_ratio(figures, NodeCost::Uniform, THREADS, CROSSBEAM),
                    Bound::Between(0.9, 1.1),
                )],
            ),
        linearizable(results, claim("The published queue is linearizable: no task is taken twice or lost.")),
    ]
}

/// Judges by the models' search, not by time.
fn linearizable(results: &Results, claim: Claim) -> Verdict {
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
    let figures = Figures::of(results, bulk::SUITE);
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
    let figures = Figures::of(results, bulk::SUITE);
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
    let figures = Figures::of(results, bulk::SUITE);
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
    let figures = Figures::of(results, bulk::SUITE);
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
