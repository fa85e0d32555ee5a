//! What a worker does that has nothing left, and when all is over.
//!
//! It takes the baton, so it is master, and looks for mail and then for something to take, for itself and for all in want. If there is nothing, it says in the signal that it waits, has everybody pass a barrier,
//! takes the baton again and looks once more. Only then it sits down: its seat stays in the office, and its thread goes back to the pool. Whoever brings it tasks takes the seat and has the pool run it.
//!
//! **No task is left alone.** A push makes its tasks visible, passes the light half of the barrier and looks at the signal. If it does not see the one who waits, the push was before that one's barrier, and the last look
//! finds the tasks. If it sees it, it takes the baton or leaves a note (see [`baton`](super::baton)), and the tasks are looked at by somebody who finds the seat, or by the one who waits, before it sits down.
//!
//! **It is over when all sit, and not before.** Mail is only put into the letterbox of somebody who does not sit, with the baton; whoever sits down looks for it with the baton. So who sits has no
//! mail. Its queue is empty too, since it is the owner's alone to fill, or that of who takes the seat. Nobody is there to push any more. The last who sits down says so, and nobody needs to be woken for it.

use super::crew::{Crew, Summon};
use super::office::Office;
use super::report::Ending;
use super::seat::Seat;
use super::Work;
use crate::defect::{defect, Defect};
use crate::sync::{thread, MutexGuard, Ordering};

impl<W: Work> Crew<'_, W> {
    /// Finds something for a worker that has nothing left, and hands its seat back; or it waits, on no thread, and the office has the seat.
    #[cold]
    pub(super) fn idle(&self, mut seat: Seat<W>, summoner: &dyn Summon<W>) -> Option<Seat<W>> {
        seat.idle_since.get_or_insert_with(|| self.clock.now());
        self.end_hunger(seat.index);
        let looked = self.find(&mut seat, summoner);
        let found = looked.is_none();
        drop(looked);
        self.mind_notes(summoner);
        if found {
            return Some(seat);
        }

        self.signal.begin_waiting();
        if !defect(Defect::SitWithoutBarrier) && !self.fencing.heavy() {
            // The kernel has broken its word about barriers: look again soon.
            self.signal.end_waiting();
            thread::yield_now();
            return Some(seat);
        }
        let seat = match self.find(&mut seat, summoner) {
            None => {
                self.signal.end_waiting();
                Some(seat)
            }
            Some(mut office) => {
                seat.counts.seated += 1;
                office.active -= 1;
                let over = office.active == 0;
                let index = seat.index;
                office.seats[index] = Some(seat);
                drop(office);
                if over {
                    self.stop(Ending::Complete);
                }
                None
            }
        };
        self.mind_notes(summoner);
        seat
    }

    /// Takes the baton and finds something for a worker: its mail, or what it can take. `None` if it has something; otherwise it still has the baton.
    fn find(&self, seat: &mut Seat<W>, summoner: &dyn Summon<W>) -> Option<MutexGuard<'_, Office<W>>> {
        let mut office = self.baton.wait();
        // Relaxed: it decides only who looks first.
        self.master.store(seat.index, Ordering::Relaxed);
        if !defect(Defect::MailIsForgotten) {
            if let Some(mail) = self.desks[seat.index].letterbox.take() {
                self.feed(seat, mail);
                // With the baton came the notes of those who found it taken.
                self.serve(&mut office, summoner, None);
                return None;
            }
        }
        if !defect(Defect::SitWithoutLook) {
            let moved = self.serve(&mut office, summoner, Some(&mut *seat));
            seat.count_service(moved);
        }
        seat.owner.is_empty().then_some(office)
    }

    /// Serves once more if somebody came meanwhile who had something to give.
    pub(super) fn mind_notes(&self, summoner: &dyn Summon<W>) {
        if self.baton.has_note() {
            self.baton.try_serve(|office| {
                self.serve(office, summoner, None);
            });
        }
    }
}
