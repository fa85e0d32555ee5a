//! The cases: what is timed, and the check that no task was lost.
//!
//! Each loop is a separate function for each contender, so that the contender's fast path is
//! inlined into it and nothing else is.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use filch_queue::bound::Bound;
use filch_queue::Steal;

use super::contenders::Contender;
use super::plan::Plan;
use super::theft;
use super::work::{Busy, Sum, Work};
use crate::bench::busy::Calibration;
use crate::bench::pin::Cores;

/// The number of tasks that a burst pushes and then pops.
pub(crate) const BURST: usize = 64;

/// The capacity of queues that cannot grow, in the cases that work in bursts.
///
/// It is a few bursts, since a thief may hold on to slots for a while.
pub(crate) const ROOM: usize = 4 * BURST;

/// The number of tasks left when stealing ends.
///
/// It is far more than a thief of a fence-free queue must leave alone.
const LEFT_AFTER_STEALS: usize = 1024;

/// A case to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// Push 64, pop 64, repeatedly. An operation is a push and a pop.
    Burst,
    /// Like `Burst`, but through a reference to the owner.
    ///
    /// The reference keeps the compiler from holding the owner in registers.
    BurstByReference,
    /// Fill a fresh queue, then empty it. An operation is a push and a pop.
    PushThenPop,
    /// Fill a fresh queue that has to grow. An operation is a push.
    PushGrow,
    /// Empty a full queue. An operation is a pop.
    PopOnly,
    /// Steal from a queue that no other thread touches. An operation is a steal.
    Steal,
    /// Bursts while a thief on another thread steals.
    ///
    /// An operation is a push and, unless a thief was faster, a pop.
    PushUnderTheft,
    /// Bursts of tasks that take this many nanoseconds.
    ///
    /// An operation is a push, a pop and the task.
    TaskCost(u64),
}

impl Case {
    /// The number of threads.
    pub(crate) fn threads(self) -> usize {
        if self == Case::PushUnderTheft {
            2
        } else {
            1
        }
    }

    /// A description of an operation.
    pub(crate) fn operation(self) -> &'static str {
        match self {
            Case::Burst | Case::BurstByReference | Case::PushThenPop => "a push and a pop",
            Case::PushGrow => "a push",
            Case::PopOnly => "a pop",
            Case::Steal => "a steal",
            Case::PushUnderTheft => "a push and a pop, beside a thief",
            Case::TaskCost(_) => "a push, a pop and the task",
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Case::Burst => f.write_str("burst-64"),
            Case::BurstByReference => f.write_str("burst-64-by-reference"),
            Case::PushThenPop => f.write_str("push-then-pop"),
            Case::PushGrow => f.write_str("push-grow"),
            Case::PopOnly => f.write_str("pop-only"),
            Case::Steal => f.write_str("steal"),
            Case::PushUnderTheft => f.write_str("push-under-theft"),
            Case::TaskCost(nanos) => write!(f, "task-cost-{nanos}"),
        }
    }
}

/// The setup that all contenders are measured with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// How much to measure.
    pub(crate) plan: Plan,
    /// The cost of a step of a task.
    pub(crate) calibration: Calibration,
    /// The cores that the threads run on.
    pub(crate) cores: Cores,
    /// The bound that the fence-free queues are made with.
    pub(crate) bound: Bound,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Nanoseconds per operation.
    pub(crate) nanos: f64,
    /// What the thief did, if there was one.
    pub(crate) theft: Option<theft::Theft>,
}

impl Sample {
    pub(super) fn new(elapsed: Duration, operations: usize) -> Sample {
        Sample { nanos: elapsed.as_nanos() as f64 / operations as f64, theft: None }
    }
}

/// Measures `case` once.
pub(crate) fn measure<C: Contender>(case: Case, setup: &Setup) -> Result<Sample> {
    let (plan, bound) = (&setup.plan, setup.bound);
    match case {
        Case::Burst => burst::<C, Sum>(plan.bursts, 0, bound),
        Case::BurstByReference => burst_by_reference::<C>(plan.bursts, bound),
        Case::PushThenPop => push_then_pop::<C>(plan.tasks, bound),
        Case::PushGrow => push_grow::<C>(plan.tasks, bound),
        Case::PopOnly => pop_only::<C>(plan.tasks, bound),
        Case::Steal => steal::<C>(if C::EXPENSIVE_STEALS { plan.expensive_steals } else { plan.steals }, bound),
        Case::PushUnderTheft => theft::push_under_theft::<C>(plan.bursts_under_theft, setup.cores, bound),
        Case::TaskCost(nanos) => burst::<C, Busy>(plan.bursts_of(nanos), setup.calibration.steps(nanos), bound),
    }
}

fn burst<C: Contender, W: Work>(bursts: usize, steps: u64, bound: Bound) -> Result<Sample> {
    let warm_up = bursts.div_ceil(10);
    let (popped, elapsed) = run_owned_bursts::<C, W>(black_box(warm_up), black_box(bursts), black_box(steps), bound)?;
    popped.check(bursts * BURST)?;
    Ok(Sample::new(elapsed, bursts * BURST))
}

fn burst_by_reference<C: Contender>(bursts: usize, bound: Bound) -> Result<Sample> {
    let (owner, _thief) = C::fresh(ROOM, bound)?;
    let sample = time_bursts(bursts, 0, |bursts, steps| run_bursts::<C, Sum>(&owner, bursts, steps))?;
    check_empty::<C>(&owner)?;
    Ok(sample)
}

/// Times `bursts` bursts of tasks of `steps` steps, after some to warm up.
pub(super) fn time_bursts(bursts: usize, steps: u64, run: impl Fn(usize, u64) -> Popped) -> Result<Sample> {
    let warm_up = bursts.div_ceil(10);
    run(black_box(warm_up), black_box(steps)).check(warm_up * BURST)?;

    let start = Instant::now();
    let popped = run(black_box(bursts), black_box(steps));
    let elapsed = start.elapsed();
    popped.check(bursts * BURST)?;
    Ok(Sample::new(elapsed, bursts * BURST))
}

fn push_then_pop<C: Contender>(tasks: usize, bound: Bound) -> Result<Sample> {
    let (owner, _thief) = C::fresh(tasks, bound)?;
    let start = Instant::now();
    run_pushes::<C>(&owner, black_box(tasks));
    let popped = run_pops::<C>(&owner, black_box(tasks));
    let elapsed = start.elapsed();
    popped.check(tasks)?;
    check_empty::<C>(&owner)?;
    Ok(Sample::new(elapsed, tasks))
}

fn push_grow<C: Contender>(tasks: usize, bound: Bound) -> Result<Sample> {
    let (owner, _thief) = C::fresh(tasks, bound)?;
    let start = Instant::now();
    run_pushes::<C>(&owner, black_box(tasks));
    let elapsed = start.elapsed();
    run_pops::<C>(&owner, tasks).check(tasks)?;
    check_empty::<C>(&owner)?;
    Ok(Sample::new(elapsed, tasks))
}

fn pop_only<C: Contender>(tasks: usize, bound: Bound) -> Result<Sample> {
    let (owner, _thief) = C::fresh(tasks, bound)?;
    run_pushes::<C>(&owner, tasks);
    let start = Instant::now();
    let popped = run_pops::<C>(&owner, black_box(tasks));
    let elapsed = start.elapsed();
    popped.check(tasks)?;
    check_empty::<C>(&owner)?;
    Ok(Sample::new(elapsed, tasks))
}

fn steal<C: Contender>(steals: usize, bound: Bound) -> Result<Sample> {
    let tasks = steals + LEFT_AFTER_STEALS;
    let (owner, thief) = C::fresh(tasks, bound)?;
    run_pushes::<C>(&owner, tasks);
    let start = Instant::now();
    let mut stolen = run_steals::<C>(&thief, black_box(steals));
    let elapsed = start.elapsed();

    let left = run_pops::<C>(&owner, LEFT_AFTER_STEALS);
    stolen.complete &= left.complete;
    stolen.sum = stolen.sum.wrapping_add(left.sum);
    stolen.check(tasks)?;
    check_empty::<C>(&owner)?;
    Ok(Sample::new(elapsed, steals))
}

/// The tasks that came back in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Popped {
    /// The wrapping sum of the tasks.
    sum: usize,
    /// Whether every pop found a task.
    ///
    /// A loop ends at the first pop that does not. Counting them would add arithmetic where a
    /// branch is free.
    complete: bool,
}

impl Popped {
    /// All tasks of a run.
    #[inline(always)]
    pub(super) fn complete(work: impl Work) -> Popped {
        Popped { sum: work.sum(), complete: true }
    }

    /// The tasks of a run that ended too early.
    #[inline(always)]
    pub(super) fn incomplete(work: impl Work) -> Popped {
        Popped { sum: work.sum(), complete: false }
    }

    /// Checks that the tasks were 0 to `pushed` and no others.
    pub(super) fn check(&self, pushed: usize) -> Result<()> {
        if !self.complete {
            bail!("a task was lost: {pushed} were pushed and fewer came back");
        }
        let sum = (0..pushed).fold(0, usize::wrapping_add);
        if self.sum != sum {
            bail!("as many tasks came back as were pushed, {pushed}, but not the same ones");
        }
        Ok(())
    }
}

/// Checks that the queue is empty after all pushed tasks came back.
///
/// Only one thread uses the queue, so no queue may return more.
fn check_empty<C: Contender>(owner: &C::Owner) -> Result<()> {
    match C::pop(owner) {
        Some(task) => bail!("more tasks came back than were pushed: task {task} is one too many"),
        None => Ok(()),
    }
}

/// Runs bursts on an owner that is a local variable, as in a worker's loop.
#[inline(never)]
fn run_owned_bursts<C: Contender, W: Work>(
    warm_up: usize,
    bursts: usize,
    steps: u64,
    bound: Bound,
) -> Result<(Popped, Duration)> {
    let (owner, _thief) = C::fresh(ROOM, bound)?;
    bursts_of_tasks::<C, W>(&owner, warm_up, steps).check(warm_up * BURST)?;
    let start = Instant::now();
    let popped = bursts_of_tasks::<C, W>(&owner, bursts, steps);
    let elapsed = start.elapsed();
    match C::pop(&owner) {
        Some(task) => bail!("more tasks came back than were pushed: task {task} is one too many"),
        None => Ok((popped, elapsed)),
    }
}

#[inline(never)]
fn run_bursts<C: Contender, W: Work>(owner: &C::Owner, bursts: usize, steps: u64) -> Popped {
    bursts_of_tasks::<C, W>(black_box(owner), bursts, steps)
}

#[inline(always)]
fn bursts_of_tasks<C: Contender, W: Work>(owner: &C::Owner, bursts: usize, steps: u64) -> Popped {
    let mut work = W::new(steps);
    let mut task = 0;
    for _ in 0..bursts {
        for _ in 0..BURST {
            // There is room for a burst. If a push fails, a pop misses the task.
            let _ = C::push(owner, task);
            task += 1;
        }
        for _ in 0..BURST {
            match C::pop(owner) {
                Some(task) => work.execute(task),
                None => return Popped::incomplete(work),
            }
        }
    }
    Popped::complete(work)
}

#[inline(never)]
fn run_pushes<C: Contender>(owner: &C::Owner, tasks: usize) {
    let owner = black_box(owner);
    for task in 0..tasks {
        // There is room for all of them. If a push fails, a pop misses the task.
        let _ = C::push(owner, task);
    }
}

#[inline(never)]
fn run_pops<C: Contender>(owner: &C::Owner, tasks: usize) -> Popped {
    let owner = black_box(owner);
    let mut work = Sum::new(0);
    for _ in 0..tasks {
        match C::pop(owner) {
            Some(task) => work.execute(task),
            None => return Popped::incomplete(work),
        }
    }
    Popped::complete(work)
}

#[inline(never)]
fn run_steals<C: Contender>(thief: &C::Thief, steals: usize) -> Popped {
    let thief = black_box(thief);
    let mut work = Sum::new(0);
    for _ in 0..steals {
        loop {
            match C::steal(thief) {
                Steal::Success(task) => work.execute(task),
                // A weak compare-and-swap may fail spuriously.
                Steal::Retry => continue,
                // No other thread can have emptied the queue, and the queue is long enough for a
                // thief to see that.
                Steal::Empty | Steal::Abort => return Popped::incomplete(work),
            }
            break;
        }
    }
    Popped::complete(work)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::bench::bound::{BoundOptions, Vouched};
    use crate::bench::queues::contenders;

    fn vouched() -> Vouched {
        BoundOptions::default().vouched().unwrap()
    }

    pub(crate) fn tiny() -> Setup {
        let plan = Plan {
            tasks: 3_000,
            steals: 500,
            expensive_steals: 50,
            bursts: 20,
            bursts_under_theft: 2_000,
            time_a_sample: Duration::from_micros(100),
        };
        Setup {
            plan,
            calibration: Calibration::measure(),
            cores: Cores::choose(),
            bound: contenders::bound(&vouched()),
        }
    }

    #[test]
    fn names_are_those_that_plots_know() {
        let names: Vec<String> = Plan::cases(2, &[0, 1000]).iter().map(Case::to_string).collect();
        assert_eq!(
            names,
            [
                "burst-64",
                "burst-64-by-reference",
                "push-then-pop",
                "push-grow",
                "pop-only",
                "steal",
                "push-under-theft",
                "task-cost-0",
                "task-cost-1000"
            ]
        );
    }

    #[test]
    fn all_contenders_complete_every_case() {
        let setup = tiny();
        for case in Plan::cases(2, &[0, 10]) {
            for entry in contenders::all().iter().filter(|entry| entry.is_measured(case, &vouched())) {
                if let Err(error) = (entry.measure)(case, &setup) {
                    panic!("{} in {case}: {error:#}", entry.name);
                }
            }
        }
    }

    /// A queue that holds the task 100 `TIMES` times.
    enum Faulty<const TIMES: usize> {}

    impl<const TIMES: usize> Contender for Faulty<TIMES> {
        const NAME: &'static str = "faulty";
        const EXACTLY_ONCE: bool = true;
        type Owner = Arc<Mutex<VecDeque<usize>>>;
        type Thief = Self::Owner;

        fn fresh(_room: usize, _bound: Bound) -> Result<(Self::Owner, Self::Thief)> {
            let queue = Self::Owner::default();
            Ok((queue.clone(), queue))
        }

        fn push(owner: &Self::Owner, task: usize) -> bool {
            let times = if task == 100 { TIMES } else { 1 };
            owner.lock().unwrap().extend(std::iter::repeat_n(task, times));
            true
        }

        fn pop(owner: &Self::Owner) -> Option<usize> {
            owner.lock().unwrap().pop_back()
        }

        fn steal(thief: &Self::Thief) -> Steal<usize> {
            thief.lock().unwrap().pop_front().map_or(Steal::Empty, Steal::Success)
        }
    }

    #[test]
    fn a_lost_task_is_an_error_in_every_case() {
        let setup = tiny();
        for case in Plan::cases(2, &[10]) {
            let error = measure::<Faulty<0>>(case, &setup).expect_err("a task was lost");
            assert!(error.to_string().contains("lost"), "{case}: {error:#}");
        }
    }

    #[test]
    fn a_task_that_comes_back_twice_is_an_error_in_every_case() {
        let setup = tiny();
        for case in Plan::cases(2, &[10]) {
            assert!(measure::<Faulty<2>>(case, &setup).is_err(), "{case}");
            measure::<Faulty<1>>(case, &setup).unwrap();
        }
    }

    #[test]
    fn a_task_swapped_for_another_is_an_error() {
        let mut work = Sum::new(0);
        [0, 1, 1].into_iter().for_each(|task| work.execute(task));
        assert!(Popped::complete(work).check(3).unwrap_err().to_string().contains("not the same ones"));
    }
}
