//! The traversal for one thread: a loop with a vector as a stack.

use anyhow::Result;

use super::{Input, Sample};
use crate::bench::at_once::timed_on_threads;
use crate::bench::graphs::problems::Problem;

/// Traverses from the roots once for each problem, side by side, sharing nothing but the graph.
///
/// The time is that of all traversals: two show the most that the machine can do. Every traversal
/// is on a thread of its own, as for all contenders. The thread that has just prepared the memory
/// would have it in its cache.
pub(crate) fn serial<P: Problem + Send>(input: &Input, problems: &mut [P]) -> Result<Sample> {
    let (elapsed, tasks) = timed_on_threads("a serial run", problems.iter_mut(), |problem| traverse(input, problem))?;
    Ok(Sample { elapsed, tasks: Some(tasks.iter().sum()), stolen: None })
}

fn traverse<P: Problem>(input: &Input, problem: &mut P) -> u64 {
    let mut stack = input.roots.clone();
    let mut tasks = 0;
    while let Some(vertex) = stack.pop() {
        tasks += 1;
        problem.visit_alone(&input.graph, vertex, |next| stack.push(next));
    }
    tasks
}
