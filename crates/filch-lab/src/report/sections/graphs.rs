//! Graphs, explored on every queue and on the peers.

use super::items::{bars, bench, figure, has_figures, name, table, text, value, Texts};
use crate::bench::graphs::{closure_ratio, graph_case, Family, Task, FAMILIES, NANOS_A_VERTEX, REDUNDANT};
use crate::bench::{graphs, THREADS};
use crate::figures::threads;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::{Item, Section};

const ID: &str = "graphs";

const LIFO: &str = Queue::Lifo.name();

/// Returns each family with 1 thread and with several, and a label for each pair.
pub(super) fn by_threads() -> Vec<(String, Family, usize)> {
    let named = |&(family, name): &(Family, &str)| {
        [1, THREADS].map(|count| (format!("{name}, {}", threads(count)), family, count))
    };
    FAMILIES.iter().flat_map(named).collect()
}

pub(super) fn section(results: &Results) -> Section {
    let mut items = vec![text(
        "A task is a vertex that was found. Its visit marks and pushes its neighbours. The same visit runs on every queue of \
         filch and on crossbeam's deque (`crossbeam-lifo`), in a pool written for it (`crossbeam-pool`), with a rayon spawn for \
         each vertex, with rayon level by level (`rayon-frontier`), as a serial loop (`serial`), and as two such loops at the \
         same time (`serial-pair`).",
    )];
    items.push(peers(results));
    items.extend(FAMILIES.iter().map(|&(family, label)| implementations(results, family, label)));
    Section { id: ID, title: "Graphs on every queue".to_owned(), items }
}

fn peers(results: &Results) -> Item {
    let figures = results.figures(graphs::SUITE);
    let groups = by_threads();
    let labels: Vec<&str> = groups.iter().map(|(label, ..)| &**label).collect();
    let names = ["crossbeam-lifo", "crossbeam-pool", "rayon-frontier", Queue::ChaseLev.name()];
    let chart = bars("time, idempotent::lifo = 1", Some(1.0), &labels, &names, |label, other| {
        let &(_, family, count) = groups.iter().find(|(known, ..)| known == label)?;
        closure_ratio(figures, family, count, other, LIFO)
    });
    figure(
        Texts {
            id: "graphs-peers",
            title: "Closures, compared with `idempotent::lifo`".to_owned(),
            caption: "Above 1 is slower than `idempotent::lifo`. The drawing leaves out the rayon spawn for each vertex, which is several \
                      times higher; the tables have it. `rayon-frontier` goes breadth first, which suits K-graphs and random graphs, \
                      but not the torus."
                .to_owned(),
            command: bench(graphs::SUITE, results.full, &[&Task::Closure.to_string()]),
        },
        chart,
    )
}

fn implementations(results: &Results, family: Family, label: &str) -> Item {
    let figures = results.figures(graphs::SUITE);
    let (id, title) = match family {
        Family::KGraph => ("graphs-kgraph", "All implementations on a K-graph"),
        Family::Torus => ("graphs-torus", "All implementations on a torus"),
        Family::Random => ("graphs-random", "All implementations on a random graph"),
    };
    let closure = graph_case(figures, Task::Closure, family);
    let tree = graph_case(figures, Task::SpanningTree, family);
    let cases = [closure.clone().unwrap_or_default(), tree.unwrap_or_default()];
    let names = figures.names(&cases[0], NANOS_A_VERTEX);
    let rows = names.into_iter().map(|other| {
        let mut row = vec![name(other)];
        for case in &cases {
            row.extend([1, THREADS].map(|count| value(figures.figure(case, NANOS_A_VERTEX, (other, count)))));
        }
        row.push(value(figures.figure(&cases[0], REDUNDANT, (other, THREADS))));
        row
    });
    let header: [&str; 6] =
        ["who", "closure, 1", &format!("closure, {THREADS}"), "tree, 1", &format!("tree, {THREADS}"), "redundant (%)"];
    let graph = closure.as_deref().and_then(|case| case.split('/').nth(1)).unwrap_or(label);
    table(
        Texts {
            id,
            title: title.to_owned(),
            caption: format!(
                "Nanoseconds per vertex on `{graph}`, for closures and spanning trees, by number of threads; medians. Redundant: tasks \
                 of closures beyond one per vertex, with {}.",
                threads(THREADS)
            ),
            command: bench(
                graphs::SUITE,
                results.full,
                &[&format!("closure/{graph}"), &format!("spanning-tree/{graph}")],
            ),
        },
        &header,
        rows.filter(|row| has_figures(row)).collect(),
    )
}
