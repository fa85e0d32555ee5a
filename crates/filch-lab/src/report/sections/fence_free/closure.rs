//! Figure 11: FF-CL and the idempotent queues compared with Chase-Lev, on transitive closures.

use super::{ID, SOURCE};
use crate::bench::graphs::{Family, Task, NANOS_A_VERTEX};
use crate::bench::{graphs, THREADS};
use crate::figures::threads;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::{Item, Verdict};
use crate::report::sections::claim::{Bound, Claim, Criterion};
use crate::report::sections::graphs::{graph_case, FAMILIES};
use crate::report::sections::items::{bars, bench, figure, Texts};
use crate::report::sections::ratio::Figures;
use crate::report::sections::rounds::Rounds;

const CHASE_LEV: &str = Queue::ChaseLev.name();
const FF_CL: &str = Queue::FfCl.name();
const LIFO: &str = Queue::Lifo.name();

/// Returns the ratio of the times of two queues on a graph of a family.
fn ratio(results: &Results, family: Family, over: &str, under: &str) -> Option<Rounds> {
    let figures = Figures::of(results, graphs::SUITE);
    let case = graph_case(figures, Task::Closure, family)?;
    figures.ratio(&case, NANOS_A_VERTEX, (over, THREADS), (under, THREADS))
}

pub(super) fn verdicts(results: &Results) -> Vec<Verdict> {
    let claim = |text: &str| Claim::new(SOURCE, ID, text);
    let torus = |name: &str| {
        Criterion::new(
            format!("{name} / {CHASE_LEV}:"),
            ratio(results, Family::Torus, name, CHASE_LEV),
            Bound::saves_about(0.33),
        )
    };
    let all = FAMILIES.map(|(family, _)| ratio(results, family, FF_CL, CHASE_LEV));
    let beside_lifo = FAMILIES.map(|(family, name)| {
        Criterion::new(format!("{name}:"), ratio(results, family, FF_CL, LIFO), Bound::AtMost(1.1))
    });
    vec![
        claim("Torus, two threads: FF-CL and the idempotent LIFO take about a third less time than Chase-Lev.")
            .judged("", vec![torus(FF_CL), torus(LIFO)]),
        claim("FF-CL takes 17 % less time than Chase-Lev, on average over the graphs.")
            .judged("ff_cl / chase_lev", vec![Criterion::mean("", &all, Bound::saves_about(0.17))]),
        claim("FF-CL is as fast as the idempotent LIFO, and returns each task once. (Tolerance: 10 %.)")
            .judged("ff_cl / idempotent::lifo", beside_lifo.to_vec()),
    ]
}

pub(super) fn closure(results: &Results) -> Item {
    let labels = FAMILIES.map(|(_, name)| name);
    let names = [FF_CL, LIFO, Queue::DoubleEnded.name()];
    let chart = bars("time, chase_lev = 1", Some(1.0), &labels, &names, |label, name| {
        let &(family, _) = FAMILIES.iter().find(|(_, known)| *known == label)?;
        ratio(results, family, name, CHASE_LEV)
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
