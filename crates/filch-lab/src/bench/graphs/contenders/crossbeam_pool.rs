//! The traversal on crossbeam-deque, in a pool written by hand.
//!
//! The pool has a deque per worker, an injector for the root, and steals batches. It counts the
//! workers that may still have tasks. No worker touches that count while there is enough work.

use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use anyhow::{anyhow, Result};
use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use crossbeam_utils::Backoff;
use filch_graph::Vertex;

use super::{Input, Sample};
use crate::bench::graphs::problems::Problem;

/// The state that the workers share.
struct Shared<'a, P> {
    input: &'a Input,
    problem: &'a P,
    injector: Injector<Vertex>,
    stealers: Vec<Stealer<Vertex>>,
    /// The number of workers that have tasks or search for them.
    ///
    /// A worker that is not counted has an empty deque and does not steal: at 0 there is no task
    /// left.
    active: AtomicUsize,
    barrier: Barrier,
}

/// The result of one worker.
struct WorkerResult {
    start: Instant,
    end: Instant,
    tasks: u64,
    /// The number of tasks that came from another queue.
    found: u64,
}

/// Traverses from the root.
pub(crate) fn crossbeam_pool<P: Problem>(input: &Input, problem: &P, threads: usize) -> Result<Sample> {
    let workers: Vec<Worker<Vertex>> = (0..threads).map(|_| Worker::new_lifo()).collect();
    let shared = Shared {
        input,
        problem,
        injector: Injector::new(),
        stealers: workers.iter().map(Worker::stealer).collect(),
        active: AtomicUsize::new(threads),
        barrier: Barrier::new(threads),
    };
    shared.injector.push(input.root);
    let shared = &shared;
    let done: Vec<WorkerResult> = thread::scope(|scope| {
        let spawn = |(index, worker)| scope.spawn(move || shared.work(index, &worker));
        let threads: Vec<_> = workers.into_iter().enumerate().map(spawn).collect();
        let ends = threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a worker panicked")));
        ends.collect::<Result<_>>()
    })?;
    let start = done.iter().map(|done| done.start).min();
    let end = done.iter().map(|done| done.end).max();
    let (Some(start), Some(end)) = (start, end) else { return Err(anyhow!("no thread ran")) };
    Ok(Sample {
        elapsed: end.duration_since(start),
        tasks: Some(done.iter().map(|done| done.tasks).sum()),
        // All tasks found but the root, which was no worker's task.
        stolen: Some(done.iter().map(|done| done.found).sum::<u64>().saturating_sub(1)),
    })
}

impl<P: Problem> Shared<'_, P> {
    fn work(&self, index: usize, worker: &Worker<Vertex>) -> WorkerResult {
        let (mut tasks, mut found) = (0, 0);
        self.barrier.wait();
        let start = Instant::now();
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
                None if self.wait_for_work() => {}
                None => break,
            }
        }
        WorkerResult { start, end: Instant::now(), tasks, found }
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

    /// Waits until there may be something to steal. Returns false if the traversal is over.
    fn wait_for_work(&self) -> bool {
        // Release: a worker that sees the end sees all work done before. Acquire: this worker sees
        // the work of the others.
        self.active.fetch_sub(1, Ordering::AcqRel);
        let backoff = Backoff::new();
        loop {
            if self.active.load(Ordering::Acquire) == 0 {
                return false;
            }
            if !self.injector.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty()) {
                self.active.fetch_add(1, Ordering::AcqRel);
                return true;
            }
            backoff.snooze();
        }
    }
}
