//! Scopes: any number of tasks that may borrow from outside, all over when the scope is.

mod list;
mod tasks;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

pub(crate) use list::Scopes;
use tasks::End;
pub(crate) use tasks::{Order, Task, Tasks};

use crate::broadcast::Broadcast;
use crate::global;
use crate::job::Job;
use crate::latch::{Completion, Gate, Waiter};
use crate::pool::Shared;
use crate::seat::Seat;
use crate::unwind;
use crate::wait::{self, Awaited};
use crate::worker::Worker;

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
/// The closure runs on a worker. Each worker runs those tasks first that it has spawned itself, the youngest before the others; then it takes the oldest of others.
///
/// # Panics
///
/// If the closure or a task panics, all tasks are run all the same, and then the first of the panics goes on.
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    on_worker(Order::Youngest, f)
}

/// As [`scope`](crate::scope()), but each worker runs the tasks that it has spawned in the order in which it did.
///
/// ```
/// use std::sync::Mutex;
///
/// # fn main() -> Result<(), filch::BuildError> {
/// let pool = filch::Pool::builder().threads(1).build()?;
/// let order = Mutex::new(Vec::new());
/// pool.scope_fifo(|scope| {
///     for i in 0..3 {
///         let order = &order;
///         scope.spawn(move |_| order.lock().unwrap().push(i));
///     }
/// });
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
/// # Ok(())
/// # }
/// ```
pub fn scope_fifo<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    on_worker(Order::Oldest, f)
}

fn on_worker<'scope, F, R>(order: Order, f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    match Worker::current() {
        Some(worker) => Scope::run(worker, order, f),
        None => global::pool().with_worker(|worker| Scope::run(worker, order, f)),
    }
}

/// As [`scope`](crate::scope()), but the closure runs on the calling thread, whatever that is, and need not be `Send`. The tasks run in the current pool, or the
/// global one.
///
/// ```
/// let local = std::rc::Rc::new(20);
/// let mut sum = 0;
/// filch::in_place_scope(|scope| {
///     sum += *local;
///     scope.spawn(|_| sum += 1);
/// });
/// assert_eq!(sum, 21);
/// ```
pub fn in_place_scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    in_place(Order::Youngest, f)
}

/// As [`in_place_scope`], in the order of [`scope_fifo`].
pub fn in_place_scope_fifo<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    in_place(Order::Oldest, f)
}

fn in_place<'scope, F, R>(order: Order, f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    match Worker::current() {
        Some(worker) => Scope::run(worker, order, f),
        None => Scope::run_in_place(global::pool().shared(), order, f),
    }
}

/// Where tasks are spawned; see [`scope`](crate::scope()).
pub struct Scope<'scope> {
    tasks: Tasks,
    /// Invariant: tasks borrow for exactly as long as the scope may.
    _tasks: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    /// Runs the closure on a worker of the pool whose tasks they are.
    pub(crate) fn run<F, R>(worker: &mut Worker, order: Order, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        let seat = worker.seat();
        let scope = Scope::new(Tasks::new(seat.pool(), Some(seat.runs.top()), order, End::Owner(seat)));
        scope.complete(f, |tasks| wait::until(seat, &Awaited::Scope(tasks)))
    }

    /// Runs the closure on the calling thread and the tasks in `pool`.
    pub(crate) fn run_in_place<F, R>(pool: &Shared, order: Order, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        pool.check_process();
        match Seat::current() {
            Some(seat) if std::ptr::eq(seat.pool(), pool) => Scope::run(seat.worker(), order, f),
            Some(seat) => {
                let completion = Completion::new(Waiter::Worker(seat.pool().hold(), seat.index));
                let end = End::Elsewhere(completion);
                let scope = Scope::new(Tasks::new(pool, Some(seat.runs.top()), order, end));
                scope.complete(f, |tasks| {
                    if let End::Elsewhere(completion) = tasks.end() {
                        wait::until(seat, &Awaited::Completion(completion, pool));
                    }
                })
            }
            None => {
                // Not the thread's own gate: the closure may wait at that one.
                let gate = Arc::new(Gate::new());
                let end = End::Elsewhere(Completion::new(Waiter::Thread(gate.clone())));
                let scope = Scope::new(Tasks::new(pool, None, order, end));
                scope.complete(f, |_| gate.pass_soon())
            }
        }
    }

    fn new(tasks: Tasks) -> Scope<'scope> {
        Scope { tasks, _tasks: PhantomData }
    }

    fn complete<F, R>(&self, f: F, wait: impl FnOnce(&Tasks)) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        let result = unwind::catch(|| f(self)).map_err(|panic| self.tasks.keep_panic(panic));
        // SAFETY: the body is over, and waited for below.
        unsafe { Tasks::finish(&self.tasks) };
        wait(&self.tasks);
        self.tasks.pool().scopes.remove(&self.tasks);
        match (self.tasks.take_panic(), result) {
            (None, Ok(result)) => result,
            (Some(panic), result) => {
                unwind::discard(result);
                unwind::resume(panic)
            }
            (None, Err(())) => unreachable!("the panic of the closure was kept"),
        }
    }

    /// Adds a task, which runs at any time from now to the end of the scope, on any worker. It can spawn more.
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let run = self.task(f);
        // SAFETY: the scope waits for its tasks, so all that they borrow, and the scope itself, are still there; each is run once.
        self.tasks.add(unsafe { Job::boxed(run, self.tasks.lineage()) });
    }

    /// Adds a task that runs once on each worker of the pool; see [`broadcast`](crate::broadcast()).
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let count = AtomicUsize::new(0);
    /// filch::scope(|scope| {
    ///     scope.spawn_broadcast(|_, _| {
    ///         count.fetch_add(1, Ordering::Relaxed);
    ///     });
    /// });
    /// assert_eq!(count.into_inner(), filch::threads());
    /// ```
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(&Scope<'scope>, Broadcast) + Send + Sync + 'scope,
    {
        let pool = self.tasks.pool();
        let f = Arc::new(f);
        self.tasks.expect(pool.seats.len());
        pool.deliver_to_all(|seat| {
            let f = Arc::clone(&f);
            let part = Broadcast::of(seat);
            // The count is gone with the call: before the task is finished.
            let run = self.task(move |scope: &Scope<'scope>| f(scope, part));
            // SAFETY: as in `spawn`.
            unsafe { Job::boxed(run, self.tasks.lineage()) }
        });
    }

    /// What the job of a task does.
    fn task<F>(&self, f: F) -> impl FnOnce(&mut Worker) + Send + use<'scope, F>
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let scope = Outlives(self);
        move |_: &mut Worker| {
            // SAFETY: until it says that it is finished.
            let scope = unsafe { scope.get() };
            if let Err(panic) = unwind::catch(|| f(scope)) {
                scope.tasks.keep_panic(panic);
            }
            // SAFETY: not finished before, and nothing is done with the scope after this.
            unsafe { Tasks::finish(&scope.tasks) };
        }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
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
