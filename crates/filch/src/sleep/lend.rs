//! Lending: a caller, a thread of no pool, borrows the seat of a sleeping worker.
//!
//! **Invariant.** Only a vacant seat is lent, and the own thread of a vacant seat is parked and
//! does nothing else. An exchange of one word decides whether a seat changes hands. So there is one
//! occupant at any time. What belongs to the occupant alone (the near end of the deques, the fork
//! stack's `bottom`, counts, the log) passes from one to the next with that word.
//!
//! To return a seat is to go to sleep. So the caller has the duties of a worker that goes to sleep:
//! the alarms, a barrier, a look. It cannot doze, and a barrier at the end of each call would
//! interrupt all other workers. So it leaves the barrier to the seat's own thread. That thread has
//! promised one if it still dozes, and is woken otherwise.

use std::cell::Cell;

use super::SleepState;
use crate::defect::{defect, Defect};
use crate::pool::Shared;
use crate::seat::Seat;
use crate::sync::{fence, thread_local_constant, Ordering};
use crate::unwind::NoUnwind;

thread_local_constant! {
    /// The index of the seat that the thread had last.
    static LAST: Cell<usize> = Cell::new(usize::MAX);
}

/// A seat that the calling thread has borrowed. Returns the seat when dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct Guest<'p> {
    seat: &'p Seat,
    pool: &'p Shared,
}

impl Shared {
    /// Borrows a seat for the calling thread, which is no worker. Succeeds if there is a vacant
    /// seat and no job waits for a worker.
    pub(crate) fn borrow_seat(&self) -> Option<Guest<'_>> {
        // Jobs that wait for a worker already go first.
        if self.sleep.counts().resting() == 0 || !self.injector.is_empty() {
            return None;
        }
        let count = self.seats.len();
        // Wakers begin with the first seat, callers with the last.
        let start = LAST.with(Cell::get).min(count - 1);
        let mut order = (0..count).map(|turn| (start + count - turn) % count);
        let guest = order.find_map(|index| self.borrow_seat_at(index))?;
        LAST.with(|last| last.set(guest.seat.index));
        Some(guest)
    }

    /// Borrows this seat for the calling thread, which is no worker, if it is vacant.
    pub(crate) fn borrow_seat_at(&self, index: usize) -> Option<Guest<'_>> {
        let seat = self.seat(index);
        if !self.sleep.borrow(&seat.sleep) {
            return None;
        }
        // What an earlier call has left here goes first: this call may wait for it. The caller
        // looks only now, because another caller may have come and gone just before.
        if (has_mail(seat) || has_own_queued(seat)) && !defect(Defect::BorrowDoesNotLook) {
            self.sleep.hand_over(&seat.sleep);
            return None;
        }
        debug_assert!(seat.is_clear(), "a vacant seat has nothing left of what ran there");
        seat.log.wake_up();
        seat.tally.wakes.add(1);
        seat.log.begin_call();
        seat.tally.jobs.add(1);
        Seat::set_current(Some(seat));
        seat.begin_work();
        Some(Guest { seat, pool: self })
    }

    /// Returns the seat of the calling thread.
    fn return_seat(&self, seat: &Seat) {
        if !self.is_in_its_process() {
            // A child of `fork(2)` has none of the pool's threads.
            Seat::set_current(None);
            return;
        }
        if !seat.is_clear() {
            drop(NoUnwind("a call into a pool returned while its jobs were still on the fork stack"));
        }
        seat.end_work(false);
        // SAFETY: the seat is still this thread's.
        unsafe {
            seat.learn_from_call();
            seat.trim(false);
        }
        Seat::set_current(None);
        seat.log.end_call();
        // The own thread, or the next caller, counts the end of this sleep. A sleep that is over at
        // once is not logged.
        seat.tally.sleeps.add(1);
        if self.has_work_for_owner(seat) {
            self.sleep.hand_over(&seat.sleep);
            return;
        }
        seat.log.fall_asleep();
        let counts = self.sleep.return_vacant(&seat.sleep);
        if defect(Defect::ReturnDoesNotLook) {
            return;
        }
        // From here on another thread may have the seat.
        let mut is_left = has_mail(seat) || self.has_queued(seat, counts.searching());
        if counts.resting() < self.seats.len() {
            if !defect(Defect::ReturnRaisesNoAlarm) {
                self.others(seat).for_each(|other| other.stack.alarm());
            }
            // SeqCst: the alarms are up before this thread looks at the others.
            fence(Ordering::SeqCst);
            let has_jobs = |other: &Seat| self.could_take_from(other);
            is_left |= counts.searching() == 0 && (!self.injector.is_empty() || self.others(seat).any(has_jobs));
            is_left |= self.others(seat).any(Seat::may_fork_unseen) && !seat.sleep.is_promised();
        }
        if is_left {
            // If the seat is not vacant any more, its thread is awake, or another caller has it.
            // Both look for work.
            self.sleep.wake(&seat.sleep, SleepState::Vacant);
        }
    }

    /// Returns whether the seat's own thread is needed at once. It is needed for its mail, or if no
    /// worker searches and something is queued.
    fn has_work_for_owner(&self, seat: &Seat) -> bool {
        has_mail(seat) || self.has_queued(seat, self.sleep.counts().searching())
    }

    /// Returns whether something is queued for which the seat's own thread is needed. That thread
    /// would take it, no other seat holds it, and none of `searching` searching workers will find
    /// it. Without raids they do not find all that is here.
    fn has_queued(&self, seat: &Seat, searching: usize) -> bool {
        searching == 0 && !self.injector.is_empty() || (searching == 0 || !self.raids) && has_own_queued(seat)
    }
}

/// Returns whether something is in the deques of the seat.
fn has_own_queued(seat: &Seat) -> bool {
    !defect(Defect::ReturnForgetsSpawned) && seat.has_queued()
}

fn has_mail(seat: &Seat) -> bool {
    seat.has_mail() && !defect(Defect::ReturnForgetsMail)
}

impl Guest<'_> {
    pub(crate) fn seat(&self) -> &Seat {
        self.seat
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.pool.return_seat(self.seat);
    }
}
