//! What a worker does that has nothing left, and when all is over.
//!
//! It takes the baton, so it is master, and looks for mail and then for something to take, for itself and for all in want. If there is nothing, it says in the signal that it waits, has everybody pass a barrier,
//! takes the baton again and looks once more. Only then it sits down: it stays in the office as a member without a thread, and its thread goes back to the pool. A master that brings it tasks takes it out of the office and has the pool run it.
//!
//! **No task is left alone.** A push makes its tasks visible, passes the light half of the barrier and looks at the signal. If it does not see the one who waits, the push was before that one's barrier, and the last look
//! finds the tasks. If it sees it, it takes the baton or leaves a note (see [`baton`](super::baton)), and the tasks are looked at by a master that finds the member in the office, or by the member that waits, before it sits down.
//!
//! **It is over when all sit, and not before.** Mail is only put into the letterbox of somebody who does not sit, with the baton; whoever sits down looks for it with the baton. So who sits has no
//! mail. Its queue is empty too, since only the member itself fills it, or the master that takes it out of the office. Nobody is there to push any more. The last who sits down says so, and nobody needs to be woken for it.

use super::crew::{Crew, Summon};
use super::member::Member;
use super::office::Office;
use super::report::Ending;
use super::Work;
use crate::defect::{defect, Defect};
use crate::sync::{thread, MutexGuard, Ordering};

impl<W: Work> Crew<'_, W> {
    /// Finds something for a member that has nothing left, and returns it; or the member waits, on no thread, in the office.
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
            // The kernel has broken its word about barriers: look again soon.
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

    /// Takes the baton and finds something for a worker: its mail, or what it can take. `None` if it has something; otherwise it still has the baton.
    fn find(&self, member: &mut Member<W>, summoner: &dyn Summon<W>) -> Option<MutexGuard<'_, Office<W>>> {
        let mut office = self.baton.wait();
        // Relaxed: it decides only who looks first.
        self.master.store(member.index, Ordering::Relaxed);
        if !defect(Defect::MailIsForgotten) {
            if let Some(mail) = self.desks[member.index].letterbox.take() {
                self.feed(member, mail);
                // With the baton came the notes of those who found it taken.
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

    /// Serves once more if somebody came meanwhile who had something to give.
    pub(super) fn mind_notes(&self, summoner: &dyn Summon<W>) {
        if self.baton.has_note() {
            self.baton.try_serve(|office| {
                self.serve(office, summoner, None);
            });
        }
    }
}
