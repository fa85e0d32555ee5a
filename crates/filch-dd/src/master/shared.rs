//! What the workers of a run share.

use std::any::Any;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use filch::explore::Cancel;
use filch_queue::barrier;
use filch_queue::bulk::Batch;

use super::inbox::Inbox;
use super::master_lock::MasterLock;
use super::master_state::MasterState;
use super::notes::Notes;
use super::policy::Policy;
use super::queue::{Bulk, Queue, QueueOwner};
use super::region::{self, Region};
use super::report::{Ending, Log, Report};
use super::signal::Signal;
use super::worker_data::WorkerData;
use super::Work;
use crate::sync::{advice, fence, lock, unpoisoned, AtomicBool, Mutex, Ordering};

/// The part of a worker that other workers read. Each has its own cache lines.
pub(super) struct WorkerInfo<T, L> {
    /// Its queue is nearly drained, and the signal counts it. The worker that clears this flag also
    /// takes it off the signal.
    pub(super) running_low: AtomicBool,
    /// It has been brought tasks and has not begun.
    pub(super) starting: advice::AtomicBool,
    /// The number of tasks that it has begun.
    pub(super) tasks: advice::AtomicU64,
    /// The region where it works: meaningless unless `tasks` is more than 0.
    region: [advice::AtomicU64; region::WORDS],
    pub(super) inbox: Inbox<T, L>,
    /// The notes that it has published.
    pub(super) published: Mutex<Notes<L>>,
}

impl<T, L> WorkerInfo<T, L> {
    fn new(notes: usize) -> Self {
        WorkerInfo {
            running_low: AtomicBool::new(false),
            starting: advice::AtomicBool::new(false),
            tasks: advice::AtomicU64::new(0),
            region: std::array::from_fn(|_| advice::AtomicU64::new(0)),
            inbox: Inbox::new(),
            published: Mutex::new(Notes::new(notes)),
        }
    }

    /// Records that the worker begins a task in `region`.
    #[inline]
    pub(super) fn begin(&self, region: &Region, tasks: u64) {
        // All Relaxed: a policy treats it as advice, and advice that mixes two regions does no
        // harm.
        for (word, value) in self.region.iter().zip(region.words()) {
            word.store(value, Ordering::Relaxed);
        }
        self.tasks.store(tasks, Ordering::Relaxed);
    }

    pub(super) fn region(&self) -> Region {
        Region::from_words(std::array::from_fn(|word| self.region[word].load(Ordering::Relaxed)))
    }
}

/// When to stop a run that is not complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    pub(super) cancel: Option<Cancel>,
    pub(super) deadline: Option<Instant>,
}

impl Limits {
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.cancel.is_none() && self.deadline.is_none()
    }

    /// Returns which limit is reached, if any.
    pub(super) fn reached(&self, now: Instant) -> Option<Ending> {
        if self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            Some(Ending::Cancelled)
        } else if self.deadline.is_some_and(|deadline| now >= deadline) {
            Some(Ending::TimedOut)
        } else {
            None
        }
    }
}

/// The source of the times in the report, and of nothing else.
pub(super) enum Clock {
    Real(Instant),
    /// The steps that workers made so far: the same in every run.
    Steps(advice::AtomicU64),
}

impl Clock {
    pub(super) fn now(&self) -> Duration {
        match self {
            Clock::Real(start) => start.elapsed(),
            Clock::Steps(steps) => Duration::from_micros(steps.load(Ordering::Relaxed)),
        }
    }
}

/// The fences by which a worker that parks does not miss a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fencing {
    /// A worker that parks makes all threads pass a barrier.
    Asymmetric,
    /// Every worker has a fence, because the kernel offers no such barrier.
    Symmetric,
    /// There is only one thread.
    SingleThread,
}

impl Fencing {
    pub(super) fn for_threads() -> Self {
        if barrier::register() {
            Fencing::Asymmetric
        } else {
            Fencing::Symmetric
        }
    }

    /// Makes the fence between a push and the read of the signal.
    #[inline]
    pub(super) fn light(self) {
        match self {
            Fencing::Asymmetric => barrier::light(),
            Fencing::Symmetric => fence(Ordering::SeqCst),
            Fencing::SingleThread => {}
        }
    }

    /// Makes the fence between `begin_waiting` and the last look at the queues.
    ///
    /// Returns whether it could be made.
    pub(super) fn heavy(self) -> bool {
        match self {
            Fencing::Asymmetric => barrier::heavy().is_ok(),
            Fencing::Symmetric => {
                fence(Ordering::SeqCst);
                true
            }
            Fencing::SingleThread => true,
        }
    }
}

/// Runs a worker again that has been given tasks.
pub(super) trait Waker<W: Work<Q>, Q: Queue = Bulk> {
    fn wake(&self, data: WorkerData<W, Q>);
}

/// The settings of a run.
pub(super) struct Plan {
    pub(super) workers: usize,
    pub(super) policy: Box<dyn Policy>,
    pub(super) limits: Limits,
    /// The number of notes that each worker keeps.
    pub(super) notes: usize,
    /// The number of transfers that are kept.
    pub(super) log: usize,
    pub(super) clock: Clock,
    pub(super) fencing: Fencing,
}

/// What the workers of a run share.
pub(super) struct Shared<'w, W: Work<Q>, Q: Queue = Bulk> {
    pub(super) work: &'w W,
    pub(super) signal: CachePadded<Signal>,
    /// The worker that had the master lock last.
    pub(super) last_master: CachePadded<advice::AtomicUsize>,
    pub(super) worker_infos: Box<[CachePadded<WorkerInfo<W::Task, W::Learnt>>]>,
    pub(super) master_lock: MasterLock<MasterState<W, Q>>,
    pub(super) low_watermark: usize,
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) fencing: Fencing,
    /// The number of notes that each worker keeps.
    pub(super) notes: usize,
    ending: Mutex<Ending>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'w, W: Work<Q>, Q: Queue> Shared<'w, W, Q> {
    /// Returns the shared state and the first worker, which has all the tasks; the others wait.
    pub(super) fn new(work: &'w W, roots: Batch<W::Task>, plan: Plan) -> (Self, WorkerData<W, Q>) {
        let (owners, thieves): (Vec<_>, Vec<_>) = (0..plan.workers).map(|_| Q::new()).unzip();
        let mut parked: Vec<Option<WorkerData<W, Q>>> =
            (0..).zip(owners).map(|(index, owner)| Some(WorkerData::new(index, owner, plan.notes))).collect();
        let first = parked[0].take().expect("a run has at least one worker");
        first.owner.push_batch(roots);
        let low_watermark = plan.policy.low_watermark();
        let shared = Shared {
            work,
            signal: CachePadded::new(Signal::new(plan.workers - 1)),
            last_master: CachePadded::new(advice::AtomicUsize::new(0)),
            worker_infos: parked.iter().map(|_| CachePadded::new(WorkerInfo::new(plan.notes))).collect(),
            master_lock: MasterLock::new(MasterState::new(thieves, parked, plan.policy, Log::new(plan.log))),
            low_watermark,
            limits: plan.limits,
            clock: plan.clock,
            fencing: plan.fencing,
            notes: plan.notes,
            ending: Mutex::new(Ending::Complete),
            panic: Mutex::new(None),
        };
        (shared, first)
    }

    /// Stops the run. The first reason counts.
    ///
    /// No worker begins another task once it has seen this.
    pub(super) fn stop(&self, why: Ending) {
        let mut ending = lock(&self.ending);
        if self.signal.end() {
            *ending = why;
        }
    }

    /// Stops the run after a panic of a task or of the policy. The first panic counts.
    pub(super) fn fail(&self, panic: Box<dyn Any + Send>) {
        let mut first = lock(&self.panic);
        if first.is_none() {
            *first = Some(panic);
        } else {
            // Dropping a payload may panic, so it is leaked.
            std::mem::forget(panic);
        }
        drop(first);
        self.stop(Ending::Stopped);
    }

    /// Clears the flag `running_low`: the queue has tasks again, or is empty.
    pub(super) fn end_running_low(&self, worker: usize) {
        // Relaxed: the worker that clears the flag, once, takes it off the signal.
        if self.worker_infos[worker].running_low.load(Ordering::Relaxed)
            && self.worker_infos[worker].running_low.swap(false, Ordering::Relaxed)
        {
            self.signal.end_running_low();
        }
    }

    /// Makes a waiting worker active again, without tasks.
    #[cfg(all(loom, test))]
    pub(super) fn unpark(&self, worker: usize) -> WorkerData<W, Q> {
        let mut master = self.master_lock.lock();
        master.active += 1;
        self.signal.end_waiting();
        master.parked[worker].take().expect("the worker is parked")
    }

    /// Makes a worker signal that its queue is nearly drained.
    #[cfg(all(loom, test))]
    pub(super) fn begin_running_low(&self, worker: usize) {
        self.worker_infos[worker].running_low.store(true, Ordering::Relaxed);
        self.signal.begin_running_low();
    }

    /// Puts a worker that has ended into the master's data.
    pub(super) fn retire(&self, data: WorkerData<W, Q>) {
        let mut master = self.master_lock.lock();
        let index = data.index;
        master.parked[index] = Some(data);
    }

    /// Returns the report, after all workers have ended.
    pub(super) fn into_report(self) -> Report<W::Task> {
        let elapsed = self.clock.now();
        if let Some(panic) = unpoisoned(self.panic.into_inner()) {
            std::panic::resume_unwind(panic);
        }
        let ending = *lock(&self.ending);
        let master = self.master_lock.into_inner();
        let mut left = Batch::new();
        for (data, info) in master.parked.iter().flatten().zip(&self.worker_infos) {
            left.extend(std::iter::from_fn(|| data.owner.pop()));
            left.extend(info.inbox.take().into_iter().flat_map(|mail| mail.tasks));
        }
        debug_assert!(ending != Ending::Complete || left.is_empty(), "the run ended while tasks were left");
        let (workers, log) = master.into_counts(elapsed);
        let (transfers, moved) = log.into_parts();
        Report { workers, transfers, moved, ending, left, elapsed }
    }
}
