//! A seat: a worker's place in a pool. It is stored at the start of its region.

mod calls;
mod deques;
mod fifo_queue;
mod mail;
mod spare_slots;
mod spawned;
mod tasks;

use std::cell::{Cell, RefCell};
use std::sync::atomic as plain;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

pub(crate) use deques::steal_task_from;

use crate::backoff::Patience;
use crate::defect::{defect, Defect};
use crate::job::Job;
use crate::lineage::{node_of, Lineage, Runs};
use crate::pool::Shared;
use crate::random::Random;
use crate::scope::Innermost;
use crate::sleep::SleepCell;
use crate::split::Mode;
use crate::stack::{Slot, Stack};
use crate::stats::{Count, Tally};
use crate::sync::{fence_after_exchange, AtomicBool, AtomicPtr, Mutex, Ordering};
use crate::tasks::{Counted, Deque, Lanes, Strays};
use crate::trace::Log;
use calls::Calls;
use fifo_queue::FifoQueue;
use mail::Mail;
use spare_slots::SpareSlots;
use spawned::Spawns;

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

    /// Marks the worker as running. Its first fork looks at the sleep states of the others. Returns
    /// whether the worker ran something already, for [`end_work`](Seat::end_work).
    pub(crate) fn begin_work(&self) -> bool {
        // Relaxed: only the worker itself writes it.
        let before = self.working.load(Ordering::Relaxed);
        self.working.swap(true, Ordering::SeqCst);
        // A worker that goes to sleep and does not see this is seen asleep by the first fork.
        fence_after_exchange();
        if !defect(Defect::BeginRaisesNoAlarm) {
            self.stack.alarm();
        }
        self.fence_after_refusal();
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
    /// it runs something, does not sleep itself, and its stack or one of its deques is not fenced.
    pub(crate) fn may_fork_unseen(&self) -> bool {
        // SeqCst: after the fence of the worker that asks. By then the state of that worker says
        // that it sleeps.
        self.working.load(Ordering::SeqCst) && !self.sleep.is_asleep() && !self.is_fenced()
    }
}

/// The number of nested scopes whose tasks a worker pushes onto its own deque. The scopes are open
/// on the worker, or it runs tasks of them. Tasks of further scopes are strays.
const SEGMENTS: usize = if cfg!(loom) { 2 } else { 256 };

/// A value that only the worker itself may access.
#[derive(Debug)]
struct OwnersOnly<T>(T);

// SAFETY: the functions that reach inside are unsafe and state which thread may call them.
unsafe impl<T: Send> Sync for OwnersOnly<T> {}
