//! *Idempotent Work Stealing*: its figures 4 to 10, and the tasks that ran twice.
//!
//! The owners of its queues have no fence, because a task may run twice.

use super::items::{as_named, bars, bench, by_threads, figure, lines, text, Columns};
use super::over_threads;
use crate::bench::graphs::{graph_case, Task, FAMILIES, IDEMPOTENT, NANOS_A_VERTEX, REDUNDANT, STOLEN};
use crate::bench::queues::{Case, NANOS_AN_OPERATION, TASK_COSTS};
use crate::bench::{graphs, queues, THREADS};
use crate::figures::threads;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

const CHASE_LEV: &str = Queue::ChaseLev.name();
const THE: &str = Queue::The.name();
const LIFO: &str = Queue::Lifo.name();
const FIFO: &str = Queue::Fifo.name();
const DOUBLE_ENDED: &str = Queue::DoubleEnded.name();

/// The queues in the paper's figures except Chase-Lev, which is 1, in its order.
const NAMES: [&str; 4] = [THE, LIFO, FIFO, DOUBLE_ENDED];

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: "idempotent",
        title: "Idempotent Work Stealing (2009)".to_owned(),
        items: [
            text(
                "If a task may run twice, the owner of a queue needs neither a fence nor a compare-and-swap. The paper has three such \
                 queues: a stack (LIFO), a queue (FIFO) and a double-ended queue. It measured on a Netburst Xeon, an Opteron with \
                 8 cores and a Power5.",
            ),
            micro(results),
            limit_study(results),
            traversal(results, Task::Closure),
            traversal(results, Task::SpanningTree),
            repeats(results),
        ]
        .into_iter()
        .chain(over_threads::traversals(results, Task::Closure))
        .collect(),
    }
}

fn micro(results: &Results) -> Item {
    let figures = results.figures(queues::SUITE);
    let cases = as_named(&[Case::PushThenPop, Case::PopOnly, Case::Burst].map(|case| case.to_string()));
    let chart = bars("time, chase_lev = 1", &cases, &as_named(&NAMES), |case, other| {
        figures.ratio(case, NANOS_AN_OPERATION, (other, 1), (CHASE_LEV, 1))
    });
    let texts = Texts::new(
        "idempotent-operations",
        "Figure 4: pushes and pops of the owner, compared with Chase-Lev",
        "The paper has 0.20 to 0.65 for LIFO, 0.17 to 0.60 for FIFO, 0.27 to 0.68 for double-ended. `push-then-pop` and \
         `pop-only` are its two cases, with millions of tasks that do not fit into the cache. In `burst-64` the queue \
         stays in the cache.",
        bench(queues::SUITE, results.full, &[]),
    );
    figure(texts, chart)
}

fn limit_study(results: &Results) -> Item {
    let figures = results.figures(queues::SUITE);
    let ratio = |other: &&str, cost: usize| {
        let case = Case::TaskCost(cost as u64).to_string();
        figures.ratio(&case, NANOS_AN_OPERATION, (other, 1), (CHASE_LEV, 1))
    };
    let free = ratio(&LIFO, 0)
        .map(|free| format!(" The axis has no zero: with tasks of no cost, LIFO takes {}.", free.text()));
    let costs = TASK_COSTS.map(|cost| cost as usize);
    let axes = (("nanoseconds per task", true), ("time, chase_lev = 1", false));
    let texts = Texts::new(
        "idempotent-limit",
        "Limit study: effect of the queue, by the cost of a task",
        format!(
            "Time of a push, a pop and the task, relative to Chase-Lev. The paper often found a factor of 10 for tasks that cost \
             nothing, and has no figures for others.{}",
            free.unwrap_or_default()
        ),
        bench(queues::SUITE, results.full, &[]),
    );
    figure(texts, lines(axes.0, axes.1, &as_named(&NAMES), &costs, ratio))
}

fn traversal(results: &Results, task: Task) -> Item {
    let figures = results.figures(graphs::SUITE);
    let groups = by_threads(&FAMILIES);
    let chart = bars("time, chase_lev = 1", &groups, &as_named(&NAMES), |&(family, count), other| {
        let case = graph_case(figures, task, family)?;
        figures.ratio(&case, NANOS_A_VERTEX, (other, count), (CHASE_LEV, count))
    });
    let (id, title, caption) = match task {
        Task::Closure => (
            "idempotent-closure",
            "Figures 5 to 10: transitive closure",
            "The paper, with 1 to 8 threads: LIFO is faster by 15 to 20 % on K-graphs, often by a factor of 3 on the torus, and by \
             2 to 10 % on random graphs. FIFO is the slowest on the torus with up to two threads. It calls gains of 20 \
             to 40 % common. On newer processors a fence costs less, and a cache miss hides it.",
        ),
        Task::SpanningTree => (
            "idempotent-tree",
            "Spanning trees",
            "The paper says that the results are similar. Here a worker claims each vertex with an atomic exchange. It drains the \
             store buffer as a fence does, so the gain is smaller.",
        ),
    };
    figure(Texts::new(id, title, caption, bench(graphs::SUITE, results.full, &[&task.to_string()])), chart)
}

fn repeats(results: &Results) -> Item {
    let figures = results.figures(graphs::SUITE);
    let cases =
        FAMILIES.into_iter().filter_map(|(family, label)| Some((label, graph_case(figures, Task::Closure, family)?)));
    let rows = cases.flat_map(|(label, case)| IDEMPOTENT.map(|queue| (label, case.clone(), queue)));
    Columns::of(rows)
        .name("graph", |&(label, ..)| label)
        .name("queue", |&(.., queue)| queue)
        .value("redundant (%)", |(_, case, queue)| figures.figure(case, REDUNDANT, (queue, THREADS)))
        .value("stolen (%)", |(_, case, queue)| figures.figure(case, STOLEN, (queue, THREADS)))
        .table(Texts::new(
            "idempotent-redundant",
            "Tasks that ran more than once",
            format!(
                "Closures with {}: the share of tasks beyond one per vertex, and the share of stolen tasks. The paper has 2 % \
                 redundant tasks on average and 6 % at most, with up to 8 threads. On any queue, two threads that find a vertex \
                 at the same moment make a redundant task.",
                threads(THREADS)
            ),
            bench(graphs::SUITE, results.full, &[&Task::Closure.to_string()]),
        ))
}
