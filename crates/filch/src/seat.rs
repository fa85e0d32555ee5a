//! A seat: a worker's place in a pool. It is stored at the start of its region.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::iter;
use std::sync::atomic as plain;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use filch_queue::barrier;

use crate::backoff::Patience;
use crate::defect::{defect, Defect};
use crate::job::Job;
use crate::lineage::{node_of, Lineage, Runs, Wait};
use crate::pool::Shared;
use crate::random::Random;
use crate::scope::{Innermost, Record};
use crate::sleep::{self, SleepCell};
use crate::spin;
use crate::split::Mode;
use crate::stack::{Slot, Stack};
use crate::stats::{Count, Tally};
use crate::sync::{fence_after_exchange, lock, AtomicBool, AtomicPtr, AtomicUsize, Mutex, Ordering};
use crate::tasks::{Counted, Deque, Lanes, Pop, Strays, Theft};
use crate::trace::Log;
use crate::worker::Worker;

/// A worker's place in a pool: its fork stack, its deques and its sleep state.
#[derive(Debug)]
pub(crate) struct Seat {
    /// The jobs that the worker's joins have forked.
    pub(crate) stack: Stack,
    /// On its own cache line: a thread that wakes the worker needs nothing else.
    pub(crate) sleep: CachePadded<SleepCell>,
    pub(crate) index: usize,
    /// Set once, before the thread starts.
    pool: AtomicPtr<Shared>,
    /// The seat that the worker's thread had before this one, in another pool, or null. Only that
    /// thread uses it.
    pub(crate) outer: plain::AtomicPtr<Seat>,
    /// Tasks that the worker has spawned into scopes. The youngest is taken first.
    pub(crate) tasks: Deque,
    /// Tasks of scopes whose oldest tasks are taken first.
    lanes: Lanes,
    /// Tasks that the worker has spawned into scopes of which it has no segment.
    strays: Strays,
    /// Jobs that the worker has spawned.
    pub(crate) spawned: Deque,
    /// The numbers of jobs that the worker has spawned, and of spawned jobs run.
    pub(crate) spawns: CachePadded<Spawns>,
    innermost: OwnersOnly<Cell<Innermost>>,
    runs_tasks_to_the_end: OwnersOnly<Cell<bool>>,
    /// The number of looks for own work that found no task of a scope.
    turns: OwnersOnly<Cell<u32>>,
    /// The number of yields.
    yields: OwnersOnly<Cell<u32>>,
    /// The number of looks for own work while there was mail, since the last mail was taken.
    looks_before_mail: OwnersOnly<Cell<u32>>,
    random: OwnersOnly<Cell<Random>>,
    /// Calls from outside that run in this seat.
    calls: CachePadded<OwnersOnly<Cell<Calls>>>,
    has_brief_calls: AtomicBool,
    /// The number of times that this worker has looked at seats with brief calls.
    looks: OwnersOnly<Cell<u32>>,
    /// How long this worker looks for work before it sleeps.
    patience: Patience,
    /// How long callers that have borrowed the seat look for work in their waits.
    guests_patience: Patience,
    /// Jobs that only this worker may run.
    inbox: FifoQueue<Mail>,
    /// Jobs that the worker has spawned in turn. For each there is a job in `spawned` that takes
    /// the oldest of them.
    fifo_jobs: FifoQueue<Job>,
    /// Whether the worker runs something. A worker that begins to run looks at the sleep states of
    /// the others at its first fork.
    working: CachePadded<AtomicBool>,
    /// The stack of runs of this seat.
    pub(crate) runs: Runs,
    /// See [`drop_after_run`](Seat::drop_after_run).
    kept_pool: OwnersOnly<RefCell<Option<Arc<Shared>>>>,
    /// For forks beyond the end of the stack.
    pub(crate) spare_slots: SpareSlots,
    pub(crate) tally: CachePadded<Tally>,
    pub(crate) log: Log,
}

impl Seat {
    /// Creates the seat.
    ///
    /// # Safety
    ///
    /// As for [`Stack::new`].
    pub(crate) unsafe fn new(index: usize, base: usize, slots: usize, mode: Mode) -> Seat {
        Seat {
            // SAFETY: the caller guarantees it.
            stack: unsafe { Stack::new(base, slots, mode) },
            sleep: CachePadded::new(SleepCell::new()),
            index,
            pool: AtomicPtr::new(std::ptr::null_mut()),
            outer: plain::AtomicPtr::new(std::ptr::null_mut()),
            tasks: Deque::new(mode, SEGMENTS, Counted::WhenStolen),
            lanes: Lanes::new(),
            strays: Strays::new(),
            spawned: Deque::new(mode, 0, Counted::WhenPushed),
            spawns: CachePadded::new(Spawns { spawned: Count::new(), finished: Count::new() }),
            innermost: OwnersOnly(Cell::new(Innermost::NONE)),
            runs_tasks_to_the_end: OwnersOnly(Cell::new(true)),
            turns: OwnersOnly(Cell::new(0)),
            yields: OwnersOnly(Cell::new(0)),
            looks_before_mail: OwnersOnly(Cell::new(0)),
            // Any odd constant, so that no two workers start with the same state.
            random: OwnersOnly(Cell::new(Random::new(index))),
            calls: CachePadded::new(OwnersOnly(Cell::new(Calls { last: None, brief: 0 }))),
            has_brief_calls: AtomicBool::new(false),
            looks: OwnersOnly(Cell::new(0)),
            patience: Patience::new(),
            guests_patience: Patience::new(),
            inbox: FifoQueue::new(),
            fifo_jobs: FifoQueue::new(),
            working: CachePadded::new(AtomicBool::new(false)),
            runs: Runs::new(),
            kept_pool: OwnersOnly(RefCell::new(None)),
            spare_slots: SpareSlots(Mutex::new(Vec::new())),
            tally: CachePadded::new(Tally::new()),
            log: Log::new(),
        }
    }

    pub(crate) fn set_pool(&self, pool: &Shared) {
        // Relaxed: threads start later.
        self.pool.store(std::ptr::from_ref(pool).cast_mut(), Ordering::Relaxed);
        self.runs.init(self);
    }

    /// Returns the pool.
    #[inline(always)]
    pub(crate) fn pool<'a>(&self) -> &'a Shared {
        // SAFETY: the pool owns its seats, and outlives what runs on them.
        unsafe { &*self.pool.load(Ordering::Relaxed) }
    }

    /// Pushes a spawned job. `write` writes the job to its place.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat. `write` writes a job.
    #[inline(always)]
    pub(crate) unsafe fn push_spawned(&self, write: impl FnOnce(*mut Job)) {
        self.spawns.spawned.add(1);
        // SAFETY: the caller guarantees it.
        unsafe { self.spawned.push(write) };
        if self.stack.is_alarmed() {
            sleep::answer_spawned(self);
        }
    }

    /// Queues a job behind the jobs that were spawned in turn before it.
    ///
    /// Returns the job to spawn in its place, which runs the oldest queued job.
    pub(crate) fn enqueue_fifo(&self, job: Job) -> Job {
        unsafe fn execute(data: *const (), worker: &mut Worker, _: bool) {
            // SAFETY: pool memory, which outlives what is spawned into the pool.
            let seat = unsafe { &*data.cast::<Seat>() };
            let job = seat.fifo_jobs.pop().expect("one queued job for each job that takes it");
            // SAFETY: taken from the queue once.
            unsafe { job.run(worker) };
        }
        let lineage = job.lineage;
        self.fifo_jobs.push(job);
        // SAFETY: run once, as every spawned job is; then there is a job in the queue.
        unsafe { Job::from_parts(std::ptr::from_ref(self).cast(), execute, lineage) }
    }

    /// Takes the youngest job that the worker has spawned.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat, which takes the job out of its slot before it spawns
    /// another.
    pub(crate) unsafe fn pop_spawned(&self) -> Option<*const Job> {
        if !are_deques_used() || !self.spawned.has_tasks() {
            return None;
        }
        // SAFETY: the caller guarantees it.
        match unsafe { self.spawned.pop(0) } {
            Pop::Task(job) => Some(job),
            Pop::Empty | Pop::Stolen => None,
        }
    }

    /// Takes a task from a segment of the worker's own. Returns it with the scope that is the
    /// innermost while it runs.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_segment_task(&self) -> Option<(Job, Innermost)> {
        if !are_deques_used() {
            return None;
        }
        if self.tasks.has_tasks() {
            // SAFETY: the caller guarantees it.
            if let Some(task) = unsafe { self.tasks.take_youngest() } {
                let innermost = Innermost::of(&task, &self.tasks);
                return Some((task, innermost));
            }
            // A task of an older segment. Its pushes would go to the last segment, so there is no
            // innermost scope. It is taken from the other end, so that the last segment still
            // begins where it did.
            // SAFETY: the caller guarantees it.
            if let Some(task) = unsafe { self.tasks.take_oldest() } {
                return Some((task, Innermost::NONE));
            }
        }
        None
    }

    /// Takes a stray task of a FIFO scope of which the worker also has tasks in a lane. The stray
    /// is older than these.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_stray_of_lane(&self) -> Option<Job> {
        if !are_deques_used() {
            return None;
        }
        self.lanes.iter().filter(|lane| lane.has_tasks()).find_map(|lane| {
            // SAFETY: the caller guarantees it.
            let lineage = unsafe { lane.lineage() }?;
            // SAFETY: as above.
            unsafe { self.strays.take_if(|other| other == lineage) }
        })
    }

    /// Takes the oldest task of a lane. Returns it with the scope that is the innermost while it
    /// runs.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_lane_task(&self) -> Option<(Job, Innermost)> {
        if !are_deques_used() {
            return None;
        }
        self.lanes.iter().filter(|lane| lane.has_tasks()).find_map(|lane| {
            // SAFETY: the caller guarantees it.
            let task = unsafe { lane.take_oldest() }?;
            let innermost = Innermost::of(&task, lane);
            Some((task, innermost))
        })
    }

    /// Takes a stray task. The worker has spawned it into a scope of which it had no segment. The
    /// task is already counted.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_any_stray(&self) -> Option<Job> {
        // SAFETY: the caller guarantees it.
        are_deques_used().then(|| unsafe { self.strays.take() }).flatten()
    }

    /// Takes a stray task whose lineage is wanted.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_stray(&self, is_wanted: impl Fn(Lineage) -> bool) -> Option<Job> {
        // SAFETY: the caller guarantees it.
        are_deques_used().then(|| unsafe { self.strays.take_if(is_wanted) }).flatten()
    }

    /// Returns whether [`take_stray`](Seat::take_stray) would find a task.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn has_stray(&self, is_wanted: impl Fn(Lineage) -> bool) -> bool {
        // SAFETY: the caller guarantees it.
        are_deques_used() && unsafe { self.strays.has(is_wanted) }
    }

    /// Returns whether the worker seems to have a stray task that `wait` needs. A stray task needed
    /// by a wait descends from what the wait is for.
    pub(crate) fn has_strays_under(&self, wait: Wait) -> bool {
        are_deques_used() && self.strays.iter().any(|tasks| tasks.has_under(wait, true))
    }

    /// Pushes a counted task of a scope of which the worker has no segment.
    ///
    /// Returns the task if the worker has no deque for it. Also returns it if the push would not
    /// wake all workers that may need the task, or if they could not take it from here.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat, whose pool is the scope's.
    pub(crate) unsafe fn push_stray(&self, task: Job) -> Result<(), Job> {
        let lineage = task.lineage;
        // A worker whose wait needs the task raises the alarm of this seat only if the wait needs
        // what runs here. That holds if the scope was opened in this run or above it.
        if !lineage.is_waited_for_above(self.runs.top()) || !self.pool().raids {
            return Err(task);
        }
        // SAFETY: the caller guarantees it.
        let tasks = unsafe { self.strays.push(task) }?;
        if self.stack.is_alarmed() {
            sleep::answer_stray(self, tasks, lineage);
        }
        Ok(())
    }

    /// Sets whether the task that runs here also runs what it spawns, before it ends. Returns the
    /// previous setting.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn set_runs_tasks_to_the_end(&self, does: bool) -> bool {
        self.runs_tasks_to_the_end.0.replace(does)
    }

    /// Returns the value last set by
    /// [`set_runs_tasks_to_the_end`](Seat::set_runs_tasks_to_the_end).
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn runs_tasks_to_the_end(&self) -> bool {
        self.runs_tasks_to_the_end.0.get()
    }

    /// Counts a look for own work. Returns the number of looks before it.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn next_turn(&self) -> u32 {
        self.turns.0.replace(self.turns.0.get().wrapping_add(1))
    }

    /// Counts a yield. Returns the number of yields before it.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn next_yield(&self) -> u32 {
        self.yields.0.replace(self.yields.0.get().wrapping_add(1))
    }

    /// Counts a look for own work. Returns whether there is mail that has waited for so many looks
    /// that it comes first.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn is_mail_overdue(&self) -> bool {
        /// More than a worker usually has spawned before a broadcast, which comes after that.
        const MAX_LOOKS: u32 = 1024;
        if !are_deques_used() || !self.has_mail() {
            return false;
        }
        let looks = self.looks_before_mail.0.get();
        self.looks_before_mail.0.set(looks.saturating_add(1));
        looks >= MAX_LOOKS
    }

    /// Pushes a task of the innermost scope. `write` writes the task to its place.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat. There is such a scope, and `write` writes a task of it.
    #[inline(always)]
    pub(crate) unsafe fn push_task(&self, write: impl FnOnce(*mut Job)) {
        // SAFETY: the caller guarantees it.
        let tasks = unsafe { self.innermost().tasks() };
        // SAFETY: as above.
        unsafe { tasks.push(write) };
        if self.stack.is_alarmed() {
            sleep::answer_task(self, tasks);
        }
    }

    /// Returns the scope whose tasks the worker may push onto its own deque.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    #[inline(always)]
    pub(crate) unsafe fn innermost(&self) -> Innermost {
        self.innermost.0.get()
    }

    /// Sets the innermost scope. Returns the previous one.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    #[inline(always)]
    pub(crate) unsafe fn set_innermost(&self, innermost: Innermost) -> Innermost {
        self.innermost.0.replace(innermost)
    }

    /// Takes a lane, if one is left. It is a deque for a scope whose oldest tasks are taken first.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat. Lanes are put back last in, first out.
    pub(crate) unsafe fn take_lane(&self) -> Option<&Deque> {
        // SAFETY: the caller guarantees it.
        unsafe { self.lanes.take() }
    }

    /// Pushes a task into the lane that is open here for its scope. Another scope may be the
    /// innermost. Returns the task if there is no such lane.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn push_into_lane(&self, task: Job) -> Result<(), Job> {
        // SAFETY: the caller guarantees it.
        let Some(lane) = self.lanes.iter().find(|lane| unsafe { lane.is_open_for(task.lineage) }) else {
            return Err(task);
        };
        let lineage = task.lineage;
        // SAFETY: as above.
        unsafe { lane.push(|slot| slot.write(task)) };
        lane.share(true);
        // Not through the alarm: what runs here may be no part of the scope.
        let pool = self.pool();
        pool.event();
        pool.wake_nearest(pool.waits_above(lineage));
        Ok(())
    }

    /// Frees the lane that was taken last.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn put_lane_back(&self) {
        // SAFETY: the caller guarantees it.
        unsafe { self.lanes.put_back() };
    }

    /// Returns the deques that hold tasks of scopes.
    pub(crate) fn task_deques(&self) -> impl Iterator<Item = &Deque> {
        let deques = || iter::once(&self.tasks).chain(self.lanes.iter()).chain(self.strays.iter());
        are_deques_used().then(deques).into_iter().flatten()
    }

    /// Returns all deques, those of tasks and that of spawned jobs.
    fn deques(&self) -> impl Iterator<Item = &Deque> {
        self.task_deques().chain(are_deques_used().then_some(&self.spawned))
    }

    /// Steals the oldest public task of this seat, if it seems wanted, and counts it. `is_wanted`
    /// gets the deque and the position. The caller is another worker.
    pub(crate) fn steal_task(&self, is_wanted: impl Fn(&Deque, u64) -> bool) -> Option<Job> {
        self.task_deques().find_map(|tasks| match steal_task_from(tasks, |position| is_wanted(tasks, position)) {
            Theft::Task(job) => Some(job),
            Theft::Lost | Theft::Nothing => None,
        })
    }

    /// Steals the oldest job that the worker of this seat has spawned. The caller is another
    /// worker.
    pub(crate) fn steal_spawned(&self) -> Option<Job> {
        if !are_deques_used() {
            return None;
        }
        match self.spawned.steal_if(|_| true, |_| ()) {
            Theft::Task(job) => Some(job),
            Theft::Lost | Theft::Nothing => None,
        }
    }

    /// Returns whether there is work here that a thief can take at once.
    pub(crate) fn has_public(&self) -> bool {
        self.stack.has_public() || self.deques().any(Deque::has_public)
    }

    /// Returns whether there is work here that no worker has taken.
    pub(crate) fn has_jobs(&self) -> bool {
        self.stack.has_jobs() || self.has_queued()
    }

    /// Returns whether there are tasks or spawned jobs here that no worker has taken.
    pub(crate) fn has_queued(&self) -> bool {
        self.deques().any(Deque::has_tasks)
    }

    /// Returns whether there is work of some kind here of which none is public.
    pub(crate) fn needs_raid(&self) -> bool {
        self.stack.needs_raid() || self.deques().any(Deque::needs_raid)
    }

    /// Publishes some work of each kind that [needs it](Seat::needs_raid). The worker need not
    /// respond. Returns false if the kernel refused the barrier for that.
    pub(crate) fn publish_for_raid(&self) -> bool {
        let is_asleep = || self.sleep.is_asleep();
        let mut passed = true;
        if self.stack.needs_raid() {
            passed = self.stack.raid(is_asleep).is_some();
        }
        for deque in self.deques().filter(|deque| deque.needs_raid()) {
            passed &= deque.raid(is_asleep);
        }
        if !passed {
            self.request_fences();
        }
        passed
    }

    /// Asks the worker to fence what it pushes, because the kernel refuses barriers.
    pub(crate) fn request_fences(&self) {
        self.deques().for_each(Deque::request_fences);
        // Last: it raises the alarm.
        self.stack.request_fences();
    }

    /// Switches the worker to fences, if it was asked to. The worker calls this.
    pub(crate) fn handle_fence_requests(&self) {
        self.stack.handle_fence_request();
        self.deques().for_each(Deque::handle_fence_request);
    }

    /// Returns whether there is much memory that no task needs now.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn has_spare_memory(&self) -> bool {
        // SAFETY: the caller guarantees it.
        self.deques().any(|deque| unsafe { deque.has_spare_memory() })
    }

    /// Frees memory that tasks have taken. Frees what was not needed since the last call, or, if
    /// `all`, nearly all of it.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn trim(&self, all: bool) {
        // SAFETY: the caller guarantees it.
        self.deques().for_each(|deque| unsafe { deque.trim(all) });
    }

    /// Returns a random number below `bound`, which is not 0.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn random(&self, bound: usize) -> usize {
        let mut random = self.random.0.get();
        let number = random.below(bound);
        self.random.0.set(random);
        number
    }

    /// Returns how long the occupant looks for work before it sleeps.
    pub(crate) fn patience(&self) -> &Patience {
        if self.sleep.has_guest() {
            &self.guests_patience
        } else {
            &self.patience
        }
    }

    /// Records the end of a call from outside.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn learn_from_call(&self) {
        let Calls { last, brief } = self.calls.0.get();
        let now = spin::ticks();
        let brief = if spin::is_within(BRIEF, last, now) { brief.saturating_add(1) } else { 0 };
        self.calls.0.set(Calls { last: now, brief });
        // Relaxed: a hint. Written only if it changes: other workers read it all the time.
        if (brief >= SEVERAL) != self.has_brief_calls() {
            self.has_brief_calls.store(brief >= SEVERAL, Ordering::Relaxed);
        }
    }

    /// Forgets how long calls were: the seat belongs to its own thread again.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn forget_calls(&self) {
        if self.has_brief_calls() {
            self.calls.0.set(Calls { last: None, brief: 0 });
            // Relaxed: a hint.
            self.has_brief_calls.store(false, Ordering::Relaxed);
        }
    }

    /// Returns whether recent calls here end before a thief could help. This is a hint.
    pub(crate) fn has_brief_calls(&self) -> bool {
        self.has_brief_calls.load(Ordering::Relaxed)
    }

    /// Returns whether this worker should ask `victim` for work.
    ///
    /// If the calls there are brief, it asks only now and then, in case the present call is longer.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn should_ask(&self, victim: &Seat) -> bool {
        const LOOKS: u32 = 8;
        if !victim.has_brief_calls() {
            return true;
        }
        let looks = self.looks.0.get().wrapping_add(1);
        self.looks.0.set(looks);
        looks % LOOKS == 0
    }

    /// Delivers a job that only this worker may run, and wakes the worker.
    pub(crate) fn deliver(&self, job: Job) {
        // Workers of other pools count as inside, too: a call that runs here may wait for them.
        let is_from_inside = Seat::current().is_some() || self.pool().waits_above(job.lineage).next().is_some();
        self.inbox.push(Mail { job, is_from_inside });
        self.sleep.notify();
    }

    /// Takes the oldest of the jobs that only this worker may run.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn take_mail(&self) -> Option<Job> {
        let mail = self.inbox.pop()?;
        self.looks_before_mail.0.set(0);
        Some(mail.job)
    }

    /// Returns whether any job in the inbox was sent from inside a pool. The sender is a worker of
    /// any pool, or descends from one.
    pub(crate) fn has_mail_from_inside(&self) -> bool {
        self.has_mail() && self.inbox.has(|mail| mail.is_from_inside)
    }

    /// Marks the worker as running. Its first fork looks at the sleep states of the others, and has
    /// a fence if the kernel has refused any barrier. Returns whether the worker ran something
    /// already, for [`end_work`](Seat::end_work).
    pub(crate) fn begin_work(&self) -> bool {
        // Relaxed: only the worker itself writes it.
        let before = self.working.load(Ordering::Relaxed);
        self.working.swap(true, Ordering::SeqCst);
        // A worker that goes to sleep and does not see this is seen asleep by the first fork.
        fence_after_exchange();
        if !defect(Defect::BeginRaisesNoAlarm) {
            self.stack.alarm();
        }
        // The kernel may have refused a barrier to another pool, or for another worker. A raid of
        // this one would learn it too late: its owner may block in its next fork.
        if !self.stack.is_fenced() && !barrier::register() {
            self.request_fences();
        }
        before
    }

    /// Ends what [`begin_work`](Seat::begin_work) began, which returned `before`.
    pub(crate) fn end_work(&self, before: bool) {
        // Release: the forks of the run happen before.
        self.working.store(before, Ordering::Release);
    }

    /// Returns whether nothing is left of what ran here. Called by the occupant.
    pub(crate) fn is_clear(&self) -> bool {
        // SAFETY: called by the occupant, as the runs are.
        let has_scope = unsafe { self.tasks.is_open() };
        self.stack.is_empty_at(self.stack.bottom()) && self.runs.is_empty() && !has_scope
    }

    /// Drops a reference to the pool of a worker that has waited for `node`.
    ///
    /// If the calling thread is still in the run of `node`, the reference is dropped when the run
    /// is over. It may be the last reference, and the end of the pool may run user code. Inside the
    /// run that code would find the ancestors of the run, which are gone with the pool.
    pub(crate) fn drop_after_run(pool: Arc<Shared>, node: usize) {
        match Seat::current() {
            // Not in a seat of the same pool: the pool would keep itself alive.
            Some(seat) if seat.runs.top().is_for(node) && !std::ptr::eq(seat.pool(), &*pool) => {
                let before = seat.kept_pool.0.replace(Some(pool));
                debug_assert!(before.is_none(), "a run ends once");
            }
            _ => drop(pool),
        }
    }

    /// Drops the pool that was kept until the end of the run.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn drop_kept_pool(&self) {
        drop(self.kept_pool.0.take());
    }

    /// Returns the lineage of the job in `slot`, which stands on this seat's stack. It is exact for
    /// a thread that holds the job, and otherwise a hint.
    pub(crate) fn lineage_of(&self, slot: &Slot) -> Lineage {
        Lineage::new(node_of(slot), self.runs.at(self.stack.index_of(slot)))
    }

    /// Returns whether the worker may fork without looking at the sleep states first. That is so if
    /// it runs something, does not sleep itself, and its forks have no fence.
    pub(crate) fn may_fork_unseen(&self) -> bool {
        // SeqCst: after the fence of the worker that asks. By then the state of that worker says
        // that it sleeps.
        self.working.load(Ordering::SeqCst) && !self.sleep.is_asleep() && !self.stack.is_fenced()
    }

    /// Returns whether there are jobs that only this worker may run.
    pub(crate) fn has_mail(&self) -> bool {
        // SeqCst: after the worker's state says that it sleeps.
        self.inbox.len.load(Ordering::SeqCst) != 0
    }
}

/// Steals the oldest public task of a scope, if its position is wanted. A stolen task is counted.
pub(crate) fn steal_task_from(tasks: &Deque, is_wanted: impl FnOnce(u64) -> bool) -> Theft {
    let count = |lineage| {
        if tasks.counted() == Counted::WhenStolen {
            // SAFETY: the task is claimed, and not over.
            unsafe { Record::add_stolen(lineage) };
        }
    };
    tasks.steal_if(is_wanted, count)
}

/// Returns whether the deques are used. Most of the loom models spawn nothing. For them each look
/// at a deque, which is always empty, would double the number of executions.
#[inline(always)]
fn are_deques_used() -> bool {
    #[cfg(all(test, loom))]
    return crate::models::are_deques_used();
    #[cfg(not(all(test, loom)))]
    true
}

/// The number of nested scopes whose tasks a worker pushes onto its own deque. The scopes are open
/// on the worker, or it runs tasks of them. Tasks of further scopes are strays.
const SEGMENTS: usize = if cfg!(loom) { 2 } else { 256 };

/// Counts of spawned jobs, kept by each worker.
#[derive(Debug)]
pub(crate) struct Spawns {
    /// The number of jobs that the worker has spawned itself, from inside.
    pub(crate) spawned: Count,
    /// The number of spawned jobs that the worker has run, whatever thread has spawned them.
    pub(crate) finished: Count,
}

/// The most [turns](crate::spin) between the ends of two calls that count as brief. A thief cannot
/// help with such calls.
const BRIEF: u32 = 6;

/// The number of brief calls in a row after which the next should be brief.
const SEVERAL: u32 = 8;

/// What is known about the calls from outside that run in a seat.
#[derive(Clone, Copy, Debug)]
struct Calls {
    /// When the latest call was over, if there is a clock.
    last: Option<u64>,
    /// The number of brief calls in a row.
    brief: u32,
}

/// A value that only the worker itself may access.
#[derive(Debug)]
struct OwnersOnly<T>(T);

// SAFETY: the functions that reach inside are unsafe and state which thread may call them.
unsafe impl<T: Send> Sync for OwnersOnly<T> {}

/// A job that only one worker may run.
#[derive(Debug)]
struct Mail {
    job: Job,
    /// Whether the sender is a worker of some pool, or descends from one.
    is_from_inside: bool,
}

/// A queue of jobs, first in, first out.
#[derive(Debug)]
struct FifoQueue<T> {
    /// Lets callers skip the lock when the queue is empty.
    len: AtomicUsize,
    jobs: Mutex<VecDeque<T>>,
}

impl<T> FifoQueue<T> {
    fn new() -> FifoQueue<T> {
        FifoQueue { len: AtomicUsize::new(0), jobs: Mutex::new(VecDeque::new()) }
    }

    fn push(&self, job: T) {
        let mut jobs = lock(&self.jobs);
        jobs.push_back(job);
        // SeqCst: before the notification; see `has_mail`.
        self.len.fetch_add(1, Ordering::SeqCst);
    }

    fn pop(&self) -> Option<T> {
        // Acquire: pairs with the release above.
        if self.len.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut jobs = lock(&self.jobs);
        let job = jobs.pop_front()?;
        self.len.fetch_sub(1, Ordering::Relaxed);
        Some(job)
    }

    fn has(&self, wanted: impl Fn(&T) -> bool) -> bool {
        lock(&self.jobs).iter().any(wanted)
    }
}

/// Slots that do not belong to the stack and live as long as the pool.
#[derive(Debug)]
pub(crate) struct SpareSlots(Mutex<Vec<*mut Slot>>);

impl SpareSlots {
    /// Returns a free slot, for use until it is put back.
    pub(crate) fn take(&self) -> *const Slot {
        let slot = lock(&self.0).pop().unwrap_or_else(|| Box::into_raw(Box::new(Slot::new())));
        slot.expose_provenance();
        slot
    }

    /// Puts a slot back. No thread runs or waits for its job any more.
    pub(crate) fn put_back(&self, slot: *const Slot) {
        // SAFETY: a slot of this pool, and alive.
        unsafe { &*slot }.clear();
        lock(&self.0).push(slot.cast_mut());
    }
}

impl Drop for SpareSlots {
    fn drop(&mut self) {
        for slot in lock(&self.0).drain(..) {
            // SAFETY: from `Box::into_raw`; all are back when nothing runs any more.
            drop(unsafe { Box::from_raw(slot) });
        }
    }
}

// SAFETY: slots are atomics, and no thread uses a slot that is in the list.
unsafe impl Sync for SpareSlots {}
// SAFETY: as above.
unsafe impl Send for SpareSlots {}
