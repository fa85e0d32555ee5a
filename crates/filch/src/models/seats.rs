//! Seats that are lent. Callers borrow and return them while their own threads sleep, wake and
//! work.
//!
//! What concerns stores that are still in a buffer (the promise of a barrier, and how a caller
//! begins) is not checked here: under loom each fork has a fence.

use std::sync::atomic as plain;
use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::check_orders;
use crate::defect::{self, Defect};
use crate::job::Job;
use crate::latch::Gate;
use crate::lineage::Lineage;
use crate::pool::{Plan, Shared};
use crate::search;
use crate::seat::Seat;
use crate::sleep::{self, SleepState};
use crate::stack::Theft;
use crate::wait;
use crate::worker::Worker;

fn pool(threads: usize) -> Arc<Shared> {
    let plan = Plan { raids: true, callers_stack: Some(0), ..Plan::default() };
    Shared::new(threads, 4, plan).expect("memory for a model")
}

/// Starts the own thread of a seat, which runs until the pool ends.
fn owner(pool: &Arc<Shared>, index: usize) -> thread::JoinHandle<()> {
    let pool = pool.clone();
    thread::spawn(move || pool.main_loop(index))
}

/// Ends the pool.
fn end(pool: &Shared, own_thread: thread::JoinHandle<()>, occupied: &Occupied) {
    pool.shut_down();
    own_thread.join().unwrap();
    assert!(!occupied.clash.load(plain::Ordering::Relaxed), "two threads in one seat");
}

/// Counts threads that work in a seat, and notes if there are two.
#[derive(Default)]
struct Occupied {
    inside: AtomicUsize,
    clash: plain::AtomicBool,
}

impl Occupied {
    fn enter(&self) {
        if self.inside.fetch_add(1, Ordering::Relaxed) != 0 {
            self.clash.store(true, plain::Ordering::Relaxed);
        }
    }

    fn leave(&self) {
        self.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A job that reports when it has run. It touches what only the occupant of a seat may touch.
struct SignalJob {
    gate: Gate,
    occupied: Arc<Occupied>,
}

impl SignalJob {
    fn new(occupied: &Arc<Occupied>) -> Arc<SignalJob> {
        Arc::new(SignalJob { gate: Gate::new(), occupied: occupied.clone() })
    }

    unsafe fn execute(data: *const (), _: &mut Worker, _: bool) {
        // SAFETY: the model waits for the job.
        let signal = unsafe { &*data.cast::<SignalJob>() };
        signal.occupied.enter();
        signal.occupied.leave();
        signal.gate.open();
    }

    fn data(self: &Arc<SignalJob>) -> *const () {
        Arc::as_ptr(self).cast()
    }

    fn job(self: &Arc<SignalJob>) -> Job {
        // SAFETY: run once, and the model waits for it.
        unsafe { Job::from_parts(self.data(), SignalJob::execute, Lineage::ROOT) }
    }
}

/// Makes a call from outside: in a borrowed seat, or else shipped.
fn call(pool: &Shared, occupied: &Arc<Occupied>) {
    if let Some(_guest) = pool.borrow_seat() {
        occupied.enter();
        occupied.leave();
        return;
    }
    let signal = SignalJob::new(occupied);
    pool.inject(signal.job());
    signal.gate.pass();
}

/// Two callers use one seat.
fn two_callers() {
    check_orders(2, || {
        let (pool, occupied) = (pool(1), Arc::new(Occupied::default()));
        let own_thread = owner(&pool, 0);
        let other = {
            let (pool, occupied) = (pool.clone(), occupied.clone());
            thread::spawn(move || call(&pool, &occupied))
        };
        call(&pool, &occupied);
        other.join().unwrap();
        end(&pool, own_thread, &occupied);
    });
}

/// A job for this seat alone comes while the seat is or becomes lent.
fn mail() {
    check_orders(2, || {
        let (pool, occupied) = (pool(1), Arc::new(Occupied::default()));
        let own_thread = owner(&pool, 0);
        let signal = SignalJob::new(&occupied);
        let sender = {
            let (pool, signal) = (pool.clone(), signal.clone());
            thread::spawn(move || pool.seat(0).deliver(signal.job()))
        };
        let guest = pool.borrow_seat();
        let is_lent = guest.is_some();
        if is_lent {
            occupied.enter();
        }
        sender.join().unwrap();
        if is_lent {
            occupied.leave();
        }
        drop(guest);
        signal.gate.pass();
        end(&pool, own_thread, &occupied);
    });
}

/// Worker 1 has been running something for long. It answers its alarm while a caller has the other
/// seat. When that seat is back, worker 1 forks a job and does not look at it again: the own thread
/// of the other seat must run it. One thread plays the caller and worker 1.
fn fork_beside() {
    check_orders(2, || {
        let (pool, occupied) = (pool(2), Arc::new(Occupied::default()));
        let seat = pool.seat(1);
        seat.begin_work();
        seat.stack.answer();
        let own_thread = owner(&pool, 0);
        // No preemption, of which there are few.
        while !pool.seat(0).sleep.is_asleep() {
            thread::yield_now();
        }
        if let Some(_guest) = pool.borrow_seat_at(0) {
            seat.stack.answer();
        }
        let signal = SignalJob::new(&occupied);
        fork(seat, &signal);
        signal.gate.pass();
        end(&pool, own_thread, &occupied);
    });
}

/// A caller borrows and returns a seat while a worker forks a job. The seat's own thread must run
/// the job.
fn fork_meanwhile() {
    check_orders(2, || {
        let (pool, occupied) = (pool(2), Arc::new(Occupied::default()));
        pool.seat(1).begin_work();
        pool.seat(1).stack.answer();
        let own_thread = owner(&pool, 0);
        let signal = SignalJob::new(&occupied);
        let forker = {
            let (pool, signal) = (pool.clone(), signal.clone());
            thread::spawn(move || fork(pool.seat(1), &signal))
        };
        while !pool.seat(0).sleep.is_asleep() {
            thread::yield_now();
        }
        drop(pool.borrow_seat_at(0));
        signal.gate.pass();
        forker.join().unwrap();
        end(&pool, own_thread, &occupied);
    });
}

/// Forks a job in the seat of the calling thread.
fn fork(seat: &Seat, signal: &Arc<SignalJob>) {
    // SAFETY: the calling thread is the occupant.
    let slot = unsafe { Worker::at(seat.stack.bottom()) }.slot();
    if seat.stack.push(slot, signal.data(), SignalJob::execute) {
        sleep::answer(seat, slot);
    }
}

/// A caller forks a job in seat 1 and waits until it has run. Seat 1 is vacant from the start.
/// Another caller borrows and returns seat 0, whose own thread must run the job.
fn two_guests() {
    check_orders(2, || {
        let (pool, occupied) = (pool(2), Arc::new(Occupied::default()));
        pool.sleep.start_searching();
        pool.sleep.mark_asleep(&pool.seat(1).sleep, SleepState::Resting);
        pool.seat(1).sleep.vacate();
        let own_thread = owner(&pool, 0);
        let caller = {
            let pool = pool.clone();
            thread::spawn(move || drop(pool.borrow_seat_at(0)))
        };
        if let Some(guest) = pool.borrow_seat_at(1) {
            let signal = SignalJob::new(&occupied);
            fork(guest.seat(), &signal);
            signal.gate.pass();
            // The job is stolen, and over.
            guest.seat().stack.reset(pool.seat(1).stack.oldest());
        }
        caller.join().unwrap();
        end(&pool, own_thread, &occupied);
    });
}

/// A caller waits for a job that another worker has stolen and runs.
fn stolen() {
    check_orders(2, || {
        let (pool, occupied) = (pool(2), Arc::new(Occupied::default()));
        pool.sleep.start_searching();
        pool.sleep.mark_asleep(&pool.seat(0).sleep, SleepState::Resting);
        pool.seat(0).sleep.vacate();
        let guest = pool.borrow_seat_at(0).expect("a vacant seat");
        let signal = SignalJob::new(&occupied);
        fork(guest.seat(), &signal);
        guest.seat().stack.share();
        let Theft::Job(slot) = guest.seat().stack.steal() else { panic!("a public job cannot be stolen") };
        let thief = {
            let pool = pool.clone();
            thread::spawn(move || {
                let slot = pool.seat(0).stack.oldest();
                Seat::set_current(Some(pool.seat(1)));
                // SAFETY: stolen above, and run once.
                unsafe { search::run_forked(slot, pool.seat(1).worker()) };
                Seat::set_current(None);
            })
        };
        wait::for_stolen(guest.seat(), slot);
        drop(guest);
        thief.join().unwrap();
    });
}

fn holds(model: fn()) {
    assert!(defect::with(None, model));
}

fn is_caught(defect: Defect, model: fn()) {
    assert!(!defect::with(Some(defect), model), "{defect:?} is not caught");
}

#[test]
fn two_callers_and_the_own_thread_share_a_seat() {
    holds(two_callers);
}

#[test]
fn mail_for_a_lent_seat_is_read() {
    holds(mail);
}

#[test]
fn a_fork_is_not_overlooked_when_a_seat_is_returned() {
    holds(fork_beside);
}

#[test]
fn a_fork_is_not_overlooked_while_a_seat_is_lent() {
    holds(fork_meanwhile);
}

#[test]
fn a_fork_of_a_caller_is_not_overlooked_when_another_seat_is_returned() {
    holds(two_guests);
}

#[test]
fn a_caller_waits_for_a_stolen_job() {
    holds(stolen);
}

#[test]
fn a_seat_that_is_lent_too_early_is_caught() {
    is_caught(Defect::LendsRestingSeats, two_callers);
}

#[test]
fn an_owner_that_works_in_a_lent_seat_is_caught() {
    is_caught(Defect::OwnerTakesALentSeat, mail);
}

#[test]
fn a_seat_that_is_returned_before_it_is_counted_is_caught() {
    is_caught(Defect::ReturnsBeforeItCounts, fork_meanwhile);
}

#[test]
fn a_return_without_a_look_is_caught() {
    is_caught(Defect::ReturnDoesNotLook, two_callers);
}

#[test]
fn a_waker_that_tries_only_once_is_caught() {
    is_caught(Defect::WakesOnlyOnce, two_callers);
}

#[test]
fn a_return_that_forgets_its_mail_is_caught() {
    is_caught(Defect::ReturnForgetsMail, mail);
}

#[test]
fn a_return_without_alarms_is_caught() {
    is_caught(Defect::ReturnRaisesNoAlarm, fork_beside);
}

#[test]
fn a_return_that_trusts_old_counts_is_caught() {
    is_caught(Defect::ReturnTrustsOldCounts, two_guests);
}

#[test]
fn a_notification_of_the_wrong_thread_is_caught() {
    is_caught(Defect::NotifiesTheOwner, stolen);
}
