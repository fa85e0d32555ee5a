//! The tasks of one scope: where they wait, the number of those unfinished, the first panic.
//!
//! A task that a worker spawns waits in that worker's own deque, together with those of other scopes: the worker goes on with its youngest, and others take its oldest. What is spawned by somebody else, or is to
//! run in order, waits in a queue of the scope. So does a task that came into the hands of a worker who is not to run it, because it waits for the end of another scope: it is *set aside*.

use std::collections::VecDeque;

use crate::job::Job;
use crate::latch::Completion;
use crate::lineage::{node_of, Lineage, Run};
use crate::pool::Shared;
use crate::seat::Seat;
use crate::sync::{lock, AtomicBool, AtomicU64, Mutex, Ordering};
use crate::unwind::{self, NoUnwind, Payload};
use crate::worker::Worker;

/// Which of the tasks that it has spawned itself a worker takes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Youngest,
    Oldest,
}

/// One task of a scope.
#[derive(Debug)]
pub(crate) struct Task {
    job: Job,
    scope: *const Tasks,
}

// SAFETY: a scope is there for all threads until its tasks are over.
unsafe impl Send for Task {}

impl Task {
    pub(crate) fn lineage(&self) -> Lineage {
        self.job.lineage
    }

    fn tasks(&self) -> &Tasks {
        // SAFETY: the scope outlives its tasks, and this one is not over.
        unsafe { &*self.scope }
    }

    fn is_of(&self, tasks: &Tasks) -> bool {
        std::ptr::eq(self.scope, tasks)
    }

    pub(crate) fn run(self, worker: &mut Worker) {
        // SAFETY: a task is not `Clone`, and leaves its queue once.
        unsafe { self.job.run(worker) };
    }
}

/// Who waits for the end of the scope.
#[derive(Debug)]
pub(super) enum End {
    /// A worker of the scope's pool, which runs tasks meanwhile.
    Owner(*const Seat),
    /// Somebody who cannot.
    Elsewhere(Completion),
}

/// No scope has more unfinished tasks.
const MOST: u32 = u32::MAX / 2;

const UNFINISHED: u64 = 1;
const WAITING: u64 = 1 << 32;

/// See the module.
// The alignment: a sleep state holds the address and a few bits.
#[derive(Debug)]
#[repr(align(8))]
pub(crate) struct Tasks {
    /// The run that waits for the end, or null if no worker does.
    up: *const Run,
    /// Where the tasks are run.
    pool: *const Shared,
    order: Order,
    end: End,
    /// Two numbers: of the tasks that are not finished, and one for the body; and of those that nobody has taken yet.
    counts: AtomicU64,
    queue: Mutex<VecDeque<Task>>,
    pub(super) listed: AtomicBool,
    panic: Mutex<Option<Payload>>,
}

// SAFETY: the pool's memory is only used in ways open to all threads, and outlives the scope.
unsafe impl Sync for Tasks {}
// SAFETY: as above.
unsafe impl Send for Tasks {}

impl Tasks {
    pub(super) fn new(pool: &Shared, up: Option<&Run>, order: Order, end: End) -> Tasks {
        Tasks {
            up: up.map_or(std::ptr::null(), std::ptr::from_ref),
            pool,
            order,
            end,
            counts: AtomicU64::new(UNFINISHED),
            queue: Mutex::new(VecDeque::new()),
            listed: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    /// Of the tasks, wherever they are spawned.
    pub(super) fn lineage(&self) -> Lineage {
        let node = match &self.end {
            End::Owner(_) => node_of(self),
            End::Elsewhere(completion) => node_of(completion),
        };
        // SAFETY: the memory of runs is never freed.
        unsafe { self.up.as_ref() }.map_or(Lineage::of_thread(node), |up| Lineage::new(node, up))
    }

    pub(super) fn pool<'a>(&self) -> &'a Shared {
        // SAFETY: whoever waits for the scope is one of the pool's workers or borrows the pool.
        unsafe { &*self.pool }
    }

    pub(super) fn end(&self) -> &End {
        &self.end
    }

    /// Counts `tasks` more unfinished tasks, which do not wait in a queue of the scope.
    pub(super) fn expect(&self, tasks: usize) {
        self.count(tasks as u64 * UNFINISHED);
    }

    /// Adds `more` to the counts. Ends the process if there are too many tasks.
    fn count(&self, more: u64) {
        // Relaxed: the caller keeps the scope from ending. A task that waits is counted before the
        // fence of the event, and so before the caller looks for sleeping workers.
        let before = self.counts.fetch_add(more, Ordering::Relaxed);
        // Far enough below the carry that no other thread reaches it meanwhile.
        if before as u32 > MOST {
            drop(NoUnwind("a scope has more than two thousand million unfinished tasks"));
        }
    }

    pub(super) fn add(&self, job: Job) {
        let pool = self.pool();
        let task = Task { job, scope: self };
        self.count(UNFINISHED + WAITING);
        match pool.own_seat() {
            // SAFETY: the calling worker's own.
            Some(seat) if self.order == Order::Youngest => unsafe { seat.push_task(task) },
            _ => self.queue_up(task),
        }
        self.announce();
    }

    /// Wakes a worker for a task that was added: an idle one, or the nearest whose wait needs it.
    fn announce(&self) {
        let (pool, lineage) = (self.pool(), self.lineage());
        if lineage.has_distant_waits() {
            // So that other waits than the one for the scope's end find it.
            self.list();
        }
        // A searcher looks for all waits when it stops; but only the wait for the scope's end knows
        // of a scope that is not listed.
        let waits = if pool.event() { 1 } else { usize::MAX };
        pool.wake_nearest(pool.waits_above(lineage).take(waits));
    }

    fn queue_up(&self, task: Task) {
        lock(&self.queue).push_back(task);
        self.list();
    }

    fn list(&self) {
        if !self.listed.load(Ordering::Acquire) {
            self.pool().scopes.add(self);
        }
    }

    /// One of the tasks, or the body, is over. The scope may be gone when this returns.
    ///
    /// # Safety
    ///
    /// Until then it is there; once for each of them.
    pub(super) unsafe fn finish(this: *const Tasks) {
        // SAFETY: the caller's word. AcqRel: what the tasks did is done for who comes after the scope.
        let is_last = || unsafe { &(*this).counts }.fetch_sub(UNFINISHED, Ordering::AcqRel) as u32 == 1;
        // SAFETY: the same.
        match unsafe { &(*this).end } {
            &End::Owner(owner) => {
                if is_last() {
                    // SAFETY: pool memory, which outlives what runs on it.
                    unsafe { &*owner }.sleep.call_waiter();
                }
            }
            End::Elsewhere(completion) => {
                let completion: *const Completion = completion;
                if is_last() {
                    // SAFETY: whoever waits does so for the completion, which is set once, here.
                    unsafe { Completion::set(completion) };
                }
            }
        }
    }

    pub(super) fn keep_panic(&self, panic: Payload) {
        unwind::keep_first(&self.panic, panic);
    }

    pub(super) fn take_panic(&self) -> Option<Payload> {
        lock(&self.panic).take()
    }

    pub(crate) fn are_done(&self) -> bool {
        // Acquire: pairs with `finish`.
        self.counts.load(Ordering::Acquire) as u32 == 0
    }

    /// Whether there are tasks that nobody has taken.
    pub(crate) fn are_waiting(&self) -> bool {
        // SeqCst: after the fence of one who lies down.
        self.counts.load(Ordering::SeqCst) >= WAITING
    }

    pub(super) fn is_owned_by(&self, seat: &Seat) -> bool {
        matches!(self.end, End::Owner(owner) if std::ptr::eq(owner, seat))
    }

    /// Somebody has taken the task and will run it.
    fn taken(&self) {
        // Relaxed: for those who look for tasks there is one less, and it matters to nobody when they learn of it.
        self.counts.fetch_sub(WAITING, Ordering::Relaxed);
    }

    /// The oldest of the tasks in the scope's own queue.
    pub(super) fn take_queued(&self) -> Option<Task> {
        if !self.are_waiting() {
            return None;
        }
        lock(&self.queue).pop_front().map(Task::take)
    }

    /// One of the tasks, for the worker of `seat`, which may run no others. Those of other scopes that had to be taken on the way are for the caller to [set aside](Task::set_aside).
    pub(super) fn take_past(&self, seat: &Seat, others: &mut Vec<Task>) -> Option<Task> {
        if !self.are_waiting() {
            return None;
        }
        let stolen = || self.pool().others(seat).find_map(Seat::steal_task);
        // SAFETY: this is the worker of the seat.
        let own = || unsafe { seat.pop_task() };
        self.take_youngest(seat)
            .or_else(|| self.take_queued())
            .or_else(|| self.sift(stolen, others))
            .or_else(|| self.sift(own, others))
    }

    /// One of the tasks, for the worker of `seat`, which waits for the end of the scope.
    pub(crate) fn take(&self, seat: &Seat) -> Option<Task> {
        let mut others = Vec::new();
        let task = self.take_past(seat, &mut others);
        others.into_iter().for_each(Task::set_aside);
        task
    }

    /// The youngest task in the worker's own deque, if it is one of these.
    fn take_youngest(&self, seat: &Seat) -> Option<Task> {
        // SAFETY: this is the worker of the seat.
        let task = unsafe { seat.pop_task() }?;
        if task.is_of(self) {
            return Some(task.take());
        }
        // SAFETY: as above.
        unsafe { seat.push_task(task) };
        // Somebody may have looked meanwhile and not seen it.
        self.pool().event();
        None
    }

    /// The first task of this scope among those that `next` gives.
    fn sift(&self, next: impl Fn() -> Option<Task>, others: &mut Vec<Task>) -> Option<Task> {
        while self.are_waiting() {
            let task = next()?;
            if task.is_of(self) {
                return Some(task.take());
            }
            others.push(task);
        }
        None
    }
}

impl Task {
    /// Leaves the task to everybody, and to who waits for its scope: that one does not sleep as long as there are tasks to take.
    pub(super) fn set_aside(self) {
        let scope = self.scope;
        // SAFETY: the scope outlives its tasks; and from here on what counts as one more of them.
        let tasks = unsafe { &*scope };
        tasks.expect(1);
        tasks.queue_up(self);
        tasks.announce();
        // SAFETY: for the one more.
        unsafe { Tasks::finish(scope) };
    }

    /// Whether the worker of `seat` waits for the end of its scope, or will.
    pub(crate) fn is_for(&self, seat: &Seat) -> bool {
        self.tasks().is_owned_by(seat)
    }

    /// It is about to be run.
    pub(crate) fn take(self) -> Task {
        self.tasks().taken();
        self
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::env;
    use std::process::Command;

    use super::*;
    use crate::latch::{Gate, Waiter};
    use crate::Pool;

    const CHILD: &str = "FILCH_TEST_CHILD";

    #[test]
    fn a_scope_with_too_many_parts_of_broadcasts_ends_the_process() {
        let test = "scope::tasks::tests::a_scope_with_too_many_parts_of_broadcasts_ends_the_process";
        if env::var_os(CHILD).is_some() {
            let pool = Pool::builder().threads(1).build().expect("a pool");
            // Its end is never waited for.
            let end = End::Elsewhere(Completion::new(Waiter::Thread(Gate::own())));
            let tasks = Tasks::new(pool.shared(), None, Order::Youngest, end);
            tasks.expect(MOST as usize);
            tasks.expect(1);
            println!("still alive");
            return;
        }
        let mut child = Command::new(env::current_exe().expect("this program"));
        child.args([test, "--exact", "--nocapture"]).env(CHILD, test);
        let output = child.output().expect("the same program again");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("a scope has more than two thousand million unfinished tasks"), "{said}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("still alive"));
    }
}
