//! Scopes: any number of tasks that may borrow, all over when the scope is.
//!
//! | file | what |
//! |---|---|
//! | `record.rs` | what is known of an open scope, and how its tasks are counted |
//! | `segment.rs` | the tasks of a scope that are in a worker's own deque |

mod record;
mod segment;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use record::End;
pub(crate) use record::Record;
use segment::{run_elsewhere, Segment};
pub(crate) use segment::{run_in_place, Innermost};

use crate::broadcast::BroadcastContext;
use crate::global;
use crate::job::Job;
use crate::latch::{Completion, Gate, Waiter};
use crate::pool::Shared;
use crate::seat::Seat;
use crate::stack::Execute;
use crate::unwind;
use crate::wait::{self, Awaited};
use crate::worker::Worker;

/// Runs a closure that can spawn tasks, and returns when all of them are over.
///
/// The tasks may borrow what outlives the call.
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
/// The closure runs on a worker. Each worker first runs the tasks that it has spawned itself, the
/// youngest first. Then it steals the oldest tasks of other workers. There are two exceptions,
/// whose tasks the worker runs later and the oldest first: tasks that are spawned while another
/// scope is open inside of this one, and tasks that a stolen half of a join spawns.
///
/// # Panics
///
/// If the closure or a task panics, all tasks still run, and then the first of the panics resumes.
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    on_worker(Order::Youngest, f)
}

/// Like [`scope`](crate::scope()), but each worker runs its own tasks oldest first.
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

#[inline(always)]
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

/// Like [`scope`](crate::scope()), but the closure runs on the calling thread.
///
/// The closure need not be `Send`, and the thread need not be a worker. The tasks run in the
/// current pool, or the global one.
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

/// Like [`in_place_scope`], in the order of [`scope_fifo`].
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

/// The order in which a worker takes the tasks that it has spawned itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Youngest,
    Oldest,
}

/// A scope, into which tasks are spawned; see [`scope`](crate::scope()).
// The record is the only field with data, so that its address is the scope's.
#[repr(transparent)]
pub struct Scope<'scope> {
    record: Record,
    /// Invariant: tasks borrow for exactly as long as the scope may.
    _tasks: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    /// Runs the closure on a worker of the pool that runs the tasks.
    pub(crate) fn run<F, R>(worker: &mut Worker, order: Order, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        let seat = worker.seat();
        let scope = Scope::new(Record::new(seat.pool(), Some(seat.runs.top()), order, End::Owner(seat)));
        let record = &scope.record;
        // SAFETY: this is the worker of the seat, and the record outlives the segment.
        let segment = unsafe { Segment::open(seat, record) };
        let result = scope.run_body(f);
        // SAFETY: as above.
        unsafe { segment.finish(seat) };
        if !record.is_done() {
            wait::until(seat, &Awaited::Scope(record));
        }
        scope.end(result)
    }

    /// Runs the closure on the calling thread and the tasks in `pool`.
    pub(crate) fn run_in_place<F, R>(pool: &Shared, order: Order, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        pool.check_process();
        match Seat::current() {
            Some(seat) if std::ptr::eq(seat.pool(), pool) => {
                seat.fence_after_refusal();
                Scope::run(seat.worker(), order, f)
            }
            Some(seat) => {
                let completion = Completion::new(Waiter::Worker(seat.pool().to_arc(), seat.index));
                let end = End::Elsewhere(completion);
                let scope = Scope::new(Record::new(pool, Some(seat.runs.top()), order, end));
                scope.run_body_elsewhere(f, |record| {
                    if let End::Elsewhere(completion) = record.end() {
                        wait::until(seat, &Awaited::Elsewhere(completion, record.lineage().node(), pool));
                    }
                })
            }
            None => {
                // Not the thread's own gate: the closure may wait at that gate.
                let gate = Arc::new(Gate::new());
                let end = End::Elsewhere(Completion::new(Waiter::Thread(gate.clone())));
                let scope = Scope::new(Record::new(pool, None, order, end));
                scope.run_body_elsewhere(f, |_| gate.spin_then_pass())
            }
        }
    }

    fn new(record: Record) -> Scope<'scope> {
        Scope { record, _tasks: PhantomData }
    }

    /// Runs the body. If it panics, the panic is kept.
    #[inline(always)]
    fn run_body<F, R>(&self, f: F) -> Option<R>
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        unwind::catch(|| f(self)).map_err(|panic| self.record.keep_panic(panic)).ok()
    }

    /// Runs a scope whose body runs elsewhere than its tasks.
    fn run_body_elsewhere<F, R>(&self, f: F, wait: impl FnOnce(&Record)) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        let result = self.run_body(f);
        // SAFETY: the body is over, and waited for below.
        unsafe { Record::finish(&self.record, 1) };
        wait(&self.record);
        self.end(result)
    }

    /// Ends the scope when all tasks are over. Returns the result of the body, or resumes the first
    /// panic.
    #[inline(always)]
    fn end<R>(&self, result: Option<R>) -> R {
        match (self.record.take_panic(), result) {
            (None, Some(result)) => result,
            (Some(panic), result) => {
                unwind::discard(result);
                unwind::resume(panic)
            }
            (None, None) => unreachable!("the panic of the closure was kept"),
        }
    }

    /// Spawns a task, which runs on any worker before the scope ends. It can spawn more.
    ///
    /// A closure of up to five words, aligned as a pointer or less, is not allocated.
    #[inline]
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let record = &self.record;
        match Seat::current() {
            // SAFETY: this is the worker of the seat.
            Some(seat) if unsafe { seat.innermost().is(record) } => {
                // SAFETY: as above. The scope waits for its tasks, so all that they borrow, and the
                // scope itself, are still there; each is run once.
                unsafe { seat.push_task(|slot| Job::write(slot, f, execute::<F>, record.lineage())) };
            }
            // SAFETY: as above.
            seat => unsafe { record.queue(seat, Job::new(f, execute::<F>, record.lineage())) },
        }
    }

    /// Spawns a task that runs once on each worker of the pool. See
    /// [`broadcast`](crate::broadcast()).
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
    /// assert_eq!(count.into_inner(), filch::current_num_threads());
    /// ```
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(&Scope<'scope>, BroadcastContext) + Send + Sync + 'scope,
    {
        fn part_of<'scope, F>(
            f: Arc<F>,
            part: BroadcastContext,
        ) -> (impl FnOnce(&Scope<'scope>) + Send + use<'scope, F>, Execute)
        where
            F: Fn(&Scope<'scope>, BroadcastContext) + Send + Sync + 'scope,
        {
            // The count of `f` is dropped with the call: before the task is finished.
            let run = move |scope: &Scope<'scope>| f(scope, part);
            let execute = execute_of(&run);
            (run, execute)
        }
        let (pool, lineage) = (self.record.pool(), self.record.lineage());
        let f = Arc::new(f);
        self.record.add(pool.seats.len());
        pool.deliver_to_all(|seat| {
            let (run, execute) = part_of(Arc::clone(&f), BroadcastContext::of(seat));
            // SAFETY: as in `spawn`.
            unsafe { Job::new(run, execute, lineage) }
        });
    }
}

/// Returns the function that runs such a closure as a task.
fn execute_of<'scope, F>(_: &F) -> Execute
where
    F: FnOnce(&Scope<'scope>) + Send + 'scope,
{
    execute::<F>
}

/// Runs a task, in the segment where it was spawned or `elsewhere`.
///
/// # Safety
///
/// `job` is a job of such a closure and of the lineage of a scope that is not over. Called once for
/// each job; a job that is run elsewhere is counted.
unsafe fn execute<'scope, F>(job: *const (), worker: &mut Worker, elsewhere: bool)
where
    F: FnOnce(&Scope<'scope>) + Send + 'scope,
{
    if elsewhere {
        // SAFETY: the caller guarantees it.
        unsafe { execute_elsewhere::<F>(job, worker) };
    } else {
        // SAFETY: the caller guarantees it.
        let (scope, f) = unsafe { take_task::<F>(job) };
        run_task(scope, f);
    }
}

/// Runs a task elsewhere than in the segment where it was spawned.
///
/// # Safety
///
/// As for `execute`.
#[cold]
#[inline(never)]
unsafe fn execute_elsewhere<'scope, F>(job: *const (), worker: &mut Worker)
where
    F: FnOnce(&Scope<'scope>) + Send + 'scope,
{
    // SAFETY: the caller guarantees it.
    let (scope, f) = unsafe { take_task::<F>(job) };
    let mut f = Some(f);
    let run = &mut || run_task(scope, f.take().expect("run once"));
    // SAFETY: the caller guarantees it.
    unsafe { run_elsewhere(worker.seat(), &scope.record, run) };
}

/// Takes the closure of a task, and its scope. The scope is there until the task is over.
///
/// # Safety
///
/// As for `execute`.
#[inline(always)]
unsafe fn take_task<'a, 'scope, F>(job: *const ()) -> (&'a Scope<'scope>, F)
where
    F: FnOnce(&Scope<'scope>) + Send + 'scope,
{
    // SAFETY: the caller guarantees it.
    let (f, lineage) = unsafe { Job::take_closure::<F>(job) };
    // SAFETY: the task is not over. A scope is its record.
    let scope = unsafe { &*std::ptr::from_ref(Record::of(lineage)).cast::<Scope<'scope>>() };
    (scope, f)
}

/// Runs the closure of a task, and keeps its panic.
#[inline(always)]
fn run_task<'scope>(scope: &Scope<'scope>, f: impl FnOnce(&Scope<'scope>)) {
    if let Err(panic) = unwind::catch(|| f(scope)) {
        scope.record.keep_panic(panic);
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
