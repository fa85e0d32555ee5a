//! The traversal on rayon: with a spawn for each vertex, and level by level.

use std::time::Instant;

use anyhow::{Context, Result};
use filch_graph::Vertex;
use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use super::{Input, Sample};
use crate::bench::graphs::problems::Problem;

/// The fewest vertices in a part of a level. A level of less than two parts is not divided.
const SMALL: usize = 512;

/// `rayon-spawn`: each vertex is spawned into one scope.
pub(crate) fn rayon_spawn<P: Problem>(input: &Input, problem: &P, threads: usize) -> Result<Sample> {
    let elapsed = pool(threads)?.install(|| {
        let start = Instant::now();
        rayon::scope(|scope| {
            for &root in &input.roots {
                scope.spawn(move |scope| visit(scope, input, problem, root));
            }
        });
        start.elapsed()
    });
    Ok(Sample { elapsed, tasks: None, stolen: None })
}

fn visit<'a, P: Problem>(scope: &Scope<'a>, input: &'a Input, problem: &'a P, vertex: Vertex) {
    problem.visit(&input.graph, vertex, |next| scope.spawn(move |scope| visit(scope, input, problem, next)));
}

/// `rayon-frontier`: one level at a time, all vertices at the same distance from the roots.
pub(crate) fn rayon_frontier<P: Problem>(input: &Input, problem: &P, threads: usize) -> Result<Sample> {
    let (tasks, elapsed) = pool(threads)?.install(|| {
        let start = Instant::now();
        let mut tasks = 0;
        let (mut level, mut next) = (input.roots.clone(), Vec::new());
        while !level.is_empty() {
            tasks += level.len() as u64;
            let find = |mut found: Vec<Vertex>, &vertex: &Vertex| {
                problem.visit(&input.graph, vertex, |next| found.push(next));
                found
            };
            if level.len() < 2 * SMALL {
                next = level.iter().fold(next, find);
            } else {
                let parts = level.par_iter().with_min_len(SMALL).fold(Vec::new, find);
                next = parts.reduce(Vec::new, |mut a, mut b| {
                    a.append(&mut b);
                    a
                });
            }
            std::mem::swap(&mut level, &mut next);
            next.clear();
        }
        (tasks, start.elapsed())
    });
    Ok(Sample { elapsed, tasks: Some(tasks), stolen: None })
}

/// A pool whose threads have started.
fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .with_context(|| format!("a rayon pool of {threads} threads could not be started"))?;
    pool.broadcast(|_| ());
    Ok(pool)
}
