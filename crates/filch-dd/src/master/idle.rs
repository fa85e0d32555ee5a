//! What a worker does when it has nothing left, and when the run ends.
//!
//! The worker takes the baton, so it is master. It looks for mail and then for tasks to take, for
//! itself and for all workers in want. If there are none, it announces in the signal that it waits,
//! makes all threads pass a barrier, takes the baton again and looks once more. Only then does it
//! park: it stays in the office as a member without a thread, and its thread goes back to the pool.
//! A master that brings it tasks takes it out of the office and has the pool run it.
//!
//! **No task is lost.** A push makes its tasks visible, passes the light half of the barrier and
//! reads the signal. If it does not see the waiting worker, the push came before that worker's
//! barrier, and the worker's last look finds the tasks. If it sees the waiting worker, it takes the
//! baton or leaves a note (see [`baton`](super::baton)). Then either a master looks at the tasks
//! and finds the member in the office, or the waiting worker looks at them before it parks.
//!
//! **The run ends when all workers are parked, and not before.** A master puts mail only into the
//! letterbox of a worker that is not parked, and holds the baton. A worker that parks checks for
//! mail while it holds the baton. So a parked worker has no mail. Its queue is empty too, since it
//! is filled only by the member itself, or by the master that takes the member out of the office.
//! So no worker is left that could push. The last worker that parks ends the run, and no other
//! worker needs to be woken for it.

use super::crew::{Crew, Summon};
use super::member::Member;
use super::office::Office;
use super::report::Ending;
use super::Work;
use crate::defect::{defect, Defect};
use crate::sync::{thread, MutexGuard, Ordering};

impl<W: Work> Crew<'_, W> {
    /// Finds tasks for a member that has none left, and returns the member.
    ///
    /// If there are none, the member waits in the office, without a thread.
    #[cold]
    pub(super) fn idle(&self, mut member: Member<W>, summoner: &dyn Summon<W>) -> Option<Member<W>> {
        member.idle_since.get_or_insert_with(|| self.clock.now());
        self.end_hunger(member.index);
        let looked = self.find(&mut member, summoner);
        let found = looked.is_none();
        drop(looked);
        self.mind_notes(summoner);
        if found {
            return Some(member);
        }

        self.signal.begin_waiting();
        if !defect(Defect::SitWithoutBarrier) && !self.fencing.heavy() {
            // The kernel failed to make a barrier that it had promised: look again soon.
            self.signal.end_waiting();
            thread::yield_now();
            return Some(member);
        }
        let member = match self.find(&mut member, summoner) {
            None => {
                self.signal.end_waiting();
                Some(member)
            }
            Some(mut office) => {
                member.counts.waits += 1;
                office.active -= 1;
                let over = office.active == 0;
                let index = member.index;
                office.members[index] = Some(member);
                drop(office);
                if over {
                    self.stop(Ending::Complete);
                }
                None
            }
        };
        self.mind_notes(summoner);
        member
    }

    /// Takes the baton and finds tasks for a member, in its mail or elsewhere.
    ///
    /// Returns `None` if the member has tasks now. Otherwise the caller still holds the baton.
    fn find(&self, member: &mut Member<W>, summoner: &dyn Summon<W>) -> Option<MutexGuard<'_, Office<W>>> {
        let mut office = self.baton.wait();
        // Relaxed: it only decides which worker looks first.
        self.master.store(member.index, Ordering::Relaxed);
        if !defect(Defect::MailIsForgotten) {
            if let Some(mail) = self.desks[member.index].letterbox.take() {
                self.feed(member, mail);
                // Taking the baton cleared the notes of other workers, so serve them.
                self.serve(&mut office, summoner, None);
                return None;
            }
        }
        if !defect(Defect::SitWithoutLook) {
            let moved = self.serve(&mut office, summoner, Some(&mut *member));
            member.count_service(moved);
        }
        member.owner.is_empty().then_some(office)
    }

    /// Serves once more if a worker has left a note meanwhile.
    pub(super) fn mind_notes(&self, summoner: &dyn Summon<W>) {
        if self.baton.has_note() {
            self.baton.try_serve(|office| {
                self.serve(office, summoner, None);
            });
        }
    }
}
