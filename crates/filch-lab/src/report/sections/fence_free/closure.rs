//! Figure 11: FF-CL and the idempotent queues compared with Chase-Lev, on transitive closures.

use crate::bench::graphs;
use crate::bench::graphs::{closure_ratio, Task, FAMILIES};
use crate::figures::threads;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::{Item, Texts};
use crate::report::sections::items::{as_named, bars, bench, figure};
use crate::report::sections::over_threads::most;

pub(super) fn closure(results: &Results) -> Item {
    let count = most(results, graphs::SUITE);
    let families = FAMILIES.map(|(family, name)| (name.to_owned(), family));
    let names = as_named(&[Queue::FfCl, Queue::Lifo, Queue::DoubleEnded].map(Queue::name));
    let chart = bars("time, chase_lev = 1", &families, &names, |&family, name| {
        closure_ratio(results.figures(graphs::SUITE), family, count, name, Queue::ChaseLev.name())
    });
    let texts = Texts::new(
        "closure",
        format!("Figure 11: transitive closure, {}", threads(count)),
        "The paper, on a Haswell: all three are close to each other. They take about 0.67 on the torus; FF-CL takes 0.83 on average.",
        bench(graphs::SUITE, results.full, &[&Task::Closure.to_string()]),
    );
    figure(texts, chart)
}
