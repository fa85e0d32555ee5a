//! The closure of a graph of pointers, beside the same closure of rows of indices.
//!
//! The paper tried pointers instead of indices and reports similar results (section 4.2.3). A task
//! is a reference to the record of a vertex, and the record holds references to its neighbours.
//! Both forms run in the same rounds, on the two queues that the claims compare.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::OnceLock;

use anyhow::{ensure, Result};
use filch::explore::Explore;
use filch::queue::{ChaseLev, Kind, Lifo};
use filch_graph::Graph;

use super::contenders::{explore_on, explored_in_pool, Sample};
use super::problems::Closure;
use super::setup::{check_tasks, figures, Setup, NANOS_A_VERTEX, REDUNDANT, STOLEN};
use crate::bench::rounds::{interleave, Effort, Runner};
use crate::bench::Threads;
use crate::figures::Series;
use crate::queue::Queue;

/// The same queues on rows of indices.
pub(super) const CHASE_LEV_ROWS: &str = "chase_lev-rows";
pub(super) const LIFO_ROWS: &str = "idempotent::lifo-rows";

/// A vertex.
struct Record<'a> {
    /// Whether it was found.
    mark: AtomicU8,
    neighbours: OnceLock<Box<[&'a Record<'a>]>>,
}

impl<'a> Record<'a> {
    fn new() -> Record<'a> {
        Record { mark: AtomicU8::new(0), neighbours: OnceLock::new() }
    }

    fn neighbours(&self) -> &[&'a Record<'a>] {
        self.neighbours.get().map_or(&[], |neighbours| neighbours)
    }

    /// As [`Closure`]'s visit.
    #[inline(always)]
    fn visit(&self, mut push: impl FnMut(&'a Record<'a>)) {
        for &next in self.neighbours() {
            // Relaxed, both: a mark publishes no other memory.
            if next.mark.load(Ordering::Relaxed) == 0 {
                next.mark.store(1, Ordering::Relaxed);
                push(next);
            }
        }
    }
}

/// Measures closures of both forms, with each number of threads.
pub(super) fn measure(graph: Graph, case: &str, threads: &Threads, effort: Effort) -> Result<Vec<Series>> {
    let setup = Setup::<Closure>::new(graph)?;
    let (graph, reached) = (&setup.input().graph, setup.input().reached);
    let records: Vec<Record<'_>> = (0..graph.vertices()).map(|_| Record::new()).collect();
    for (record, (_, neighbours)) in records.iter().zip(graph.iter()) {
        record.neighbours.get_or_init(|| neighbours.iter().map(|&next| &records[next as usize]).collect());
    }
    let roots: Vec<&Record<'_>> = setup.input().roots.iter().map(|&root| &records[root as usize]).collect();
    let mut runners = Vec::new();
    for &threads in threads.counts() {
        runners.extend([
            pointers((Queue::ChaseLev.name(), threads), ChaseLev, &records, &roots, reached),
            pointers((Queue::Lifo.name(), threads), Lifo, &records, &roots, reached),
            setup.runner((CHASE_LEV_ROWS, threads), 1, true, move |input, problems| {
                explore_on(ChaseLev, input, &problems[0], threads)
            }),
            setup.runner((LIFO_ROWS, threads), 1, false, move |input, problems| {
                explore_on(Lifo, input, &problems[0], threads)
            }),
        ]);
    }
    interleave(case, &[NANOS_A_VERTEX, REDUNDANT, STOLEN], &runners, effort)
}

/// A closure of the records, explored on this kind of queue.
fn pointers<'a, K>(
    (name, threads): (&'static str, usize),
    kind: K,
    records: &'a [Record<'a>],
    roots: &'a [&'a Record<'a>],
    reached: usize,
) -> Runner<'a>
where
    K: Kind<&'a Record<'a>> + Copy + Send + 'a,
{
    let measure = move || {
        records.iter().for_each(|record| record.mark.store(0, Ordering::Relaxed));
        roots.iter().for_each(|root| root.mark.store(1, Ordering::Relaxed));
        let sample: Sample = explored_in_pool(threads, &mut || {
            let explore = Explore::at_least_once().queue(kind);
            explore.run(roots.iter().copied(), |record, worker| record.visit(|next| worker.push(next)))
        })?;
        check(records, reached)?;
        check_tasks(&sample, reached, false)?;
        Ok(figures(sample, reached))
    };
    Runner { name, threads, measure: Box::new(measure) }
}

/// As [`Closure`]'s check.
fn check(records: &[Record<'_>], reached: usize) -> Result<()> {
    let has = |record: &Record<'_>| record.mark.load(Ordering::Relaxed) != 0;
    let marked = records.iter().filter(|record| has(record)).count();
    ensure!(marked == reached, "{marked} vertices were reached instead of {reached}");
    let is_complete = |record: &Record<'_>| record.neighbours().iter().all(|next| has(next));
    ensure!(
        records.iter().filter(|record| has(record)).all(is_complete),
        "a vertex was reached, and one of its neighbours was not"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use filch_graph::generate;

    use super::*;

    #[test]
    fn both_forms_are_measured_on_both_queues() {
        let graph = generate::torus(12, 12).unwrap();
        let series = measure(graph, "closure/torus-144/pointers", &Threads::default(), Effort::exactly(1)).unwrap();
        let names = |threads| -> Vec<&str> {
            let times = series.iter().filter(|one| one.unit == NANOS_A_VERTEX && one.threads == threads);
            times.map(|one| one.name).collect()
        };
        for threads in [1, 2] {
            assert_eq!(names(threads), ["chase_lev", "idempotent::lifo", CHASE_LEV_ROWS, LIFO_ROWS]);
        }
    }

    #[test]
    fn a_vertex_that_was_missed_is_an_error() {
        let records = [Record::new(), Record::new()];
        for (record, next) in records.iter().zip([&records[1], &records[0]]) {
            record.neighbours.get_or_init(|| Box::new([next]));
        }
        records[0].mark.store(1, Ordering::Relaxed);
        assert_eq!(check(&records, 2).unwrap_err().to_string(), "1 vertices were reached instead of 2");
        assert_eq!(
            check(&records, 1).unwrap_err().to_string(),
            "a vertex was reached, and one of its neighbours was not"
        );
        records[1].mark.store(1, Ordering::Relaxed);
        check(&records, 2).unwrap();
    }
}
