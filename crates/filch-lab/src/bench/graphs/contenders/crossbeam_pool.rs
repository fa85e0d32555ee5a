//! The traversal on crossbeam-deque, in a pool written by hand.
//!
//! The pool has a deque per worker, an injector for the roots, and steals batches. It counts the
//! workers that may still have tasks. No worker touches that count while there is enough work.

use std::iter;

use anyhow::Result;
use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use filch_graph::Vertex;

use super::{Input, Sample};
use crate::bench::at_once::{timed_on_threads, ActiveWorkers};
use crate::bench::graphs::problems::Problem;

/// The state that the workers share.
struct Shared<'a, P> {
    input: &'a Input,
    problem: &'a P,
    injector: Injector<Vertex>,
    stealers: Vec<Stealer<Vertex>>,
    active: ActiveWorkers,
}

/// Traverses from the roots.
pub(crate) fn crossbeam_pool<P: Problem>(input: &Input, problem: &P, threads: usize) -> Result<Sample> {
    let workers: Vec<Worker<Vertex>> = (0..threads).map(|_| Worker::new_lifo()).collect();
    let shared = Shared {
        input,
        problem,
        injector: Injector::new(),
        stealers: workers.iter().map(Worker::stealer).collect(),
        active: ActiveWorkers::new(threads),
    };
    input.roots.iter().for_each(|&root| shared.injector.push(root));
    let work = |(index, worker): (usize, Worker<Vertex>)| shared.work(index, &worker);
    let (elapsed, counts) = timed_on_threads("a worker", workers.into_iter().enumerate(), work)?;
    let (tasks, found): (Vec<u64>, Vec<u64>) = counts.into_iter().unzip();
    Ok(Sample {
        elapsed,
        tasks: Some(tasks.iter().sum()),
        // All tasks found but the roots, which were no worker's tasks.
        stolen: Some(found.iter().sum::<u64>().saturating_sub(input.roots.len() as u64)),
    })
}

impl<P: Problem> Shared<'_, P> {
    /// Returns the number of tasks, and of those among them that came from another queue.
    fn work(&self, index: usize, worker: &Worker<Vertex>) -> (u64, u64) {
        let (mut tasks, mut found) = (0, 0);
        loop {
            while let Some(vertex) = worker.pop() {
                tasks += 1;
                self.problem.visit(&self.input.graph, vertex, |next| worker.push(next));
            }
            match self.find(index, worker) {
                Some(vertex) => {
                    // The deque was empty: the tasks in it now came with this one.
                    found += 1 + worker.len() as u64;
                    tasks += 1;
                    self.problem.visit(&self.input.graph, vertex, |next| worker.push(next));
                }
                None if self.active.wait_for_work(|| self.has_work()) => {}
                None => return (tasks, found),
            }
        }
    }

    fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    /// Finds a task in another queue, and moves a batch of others along with it.
    fn find(&self, index: usize, worker: &Worker<Vertex>) -> Option<Vertex> {
        let others = || self.stealers.iter().enumerate().filter(|(other, _)| *other != index);
        iter::repeat_with(|| {
            let from_others = || others().map(|(_, stealer)| stealer.steal_batch_and_pop(worker)).collect();
            self.injector.steal_batch_and_pop(worker).or_else(from_others)
        })
        .find(|stolen: &Steal<Vertex>| !stolen.is_retry())
        .and_then(Steal::success)
    }
}
