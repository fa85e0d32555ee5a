//! Figures over the number of threads, in a report that has more than two numbers of them.
//!
//! They are figures 5 to 10 of *Idempotent Work Stealing*, and 9 and 10 of *A Lock-Free Work-Stealing
//! Algorithm for Bulk Operations*.

use super::items::{bench, lines};
use crate::bench::bulk::{BULK, CROSSBEAM, MUTEX, NANOS_A_NODE};
use crate::bench::graphs::{Task, FF_CL, NANOS_A_VERTEX};
use crate::bench::{bulk, graphs, THREADS};
use crate::chart::Chart;
use crate::claims::{Figures, Rounds};
use crate::figures::Series;
use crate::queue::Queue;
use crate::report::collect::Results;
use crate::report::page::{Item, Texts};

/// The queues of the idempotent paper's figures, and the fence-free one of this project's claims.
const QUEUES: [&str; 6] = [
    Queue::ChaseLev.name(),
    Queue::The.name(),
    Queue::Lifo.name(),
    Queue::Fifo.name(),
    Queue::DoubleEnded.name(),
    FF_CL,
];

/// The numbers of threads of figures, in rising order.
fn counts(figures: Figures<'_>, is_wanted: impl Fn(&Series) -> bool) -> Vec<usize> {
    let mut counts: Vec<usize> = figures.series.iter().filter(|one| is_wanted(one)).map(|one| one.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The largest number of threads in a suite that have a core each.
pub(super) fn most(results: &Results, suite: &str) -> usize {
    let counts = counts(results.figures(suite), |_| true);
    counts.into_iter().filter(|count| *count <= results.machine.cores).max().unwrap_or(THREADS).max(THREADS)
}

/// Draws lines over the numbers of threads, if there are more than two.
///
/// A mark shows where threads begin to share cores.
fn chart<L>(
    results: &Results,
    counts: &[usize],
    y_axis: (&str, bool),
    of: &[(String, L)],
    figure: impl Fn(&L, usize) -> Option<Rounds>,
) -> Option<Chart> {
    let cores = results.machine.cores;
    let mut chart = lines(("threads", true), y_axis, of, counts, figure).filter(|_| counts.len() > 2)?;
    if let Chart::Lines(lines) = &mut chart {
        let is_oversubscribed = counts.iter().any(|count| *count > cores);
        lines.marker = is_oversubscribed.then(|| (cores as f64, format!("{cores} cores; beyond: oversubscribed")));
    }
    Some(chart)
}

/// The command that measures a suite's case with these numbers of threads.
fn command(results: &Results, suite: &str, case: &str, counts: &[usize]) -> String {
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    format!("{} --threads {}", bench(suite, results.full, &[case]), counts.join(","))
}

/// Returns a figure for each graph: the speed of each queue.
pub(super) fn traversals(results: &Results, task: Task) -> Vec<Item> {
    let figures = results.figures(graphs::SUITE);
    let chase_lev = (Queue::ChaseLev.name(), 1);
    let queues = QUEUES.map(|queue| (queue.to_owned(), queue));
    let of_case = |case: &str| {
        let counts = counts(figures, |one| one.case == case);
        let chart =
            chart(results, &counts, ("speed, chase_lev with 1 thread = 1", false), &queues, |&queue, count| {
                figures.ratio(case, NANOS_A_VERTEX, chase_lev, (queue, count))
            })?;
        let texts = Texts::new(
            format!("threads-{}", case.replace('/', "-")),
            format!("Figures 5 to 10, over threads: {case}"),
            "The paper, on an Opteron with 8 cores: K-graphs scale up to five or six threads, a torus up to two. LIFO is the \
             fastest in nearly all cases.",
            command(results, graphs::SUITE, case, &counts),
        );
        Some(Item::Figure(texts, chart))
    };
    let is_of_task = |case: &&str| case.starts_with(&format!("{task}/")) && case.matches('/').count() == 1;
    figures.cases(NANOS_A_VERTEX).into_iter().filter(is_of_task).filter_map(of_case).collect()
}

/// Returns the figures of explorations of a DAG: each size on `bulk`, and each queue on each size.
pub(super) fn explorations(results: &Results) -> Vec<Item> {
    let figures = results.figures(bulk::SUITE);
    let cases = figures.cases(NANOS_A_NODE);
    let all = counts(figures, |one| one.unit == NANOS_A_NODE);
    let y_axis = ("nanoseconds per node", true);
    let named: Vec<(String, &str)> = cases.iter().map(|case| ((*case).to_owned(), *case)).collect();
    let sizes = chart(results, &all, y_axis, &named, |case, count| figures.figure(case, NANOS_A_NODE, (BULK, count)));
    let sizes = sizes.map(|chart| {
        let texts = Texts::new(
            "threads-bulk",
            "Figure 9, over threads: graphs explored on `bulk`",
            "The paper, with 1 to 128 threads: the time halves when the number of threads doubles, for both sizes of graphs. \
             Both axes are logarithmic.",
            command(results, bulk::SUITE, "dag", &all),
        );
        Item::Figure(texts, chart)
    });
    let queues = [BULK, CROSSBEAM, MUTEX].map(|name| (name.to_owned(), name));
    let of_case = |case: &&str| {
        let counts = counts(figures, |one| one.case == *case);
        let chart =
            chart(results, &counts, y_axis, &queues, |&name, count| figures.figure(case, NANOS_A_NODE, (name, count)))?;
        let texts = Texts::new(
            format!("threads-{}", case.replace('/', "-")),
            format!("Figure 10, over threads: {case}"),
            "The paper finds the same time on all queues. Both axes are logarithmic.",
            command(results, bulk::SUITE, case, &counts),
        );
        Some(Item::Figure(texts, chart))
    };
    sizes.into_iter().chain(cases.iter().filter_map(of_case)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sections::tests::everything;

    /// Results with four threads beside one and two, on a machine with two cores.
    fn swept() -> Results {
        let mut results = everything();
        results.machine.cores = 2;
        for series in results.suites.values_mut() {
            let more: Vec<_> = series.iter().filter(|one| one.threads == 2).cloned().collect();
            series.extend(more.into_iter().map(|mut one| {
                one.threads = 4;
                one
            }));
        }
        results
    }

    #[test]
    fn a_report_without_a_sweep_has_no_figures_over_threads() {
        let results = everything();
        assert!(traversals(&results, Task::Closure).is_empty() && explorations(&results).is_empty());
    }

    #[test]
    fn a_sweep_marks_where_threads_share_cores() {
        let results = swept();
        for items in [traversals(&results, Task::Closure), explorations(&results)] {
            assert!(items.len() >= 3);
            for item in &items {
                let Item::Figure(texts, Chart::Lines(lines)) = item else { panic!("no lines") };
                assert!(texts.command.ends_with("--threads 1,2,4"), "{}", texts.command);
                let (at, name) = lines.marker.as_ref().unwrap();
                assert_eq!((*at, &**name), (2.0, "2 cores; beyond: oversubscribed"));
                assert!(lines.lines.iter().any(|line| line.points.len() == 3));
            }
        }
    }

    #[test]
    fn the_most_threads_have_a_core_each() {
        let mut results = swept();
        assert_eq!(most(&results, graphs::SUITE), 2);
        results.machine.cores = 64;
        assert_eq!(most(&results, graphs::SUITE), 4);
    }
}
