//! Scopes: any number of tasks that may borrow from outside, all over when the scope is.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic as plain;

use crate::global;
use crate::job::Job;
use crate::origin::Origin;
use crate::post::Post;
use crate::sleep::Rest;
use crate::sync::{lock, AtomicBool, AtomicUsize, Mutex, Ordering, RwLock};
use crate::unwind::{self, Payload};
use crate::wait::{self, Awaited};
use crate::worker::Worker;

/// Numbers scopes from 1 on. Not part of any protocol but to be different.
static NUMBER: plain::AtomicUsize = plain::AtomicUsize::new(1);

/// Runs a closure that can spawn tasks, and returns when all of them are over. The tasks may borrow what outlives the call.
///
/// ```
/// let mut words = vec!["one".to_string(), "two".to_string()];
/// filch::scope(|scope| {
///     for word in &mut words {
///         scope.spawn(|_| word.push('!'));
///     }
/// });
/// assert_eq!(words, ["one!", "two!"]);
/// ```
///
/// # Panics
///
/// If the closure or a task panics, all tasks are run all the same, and then the first of the panics goes on.
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    match Worker::current() {
        Some(worker) => Scope::run(worker, f),
        None => global::pool().with_worker(|worker| Scope::run(worker, f)),
    }
}

/// Where tasks are spawned; see [`scope`].
pub struct Scope<'scope> {
    tasks: Tasks,
    /// Invariant: tasks borrow for exactly as long as the scope may.
    _tasks: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    pub(crate) fn run<F, R>(worker: &mut Worker, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        let post = worker.post();
        let scope = Scope { tasks: Tasks::new(post), _tasks: PhantomData };
        let result = unwind::catch(|| f(&scope)).map_err(|panic| scope.tasks.keep_panic(panic));
        scope.tasks.finish();
        wait::until(post, &Awaited::Scope(&scope.tasks));
        post.pool().scopes.remove(&scope.tasks);
        let panic = lock(&scope.tasks.panic).take();
        match (panic, result) {
            (None, Ok(result)) => result,
            (Some(panic), result) => {
                unwind::discard(result);
                unwind::resume(panic)
            }
            (None, Err(())) => unreachable!("the panic of the closure was kept"),
        }
    }

    /// Adds a task, which runs at any time from now to the end of the scope, on any worker. It can spawn more.
    ///
    /// Tasks that are left at the scope's end are run by its thread, youngest first; other workers take the oldest.
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let scope = Outlives(self);
        let run = move |_: &mut Worker| {
            // SAFETY: until it says that it is finished.
            let scope = unsafe { scope.get() };
            if let Err(panic) = unwind::catch(|| f(scope)) {
                scope.tasks.keep_panic(panic);
            }
            scope.tasks.finish();
        };
        // SAFETY: the scope waits for its tasks, so all that they borrow, and the scope itself, are still there; each is run once.
        let job = unsafe { Job::boxed(run, self.tasks.origin) };
        self.tasks.add(Task { job });
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("number", &self.tasks.number).finish_non_exhaustive()
    }
}

/// A reference that goes with a task to another thread.
struct Outlives<'scope>(*const Scope<'scope>);

// SAFETY: a scope is `Sync`.
unsafe impl Send for Outlives<'_> {}

impl<'scope> Outlives<'scope> {
    /// # Safety
    ///
    /// The task that holds this is not finished.
    unsafe fn get<'a>(&self) -> &'a Scope<'scope> {
        // SAFETY: the scope outlives its tasks.
        unsafe { &*self.0 }
    }
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

/// The tasks of a scope: those queued, the number of those unfinished, the first panic.
#[derive(Debug)]
pub(crate) struct Tasks {
    number: usize,
    /// Of the scope, and so of its tasks, wherever they are spawned.
    origin: Origin,
    /// Of the worker that waits at the end.
    owner: *const Post,
    queue: Mutex<VecDeque<Task>>,
    queued: AtomicUsize,
    /// Tasks that are not finished, and one for the body.
    unfinished: AtomicUsize,
    listed: AtomicBool,
    panic: Mutex<Option<Payload>>,
}

// SAFETY: the owner's post is pool memory, and is only used in ways open to all threads.
unsafe impl Sync for Tasks {}
// SAFETY: as above.
unsafe impl Send for Tasks {}

impl Tasks {
    fn new(owner: &Post) -> Tasks {
        Tasks {
            number: NUMBER.fetch_add(1, plain::Ordering::Relaxed),
            origin: owner.origin(),
            owner,
            queue: Mutex::new(VecDeque::new()),
            queued: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(1),
            listed: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    fn owner<'a>(&self) -> &'a Post {
        // SAFETY: pool memory, which outlives what runs on it.
        unsafe { &*self.owner }
    }

    fn add(&self, task: Task) {
        let owner = self.owner();
        let pool = owner.pool();
        // Relaxed: whoever adds keeps the scope from ending.
        self.unfinished.fetch_add(1, Ordering::Relaxed);
        {
            let mut queue = lock(&self.queue);
            queue.push_back(task);
            // SeqCst: before the look at who sleeps.
            self.queued.fetch_add(1, Ordering::SeqCst);
        }
        if !self.listed.load(Ordering::Acquire) {
            pool.scopes.add(self);
        }
        pool.event();
        // The owner at the scope's end may be the only one who is free for this.
        if owner.bed.rest() == Rest::Scope(self.number) {
            pool.sleep.wake(&owner.bed, Rest::Scope(self.number));
        }
    }

    /// One of the tasks, or the body, is over. The scope may be gone when this returns.
    fn finish(&self) {
        let owner = self.owner();
        // AcqRel: what the tasks did is done for who comes after the scope.
        if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            owner.bed.call();
        }
    }

    fn keep_panic(&self, panic: Payload) {
        unwind::keep_first(&self.panic, panic);
    }

    pub(crate) fn are_done(&self) -> bool {
        // Acquire: pairs with `finish`.
        self.unfinished.load(Ordering::Acquire) == 0
    }

    pub(crate) fn are_queued(&self) -> bool {
        // SeqCst: see `add`.
        self.queued.load(Ordering::SeqCst) != 0
    }

    fn take(&self, end: impl FnOnce(&mut VecDeque<Task>) -> Option<Task>) -> Option<Task> {
        if !self.are_queued() {
            return None;
        }
        let mut queue = lock(&self.queue);
        let task = end(&mut queue)?;
        self.queued.fetch_sub(1, Ordering::SeqCst);
        Some(task)
    }

    pub(crate) fn take_youngest(&self) -> Option<Task> {
        self.take(VecDeque::pop_back)
    }
}

/// The scopes of a pool that have had tasks to give away.
#[derive(Debug)]
pub(crate) struct Scopes {
    count: AtomicUsize,
    list: RwLock<Vec<*const Tasks>>,
}

// SAFETY: a scope takes itself off the list, under its lock, before it goes away.
unsafe impl Sync for Scopes {}
// SAFETY: as above.
unsafe impl Send for Scopes {}

impl Scopes {
    pub(crate) fn new() -> Scopes {
        Scopes { count: AtomicUsize::new(0), list: RwLock::new(Vec::new()) }
    }

    fn write<R>(&self, f: impl FnOnce(&mut Vec<*const Tasks>) -> R) -> R {
        match self.list.write() {
            Ok(mut list) => f(&mut list),
            Err(poisoned) => f(&mut poisoned.into_inner()),
        }
    }

    fn read<R>(&self, f: impl FnOnce(&[*const Tasks]) -> R) -> R {
        match self.list.read() {
            Ok(list) => f(&list),
            Err(poisoned) => f(&poisoned.into_inner()),
        }
    }

    fn add(&self, tasks: &Tasks) {
        self.write(|list| {
            // Relaxed: under the lock. Release: for the look without it.
            if !tasks.listed.swap(true, Ordering::Release) {
                list.push(tasks);
                self.count.store(list.len(), Ordering::SeqCst);
            }
        });
    }

    fn remove(&self, tasks: &Tasks) {
        // Relaxed: all tasks are over, so nobody adds any more, and those that did are known here.
        if tasks.listed.load(Ordering::Relaxed) {
            self.write(|list| {
                list.retain(|&listed| !std::ptr::eq(listed, tasks));
                self.count.store(list.len(), Ordering::SeqCst);
            });
        }
    }

    fn find<R>(&self, f: impl Fn(&Tasks) -> Option<R>) -> Option<R> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        // SAFETY: a scope on the list is alive, and cannot leave it while the lock is held.
        self.read(|list| list.iter().find_map(|&tasks| f(unsafe { &*tasks })))
    }

    /// The oldest task of some scope, and the scope's number.
    pub(crate) fn take(&self) -> Option<(Task, usize)> {
        self.find(|tasks| tasks.take(VecDeque::pop_front).map(|task| (task, tasks.number)))
    }

    /// Whether some scope has a task queued.
    pub(crate) fn are_queued(&self) -> bool {
        self.find(|tasks| tasks.are_queued().then_some(())).is_some()
    }
}
