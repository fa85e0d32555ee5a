//! Exploration of a directed acyclic graph by workers that steal half.
//!
//! It reproduces figures 9 and 10 of the paper.

mod graph;
mod work;
mod workers;

use std::sync::atomic::AtomicBool;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, Result};

use crate::bench::busy::Calibration;
use crate::bench::rounds::{interleave, Effort, Runner};
use crate::bench::{Threads, SERIAL, SERIAL_PAIR};
use crate::figures::Series;
pub(crate) use graph::MOST_NODES;
use graph::{Dag, BYTES_A_NODE};
pub(crate) use work::NodeCost;
use work::{Steps, Visits, Work};
use workers::{explore, BatchList, BulkList, CrossbeamList, MutexList, Worklist};

/// The unit of time per node.
pub(crate) const NANOS_A_NODE: &str = "ns/node";

const SEED: u64 = 7;

/// A description of the node costs.
pub(crate) fn description(cost: NodeCost) -> String {
    match cost {
        NodeCost::Uniform => format!("every node takes {} ns", work::UNIFORM_NANOS),
        NodeCost::Skewed => format!(
            "one node in {} takes {} us, the others {} ns",
            work::LONG_ONE_IN,
            work::LONG_NANOS / 1_000,
            work::USUAL_NANOS
        ),
    }
}

/// The memory and time of a measurement.
pub(crate) struct Needs {
    /// The memory in bytes: the graph and the flags. Few nodes are open at a time, so the queues
    /// need almost nothing.
    pub(crate) bytes: u64,
    /// A rough time.
    pub(crate) time: Duration,
}

/// A rough time to make a graph or to explore it with one thread, per node.
const ROUGH_NANOS_A_NODE: f64 = 400.0;

/// What `rounds` rounds need.
pub(crate) fn needs(nodes: usize, threads: &Threads, rounds: usize) -> Needs {
    let (flags, pair) = if threads.have_two() { (2, 1.0) } else { (1, 0.0) };
    // The loop, two of them side by side, and four queues with each number of threads.
    let passes = 1.0 + pair + threads.counts().iter().map(|&count| 4.0 / count as f64).sum::<f64>();
    let nanos = ROUGH_NANOS_A_NODE * nodes as f64 * (1.0 + rounds as f64 * passes);
    Needs { bytes: (nodes * (BYTES_A_NODE + flags)) as u64, time: Duration::from_nanos(nanos as u64) }
}

/// Measures all rounds, with each number of threads.
pub(crate) fn measure(
    case: &str,
    nodes: usize,
    cost: NodeCost,
    threads: &Threads,
    effort: Effort,
) -> Result<Vec<Series>> {
    let dag = Dag::random(nodes, SEED);
    let flags = |nodes| -> Vec<AtomicBool> { (0..nodes).map(|_| AtomicBool::new(false)).collect() };
    let (one, two) = (flags(nodes), flags(if threads.have_two() { nodes } else { 0 }));
    let steps = Steps::of(cost, Calibration::measure());
    let setup = Setup { dag: &dag, steps, one: &one, two: &two };

    let mut runners = vec![setup.runner(SERIAL, 1, |work| serial(&work))];
    for &threads in threads.counts() {
        runners.push(setup.on::<BulkList>(threads));
        runners.push(setup.on::<BatchList>(threads));
        runners.push(setup.on::<CrossbeamList>(threads));
        runners.push(setup.on::<MutexList>(threads));
    }
    if threads.have_two() {
        runners.push(Runner { name: SERIAL_PAIR, threads: 2, measure: Box::new(move || setup.pair()) });
    }
    interleave(case, &[NANOS_A_NODE], &runners, effort)
}

/// The graph and its flags, which all contenders use in turn.
#[derive(Clone, Copy)]
struct Setup<'a> {
    dag: &'a Dag,
    steps: Steps,
    one: &'a [AtomicBool],
    /// The flags of the second of two loops that run side by side.
    two: &'a [AtomicBool],
}

impl<'a> Setup<'a> {
    fn runner<F>(self, name: &'static str, threads: usize, run: F) -> Runner<'a>
    where
        F: Fn(Work<'_>) -> Result<Duration> + 'a,
    {
        let measure = move || {
            let elapsed = run(Work::new(self.dag, self.steps, self.one))?;
            Ok(vec![elapsed.as_nanos() as f64 / self.dag.nodes() as f64])
        };
        Runner { name, threads, measure: Box::new(measure) }
    }

    fn on<W: Worklist + 'a>(self, threads: usize) -> Runner<'a> {
        self.runner(W::NAME, threads, move |work| explore::<W>(&work, threads))
    }

    /// Two serial loops side by side: the most that two independent threads can do.
    fn pair(self) -> Result<Vec<f64>> {
        let works = [self.one, self.two].map(|claimed| Work::new(self.dag, self.steps, claimed));
        let barrier = Barrier::new(works.len());
        let barrier = &barrier;
        let times: Vec<Duration> = thread::scope(|scope| {
            let run = |work| {
                scope.spawn(move || {
                    barrier.wait();
                    serial(&work)
                })
            };
            let threads: Vec<_> = works.into_iter().map(run).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| anyhow!("a serial loop panicked"))?)
                .collect::<Result<_>>()
        })?;
        let longest = times.iter().max().copied().unwrap_or_default();
        Ok(vec![longest.as_nanos() as f64 / (2 * self.dag.nodes()) as f64])
    }
}

/// Visits all nodes in a loop with a stack.
fn serial(work: &Work<'_>) -> Result<Duration> {
    let mut visits = Visits::default();
    let mut stack = vec![0];
    let start = Instant::now();
    while let Some(node) = stack.pop() {
        work.visit(node, &mut visits, |next| stack.push(next));
    }
    let elapsed = start.elapsed();
    work.check(visits)?;
    Ok(elapsed)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use filch_queue::bulk::Thief;

    use super::workers::StealOutcome;
    use super::*;

    /// A bulk queue that loses the tenth node that is popped, or returns it twice.
    struct Wrong<const TWICE: bool> {
        list: BulkList,
        popped: Cell<usize>,
    }

    impl<const TWICE: bool> Worklist for Wrong<TWICE> {
        const NAME: &'static str = "wrong";
        type Handle = Thief<usize>;

        fn new() -> (Self, Self::Handle) {
            let (list, handle) = BulkList::new();
            (Wrong { list, popped: Cell::new(0) }, handle)
        }

        fn visit(&self, work: &Work<'_>, node: usize, visits: &mut Visits) {
            self.list.visit(work, node, visits);
        }

        fn push_first(&self, node: usize) {
            self.list.push_first(node);
        }

        fn pop(&self) -> Option<usize> {
            let node = self.list.pop()?;
            self.popped.set(self.popped.get() + 1);
            match (self.popped.get(), TWICE) {
                (10, true) => self.list.push_first(node),
                (10, false) => return self.list.pop(),
                _ => {}
            }
            Some(node)
        }

        fn steal_half(&self, other: &Self::Handle) -> StealOutcome {
            self.list.steal_half(other)
        }

        fn is_empty(other: &Self::Handle) -> bool {
            BulkList::is_empty(other)
        }
    }

    #[test]
    fn a_queue_that_loses_or_doubles_a_node_fails_the_case() {
        let (dag, nodes) = (Dag::random(1_000, SEED), 1_000);
        let flags: Vec<_> = (0..nodes).map(|_| AtomicBool::new(false)).collect();
        let steps = Steps::of(NodeCost::Uniform, Calibration::measure());
        let setup = Setup { dag: &dag, steps, one: &flags, two: &flags };
        let measured = |runner| interleave("dag/uniform-1k", &[NANOS_A_NODE], &[runner], Effort::exactly(1));
        for threads in [1, 2] {
            assert_eq!(measured(setup.on::<BulkList>(threads)).unwrap().len(), 1);
            for wrong in [setup.on::<Wrong<false>>(threads), setup.on::<Wrong<true>>(threads)] {
                let error = format!("{:#}", measured(wrong).unwrap_err());
                assert!(error.starts_with(&format!("wrong with {threads} threads failed in round 1")), "{error}");
                assert!(error.contains("visits were made to 1000 nodes"), "{error}");
            }
        }
    }

    #[test]
    fn the_papers_largest_graph_needs_about_four_gigabytes() {
        let (one, two) = (Threads::from_iter([1]), Threads::default());
        let largest = needs(300_000_000, &two, 1);
        assert_eq!(largest.bytes, 4_200_000_000);
        assert!(needs(300_000_000, &one, 1).bytes < largest.bytes);
        assert!(needs(300_000_000, &two, 3).time > 2 * largest.time);
    }
}
