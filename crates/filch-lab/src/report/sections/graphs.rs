//! Graphs, explored on every queue and on the peers.

use super::items::{as_named, bars, bench, by_threads, figure, text, Columns};
use crate::bench::graphs::{closure_ratio, graph_case, Family, Task, FAMILIES, NANOS_A_VERTEX, REDUNDANT};
use crate::bench::{graphs, THREADS};
use crate::figures::threads;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};

const LIFO: &str = Queue::Lifo.name();

pub(super) fn section(results: &Results) -> Section {
    let mut items = vec![
        text(
            "A task is a vertex that was found. Its visit marks and pushes its neighbours. The same visit runs on every queue \
             of filch and on crossbeam's deque (`crossbeam-lifo`), in a pool written for it (`crossbeam-pool`), with a rayon \
             spawn for each vertex, level by level with filch (`levels`, and `levels-prefetch`) and with rayon (`rayon-frontier`), as a serial loop \
             (`serial`), and as two such loops at the same time (`serial-pair`).",
        ),
        text(
            "The owners of `ff_the`, `ff_cl` and `thep` rely on a bound and have no fence. Without a bound for this CPU they are \
             left out. Their `-untrusted` variants rely on none: the first push after a pop is a full barrier.",
        ),
    ];
    items.push(peers(results));
    items.extend(FAMILIES.iter().map(|&(family, label)| implementations(results, family, label)));
    Section { id: "graphs", title: "Graphs on every queue".to_owned(), items }
}

fn peers(results: &Results) -> Item {
    let figures = results.figures(graphs::SUITE);
    let names = as_named(&["crossbeam-lifo", "crossbeam-pool", "rayon-frontier", Queue::ChaseLev.name()]);
    let chart = bars("time, idempotent::lifo = 1", &by_threads(&FAMILIES), &names, |&(family, count), other| {
        closure_ratio(figures, family, count, other, LIFO)
    });
    let texts = Texts::new(
        "graphs-peers",
        "Closures, compared with `idempotent::lifo`",
        "Above 1 is slower than `idempotent::lifo`. The drawing leaves out the rayon spawn for each vertex, which is several \
         times higher; the tables have it. `rayon-frontier` goes breadth first, which suits graphs with large levels.",
        bench(graphs::SUITE, results.full, &[&Task::Closure.to_string()]),
    );
    figure(texts, chart)
}

fn implementations(results: &Results, family: Family, label: &str) -> Item {
    let figures = results.figures(graphs::SUITE);
    let (id, title) = match family {
        Family::KGraph => ("graphs-kgraph", "All implementations on a K-graph in the plane"),
        Family::Ring => ("graphs-ring", "All implementations on a K-graph on a ring"),
        Family::Torus => ("graphs-torus", "All implementations on a torus"),
        Family::Random => ("graphs-random", "All implementations on a random graph"),
    };
    let case = |task| graph_case(figures, task, family).unwrap_or_default();
    let (closure, tree) = (case(Task::Closure), case(Task::SpanningTree));
    let time = |case: &str, other: &str, count| figures.figure(case, NANOS_A_VERTEX, (other, count));
    let graph = closure.split('/').nth(1).unwrap_or(label);
    Columns::of(figures.names(&closure, NANOS_A_VERTEX))
        .name("who", |other| *other)
        .value("closure, 1", |other| time(&closure, other, 1))
        .value(&format!("closure, {THREADS}"), |other| time(&closure, other, THREADS))
        .value("tree, 1", |other| time(&tree, other, 1))
        .value(&format!("tree, {THREADS}"), |other| time(&tree, other, THREADS))
        .value("redundant (%)", |other| figures.figure(&closure, REDUNDANT, (other, THREADS)))
        .table(Texts::new(
            id,
            title,
            format!(
                "Nanoseconds per vertex on `{graph}`, for closures and spanning trees, by number of threads; medians. Redundant: tasks \
                 of closures beyond one per vertex, with {}.",
                threads(THREADS)
            ),
            bench(graphs::SUITE, results.full, &[&format!("closure/{graph}"), &format!("spanning-tree/{graph}")]),
        ))
}
