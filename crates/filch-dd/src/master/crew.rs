//! What the workers of a run share.

use std::any::Any;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use filch::explore::Cancel;
use filch_queue::barrier;
use filch_queue::bulk::Batch;

use super::baton::Baton;

use super::learnt::Shelf;
use super::mail::Letterbox;
use super::member::Member;
use super::office::Office;
use super::policy::Policy;
use super::queue;
use super::region::{self, Region};
use super::report::{Ending, Log, Report};
use super::signal::Signal;
use super::Work;
use crate::sync::{advice, fence, lock, AtomicBool, Mutex, Ordering};

/// The part of a worker that other workers read. Each desk has its own cache lines.
pub(super) struct Desk<T, L> {
    /// Its queue is nearly drained, and the signal counts it. The worker that clears this flag also
    /// takes it off the signal.
    pub(super) hungry: AtomicBool,
    /// It has been brought tasks and has not begun.
    pub(super) called: advice::AtomicBool,
    /// The number of tasks that it has begun.
    pub(super) tasks: advice::AtomicU64,
    /// The region where it works: meaningless unless `tasks` is more than 0.
    region: [advice::AtomicU64; region::WORDS],
    pub(super) letterbox: Letterbox<T, L>,
    /// The notes that it has published.
    pub(super) published: Mutex<Shelf<L>>,
}

impl<T, L> Desk<T, L> {
    fn new(notes: usize) -> Self {
        Desk {
            hungry: AtomicBool::new(false),
            called: advice::AtomicBool::new(false),
            tasks: advice::AtomicU64::new(0),
            region: std::array::from_fn(|_| advice::AtomicU64::new(0)),
            letterbox: Letterbox::new(),
            published: Mutex::new(Shelf::new(notes)),
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
    Sitter,
    /// Every worker has a fence, because the kernel offers no such barrier.
    Everybody,
    /// There is only one thread.
    Nobody,
}

impl Fencing {
    pub(super) fn for_threads() -> Self {
        if barrier::register() {
            Fencing::Sitter
        } else {
            Fencing::Everybody
        }
    }

    /// Makes the fence between a push and the read of the signal.
    #[inline]
    pub(super) fn light(self) {
        match self {
            Fencing::Sitter => barrier::light(),
            Fencing::Everybody => fence(Ordering::SeqCst),
            Fencing::Nobody => {}
        }
    }

    /// Makes the fence between `begin_waiting` and the last look at the queues.
    ///
    /// Returns whether it could be made.
    pub(super) fn heavy(self) -> bool {
        match self {
            Fencing::Sitter => barrier::heavy().is_ok(),
            Fencing::Everybody => {
                fence(Ordering::SeqCst);
                true
            }
            Fencing::Nobody => true,
        }
    }
}

/// Runs a worker again that has been given tasks.
pub(super) trait Summon<W: Work> {
    fn summon(&self, member: Member<W>);
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
pub(super) struct Crew<'w, W: Work> {
    pub(super) work: &'w W,
    pub(super) signal: CachePadded<Signal>,
    /// The worker that had the baton last.
    pub(super) master: CachePadded<advice::AtomicUsize>,
    pub(super) desks: Box<[CachePadded<Desk<W::Task, W::Learnt>>]>,
    pub(super) baton: Baton<Office<W>>,
    pub(super) hungry_at: usize,
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) fencing: Fencing,
    pub(super) notes: usize,
    ending: Mutex<Ending>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'w, W: Work> Crew<'w, W> {
    /// Returns a crew and its first worker, which has all the tasks; the others wait.
    pub(super) fn new(work: &'w W, roots: Batch<W::Task>, plan: Plan) -> (Self, Member<W>) {
        let (owners, thieves): (Vec<_>, Vec<_>) = (0..plan.workers).map(|_| queue::new()).unzip();
        let mut members: Vec<_> =
            (0..).zip(owners).map(|(index, owner)| Some(Member::new(index, owner, plan.notes))).collect();
        let first = members[0].take().expect("there is a first worker");
        first.owner.push_batch(roots);
        let hungry_at = plan.policy.hungry_at();
        let crew = Crew {
            work,
            signal: CachePadded::new(Signal::new(plan.workers - 1)),
            master: CachePadded::new(advice::AtomicUsize::new(0)),
            desks: members.iter().map(|_| CachePadded::new(Desk::new(plan.notes))).collect(),
            baton: Baton::new(Office::new(thieves, members, plan.policy, Log::new(plan.log))),
            hungry_at,
            limits: plan.limits,
            clock: plan.clock,
            fencing: plan.fencing,
            notes: plan.notes,
            ending: Mutex::new(Ending::Complete),
            panic: Mutex::new(None),
        };
        (crew, first)
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

    /// Clears the hungry flag: the queue has tasks again, or is empty.
    pub(super) fn end_hunger(&self, worker: usize) {
        // Relaxed: the worker that clears the flag, once, takes it off the signal.
        if self.desks[worker].hungry.load(Ordering::Relaxed) && self.desks[worker].hungry.swap(false, Ordering::Relaxed)
        {
            self.signal.end_hunger();
        }
    }

    /// Makes a waiting worker active again, without tasks.
    #[cfg(all(loom, test))]
    pub(super) fn rise(&self, worker: usize) -> Member<W> {
        let mut office = self.baton.wait();
        office.active += 1;
        self.signal.end_waiting();
        office.members[worker].take().expect("it waits")
    }

    /// Makes a worker signal that its queue is nearly drained.
    #[cfg(all(loom, test))]
    pub(super) fn hunger(&self, worker: usize) {
        self.desks[worker].hungry.store(true, Ordering::Relaxed);
        self.signal.begin_hunger();
    }

    /// Puts a worker that has ended into the office.
    pub(super) fn retire(&self, member: Member<W>) {
        let mut office = self.baton.wait();
        let index = member.index;
        office.members[index] = Some(member);
    }

    /// Returns the report, after all workers have ended.
    pub(super) fn into_report(self) -> Report<W::Task> {
        let elapsed = self.clock.now();
        let panic = match self.panic.into_inner() {
            Ok(panic) => panic,
            Err(poisoned) => poisoned.into_inner(),
        };
        if let Some(panic) = panic {
            std::panic::resume_unwind(panic);
        }
        let ending = *lock(&self.ending);
        let office = self.baton.into_office();
        let mut left = Batch::new();
        for (member, desk) in office.members.iter().flatten().zip(&self.desks) {
            left.extend(std::iter::from_fn(|| member.owner.pop()));
            left.extend(desk.letterbox.take().into_iter().flat_map(|mail| mail.tasks));
        }
        debug_assert!(ending != Ending::Complete || left.is_empty(), "it was over too early");
        let (workers, log) = office.into_counts(elapsed);
        let (transfers, moved) = log.end();
        Report { workers, transfers, moved, ending, left, elapsed }
    }
}
