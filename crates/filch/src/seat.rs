//! A seat: a worker's place in a pool. Lies at the start of its region.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic as plain;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use filch_queue::{chase_lev, Steal};

use crate::backoff::Patience;
use crate::defect::{defect, Defect};
use crate::job::Job;
use crate::lineage::{node_of, Lineage, Runs};
use crate::pool::Shared;
use crate::random::Random;
use crate::scope::Task;
use crate::sleep::SleepCell;
use crate::spin;
use crate::stack::{Mode, Slot, Stack};
use crate::stats::Tally;
use crate::sync::{fence_after_exchange, lock, spin_loop, AtomicBool, AtomicPtr, AtomicUsize, Mutex, Ordering};
use crate::trace::Log;
use crate::worker::Worker;

/// See the module.
#[derive(Debug)]
pub(crate) struct Seat {
    /// The jobs that its joins have forked.
    pub(crate) stack: Stack,
    /// On a line of its own: a thread that wakes the worker needs nothing else.
    pub(crate) sleep: CachePadded<SleepCell>,
    pub(crate) index: usize,
    /// Set once, before the thread starts.
    pool: AtomicPtr<Shared>,
    /// The seat that the worker's thread had before this one, in another pool, or null. Only that
    /// thread uses it.
    pub(crate) outer: plain::AtomicPtr<Seat>,
    spawned: OwnersOnly<chase_lev::Owner<Job>>,
    /// The other end of what it has spawned.
    spawned_thief: chase_lev::Thief<Job>,
    /// Tasks of scopes that it has spawned.
    tasks: OwnersOnly<chase_lev::Owner<Task>>,
    tasks_thief: chase_lev::Thief<Task>,
    random: OwnersOnly<Cell<Random>>,
    /// Calls from outside that run here.
    calls: CachePadded<OwnersOnly<Cell<Calls>>>,
    has_brief_calls: AtomicBool,
    /// How often this worker has looked at seats with brief calls.
    looks: OwnersOnly<Cell<u32>>,
    /// How long this worker looks for work before it sleeps.
    patience: Patience,
    /// How long callers that have borrowed the seat look for work in their waits.
    guests_patience: Patience,
    /// Jobs that only this worker may run.
    inbox: InOrder<Mail>,
    /// What it has spawned in turn. For each there is a job in `spawned` that takes the oldest of these.
    in_turn: InOrder<Job>,
    /// Whether it runs something. A worker that begins to looks at the sleep states of others at its
    /// first fork.
    working: CachePadded<AtomicBool>,
    /// What runs here.
    pub(crate) runs: Runs,
    /// See [`drop_after_run`](Seat::drop_after_run).
    kept: OwnersOnly<RefCell<Option<Arc<Shared>>>>,
    /// For forks beyond the end of the stack.
    pub(crate) spare_slots: SpareSlots,
    pub(crate) tally: CachePadded<Tally>,
    pub(crate) log: Log,
}

impl Seat {
    /// # Safety
    ///
    /// As for [`Stack::new`].
    pub(crate) unsafe fn new(index: usize, base: usize, slots: usize, mode: Mode) -> Seat {
        let (spawned, spawned_thief) = new_deque();
        let (tasks, tasks_thief) = new_deque();
        Seat {
            // SAFETY: the caller's word.
            stack: unsafe { Stack::new(base, slots, mode) },
            sleep: CachePadded::new(SleepCell::new()),
            index,
            pool: AtomicPtr::new(std::ptr::null_mut()),
            outer: plain::AtomicPtr::new(std::ptr::null_mut()),
            spawned: OwnersOnly(spawned),
            spawned_thief,
            tasks: OwnersOnly(tasks),
            tasks_thief,
            // Any odd constant: no two workers start alike.
            random: OwnersOnly(Cell::new(Random::new(index))),
            calls: CachePadded::new(OwnersOnly(Cell::new(Calls { last: None, brief: 0 }))),
            has_brief_calls: AtomicBool::new(false),
            looks: OwnersOnly(Cell::new(0)),
            patience: Patience::new(),
            guests_patience: Patience::new(),
            inbox: InOrder::new(),
            in_turn: InOrder::new(),
            working: CachePadded::new(AtomicBool::new(false)),
            runs: Runs::new(),
            kept: OwnersOnly(RefCell::new(None)),
            spare_slots: SpareSlots(Mutex::new(Vec::new())),
            tally: CachePadded::new(Tally::new()),
            log: Log::new(),
        }
    }

    pub(crate) fn set_pool(&self, pool: &Shared) {
        // Relaxed: threads start later.
        self.pool.store(std::ptr::from_ref(pool).cast_mut(), Ordering::Relaxed);
        self.runs.move_in(self);
    }

    /// The pool.
    pub(crate) fn pool<'a>(&self) -> &'a Shared {
        // SAFETY: the pool owns its seats, and outlives what runs on them.
        unsafe { &*self.pool.load(Ordering::Relaxed) }
    }

    /// Puts a job into the worker's own queue.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn push_spawned(&self, job: Job) {
        self.spawned.0.push(job);
    }

    /// Queues a job behind those that were spawned in turn before. Returns the one to spawn in its place: it runs the oldest of them.
    pub(crate) fn queue_up(&self, job: Job) -> Job {
        unsafe fn execute(data: *const (), worker: &mut Worker, _: bool) {
            // SAFETY: pool memory, which outlives what is spawned into the pool.
            let seat = unsafe { &*data.cast::<Seat>() };
            let job = seat.in_turn.pop().expect("as many take their turn as have queued up");
            // SAFETY: taken from the queue once.
            unsafe { job.run(worker) };
        }
        let lineage = job.lineage;
        self.in_turn.push(job);
        // SAFETY: run once, as every spawned job is; then there is one in the queue.
        unsafe { Job::from_parts(std::ptr::from_ref(self).cast(), execute, lineage) }
    }

    /// Takes the youngest job of the worker's own queue.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn pop_spawned(&self) -> Option<Job> {
        self.spawned.0.pop()
    }

    /// Takes the oldest job of another worker's queue.
    pub(crate) fn steal_spawned(&self) -> Option<Job> {
        steal(&self.spawned_thief)
    }

    /// Puts a task into the worker's own deque.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn push_task(&self, task: Task) {
        self.tasks.0.push(task);
    }

    /// Takes the youngest task of the worker's own deque.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat.
    pub(crate) unsafe fn pop_task(&self) -> Option<Task> {
        self.tasks.0.pop()
    }

    /// Takes the oldest task of another worker's deque.
    pub(crate) fn steal_task(&self) -> Option<Task> {
        steal(&self.tasks_thief)
    }

    pub(crate) fn has_tasks(&self) -> bool {
        IN_USE && !self.tasks_thief.is_empty()
    }

    pub(crate) fn has_spawned(&self) -> bool {
        IN_USE && !self.spawned_thief.is_empty()
    }

    /// A number below `bound`, which is not 0.
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

    /// How long the occupant looks for work before it sleeps.
    pub(crate) fn patience(&self) -> &Patience {
        if self.sleep.has_guest() {
            &self.guests_patience
        } else {
            &self.patience
        }
    }

    /// Learns that a call from outside is over.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn learn_from_call(&self) {
        let Calls { last, brief } = self.calls.0.get();
        let now = spin::ticks();
        let brief = if spin::is_within(BRIEF, last, now) { brief.saturating_add(1) } else { 0 };
        self.calls.0.set(Calls { last: now, brief });
        // Relaxed: a hint. Written only if it changes: others read it all the time.
        if (brief >= SEVERAL) != self.has_brief_calls() {
            self.has_brief_calls.store(brief >= SEVERAL, Ordering::Relaxed);
        }
    }

    /// Forgets how long calls were: the seat is its own thread's again.
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

    /// Whether the calls that run here lately are over before a thief could help: a hint.
    pub(crate) fn has_brief_calls(&self) -> bool {
        self.has_brief_calls.load(Ordering::Relaxed)
    }

    /// Whether this worker should ask `victim` for work. If the calls there are brief, it asks only now
    /// and then, in case that the present one is not.
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

    /// Leaves a job for this worker alone, and wakes it.
    pub(crate) fn deliver(&self, job: Job) {
        // Workers of other pools are inside, too: a call that runs here may wait for them.
        let is_from_inside = Seat::current().is_some() || self.pool().waits_above(job.lineage).next().is_some();
        self.inbox.push(Mail { job, is_from_inside });
        self.sleep.call();
    }

    /// Takes the oldest of the jobs for this worker alone.
    pub(crate) fn collect(&self) -> Option<Job> {
        self.inbox.pop().map(|mail| mail.job)
    }

    /// Whether a worker of some pool, or what descends from one, has sent a job for this worker
    /// alone.
    pub(crate) fn has_mail_from_inside(&self) -> bool {
        self.has_mail() && self.inbox.has(|mail| mail.is_from_inside)
    }

    /// The worker begins to run something; its first fork looks at the sleep states of the others.
    /// Returns whether it was running something already, for [`end`](Seat::end).
    pub(crate) fn begin(&self) -> bool {
        // Relaxed: only the worker itself writes it.
        let before = self.working.load(Ordering::Relaxed);
        self.working.swap(true, Ordering::SeqCst);
        // A worker that goes to sleep and does not see this is seen asleep by the first fork.
        fence_after_exchange();
        if !defect(Defect::BeginsQuietly) {
            self.stack.alarm();
        }
        before
    }

    /// What began is over.
    pub(crate) fn end(&self, before: bool) {
        // Release: what it has forked was forked before.
        self.working.store(before, Ordering::Release);
    }

    /// Whether nothing is left of what ran here.
    pub(crate) fn is_clear(&self) -> bool {
        self.stack.is_empty_at(self.stack.bottom()) && self.runs.is_empty()
    }

    /// Drops a count of the pool of a worker that has waited for `node`. If the calling thread is
    /// still in the run that this was, it does so when the run is over.
    ///
    /// The count may be the last, and the pool's end run code of the user's. In the run that code
    /// would find the run's ancestors, which are gone with the pool.
    pub(crate) fn drop_after_run(pool: Arc<Shared>, node: usize) {
        match Seat::current() {
            // Not in a seat of its own: the pool would keep itself.
            Some(seat) if seat.runs.top().is_for(node) && !std::ptr::eq(seat.pool(), &*pool) => {
                let before = seat.kept.0.replace(Some(pool));
                debug_assert!(before.is_none(), "a run ends once");
            }
            _ => drop(pool),
        }
    }

    /// Drops what was kept until the run ends.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn drop_kept(&self) {
        drop(self.kept.0.take());
    }

    /// The lineage of the job in `slot`, which stands on this seat's stack. For a thread that holds
    /// the job, otherwise a hint.
    pub(crate) fn lineage_of(&self, slot: &Slot) -> Lineage {
        Lineage::new(node_of(slot), self.runs.at(self.stack.index_of(slot)))
    }

    /// Whether the worker may fork without looking at the sleep states of others first: it runs
    /// something, does not sleep itself, and its forks have no fence.
    pub(crate) fn may_fork_unseen(&self) -> bool {
        // SeqCst: after the fence of the worker that asks, whose state says by then that it sleeps.
        self.working.load(Ordering::SeqCst) && !self.sleep.is_asleep() && !self.stack.is_fenced()
    }

    /// Whether there are jobs for this worker alone.
    pub(crate) fn has_mail(&self) -> bool {
        // SeqCst: after the worker's state says that it sleeps.
        self.inbox.len.load(Ordering::SeqCst) != 0
    }
}

/// Whether the deques are ever used. Loom's models spawn nothing, and each look at what is always empty would double the ways to go through them.
const IN_USE: bool = !cfg!(loom);

fn new_deque<T: Send>() -> (chase_lev::Owner<T>, chase_lev::Thief<T>) {
    if IN_USE {
        chase_lev::new()
    } else {
        chase_lev::with_capacity(1).expect("memory for a model")
    }
}

fn steal<T: Send>(thief: &chase_lev::Thief<T>) -> Option<T> {
    if !IN_USE || thief.is_empty() {
        return None;
    }
    loop {
        match thief.steal() {
            Steal::Success(stolen) => return Some(stolen),
            Steal::Empty | Steal::Abort => return None,
            Steal::Retry => spin_loop(),
        }
    }
}

/// How many [turns](crate::spin) there are at most from the end of one call to the end of the next if a
/// thief cannot help with them.
const BRIEF: u32 = 6;

/// How many calls in a row are brief before the next one is expected to be.
const SEVERAL: u32 = 8;

/// What is known about the calls from outside that run in a seat.
#[derive(Clone, Copy, Debug)]
struct Calls {
    /// When the latest was over, if there is a clock.
    last: Option<u64>,
    /// How many were brief in a row.
    brief: u32,
}

/// What only the worker itself may touch.
#[derive(Debug)]
struct OwnersOnly<T>(T);

// SAFETY: the functions that reach inside are unsafe and say who may call them.
unsafe impl<T: Send> Sync for OwnersOnly<T> {}

/// A job for one worker alone.
#[derive(Debug)]
struct Mail {
    job: Job,
    /// Whether a worker of some pool sent it, or what descends from one.
    is_from_inside: bool,
}

/// Jobs, first in, first out.
#[derive(Debug)]
struct InOrder<T> {
    /// So that nobody locks for nothing.
    len: AtomicUsize,
    jobs: Mutex<VecDeque<T>>,
}

impl<T> InOrder<T> {
    fn new() -> InOrder<T> {
        InOrder { len: AtomicUsize::new(0), jobs: Mutex::new(VecDeque::new()) }
    }

    fn push(&self, job: T) {
        let mut jobs = lock(&self.jobs);
        jobs.push_back(job);
        // SeqCst: before the call that wakes; see `has_mail`.
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
    /// A free slot, until it is put back.
    pub(crate) fn take(&self) -> *const Slot {
        let slot = lock(&self.0).pop().unwrap_or_else(|| Box::into_raw(Box::new(Slot::new())));
        slot.expose_provenance();
        slot
    }

    /// Nobody will run or wait for the job in it any more.
    pub(crate) fn put_back(&self, slot: *const Slot) {
        // SAFETY: one of ours, and alive.
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

// SAFETY: slots are atomics, and a slot in the list is nobody's.
unsafe impl Sync for SpareSlots {}
// SAFETY: as above.
unsafe impl Send for SpareSlots {}
