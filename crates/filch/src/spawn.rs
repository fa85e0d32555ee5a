//! Jobs that no caller waits for.

use crate::global;
use crate::job::Job;
use crate::lineage::Lineage;
use crate::pool::Shared;
use crate::search::{self, Purpose, Work};
use crate::seat::Seat;
use crate::sync::thread;
use crate::unwind;
use crate::worker::Worker;

/// Spawns a closure in the current pool, or in the global one. No caller waits for it.
///
/// A worker runs it if it has nothing else to do, but not while it waits in a
/// [`join`](crate::join()) under the strict policy. So a join that waits for a spawned job, for
/// example through a channel, can wait forever if no other worker is free.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// filch::spawn(move || sender.send("done").unwrap());
/// assert_eq!(receiver.recv(), Ok("done"));
/// ```
///
/// # Panics
///
/// A panic of the closure goes to the pool's [panic handler](crate::Builder::on_panic). Without a
/// handler the process aborts.
pub fn spawn<F>(f: F)
where
    F: FnOnce() + Send + 'static,
{
    match Seat::current() {
        Some(seat) => spawn_in(seat.pool(), f, false),
        None => global::pool().spawn(f),
    }
}

/// Like [`spawn`](crate::spawn()), but a worker runs the oldest of these jobs first. It runs the
/// jobs of `spawn` youngest first.
///
/// ```
/// # fn main() -> Result<(), filch::BuildError> {
/// let pool = filch::Pool::builder().threads(1).build()?;
/// let (sender, receiver) = std::sync::mpsc::channel();
/// pool.install(|| {
///     for i in 0..3 {
///         let sender = sender.clone();
///         filch::spawn_fifo(move || sender.send(i).unwrap());
///     }
/// });
/// drop(sender);
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// # Ok(())
/// # }
/// ```
pub fn spawn_fifo<F>(f: F)
where
    F: FnOnce() + Send + 'static,
{
    match Seat::current() {
        Some(seat) => spawn_in(seat.pool(), f, true),
        None => global::pool().spawn_fifo(f),
    }
}

pub(crate) fn spawn_in<F>(pool: &Shared, f: F, fifo: bool)
where
    F: FnOnce() + Send + 'static,
{
    pool.check_process();
    match pool.own_seat() {
        // SAFETY: this is the worker of the seat. `'static`, and run once; a pool does not end
        // before its spawned jobs.
        Some(seat) if !fifo => unsafe {
            seat.push_spawned(|slot| Job::write(slot, f, execute::<F>, Lineage::ROOT));
        },
        Some(seat) => {
            let job = seat.enqueue_fifo(job_of(f));
            // SAFETY: as above.
            unsafe { seat.push_spawned(|slot| slot.write(job)) };
        }
        None => {
            pool.count_spawned(1);
            pool.inject(job_of(f));
        }
    }
}

/// Creates a spawned job. The caller counts it.
pub(crate) fn job_of<F>(f: F) -> Job
where
    F: FnOnce() + Send + 'static,
{
    // SAFETY: `'static`, and run once; a pool does not end before its spawned jobs.
    unsafe { Job::new(f, execute::<F>, Lineage::ROOT) }
}

/// Runs a spawned job.
///
/// # Safety
///
/// Called once, with a job of such a closure.
unsafe fn execute<F>(job: *const (), worker: &mut Worker, _: bool)
where
    F: FnOnce() + Send + 'static,
{
    // SAFETY: the caller guarantees it.
    let (f, _) = unsafe { Job::take_closure::<F>(job) };
    let seat = worker.seat();
    if let Err(panic) = unwind::catch(f) {
        seat.pool().handle_panic(panic);
    }
    seat.spawns.finished.publish(1);
}

/// The result of [`yield_now`] or [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// The call has run something.
    Executed,
    /// There was nothing to run.
    Idle,
}

/// Runs one pending job of the current pool on top of what runs here.
///
/// The job can be any. If there is no other, it is a job that this worker has forked below. On a
/// thread that is not a worker, yields the time slice and returns `None`.
///
/// So a closure that polls for the effect of another job makes progress even if no other worker is
/// free:
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// # fn main() -> Result<(), filch::BuildError> {
/// let pool = filch::Pool::builder().threads(1).build()?;
/// let ready = AtomicBool::new(false);
/// pool.join(
///     || {
///         while !ready.load(Ordering::Acquire) {
///             filch::yield_now();
///         }
///     },
///     || ready.store(true, Ordering::Release),
/// );
/// # Ok(())
/// # }
/// ```
pub fn yield_now() -> Option<Yield> {
    let Some(seat) = Seat::current() else {
        thread::yield_now();
        return None;
    };
    let found = search::take_own_in_turn(seat).or_else(|| search::find_or_raid(seat, seat.pool()));
    Some(run_one(seat, found.or_else(|| search::take_own_forked(seat))))
}

/// Like [`yield_now`], but takes nothing from other workers.
///
/// It runs only jobs that this worker has spawned or forked itself, tasks of scopes that it has
/// opened, or jobs that only it may run. Returns `None` outside of a pool.
pub fn yield_local() -> Option<Yield> {
    let seat = Seat::current()?;
    Some(run_one(seat, search::take_own_in_turn(seat).or_else(|| search::take_own_forked(seat))))
}

/// Returns whether the calling worker has pending jobs of its own.
///
/// These are jobs that it has spawned or forked, tasks of scopes that it has opened, and jobs that
/// only it may run. Returns `None` outside of a pool. The answer may be out of date at once.
pub fn has_pending() -> Option<bool> {
    let seat = Seat::current()?;
    let has_injected = || seat.pool().injector.has_needed(|lineage| lineage.is_waited_for_by(seat));
    Some(seat.has_jobs() || seat.has_mail() || has_injected())
}

fn run_one(seat: &Seat, work: Option<Work<'_>>) -> Yield {
    match work {
        Some(work) => {
            search::run(seat, work, Purpose::Other);
            Yield::Executed
        }
        None => Yield::Idle,
    }
}
