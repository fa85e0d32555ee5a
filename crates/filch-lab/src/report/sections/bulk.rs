//! *A Lock-Free Work-Stealing Algorithm for Bulk Operations*: figures 6 to 10.
//!
//! They are measured on the corrected queue of this project.

use super::claim::{Bound, Claim, Part};
use super::items::{bars, bench, figure, lines, text, Words};
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
fn ends(numbers: &[usize]) -> (usize, usize) {
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
    let ((small, large), (few, many)) = (ends(&BATCHES), ends(&SHARES));
    let stealing = |case: &str| figures.ratio(case, NANOS_A_STEAL, (CROSSBEAM, 2), (BULK, 2));
    vec![
        claim(
            "A batch is pushed in constant time: 1,024 tasks take no longer than one. (We allow half as long again.)",
        )
        .judged(
            "push/1024 / push/1",
            vec![Part::new(
                "",
                figures.ratio_of_cases(&push(large), &push(small), NANOS_A_PUSH, (BULK, 1)),
                Bound::AtMost(1.5),
            )],
        ),
        claim("A batch of 1,024 takes less than 500 ns to push.").judged(
            "",
            vec![Part::new("", figures.figure(&push(large), NANOS_A_PUSH, (BULK, 1)), Bound::AtMost(500.0))
                .with_unit("ns")],
        ),
        claim("Queues without batches take about ten times as long to push 1,024 tasks.").judged(
            "crossbeam-lifo / bulk",
            vec![Part::new(
                "",
                figures.ratio(&push(large), NANOS_A_PUSH, (CROSSBEAM, 1), (BULK, 1)),
                Bound::faster_by_about(9.0),
            )],
        ),
        claim("A pop costs no more than on other queues. (We allow a tenth more.)").judged(
            "bulk / crossbeam-lifo",
            vec![Part::new(
                "",
                figures.ratio(&Case::Pop(Fill::Batch).to_string(), NANOS_A_POP, (BULK, 1), (CROSSBEAM, 1)),
                Bound::AtMost(1.1),
            )],
        ),
        claim("A steal takes the same time whatever share is stolen: 60 % as long as 10 %. (We allow 1.3 times.)")
            .judged(
                "steal/60% / steal/10%",
                vec![Part::new(
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
        claim("Of 10,000 tasks, 60 % take others 2.8 times as long to steal.").judged(
            "crossbeam-lifo / bulk",
            vec![Part::new("", stealing(&steal(many, Fill::Batch, false)), Bound::AtLeast(2.8))],
        ),
        claim(
            "To steal 10 % takes others less than half as long. (The published queue walks its list; ours does not.)",
        )
        .judged(
            "crossbeam-lifo / bulk",
            vec![Part::new("", stealing(&steal(few, Fill::Batch, false)), Bound::AtMost(0.5))],
        ),
        claim("Graphs whose nodes cost the same are explored in the same time on any queue. (We allow a tenth.)")
            .judged(
                "bulk / crossbeam-lifo",
                vec![Part::new(
                    format!("{}:", threads(THREADS)),
                    dag_ratio(figures, NodeCost::Uniform, THREADS, CROSSBEAM),
                    Bound::Between(0.9, 1.1),
                )],
            ),
        linearizable(results, claim("The queue as published is linearizable: no task is taken twice or lost.")),
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
        0 => claim.told(format!("{searched}: no run was found that breaks it"), Holds::Unclear),
        refuted => {
            claim.told(format!("{searched}: {refuted} of them found a run in which a task is taken twice"), Holds::No)
        }
    }
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: ID,
        title: "A Lock-Free Work-Stealing Algorithm for Bulk Operations (2025)".to_owned(),
        items: vec![
            text(
                "Batches are pushed whole and shares of a queue are stolen whole, by one thief at a time. The paper measured on two Xeon Platinum 8358 with 64 \
                 cores, beside two queues of Taskflow. The published queue can give a task twice, which the models below show; `bulk` is an algorithm of \
                 our own that keeps what the paper promises. Beside it, crossbeam's deque and a deque behind a mutex.",
            ),
            pushes(results),
            steals(results),
            our_steals(results),
            explorations(results),
        ],
    }
}

fn pushes(results: &Results) -> Item {
    let figures = Figures::of(results, bulk::SUITE);
    let sizes = BATCHES.map(|size| size as f64);
    let chart = lines(
        ("tasks a batch", true),
        ("nanoseconds a push", true),
        &[BULK, CROSSBEAM, MUTEX, CHASE_LEV],
        &sizes,
        |other, size| figures.figure(&push(size as usize), NANOS_A_PUSH, (other, 1)),
    );
    figure(
        Words {
            id: "bulk-push",
            title: "Figure 6: a push, by the size of the batch".to_owned(),
            caption: "The paper's queue stays below 500 ns up to 1,024 tasks; Taskflow's grow to nearly 5,000 ns. Both axes are logarithmic.".to_owned(),
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
        ("microseconds a steal", true),
        &[BULK, CROSSBEAM, MUTEX],
        &shares,
        |other, share| {
            let case = steal(share as usize, Fill::Batch, false);
            figures.figure(&case, NANOS_A_STEAL, (other, 2))?.map(|nanos| nanos / 1e3)
        },
    );
    figure(
        Words {
            id: "bulk-steal",
            title: "Figure 7: a steal, by the share of 10,000 tasks".to_owned(),
            caption: "The paper's queue takes about 40 us whatever the share, since it walks its list; Taskflow's take 16 us for 10 % and 112 us for 60 %. The \
                      axis upwards is logarithmic."
                .to_owned(),
            command: bench(bulk::SUITE, results.full, &["steal"]),
        },
        chart,
    )
}

fn our_steals(results: &Results) -> Item {
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
    let chart = lines(("share stolen, %", false), ("microseconds a steal", false), &names, &shares, |name, share| {
        let &(_, fill, busy) = ways.iter().find(|(known, ..)| known == name)?;
        figures.figure(&steal(share as usize, fill, busy), NANOS_A_STEAL, (BULK, 2))?.map(|nanos| nanos / 1e3)
    });
    figure(
        Words {
            id: "bulk-steal-ours",
            title: "In the place of figure 8: our steal, by how the tasks came and what the owner does".to_owned(),
            caption: "Figure 8 is of a shortcut that the paper's steal may take if the owner is idle: 37.7 us for 10 % and 12.5 us for 60 %. Ours needs none; what \
                      it costs depends on how many pieces of memory the tasks lie in."
                .to_owned(),
            command: bench(bulk::SUITE, results.full, &["steal"]),
        },
        chart,
    )
}

fn explorations(results: &Results) -> Item {
    let figures = Figures::of(results, bulk::SUITE);
    let groups: Vec<(String, NodeCost, usize)> =
        [(NodeCost::Uniform, "nodes alike"), (NodeCost::Skewed, "some nodes long")]
            .into_iter()
            .flat_map(|(cost, name)| [1, THREADS].map(|count| (format!("{name}, {}", threads(count)), cost, count)))
            .collect();
    let labels: Vec<&str> = groups.iter().map(|(label, ..)| &**label).collect();
    let chart = bars("nanoseconds a node", None, &labels, &[BULK, CROSSBEAM, MUTEX, SERIAL], |label, other| {
        let &(_, cost, count) = groups.iter().find(|(known, ..)| known == label)?;
        figures.figure(&dag_case(figures, cost)?, NANOS_A_NODE, (other, count))
    });
    figure(
        Words {
            id: "bulk-graphs",
            title: "Figures 9 and 10: graphs explored by workers that steal half".to_owned(),
            caption: "The paper has 1 to 128 threads: times halve whenever threads double, and do not differ between queues. It expects a difference where nodes \
                      cost unevenly, and did not measure that."
                .to_owned(),
            command: bench(bulk::SUITE, results.full, &["dag"]),
        },
        chart,
    )
}
