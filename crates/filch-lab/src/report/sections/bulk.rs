//! *A Lock-Free Work-Stealing Algorithm for Bulk Operations*: figures 6 to 10.
//!
//! They are measured on the corrected queue of this project, and the first three also on the
//! published one.

use super::items::{as_named, bars, bench, by_threads, figure, lines, text};
use super::models::line;
use super::over_threads;
use crate::bench::bulk;
use crate::bench::bulk::{
    dag_case, emptyings, Case, Fill, NodeCost, ATTEMPTS_A_STEAL, BATCHES, BULK, BULK_TRY_LOCK, CHASE_LEV, CROSSBEAM,
    MUTEX, NANOS_A_NODE, NANOS_A_PUSH, NANOS_A_STEAL, NANOS_A_TASK, PUBLISHED, PUBLISHED_EARLY, SERIAL, SHARES,
};
use crate::bench::solver::{FILCH, FILCH_CHASE_LEV, FILCH_MUTEX, MILLISECONDS};
use crate::bench::{solver, THREADS};
use crate::claims::{Claim, Holds, Rounds, Source, Verdict};
use crate::figures::grouped;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

/// The model of the published queue.
const MODEL: &str = "bulk/published";

/// Judges by the models' search, not by time.
pub(super) fn linearizable(results: &Results) -> Verdict {
    let claim = Claim::new(Source::BULK, "The published queue is linearizable: no task is taken twice or lost.");
    let Some(model) = line(results, MODEL) else { return claim.not_measured() };
    let searched = format!(
        "`{MODEL}`, {} searches, {} states",
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
        id: "bulk",
        title: "A Lock-Free Work-Stealing Algorithm for Bulk Operations (2025)".to_owned(),
        items: [
            text(
                "The owner pushes whole batches, and a thief steals a share of the queue. The paper measured on two \
                 Xeon Platinum 8358 with 64 cores and compared with two queues of Taskflow. The published queue can return a \
                 task twice, as the models show. `bulk` is a different algorithm with the paper's guarantees, for any number \
                 of thieves. It is compared with crossbeam's deque, a locked deque, and the published queue (`bulk-published`) \
                 where that is safe: its owner must not pop during a steal.",
            ),
            pushes(results),
            steals(results),
            early_returns(results),
            steals_from_bulk(results),
            thieves(results),
            attempts(results),
            explorations(results),
            solver_queues(results),
        ]
        .into_iter()
        .chain(over_threads::explorations(results))
        .collect(),
    }
}

fn pushes(results: &Results) -> Item {
    let figures = results.figures(bulk::SUITE);
    let chart = lines(
        ("tasks per batch", true),
        ("nanoseconds per push", true),
        &as_named(&[BULK, PUBLISHED, CROSSBEAM, MUTEX, CHASE_LEV]),
        &BATCHES,
        |other, size| figures.figure(&Case::Push(size).to_string(), NANOS_A_PUSH, (other, 1)),
    );
    let texts = Texts::new(
        "bulk-push",
        "Figure 6: time of a push, by batch size",
        "The paper's queue stays below 500 ns for up to 1,024 tasks. Taskflow's queues reach nearly 5,000 ns. Both axes are logarithmic.",
        bench(bulk::SUITE, results.full, &["push"]),
    );
    figure(texts, chart)
}

/// Returns the microseconds of a steal of a share of the tasks.
fn steal_time(results: &Results, name: &str, percent: usize, fill: Fill, busy: bool) -> Option<Rounds> {
    let case = Case::Steal { percent, fill, busy }.to_string();
    results.figures(bulk::SUITE).figure(&case, NANOS_A_STEAL, (name, 2))?.map(|nanos| nanos / 1e3)
}

fn steals(results: &Results) -> Item {
    let chart = lines(
        ("share stolen, %", false),
        ("microseconds per steal", true),
        &as_named(&[BULK, PUBLISHED, CROSSBEAM, MUTEX]),
        &SHARES,
        |other, share| steal_time(results, other, share, Fill::Batch, false),
    );
    let texts = Texts::new(
        "bulk-steal",
        "Figure 7: time of a steal, by the share of 10,000 tasks",
        "The paper's queue takes about 40 us for any share, because it walks its list. Taskflow's queues take 16 us \
         for 10 % and 112 us for 60 %. The y axis is logarithmic.",
        bench(bulk::SUITE, results.full, &["steal"]),
    );
    figure(texts, chart)
}

fn early_returns(results: &Results) -> Item {
    let chart = lines(
        ("share stolen, %", false),
        ("microseconds per steal", true),
        &as_named(&[BULK, PUBLISHED, PUBLISHED_EARLY]),
        &SHARES,
        |other, share| steal_time(results, other, share, Fill::Batch, false),
    );
    let texts = Texts::new(
        "bulk-early",
        "Figure 8: time of a steal that returns early, with an idle owner",
        "The published steal walks to the end of the list to count what it took. If the owner did nothing meanwhile, the \
         count is known without that walk. The paper: 37.7 us for 10 % and 12.5 us for 60 %. `bulk` walks no list. The \
         y axis is logarithmic.",
        bench(bulk::SUITE, results.full, &["steal"]),
    );
    figure(texts, chart)
}

fn steals_from_bulk(results: &Results) -> Item {
    let ways = [(false, "owner idle"), (true, "owner busy")]
        .into_iter()
        .flat_map(|(busy, owner)| Fill::ALL.map(|fill| (format!("{}, {owner}", fill.description()), (fill, busy))));
    let chart = lines(
        ("share stolen, %", false),
        ("microseconds per steal", false),
        &ways.collect::<Vec<_>>(),
        &SHARES,
        |&(fill, busy), share| steal_time(results, BULK, share, fill, busy),
    );
    let texts = Texts::new(
        "bulk-steal-ours",
        "Beside figure 8: a steal from bulk, by how the tasks were pushed and what the owner does",
        "`bulk` needs no early return, and its owner may be busy. The cost of its steal depends on the number of \
         segments that contain the tasks.",
        bench(bulk::SUITE, results.full, &["steal"]),
    );
    figure(texts, chart)
}

/// Returns a figure of the cases with several thieves.
fn of_thieves(results: &Results, unit: &str, names: &[&str], texts: Texts) -> Item {
    let cases: Vec<_> = emptyings().map(|emptying| (Case::Thieves(emptying).to_string(), emptying)).collect();
    let figures = results.figures(bulk::SUITE);
    let chart = bars(unit, &cases, &as_named(names), |&emptying, name| {
        figures.figure(&Case::Thieves(emptying).to_string(), unit, (name, emptying.threads()))
    });
    figure(texts, chart)
}

fn thieves(results: &Results) -> Item {
    let texts = Texts::new(
        "bulk-thieves",
        "Several thieves empty a queue of 10,000 tasks",
        "The paper leaves several thieves to future work. Here 2 or 4 thieves steal an eighth of one queue at a time and go \
         through the tasks, until fewer than 64 are left. `bulk-try-lock` is `bulk` with a lock that admits one thief at a \
         time and refuses the others.",
        bench(bulk::SUITE, results.full, &["thieves"]),
    );
    of_thieves(results, NANOS_A_TASK, &[BULK, BULK_TRY_LOCK, CROSSBEAM, MUTEX], texts)
}

fn attempts(results: &Results) -> Item {
    let texts = Texts::new(
        "bulk-attempts",
        "Several thieves: attempts for each steal that succeeds",
        "At 1, no attempt fails. An attempt on `bulk` or crossbeam's deque fails if another thief was faster, and one on \
         `bulk-try-lock` also if another thief has the lock.",
        bench(bulk::SUITE, results.full, &["thieves"]),
    );
    of_thieves(results, ATTEMPTS_A_STEAL, &[BULK, BULK_TRY_LOCK, CROSSBEAM], texts)
}

fn explorations(results: &Results) -> Item {
    let figures = results.figures(bulk::SUITE);
    let groups = by_threads(&[(NodeCost::Uniform, "equal nodes"), (NodeCost::Skewed, "some nodes long")]);
    let names = as_named(&[BULK, CROSSBEAM, MUTEX, SERIAL]);
    let chart = bars("nanoseconds per node", &groups, &names, |&(cost, count), other| {
        figures.figure(&dag_case(figures, cost)?, NANOS_A_NODE, (other, count))
    });
    let texts = Texts::new(
        "bulk-graphs",
        "Figures 9 and 10: graphs explored by workers that steal half",
        "The paper, with 1 to 128 threads: the time halves when the number of threads doubles, and is the same for all \
         queues. It expects a difference for nodes of uneven cost, without figures.",
        bench(bulk::SUITE, results.full, &["dag"]),
    );
    figure(texts, chart)
}

/// The solver, which the paper leaves open.
fn solver_queues(results: &Results) -> Item {
    let figures = results.figures(solver::SUITE);
    let cases = as_named(&figures.cases(MILLISECONDS));
    let names = [(FILCH_CHASE_LEV, "chase_lev"), (FILCH_MUTEX, "deque behind a mutex")];
    let chart = bars(
        "time on another queue, bulk = 1",
        &cases,
        &names.map(|(other, name)| (name.to_owned(), other)),
        |case, &other| figures.ratio(case, MILLISECONDS, (other, THREADS), (FILCH, THREADS)),
    );
    let texts = Texts::new(
        "bulk-solver",
        "The open question: does the bulk queue help a solver?",
        "The paper expects so, without figures. Here the solver of this project proves optima with two threads. Its master \
         moves shares of the workers' open nodes: as batches of `bulk`, one by one out of `chase_lev`, or under a lock. \
         Above 1, `bulk` is faster.",
        bench(solver::SUITE, results.full, &[]),
    );
    figure(texts, chart)
}
