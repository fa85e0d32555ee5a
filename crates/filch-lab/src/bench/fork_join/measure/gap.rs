//! Runs one at a time, each after a gap in which the pool is idle.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::warm_pool;
use crate::bench::contenders::{Contender, Fork};
use crate::bench::cpu;
use crate::bench::work::Work;
use crate::stats;

/// The length of a gap.
const GAP: Duration = Duration::from_millis(1);

/// The cost of runs after gaps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AfterGaps {
    /// The median of the runs' times, in nanoseconds.
    pub(crate) nanos: f64,
    /// CPU time of the whole process for a run and its gap, in microseconds.
    pub(crate) cpu_micros: f64,
}

/// Makes `calls` runs from inside the pool. The calling thread sleeps before each.
pub(crate) fn after_gaps<C: Contender, W: Work>(work: &W, threads: usize, calls: usize) -> Result<AfterGaps> {
    let pool = warm_pool::<C>(threads)?;
    C::enter(&pool, |mut context| {
        let mut answers = Vec::with_capacity(calls);
        let mut nanos = Vec::with_capacity(calls);
        let cpu_before = cpu::time()?;
        for _ in 0..calls {
            let input = work.input();
            thread::sleep(GAP);
            let start = Instant::now();
            let answer = black_box(work).run::<C::Fork>(C::Fork::reborrow(&mut context), input);
            nanos.push(start.elapsed().as_nanos() as f64);
            answers.push(answer);
        }
        let cpu = cpu::time()?.saturating_sub(cpu_before);
        answers.iter().try_for_each(|answer| work.check(answer))?;
        Ok(AfterGaps {
            nanos: stats::median(&nanos).context("there were no runs")?,
            cpu_micros: cpu.as_secs_f64() * 1e6 / calls as f64,
        })
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::bench::contenders::{Chili, FilchWorker, Rayon, Serial};
    use crate::bench::work::Tree;

    #[test]
    fn time_and_cpu_time_are_known() {
        let tree = Tree::new(8);
        for sample in [
            after_gaps::<Serial, _>(&tree, 1, 3),
            after_gaps::<FilchWorker, _>(&tree, 2, 3),
            after_gaps::<Rayon, _>(&tree, 2, 3),
            after_gaps::<Chili, _>(&tree, 2, 3),
        ] {
            let sample = sample.unwrap();
            assert!(sample.nanos > 0.0);
            assert!(sample.cpu_micros > 0.0);
        }
    }
}
