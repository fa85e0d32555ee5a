//! Running a closure once on every worker.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use crate::global;
use crate::job::Job;
use crate::latch::{Completion, Gate, Waiter};
use crate::lineage::Lineage;
use crate::pool::Shared;
use crate::seat::Seat;
use crate::spawn;
use crate::sync::{lock, AtomicUsize, Mutex, Ordering};
use crate::unwind::{self, Payload};
use crate::wait::{self, Awaited};
use crate::worker::Worker;

/// Runs a closure once on each worker, and returns the results in their order.
///
/// The workers are those of the current pool, or of the global one. No other worker can run a
/// worker's part for it. So each worker runs its part when it has run what it had spawned itself,
/// or when it next waits for something. Work that spawns itself again delays each part by about a
/// thousand jobs at most, but a scope whose tasks spawn each other for ever delays it for ever. Two
/// broadcasts run in the same order on all workers.
///
/// A caller that runs [in place](crate::Callers::InPlace) has borrowed a worker's seat. It runs the
/// parts for that seat in its waits if some of them come from a broadcast that was called inside a
/// pool, and in its yields. Otherwise they wait until the call is over.
///
/// ```
/// let squares = filch::broadcast(|part| part.index() * part.index());
/// assert_eq!(squares.len(), filch::current_num_threads());
/// ```
///
/// # Panics
///
/// If the closure panics on some workers, the others still run it, and then one of the panics
/// resumes.
pub fn broadcast<F, R>(f: F) -> Vec<R>
where
    F: Fn(BroadcastContext) -> R + Sync,
    R: Send,
{
    match Seat::current() {
        Some(seat) => broadcast_in(seat.pool(), f),
        None => global::pool().broadcast(f),
    }
}

/// Spawns a closure once on each worker. No caller waits for it.
///
/// The workers are those of the current pool, or of the global one.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// filch::spawn_broadcast(move |part| sender.send(part.index()).unwrap());
/// assert_eq!(receiver.iter().count(), filch::current_num_threads());
/// ```
///
/// # Panics
///
/// As for [`spawn`](crate::spawn()): a panic goes to the pool's [panic
/// handler](crate::Builder::on_panic). Without a handler the process aborts.
pub fn spawn_broadcast<F>(f: F)
where
    F: Fn(BroadcastContext) + Send + Sync + 'static,
{
    match Seat::current() {
        Some(seat) => spawn_broadcast_in(seat.pool(), f),
        None => global::pool().spawn_broadcast(f),
    }
}

pub(crate) fn spawn_broadcast_in<F>(pool: &Shared, f: F)
where
    F: Fn(BroadcastContext) + Send + Sync + 'static,
{
    pool.check_process();
    pool.count_spawned(pool.seats.len());
    let f = Arc::new(f);
    pool.deliver_to_all(|seat| {
        let f = Arc::clone(&f);
        let part = BroadcastContext::of(seat);
        spawn::job_of(move || f(part))
    });
}

/// The part of a broadcast that a closure runs.
#[derive(Clone, Copy, Debug)]
pub struct BroadcastContext {
    index: usize,
    threads: usize,
}

impl BroadcastContext {
    /// Returns the part of the worker of `seat`.
    pub(crate) fn of(seat: &Seat) -> BroadcastContext {
        BroadcastContext { index: seat.index, threads: seat.pool().seats.len() }
    }

    /// Returns the index of the worker that runs this part.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of parts.
    pub fn num_threads(&self) -> usize {
        self.threads
    }
}

struct State<F, R> {
    f: F,
    results: Vec<UnsafeCell<MaybeUninit<R>>>,
    panic: Mutex<Option<Payload>>,
    unfinished: AtomicUsize,
    completion: Completion,
}

impl<F, R> State<F, R>
where
    F: Fn(BroadcastContext) -> R + Sync,
{
    /// Runs the part of this worker.
    ///
    /// # Safety
    ///
    /// `data` points to a `State` of this type that waits, and this is the first run on this
    /// worker.
    unsafe fn execute(data: *const (), worker: &mut Worker, _: bool) {
        // SAFETY: the caller guarantees it.
        let this = unsafe { &*data.cast::<Self>() };
        let part = BroadcastContext::of(worker.seat());
        match unwind::catch(|| (this.f)(part)) {
            // SAFETY: each worker writes its own result, once, and they are read when all are done.
            Ok(result) => unsafe {
                (*this.results[part.index].get()).write(result);
            },
            Err(panic) => {
                unwind::keep_first(&this.panic, panic);
            }
        }
        // AcqRel: the completion by the last worker carries all results.
        if this.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            let completion = &raw const this.completion;
            // SAFETY: not done before this.
            unsafe { Completion::set(completion, completion.addr()) };
        }
    }
}

pub(crate) fn broadcast_in<F, R>(pool: &Shared, f: F) -> Vec<R>
where
    F: Fn(BroadcastContext) -> R + Sync,
    R: Send,
{
    pool.check_process();
    let gate = Gate::of_current_thread();
    let caller = Seat::current();
    let waiter = match caller {
        Some(seat) => Waiter::Worker(seat.pool().to_arc(), seat.index),
        None => Waiter::Thread(gate.clone()),
    };
    let state = State {
        f,
        results: pool.seats.iter().map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
        panic: Mutex::new(None),
        unfinished: AtomicUsize::new(pool.seats.len()),
        completion: Completion::new(waiter),
    };
    let data = ptr::from_ref(&state).cast();
    let lineage = caller.map_or(Lineage::ROOT, |seat| state.completion.lineage(seat.runs.top()));
    // SAFETY: waited for below; each worker gets one part and runs it once.
    pool.deliver_to_all(|_| unsafe { Job::from_parts(data, State::<F, R>::execute, lineage) });
    match caller {
        Some(seat) => wait::until(seat, &Awaited::Completion(&state.completion, pool)),
        None => gate.spin_then_pass(),
    }
    if let Some(panic) = lock(&state.panic).take() {
        // The results of the other workers are leaked: it is not known which are written.
        unwind::resume(panic);
    }
    // SAFETY: no panic, so each worker has written its own result.
    state.results.into_iter().map(|result| unsafe { result.into_inner().assume_init() }).collect()
}
