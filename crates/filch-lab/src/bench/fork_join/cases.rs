//! The cases: what is measured, in which units, and the contenders.

use std::fmt;
use std::time::Duration;

use anyhow::Result;

use super::measure;
use super::plan::Plan;
use crate::bench::contenders::{
    Chili, Contender, EngineBarrier, EngineEvents, Filch, FilchAny, FilchFenced, FilchMaybe, FilchNoRaid, FilchWorker,
    Rayon, Serial, SerialCall, Tasks,
};
use crate::bench::cpu;
use crate::bench::rounds::{interleave, Effort, Runner};
use crate::bench::work::{self, BusyTree, Fib, Queens, Quicksort, Shape, Skewed, Tree, Work};
pub(super) use crate::bench::SERIAL_PAIR;
use crate::bench::{Threads, THREADS};
use crate::figures::Series;

/// The unit of time per join.
pub(crate) const NANOS_A_JOIN: &str = "ns/join";
/// The unit of time per sorted array.
pub(crate) const MILLIS_A_SORT: &str = "ms/sort";
/// The unit of time per run of a program whose leaves sleep.
pub(crate) const MILLIS_A_RUN: &str = "ms/run";
/// The unit of the process's CPU time per run and its gap.
pub(crate) const CPU_MICROS_A_CALL: &str = "cpu-us/call";
/// The unit of the process's CPU time while its pool is idle.
///
/// The thread that watches the pool is included.
pub(crate) const CPU_MILLIS_A_SECOND: &str = "cpu-ms/s";
/// The unit of the CPU time of an idle pool's threads.
pub(crate) const POOL_CPU_MILLIS_A_SECOND: &str = "pool-cpu-ms/s";
/// The unit of the context switches of an idle pool's threads.
pub(crate) const SWITCHES_A_SECOND: &str = "switches/s";
/// The unit of the process's CPU time per tick.
pub(crate) const CPU_MICROS_A_TICK: &str = "cpu-us/tick";
/// The unit of the process's CPU time per tick, without the work itself.
pub(crate) const EXTRA_CPU_MICROS_A_TICK: &str = "extra-cpu-us/tick";
/// The unit of time per task of a scope.
pub(crate) const NANOS_A_TASK: &str = "ns/task";
/// The unit of time from entering a pool to the first instruction inside.
pub(crate) const NANOS_A_WAKE: &str = "ns/wake";

/// The name of two independent serial runs that cannot be inlined.
pub(crate) const SERIAL_CALL_PAIR: &str = "serial-call-pair";

/// The engine whose sleepers make all workers pass a barrier.
pub(crate) const ENGINE_BARRIER: &str = EngineBarrier::NAME;
/// The engine with the jobs event counter.
pub(crate) const ENGINE_EVENTS: &str = EngineEvents::NAME;

/// The case that shows what the engine's two idle protocols add to a join.
pub(crate) const JOINS_OF_ENGINES: &str = "tree-1023";

/// The numbers of workers for programs whose leaves sleep.
pub(crate) const WIDTHS: [usize; 3] = [4, 16, 32];

/// The work of a tick, in nanoseconds.
const TICK: u64 = 50_000;

/// A case to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// A Fibonacci number by its definition.
    Fib(u32),
    /// The sum of a binary tree.
    Tree { layers: u32 },
    /// The sum of a large tree, only by the contenders that a claim compares.
    LargeTree { layers: u32 },
    /// The same sum, each time after an idle millisecond.
    TreeAfterGaps { layers: u32 },
    /// All ways to place this many queens.
    Queens(u32),
    /// Random numbers to sort.
    Quicksort { millions: u64 },
    /// A search of an unbalanced tree.
    Skewed,
    /// A scope that spawns this many tasks, which do almost nothing.
    Scope { tasks: usize },
    /// An idle pool.
    Idle,
    /// A pool that gets 50 microseconds of work each millisecond, which can be shared.
    Tick,
    /// Like `Tick`, with work that cannot be shared.
    TickSerial,
    /// The time from entering a sleeping pool to the first instruction inside.
    Wake,
    /// A program whose leaves sleep, so that many workers are busy on any machine.
    Wide(Shape),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = |layers: u32| match (1u64 << layers) - 1 {
            nodes if nodes >= 1_000_000 => format!("{}m", nodes / 1_000_000),
            nodes => nodes.to_string(),
        };
        match *self {
            Case::Fib(n) => write!(f, "fib-{n}"),
            Case::Tree { layers } | Case::LargeTree { layers } => write!(f, "tree-{}", nodes(layers)),
            Case::TreeAfterGaps { layers } => write!(f, "tree-{}-gap", nodes(layers)),
            Case::Queens(n) => write!(f, "queens-{n}"),
            Case::Quicksort { millions } => write!(f, "quicksort-{millions}m"),
            Case::Skewed => f.write_str("skewed"),
            Case::Scope { tasks } => write!(f, "scope-{}k", tasks / 1_000),
            Case::Idle => f.write_str("idle"),
            Case::Tick => f.write_str("tick"),
            Case::TickSerial => f.write_str("tick-serial"),
            Case::Wake => f.write_str("wake"),
            Case::Wide(shape) => f.write_str(shape.name()),
        }
    }
}

impl Case {
    /// A description of the case.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Case::Fib(_) => "nothing but joins",
            Case::Tree { .. } => "the sum of a binary tree of boxes, called back to back from inside the pool",
            Case::LargeTree { .. } => "the sum of a binary tree of boxes, only by the contenders that a claim compares",
            Case::TreeAfterGaps { .. } => "the same sum, each time after the caller slept for 1 ms inside the pool",
            Case::Queens(_) => "a search that joins wherever a row offers a choice",
            Case::Quicksort { .. } => "a sort of random numbers, with joins down to 32 of them",
            Case::Skewed => "a search of a tree that cannot be divided evenly in advance",
            Case::Scope { .. } => "a scope opened inside the pool, whose tasks only count their runs",
            Case::Idle => "an idle pool, after some work",
            Case::Tick => "50 us of work in 64 parts, entered from outside each ms",
            Case::TickSerial => "50 us of work in one part, entered from outside each ms",
            Case::Wake => "from entering a sleeping pool to the first instruction inside",
            Case::Wide(Shape::Balanced) => "joins of equal halves, whose leaves sleep for 2 ms",
            Case::Wide(Shape::Skewed) => {
                "joins whose first half has three quarters of the leaves, which sleep for 2 ms"
            }
            Case::Wide(Shape::Comb) => "a chain of joins, each with one leaf that sleeps for 2 ms",
            Case::Wide(Shape::Scopes) => "a scope whose tasks are trees of 8 leaves that sleep for 2 ms",
            Case::Wide(Shape::NestedScopes) => "scopes whose tasks open scopes, down to leaves that sleep for 2 ms",
            Case::Wide(Shape::Explore) => "a join of a worklist and a tree, whose leaves sleep for 2 ms",
        }
    }

    /// Whether the case needs CPU times from the operating system.
    pub(crate) fn needs_cpu_time(self) -> bool {
        matches!(self, Case::TreeAfterGaps { .. } | Case::Idle | Case::Tick | Case::TickSerial)
    }

    /// Whether the throughput of the engine with both idle protocols is measured, too.
    fn compares_protocols(self) -> bool {
        self.to_string() == JOINS_OF_ENGINES
    }

    /// Measures the case, with each number of threads.
    ///
    /// Wide cases have the plan's numbers of workers instead.
    pub(crate) fn measure(self, plan: &Plan, threads: &Threads, effort: Effort) -> Result<Vec<Series>> {
        match self {
            Case::Fib(n) => self.throughput(plan, effort, threads, &Fib(n)),
            Case::Tree { layers } => self.throughput(plan, effort, threads, &Tree::new(layers)),
            Case::LargeTree { layers } => self.large_tree(effort, threads, &Tree::new(layers)),
            Case::TreeAfterGaps { layers } => self.after_gaps(plan, effort, threads, &Tree::new(layers)),
            Case::Queens(n) => self.throughput(plan, effort, threads, &Queens(n)),
            Case::Quicksort { millions } => {
                self.throughput(plan, effort, threads, &Quicksort::new(millions * 1_000_000))
            }
            Case::Skewed => self.throughput(plan, effort, threads, &Skewed::new()),
            Case::Scope { tasks } => self.scope(plan, effort, threads, tasks),
            Case::Idle => self.idle(plan, effort, threads),
            Case::Tick => self.tick(plan, effort, threads, &BusyTree::lasting(TICK, 64)),
            Case::TickSerial => self.tick(plan, effort, threads, &BusyTree::lasting(TICK, 1)),
            Case::Wake => self.wake(plan, effort, threads),
            Case::Wide(shape) => self.wide(plan, effort, shape),
        }
    }

    fn throughput<W: Work>(self, plan: &Plan, effort: Effort, threads: &Threads, work: &W) -> Result<Vec<Series>> {
        let joins = work::joins(work)?;
        let calls = match self {
            Case::Tree { .. } => usize::try_from(plan.joins_a_sample / joins.max(1))?.max(1),
            _ => 1,
        };
        let (unit, divisor) = match self {
            Case::Quicksort { .. } => (MILLIS_A_SORT, 1e6),
            _ => (NANOS_A_JOIN, joins as f64),
        };

        let runner = |name, threads, measure: fn(&W, usize, usize) -> Result<f64>| Runner {
            name,
            threads,
            measure: Box::new(move || Ok(vec![measure(work, threads, calls)? / divisor])),
        };
        let mut runners = vec![
            runner(Serial::NAME, 1, measure::back_to_back::<Serial, W>),
            runner(SerialCall::NAME, 1, measure::back_to_back::<SerialCall, W>),
        ];
        for &threads in threads.counts() {
            runners.extend([
                runner(FilchWorker::NAME, threads, measure::back_to_back::<FilchWorker, W>),
                runner(Filch::NAME, threads, measure::back_to_back::<Filch, W>),
                runner(FilchMaybe::NAME, threads, measure::back_to_back::<FilchMaybe, W>),
                runner(FilchFenced::NAME, threads, measure::back_to_back::<FilchFenced, W>),
                runner(FilchNoRaid::NAME, threads, measure::back_to_back::<FilchNoRaid, W>),
                runner(Rayon::NAME, threads, measure::back_to_back::<Rayon, W>),
                runner(Chili::NAME, threads, measure::back_to_back::<Chili, W>),
            ]);
            // One case is enough for the price that the idle protocols add to a join.
            if self.compares_protocols() {
                runners.extend([
                    runner(EngineBarrier::NAME, threads, measure::back_to_back::<EngineBarrier, W>),
                    runner(EngineEvents::NAME, threads, measure::back_to_back::<EngineEvents, W>),
                ]);
            }
        }
        if threads.have_two() {
            runners.extend([
                runner(SERIAL_PAIR, 2, measure::side_by_side::<Serial, W>),
                runner(SERIAL_CALL_PAIR, 2, measure::side_by_side::<SerialCall, W>),
            ]);
        }
        interleave(&self.to_string(), &[unit], &runners, effort)
    }

    /// Measures the contenders of the claim about a large tree, with two threads if there are two.
    fn large_tree<W: Work>(self, effort: Effort, threads: &Threads, work: &W) -> Result<Vec<Series>> {
        let joins = work::joins(work)? as f64;
        let count = if threads.have_two() { THREADS } else { threads.most() };
        let runner = |name, measure: fn(&W, usize, usize) -> Result<f64>| Runner {
            name,
            threads: count,
            measure: Box::new(move || Ok(vec![measure(work, count, 1)? / joins])),
        };
        let runners = [
            runner(FilchWorker::NAME, measure::back_to_back::<FilchWorker, W>),
            runner(FilchMaybe::NAME, measure::back_to_back::<FilchMaybe, W>),
            runner(Rayon::NAME, measure::back_to_back::<Rayon, W>),
            runner(Chili::NAME, measure::back_to_back::<Chili, W>),
        ];
        interleave(&self.to_string(), &[NANOS_A_JOIN], &runners, effort)
    }

    fn after_gaps<W: Work>(self, plan: &Plan, effort: Effort, threads: &Threads, work: &W) -> Result<Vec<Series>> {
        let joins = work::joins(work)? as f64;
        let runner = |name, threads, measure: fn(&W, usize, usize) -> Result<measure::AfterGaps>| Runner {
            name,
            threads,
            measure: Box::new(move || {
                let sample = measure(work, threads, plan.gaps)?;
                Ok(vec![sample.nanos / joins, sample.cpu_micros])
            }),
        };
        let mut runners = vec![runner(Serial::NAME, 1, measure::after_gaps::<Serial, W>)];
        for &threads in threads.several() {
            runners.extend([
                runner(FilchWorker::NAME, threads, measure::after_gaps::<FilchWorker, W>),
                runner(Filch::NAME, threads, measure::after_gaps::<Filch, W>),
                runner(FilchMaybe::NAME, threads, measure::after_gaps::<FilchMaybe, W>),
                runner(FilchFenced::NAME, threads, measure::after_gaps::<FilchFenced, W>),
                runner(FilchNoRaid::NAME, threads, measure::after_gaps::<FilchNoRaid, W>),
                runner(Rayon::NAME, threads, measure::after_gaps::<Rayon, W>),
                runner(Chili::NAME, threads, measure::after_gaps::<Chili, W>),
            ]);
        }
        interleave(&self.to_string(), &[NANOS_A_JOIN, CPU_MICROS_A_CALL], &runners, effort)
    }

    /// Measures a scope.
    ///
    /// chili takes no part: it has no scopes of tasks.
    fn scope(self, plan: &Plan, effort: Effort, threads: &Threads, tasks: usize) -> Result<Vec<Series>> {
        let runner = |name, threads, measure: fn(usize, usize, usize) -> Result<f64>| Runner {
            name,
            threads,
            measure: Box::new(move || Ok(vec![measure(threads, tasks, plan.scopes)?])),
        };
        let mut runners = vec![runner(Serial::NAME, 1, measure::scope::<Serial>)];
        for &threads in threads.counts() {
            runners.extend([
                runner(Filch::NAME, threads, measure::scope::<Filch>),
                runner(Rayon::NAME, threads, measure::scope::<Rayon>),
            ]);
        }
        interleave(&self.to_string(), &[NANOS_A_TASK], &runners, effort)
    }

    fn idle(self, plan: &Plan, effort: Effort, threads: &Threads) -> Result<Vec<Series>> {
        let runner = |name, threads, measure: fn(usize, Duration) -> Result<measure::Idle>| Runner {
            name,
            threads,
            measure: Box::new(move || {
                let sample = measure(threads, plan.watch)?;
                Ok(vec![sample.cpu_millis, sample.pool_cpu_millis, sample.switches])
            }),
        };
        let of_count = |&threads: &usize| {
            [
                runner(Filch::NAME, threads, measure::idle::<Filch>),
                runner(EngineBarrier::NAME, threads, measure::idle::<EngineBarrier>),
                runner(EngineEvents::NAME, threads, measure::idle::<EngineEvents>),
                runner(Rayon::NAME, threads, measure::idle::<Rayon>),
                runner(Chili::NAME, threads, measure::idle::<Chili>),
            ]
        };
        let runners: Vec<Runner<'_>> = threads.several().iter().flat_map(of_count).collect();
        let units = [CPU_MILLIS_A_SECOND, POOL_CPU_MILLIS_A_SECOND, SWITCHES_A_SECOND];
        interleave(&self.to_string(), &units, &runners, effort)
    }

    fn tick<W: Work>(self, plan: &Plan, effort: Effort, threads: &Threads, work: &W) -> Result<Vec<Series>> {
        let runner = |name, threads, measure: fn(&W, usize, u32) -> Result<f64>| Runner {
            name,
            threads,
            measure: Box::new(move || Ok(vec![measure(work, threads, plan.ticks)?])),
        };
        let mut runners = vec![runner(Serial::NAME, 1, measure::tick::<Serial, W>)];
        for &threads in threads.several() {
            runners.extend([
                runner(Filch::NAME, threads, measure::tick::<Filch, W>),
                runner(FilchFenced::NAME, threads, measure::tick::<FilchFenced, W>),
                runner(FilchNoRaid::NAME, threads, measure::tick::<FilchNoRaid, W>),
                runner(EngineBarrier::NAME, threads, measure::tick::<EngineBarrier, W>),
                runner(EngineEvents::NAME, threads, measure::tick::<EngineEvents, W>),
                runner(Rayon::NAME, threads, measure::tick::<Rayon, W>),
                runner(Chili::NAME, threads, measure::tick::<Chili, W>),
            ]);
        }
        let mut series = interleave(&self.to_string(), &[CPU_MICROS_A_TICK], &runners, effort)?;
        series.extend(cpu::without_the_work(&series, Serial::NAME, EXTRA_CPU_MICROS_A_TICK));
        Ok(series)
    }

    /// Measures the wake-up time.
    ///
    /// chili takes no part: the thread that enters its pool simply runs on.
    fn wake(self, plan: &Plan, effort: Effort, threads: &Threads) -> Result<Vec<Series>> {
        let runner = |name, threads, measure: fn(usize, usize, Duration) -> Result<f64>| Runner {
            name,
            threads,
            measure: Box::new(move || Ok(vec![measure(threads, plan.wakes, plan.pause)?])),
        };
        let of_count = |&threads: &usize| {
            [runner(Filch::NAME, threads, measure::wake::<Filch>), runner(Rayon::NAME, threads, measure::wake::<Rayon>)]
        };
        let mut runners: Vec<Runner<'_>> = threads.counts().iter().flat_map(of_count).collect();
        for &threads in threads.several() {
            runners.extend([
                runner(EngineBarrier::NAME, threads, measure::wake::<EngineBarrier>),
                runner(EngineEvents::NAME, threads, measure::wake::<EngineEvents>),
            ]);
        }
        interleave(&self.to_string(), &[NANOS_A_WAKE], &runners, effort)
    }

    fn wide(self, plan: &Plan, effort: Effort, shape: Shape) -> Result<Vec<Series>> {
        fn runner<C: Contender<Fork: Tasks> + 'static>(
            shape: Shape,
            threads: usize,
            leaves: usize,
        ) -> Result<Runner<'static>> {
            let wide = measure::Wide::<C>::start(shape, threads, leaves)?;
            Ok(Runner { name: C::NAME, threads, measure: Box::new(move || Ok(vec![wide.run()?])) })
        }
        let mut runners = Vec::new();
        for &threads in plan.widths {
            let leaves = plan.leaves_a_worker * threads;
            runners.push(runner::<Filch>(shape, threads, leaves)?);
            runners.push(runner::<FilchAny>(shape, threads, leaves)?);
            runners.push(runner::<Rayon>(shape, threads, leaves)?);
        }
        interleave(&self.to_string(), &[MILLIS_A_RUN], &runners, effort)
    }
}
