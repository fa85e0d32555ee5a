//! The traversal for one thread: a loop with a vector as a stack.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use anyhow::{anyhow, Result};

use super::{Input, Sample};
use crate::bench::graphs::problems::Problem;

/// Traverses from the root, on a thread of its own as for all contenders.
///
/// The thread that has just prepared the memory would have it in its cache.
pub(crate) fn serial<P: Problem + Send>(input: &Input, problem: &mut P) -> Result<Sample> {
    let timed = || {
        let start = Instant::now();
        let tasks = traverse(input, problem);
        Sample { elapsed: start.elapsed(), tasks: Some(tasks), stolen: None }
    };
    thread::scope(|scope| scope.spawn(timed).join().map_err(|_| anyhow!("a serial run panicked")))
}

/// Traverses on two threads side by side, which share nothing but the graph.
///
/// This is the most that the machine can do. The time is that of both threads, for two traversals.
pub(crate) fn serial_pair<P: Problem + Send>(input: &Input, one: &mut P, other: &mut P) -> Result<Sample> {
    let barrier = Barrier::new(2);
    let timed = |problem: &mut P| {
        barrier.wait();
        let start = Instant::now();
        let tasks = traverse(input, problem);
        (start, Instant::now(), tasks)
    };
    let both = thread::scope(|scope| {
        let threads = [scope.spawn(|| timed(one)), scope.spawn(|| timed(other))];
        threads.map(|thread| thread.join().map_err(|_| anyhow!("a serial run panicked")))
    });
    let [one, other] = both;
    let (one, other) = (one?, other?);
    let elapsed = one.1.max(other.1).duration_since(one.0.min(other.0));
    Ok(Sample { elapsed, tasks: Some(one.2 + other.2), stolen: None })
}

fn traverse<P: Problem>(input: &Input, problem: &mut P) -> u64 {
    let mut stack = vec![input.root];
    let mut tasks = 0;
    while let Some(vertex) = stack.pop() {
        tasks += 1;
        problem.visit_alone(&input.graph, vertex, |next| stack.push(next));
    }
    tasks
}
