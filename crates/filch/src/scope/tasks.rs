//! The tasks of one scope: those queued, the number of those unfinished, the first panic.
//!
//! Each worker has a lane of its own for the tasks that it spawns, so that it goes on with its own ones, and nobody has to wait for a lock that all want. Threads
//! that are no workers of the pool have one lane in common.

use std::collections::VecDeque;
use std::sync::atomic as plain;
use std::sync::OnceLock;

use crossbeam_utils::CachePadded;

use crate::job::Job;
use crate::latch::Completion;
use crate::origin::Origin;
use crate::pool::Shared;
use crate::post::Post;
use crate::sleep::Rest;
use crate::sync::{lock, AtomicBool, AtomicUsize, Mutex, Ordering};
use crate::unwind::{self, Payload};
use crate::worker::Worker;

/// Numbers scopes from 1 on. Not part of any protocol but to be different.
static NUMBER: plain::AtomicUsize = plain::AtomicUsize::new(1);

/// Which of the tasks that it has spawned itself a worker takes first. Those of others it takes oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Youngest,
    Oldest,
}

/// One task of a scope.
#[derive(Debug)]
pub(crate) struct Task {
    job: Job,
}

impl Task {
    pub(crate) fn origin(&self) -> Origin {
        self.job.origin
    }

    pub(crate) fn run(self, worker: &mut Worker) {
        // SAFETY: a task is not `Clone`, and leaves the scope's queue once.
        unsafe { self.job.run(worker) };
    }
}

/// Who waits for the end of the scope.
#[derive(Debug)]
pub(super) enum End {
    /// A worker of the scope's pool, which runs tasks meanwhile.
    Owner(*const Post),
    /// Somebody who cannot.
    Elsewhere(Completion),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Tasks {
    number: usize,
    /// Of the scope, and so of its tasks, wherever they are spawned.
    origin: Origin,
    /// Where the tasks are run.
    pool: *const Shared,
    order: Order,
    end: End,
    /// One for each worker, and one for everybody else. Made with the first task.
    lanes: OnceLock<Box<[CachePadded<Lane>]>>,
    /// Tasks that are not finished, and one for the body.
    unfinished: AtomicUsize,
    pub(super) listed: AtomicBool,
    panic: Mutex<Option<Payload>>,
}

// SAFETY: the pool's memory is only used in ways open to all threads, and outlives the scope.
unsafe impl Sync for Tasks {}
// SAFETY: as above.
unsafe impl Send for Tasks {}

impl Tasks {
    pub(super) fn new(pool: &Shared, origin: Origin, order: Order, end: End) -> Tasks {
        Tasks {
            number: NUMBER.fetch_add(1, plain::Ordering::Relaxed),
            origin,
            pool,
            order,
            end,
            lanes: OnceLock::new(),
            unfinished: AtomicUsize::new(1),
            listed: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn pool<'a>(&self) -> &'a Shared {
        // SAFETY: whoever waits for the scope is one of the pool's workers or borrows the pool.
        unsafe { &*self.pool }
    }

    pub(super) fn end(&self) -> &End {
        &self.end
    }

    /// So many tasks more are to be waited for.
    pub(super) fn expect(&self, tasks: usize) {
        // Relaxed: whoever adds keeps the scope from ending.
        self.unfinished.fetch_add(tasks, Ordering::Relaxed);
    }

    pub(super) fn add(&self, job: Job) {
        let pool = self.pool();
        self.expect(1);
        let lanes = self.lanes.get_or_init(|| (0..=pool.posts.len()).map(|_| CachePadded::new(Lane::new())).collect());
        let lane = pool.own_post().map_or(pool.posts.len(), |post| post.index);
        lanes[lane].push(Task { job });
        if !self.listed.load(Ordering::Acquire) {
            pool.scopes.add(self);
        }
        pool.event();
        // The owner at the scope's end may be the only one who is free for this.
        if let End::Owner(owner) = self.end {
            // SAFETY: pool memory, which outlives what runs on it.
            let owner = unsafe { &*owner };
            if owner.bed.rest() == Rest::Scope(self.number) {
                pool.sleep.wake(&owner.bed, Rest::Scope(self.number));
            }
        }
    }

    /// One of the tasks, or the body, is over. The scope may be gone when this returns.
    pub(super) fn finish(&self) {
        match &self.end {
            &End::Owner(owner) => {
                // AcqRel: what the tasks did is done for who comes after the scope.
                if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
                    // SAFETY: pool memory, which outlives what runs on it.
                    unsafe { &*owner }.bed.call();
                }
            }
            End::Elsewhere(completion) => {
                // AcqRel: as above.
                if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
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
        self.unfinished.load(Ordering::Acquire) == 0
    }

    fn lanes(&self) -> &[CachePadded<Lane>] {
        self.lanes.get().map_or(&[], |lanes| lanes)
    }

    pub(crate) fn are_queued(&self) -> bool {
        self.lanes().iter().any(|lane| !lane.is_empty())
    }

    /// Whether a worker has tasks left that it has spawned itself.
    pub(crate) fn are_queued_by(&self, worker: usize) -> bool {
        self.lanes().get(worker).is_some_and(|lane| !lane.is_empty())
    }

    /// One of the tasks that a worker has spawned itself.
    pub(crate) fn take_own(&self, worker: usize) -> Option<Task> {
        self.lanes().get(worker)?.take(self.order)
    }

    /// One of the tasks: for a worker, its own ones first.
    pub(crate) fn take(&self, worker: usize) -> Option<Task> {
        self.take_own(worker).or_else(|| {
            let lanes = self.lanes();
            let count = lanes.len();
            (1..count).find_map(|turn| lanes[(worker + turn) % count].take(Order::Oldest))
        })
    }
}

/// Tasks in the order in which they were spawned.
#[derive(Debug)]
struct Lane {
    /// So that nobody locks for nothing.
    len: AtomicUsize,
    tasks: Mutex<VecDeque<Task>>,
}

impl Lane {
    fn new() -> Lane {
        Lane { len: AtomicUsize::new(0), tasks: Mutex::new(VecDeque::new()) }
    }

    fn is_empty(&self) -> bool {
        // SeqCst: see `push`.
        self.len.load(Ordering::SeqCst) == 0
    }

    fn push(&self, task: Task) {
        let mut tasks = lock(&self.tasks);
        tasks.push_back(task);
        // SeqCst: before the look at who sleeps.
        self.len.fetch_add(1, Ordering::SeqCst);
    }

    fn take(&self, order: Order) -> Option<Task> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = lock(&self.tasks);
        let task = match order {
            Order::Youngest => tasks.pop_back(),
            Order::Oldest => tasks.pop_front(),
        }?;
        self.len.fetch_sub(1, Ordering::SeqCst);
        Some(task)
    }
}
