//! Figure 11: FF-CL and the idempotent queues compared with Chase-Lev, on transitive closures.

use crate::bench::graphs::{closure_ratio, Task, FAMILIES};
use crate::bench::{graphs, THREADS};
use crate::figures::threads;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::Item;
use crate::report::sections::items::{bars, bench, figure, Texts};

pub(super) fn closure(results: &Results) -> Item {
    let labels = FAMILIES.map(|(_, name)| name);
    let names = [Queue::FfCl, Queue::Lifo, Queue::DoubleEnded].map(Queue::name);
    let chart = bars("time, chase_lev = 1", Some(1.0), &labels, &names, |label, name| {
        let &(family, _) = FAMILIES.iter().find(|(_, known)| *known == label)?;
        closure_ratio(results.figures(graphs::SUITE), family, THREADS, name, Queue::ChaseLev.name())
    });
    figure(
        Texts {
            id: "closure",
            title: format!("Figure 11: transitive closure, {}", threads(THREADS)),
            caption: "The paper, on a Haswell: all three are close to each other. They take about 0.67 on the torus; FF-CL takes 0.83 on average.".to_owned(),
            command: bench(graphs::SUITE, results.full, &[&Task::Closure.to_string()]),
        },
        chart,
    )
}
