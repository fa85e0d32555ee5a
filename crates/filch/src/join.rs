//! Fork and join.

use crate::global;
use crate::job::Forked;
use crate::seat::Seat;
use crate::sleep;
use crate::unwind;
use crate::wait::{self, OverflowJob};
use crate::worker::Worker;

/// The number of private jobs from which on [`maybe_join`] forks no more.
const ENOUGH: usize = 3;

/// Runs two closures, in parallel if another worker is free, and returns both results.
///
/// On a worker's thread, any idle worker can steal the second closure, at any time, whatever this
/// thread does meanwhile. So two closures may wait for each other as long as there are two workers.
/// If no worker steals it, this thread runs it after the first. If the caller is outside of every
/// pool, the join runs in the global pool.
///
/// ```
/// fn sum(numbers: &[u64]) -> u64 {
///     if numbers.len() < 1000 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (a, b) = filch::join(|| sum(left), || sum(right));
///     a + b
/// }
/// assert_eq!(sum(&(0..100_000).collect::<Vec<_>>()), 4_999_950_000);
/// ```
///
/// # Panics
///
/// If a closure panics, the other one still runs to its end, and then the panic resumes. If both
/// panic, the panic of the first closure resumes.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match Seat::current() {
        Some(seat) => seat.worker().fork(|_, _| a(), |_, _| b()),
        None => join_from_outside(a, b),
    }
}

#[cold]
#[inline(never)]
fn join_from_outside<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    global::pool().with_worker(|worker| worker.join(|_| a(), |_| b()))
}

/// Like [`join`], but tells each closure whether another worker has taken it.
///
/// ```
/// let (first, second) = filch::join_context(|_| 1, |context| if context.migrated() { 3 } else { 2 });
/// assert!(first == 1 && second >= 2);
/// ```
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(Context) -> RA + Send,
    B: FnOnce(Context) -> RB + Send,
    RA: Send,
    RB: Send,
{
    match Seat::current() {
        Some(seat) => seat.worker().fork(|_, m| a(Context::new(m)), |_, m| b(Context::new(m))),
        // Both closures moved here from outside.
        None => {
            global::pool().with_worker(|worker| worker.fork(|_, _| a(Context::new(true)), |_, _| b(Context::new(true))))
        }
    }
}

/// Like [`join`], for closures that never wait for each other. May fork nothing.
///
/// If this worker has a few jobs queued already and no other worker wants one, it runs both
/// closures in place and makes no job at all. This makes forks cheaper in large trees of small
/// closures.
///
/// The price: the second closure cannot always be stolen. If the first waits for the second, by a
/// lock, a channel or a barrier, `maybe_join` may wait forever. If the first takes long, no worker
/// can help with the second meanwhile.
///
/// ```
/// fn count(n: u32) -> u64 {
///     if n == 0 {
///         return 1;
///     }
///     let (a, b) = filch::maybe_join(|| count(n - 1), || count(n - 1));
///     a + b
/// }
/// assert_eq!(count(10), 1024);
/// ```
#[inline]
pub fn maybe_join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match Seat::current() {
        Some(seat) => seat.worker().maybe_join(|_| a(), |_| b()),
        None => global::pool().with_worker(|worker| worker.maybe_join(|_| a(), |_| b())),
    }
}

/// The argument of a closure of [`join_context`].
#[derive(Clone, Copy, Debug)]
pub struct Context {
    migrated: bool,
}

impl Context {
    pub(crate) fn new(migrated: bool) -> Context {
        Context { migrated }
    }

    /// Returns whether the closure runs on another thread than the one that forked it.
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

impl Worker {
    /// Like [`join`](crate::join()), without looking up the worker. Each closure gets the worker
    /// that runs it.
    #[inline]
    pub fn join<A, B, RA, RB>(&mut self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Worker) -> RA + Send,
        B: FnOnce(&mut Worker) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.check();
        self.fork(|worker, _| a(worker), |worker, _| b(worker))
    }

    /// Like [`join_context`]. Each closure gets its worker, and whether another worker has taken
    /// it.
    #[inline]
    pub fn join_context<A, B, RA, RB>(&mut self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Worker, Context) -> RA + Send,
        B: FnOnce(&mut Worker, Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.check();
        self.fork(|worker, m| a(worker, Context::new(m)), |worker, m| b(worker, Context::new(m)))
    }

    /// Like [`maybe_join`](crate::maybe_join()). May run both closures in place and fork nothing.
    /// For closures that never wait for each other.
    #[inline]
    pub fn maybe_join<A, B, RA, RB>(&mut self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Worker) -> RA + Send,
        B: FnOnce(&mut Worker) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        if !self.seat().stack.has_enough_private(self.slot(), ENOUGH) {
            return self.join(a, b);
        }
        match unwind::catch(|| a(self)) {
            Ok(a) => (a, b(self)),
            Err(panic) => {
                unwind::discard(unwind::catch(|| b(self)));
                unwind::resume(panic)
            }
        }
    }

    /// Forks and joins; all variants of join call this. Each closure gets its worker, and whether
    /// it runs on another thread than this one.
    ///
    /// The slow paths end the join and do not come back, so that the fast path has nothing to keep
    /// across them.
    #[inline(always)]
    pub(crate) fn fork<A, B, RA, RB>(&mut self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Worker, bool) -> RA,
        B: FnOnce(&mut Worker, bool) -> RB,
    {
        let job = Forked::new(b);
        if self.seat().stack.push(self.slot(), job.data(), Forked::<B, RB>::execute) {
            return self.fork_alarmed(a, &job);
        }
        // SAFETY: the job was forked.
        match unwind::catch(|| a(unsafe { self.above() }, false)) {
            Ok(first) => {
                let worker = self.opaque();
                if worker.seat().stack.pop(worker.slot()) {
                    // SAFETY: no thief has taken the job, and none can.
                    (first, unsafe { job.run_here(worker) })
                } else {
                    worker.finish_below_limit(first, &job)
                }
            }
            Err(panic) => self.finish_panicked(&job, panic),
        }
    }

    /// Continues a fork, if a worker may want work or the stack is full.
    #[cold]
    #[inline(never)]
    fn fork_alarmed<A, B, RA, RB>(&mut self, a: A, job: &Forked<B, RB>) -> (RA, RB)
    where
        A: FnOnce(&mut Worker, bool) -> RA,
        B: FnOnce(&mut Worker, bool) -> RB,
    {
        if sleep::answer(self.seat(), self.slot()).is_full() {
            return self.fork_overflow(a, job);
        }
        // SAFETY: the job was forked.
        match unwind::catch(|| a(unsafe { self.above() }, false)) {
            Ok(first) => {
                if self.seat().stack.pop(self.slot()) {
                    // SAFETY: as in `fork`.
                    (first, unsafe { job.run_here(self) })
                } else {
                    self.finish_below_limit(first, job)
                }
            }
            Err(panic) => self.finish_panicked(job, panic),
        }
    }

    /// Ends a join whose job may have been offered to other workers.
    #[cold]
    #[inline(never)]
    fn finish_below_limit<B, RA, RB>(&mut self, first: RA, job: &Forked<B, RB>) -> (RA, RB)
    where
        B: FnOnce(&mut Worker, bool) -> RB,
    {
        let (seat, slot) = (self.seat(), self.slot());
        let is_own = seat.stack.settle(slot);
        seat.handle_fence_requests();
        if is_own {
            // SAFETY: no thief has taken the job, and from now on none can.
            return (first, unsafe { job.run_here(self) });
        }
        wait::for_stolen(seat, slot);
        // SAFETY: the job is done, and the result is taken once.
        both(Ok(first), unsafe { job.take_result() })
    }

    /// Runs or waits for the second closure after a panic of the first. Then resumes the panic.
    #[cold]
    #[inline(never)]
    fn finish_panicked<B, RB>(&mut self, job: &Forked<B, RB>, panic: unwind::Payload) -> !
    where
        B: FnOnce(&mut Worker, bool) -> RB,
    {
        let (seat, slot) = (self.seat(), self.slot());
        // The result of the second closure is discarded, even if it is a panic.
        let is_own = seat.stack.pop(slot) || seat.stack.settle(slot);
        seat.handle_fence_requests();
        if is_own {
            // SAFETY: as in `fork`.
            unwind::discard(unwind::catch(|| unsafe { job.run_here(self) }));
        } else {
            wait::for_stolen(seat, slot);
            // SAFETY: as in `fork`.
            unwind::discard(unsafe { job.take_result() });
        }
        unwind::resume(panic)
    }

    /// Forks deeper than the stack has slots. The job goes through the injector, where it can be
    /// taken like any other.
    #[cold]
    #[inline(never)]
    fn fork_overflow<A, B, RA, RB>(&mut self, a: A, job: &Forked<B, RB>) -> (RA, RB)
    where
        A: FnOnce(&mut Worker, bool) -> RA,
        B: FnOnce(&mut Worker, bool) -> RB,
    {
        let seat = self.seat();
        let overflow = OverflowJob::new(seat, job.data(), Forked::<B, RB>::execute);
        // SAFETY: this function waits for it below, whatever the first closure does.
        unsafe { overflow.inject() };
        let first = unwind::catch(|| a(self, false));
        wait::for_overflow(seat, &overflow);
        // SAFETY: the job is done, and the result is taken once.
        unsafe { both(first, job.take_result()) }
    }
}

/// Returns both results, or resumes the first panic.
fn both<RA, RB>(first: Result<RA, unwind::Payload>, second: Result<RB, unwind::Payload>) -> (RA, RB) {
    match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(panic), second) => {
            unwind::discard(second);
            unwind::resume(panic)
        }
        (first, Err(panic)) => {
            unwind::discard(first);
            unwind::resume(panic)
        }
    }
}

/// Runs any number of closures like [`join`](crate::join()). Returns a tuple of their results.
///
/// ```
/// let (a, b, c) = filch::join!(|| 1, || "two", || 3.0);
/// assert_eq!((a, b, c), (1, "two", 3.0));
/// ```
#[macro_export]
macro_rules! join {
    // Every step of the recursion introduces another `result`: same letters, different name.
    (@ [$($names:ident)*] [$($done:expr,)*] $next:expr, $($rest:expr,)*) => {
        $crate::join!(@ [$($names)* result] [$($done,)* $next,] $($rest,)*)
    };
    (@ [$($names:ident)*] [$($done:expr,)*]) => {{
        let $crate::join!(@pattern $($names)*) = $crate::join!(@call $($done,)*);
        ($($names,)*)
    }};
    (@pattern $last:ident) => { $last };
    (@pattern $first:ident $($rest:ident)+) => { ($first, $crate::join!(@pattern $($rest)+)) };
    (@call $last:expr,) => { ($last)() };
    (@call $first:expr, $last:expr,) => { $crate::join($first, $last) };
    (@call $first:expr, $($rest:expr,)+) => { $crate::join($first, || $crate::join!(@call $($rest,)+)) };
    ($($closures:expr),+ $(,)?) => { $crate::join!(@ [] [] $($closures,)+) };
}
