//! The state of an open scope: its counted tasks, and the first panic.
//!
//! **Counting.** A task in the deque of a worker is not counted. It is in a *segment* of the scope:
//! the worker has opened the scope, or runs a task of it, and takes all tasks of the segment before
//! it goes on. The `balance` counts the others: tasks that were stolen, tasks that wait in the
//! injector or in the mail of a worker, and those that run there.
//!
//! - A thief adds 1 before the task counts as moved out of the deque, and subtracts 1 when the task
//!   is over.
//! - Before it subtracts, it takes all tasks that it has spawned itself meanwhile, and waits until
//!   those that were stolen from it count as moved. So their additions come before this
//!   subtraction.
//! - A task that is spawned elsewhere than in a segment of its scope is counted before it is
//!   queued: in a [stray](crate::tasks::Strays) deque of the worker, or in the injector. (In a
//!   scope whose oldest tasks are taken first, a worker finds its segment again, and pushes the
//!   task there.)
//!
//! **Invariant.** As long as a task is not over, it is in the owner's segment, or claimed there and
//! not moved yet, or the balance is above 0: if the task itself is not counted, it is in the
//! segment of a worker that runs a counted task which is not over. So the scope is over when the
//! owner's segment is empty, all that was claimed there is moved, and then the balance is 0. If no
//! thief came, that is one load.

use std::ptr;

use super::Order;
use crate::defect::{defect, Defect};
use crate::job::Job;
use crate::latch::Completion;
use crate::lineage::{Lineage, Run};
use crate::pool::Shared;
use crate::seat::Seat;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering};
use crate::unwind::{self, Payload};

/// The thread that waits for the end of the scope.
#[derive(Debug)]
pub(super) enum End {
    /// A worker of the scope's pool, which runs tasks meanwhile.
    Owner(*const Seat),
    /// A thread that cannot run tasks. The body of the scope counts as a task.
    Elsewhere(Completion),
}

/// Set when the owner is to be notified at the end.
const WAITING: usize = 1;
/// The unit of the balance: one task.
const TASK: usize = 2;

/// The state of an open scope; see the module.
// Aligned, because a sleep state holds the address and a few bits.
#[derive(Debug)]
#[repr(align(8))]
pub(crate) struct Record {
    /// The run that waits for the end, or null if no worker does.
    up: *const Run,
    /// The pool that runs the tasks.
    pool: *const Shared,
    pub(super) order: Order,
    end: End,
    balance: AtomicUsize,
    /// The first panic, in a box, or null.
    panic: AtomicPtr<Payload>,
}

// SAFETY: the pool's memory is only used in ways that are open to all threads, and outlives the
// scope.
unsafe impl Sync for Record {}
// SAFETY: as above.
unsafe impl Send for Record {}

impl Record {
    #[inline(always)]
    pub(super) fn new(pool: &Shared, up: Option<&Run>, order: Order, end: End) -> Record {
        let body = match end {
            End::Owner(_) => 0,
            End::Elsewhere(_) => TASK,
        };
        Record {
            up: up.map_or(ptr::null(), ptr::from_ref),
            pool,
            order,
            end,
            balance: AtomicUsize::new(body),
            panic: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Returns the record of the scope whose task has this lineage.
    ///
    /// # Safety
    ///
    /// The task is not over.
    #[inline(always)]
    pub(super) unsafe fn of<'a>(lineage: Lineage) -> &'a Record {
        // SAFETY: the scope outlives its tasks. Its address was exposed with the lineage.
        unsafe { &*ptr::with_exposed_provenance(lineage.node()) }
    }

    /// Returns the lineage of the tasks, wherever they are spawned.
    #[inline(always)]
    pub(crate) fn lineage(&self) -> Lineage {
        Lineage::from_parts(ptr::from_ref(self).expose_provenance(), self.up)
    }

    pub(super) fn pool<'a>(&self) -> &'a Shared {
        // SAFETY: the thread that waits for the scope is one of the pool's workers or borrows the
        // pool.
        unsafe { &*self.pool }
    }

    pub(super) fn end(&self) -> &End {
        &self.end
    }

    /// Counts `tasks` tasks. The caller keeps the scope from ending.
    pub(super) fn add(&self, tasks: usize) {
        // Relaxed: a thief releases it with the count of the moved tasks; what is queued is queued
        // by a release.
        self.balance.fetch_add(tasks * TASK, Ordering::Relaxed);
    }

    /// Counts a task that a thief has claimed and not moved out of its slot. The task is of this
    /// lineage.
    ///
    /// # Safety
    ///
    /// It is a task of a scope, and not over.
    pub(crate) unsafe fn add_stolen(lineage: Lineage) {
        // SAFETY: the caller guarantees it.
        unsafe { Record::of(lineage) }.add(1);
    }

    /// Queues a task that is not for the innermost scope of a worker.
    ///
    /// It is for any worker, and counted. But if its scope takes the oldest first and is open here,
    /// it goes behind the others.
    ///
    /// # Safety
    ///
    /// `job` has this scope's lineage, and is not counted. `seat` is that of the calling thread.
    #[cold]
    pub(super) unsafe fn queue(&self, seat: Option<&Seat>, job: Job) {
        let mut job = Err(job);
        let seat = seat.filter(|seat| ptr::eq(seat.pool(), self.pool));
        if let Some(seat) = seat.filter(|_| self.order == Order::Oldest) {
            // SAFETY: this is the worker of the seat.
            job = job.or_else(|job| unsafe { seat.push_into_lane(job) });
        }
        let Err(job) = job else { return };
        if !defect(Defect::CountsStraysLate) {
            self.add(1);
        }
        let job = match seat {
            // SAFETY: as above.
            Some(seat) => unsafe { seat.push_stray(job) },
            None => Err(job),
        };
        if let Err(job) = job {
            self.pool().inject(job);
        }
        if defect(Defect::CountsStraysLate) {
            self.add(1);
        }
    }

    /// Subtracts `tasks` counted tasks that are over. The scope may be gone when this returns.
    ///
    /// # Safety
    ///
    /// The scope is there until then; called once for each task.
    pub(super) unsafe fn finish(this: *const Record, tasks: usize) {
        let tasks = tasks * TASK;
        // SAFETY: the caller guarantees it. AcqRel: what the tasks did is done before the scope
        // ends.
        let before = || unsafe { &(*this).balance }.fetch_sub(tasks, Ordering::AcqRel);
        // SAFETY: as above.
        match unsafe { &(*this).end } {
            &End::Owner(owner) => {
                if before() == tasks | WAITING {
                    // SAFETY: pool memory, which outlives what runs on it.
                    unsafe { &*owner }.sleep.notify_waiter();
                }
            }
            End::Elsewhere(completion) => {
                let completion: *const Completion = completion;
                if before() == tasks {
                    // SAFETY: the waiter waits for the completion, which is set once, here.
                    unsafe { Completion::set(completion, this.addr()) };
                }
            }
        }
    }

    /// Returns whether no counted task is left.
    #[inline(always)]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with `finish`.
        self.balance.load(Ordering::Acquire) < TASK
    }

    /// Requests that the owner is notified when no counted task is left. Returns false if none is
    /// left already.
    pub(crate) fn request_wake(&self) -> bool {
        // AcqRel: as in `finish`, from the other side.
        self.balance.fetch_or(WAITING, Ordering::AcqRel) >= TASK
    }

    /// Keeps the first panic.
    #[cold]
    pub(super) fn keep_panic(&self, panic: Payload) {
        let panic = Box::into_raw(Box::new(panic));
        // Release: the panic. Acquire is for the scope's end, which is after this.
        let kept = self.panic.compare_exchange(ptr::null_mut(), panic, Ordering::Release, Ordering::Relaxed);
        if kept.is_err() {
            // SAFETY: just made, and not kept.
            unwind::discard(*unsafe { Box::from_raw(panic) });
        }
    }

    /// Takes the first panic, at the end of the scope.
    #[inline(always)]
    pub(super) fn take_panic(&self) -> Option<Payload> {
        // Acquire: what was released by a task that was not counted was on this thread.
        let panic = self.panic.load(Ordering::Acquire);
        // SAFETY: kept once, and taken once.
        (!panic.is_null()).then(|| *unsafe { Box::from_raw(panic) })
    }
}
