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
use graph::Dag;
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

/// Measures all rounds, with each number of threads.
pub(crate) fn measure(
    case: &str,
    nodes: usize,
    cost: NodeCost,
    threads: &Threads,
    effort: Effort,
) -> Result<Vec<Series>> {
    let dag = Dag::random(nodes, SEED);
    let flags = || -> Vec<AtomicBool> { (0..nodes).map(|_| AtomicBool::new(false)).collect() };
    let (one, two) = (flags(), flags());
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
