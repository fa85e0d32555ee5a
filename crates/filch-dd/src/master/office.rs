//! The office: the data of the master, and how it serves the workers in want.

use std::time::Duration;

use filch_queue::bulk::Batch;

use super::crew::{Crew, Summon};
use super::learnt::Note;
use super::mail::Mail;
use super::member::Member;
use super::picture::{Picture, Standing, State};
use super::policy::Policy;
use super::queue::Thief;
use super::region::Region;
use super::report::{Counts, Log, Transfer};
use super::Work;
use crate::defect::{defect, Defect};
use crate::sync::{lock, Ordering};

/// The data of the master: all thieves, the members that wait, and the picture.
pub(super) struct Office<W: Work> {
    thieves: Vec<Thief<W::Task>>,
    /// The members that wait, and in the end all members.
    pub(super) members: Vec<Option<Member<W>>>,
    /// The number of members that do not wait.
    pub(super) active: usize,
    policy: Box<dyn Policy>,
    log: Log,
    given: Vec<u64>,
    got: Vec<u64>,
    standings: Vec<Standing>,
    in_want: Vec<usize>,
}

impl<W: Work> Office<W> {
    /// Returns the office of workers of which all wait but the first.
    pub(super) fn new(
        thieves: Vec<Thief<W::Task>>,
        members: Vec<Option<Member<W>>>,
        policy: Box<dyn Policy>,
        log: Log,
    ) -> Self {
        let workers = thieves.len();
        Office {
            thieves,
            members,
            active: 1,
            policy,
            log,
            given: vec![0; workers],
            got: vec![0; workers],
            standings: Vec::with_capacity(workers),
            in_want: Vec::with_capacity(workers),
        }
    }

    /// Returns the counts of the workers, and the log.
    pub(super) fn into_counts(self, end: Duration) -> (Vec<Counts>, Log) {
        let mut workers = Vec::with_capacity(self.members.len());
        for ((member, given), got) in self.members.into_iter().zip(self.given).zip(self.got) {
            // A member is lost only by a panic, and then there is no report.
            let mut member = member.expect("all workers have ended");
            member.end_idleness(end);
            workers.push(Counts { given, got, ..member.counts });
        }
        (workers, self.log)
    }
}

impl<W: Work> Crew<'_, W> {
    /// Moves tasks to the workers in want, as the policy decides, until it returns `None`.
    ///
    /// `own` is the caller if it is one of them and has no task at all.
    ///
    /// Returns the number of batches that were moved.
    pub(super) fn serve(
        &self,
        office: &mut Office<W>,
        summoner: &dyn Summon<W>,
        mut own: Option<&mut Member<W>>,
    ) -> usize {
        // Members in the office may have ended instead of waiting, and must not be called again.
        // Relaxed: a member that ends takes the baton after it has seen that the run is over.
        if self.signal.look().is_over() {
            return 0;
        }
        self.look_around(office, own.as_deref());
        let mut moved = 0;
        while let Some(&hungry) = office.in_want.first() {
            let picture = Picture { workers: &office.standings, hungry_at: self.hungry_at };
            let Some(chosen) = office.policy.choose(&picture, hungry) else {
                office.in_want.remove(0);
                continue;
            };
            assert!(
                chosen.from < picture.workers.len() && chosen.from != hungry && chosen.share > 0.0,
                "the policy chose to take a share of {} from worker {} for worker {hungry}, of {}",
                chosen.share,
                chosen.from,
                picture.workers.len(),
            );
            let Some((batch, region)) = self.steal(office, chosen.from, chosen.share) else {
                // The owner was faster. For this call its queue counts as empty, so a policy that
                // chooses it again does not loop.
                if core::mem::take(&mut office.standings[chosen.from].queued) == 0 {
                    office.in_want.remove(0);
                }
                continue;
            };
            let picture = Picture { workers: &office.standings, hungry_at: self.hungry_at };
            let mut to = office.policy.give(&picture, &region, &office.in_want);
            if !office.in_want.contains(&to) || to == chosen.from {
                to = hungry;
            }
            moved += 1;
            let tasks = batch.len();
            let nearness = picture.nearness(to, Some(&region));
            let at = self.clock.now();
            office.log.add(Transfer { at, from: chosen.from, to, tasks, share: chosen.share, nearness });
            office.given[chosen.from] += tasks as u64;
            office.got[to] += tasks as u64;
            office.standings[chosen.from].queued = office.standings[chosen.from].queued.saturating_sub(tasks);
            let standing = &mut office.standings[to];
            standing.queued += tasks;
            standing.state = if standing.state == State::Idle { State::Called } else { State::Working };
            office.in_want.retain(|worker| *worker != to);
            let mail = Mail { tasks: batch, notes: self.notes_near(&region) };
            match &mut own {
                Some(member) if member.index == to => self.feed(member, mail),
                _ => self.bring(office, to, mail, summoner),
            }
        }
        moved
    }

    /// Draws the picture, and lists the workers in want.
    ///
    /// Workers without tasks come first, the caller before the others; then those with the fewest
    /// tasks.
    fn look_around(&self, office: &mut Office<W>, own: Option<&Member<W>>) {
        office.standings.clear();
        office.in_want.clear();
        for (index, desk) in self.desks.iter().enumerate() {
            let mail = if defect(Defect::MailIsForgotten) { 0 } else { desk.letterbox.len() };
            let queued = office.thieves[index].len() + mail;
            let tasks = desk.tasks.load(Ordering::Relaxed);
            let state = if office.members[index].is_some() || own.is_some_and(|member| member.index == index) {
                State::Idle
            } else if desk.called.load(Ordering::Relaxed) {
                State::Called
            } else if !desk.hungry.load(Ordering::Relaxed) {
                State::Working
            } else if queued > self.hungry_at {
                // It has pushed since it signalled.
                self.end_hunger(index);
                State::Working
            } else {
                State::Hungry
            };
            if matches!(state, State::Idle | State::Hungry) {
                office.in_want.push(index);
            }
            let region = (tasks > 0).then(|| desk.region());
            office.standings.push(Standing { state, queued, region, tasks });
        }
        let (standings, own) = (&office.standings, own.map(|member| member.index));
        office.in_want.sort_by_key(|&worker| {
            let standing = &standings[worker];
            (standing.state != State::Idle, Some(worker) != own, standing.queued, worker)
        });
    }

    /// Takes a share of a worker's tasks, and returns the region of the oldest.
    ///
    /// The tasks come from the worker's queue, or else from its mail.
    fn steal(&self, office: &mut Office<W>, from: usize, share: f64) -> Option<(Batch<W::Task>, Region)> {
        let thief = &mut office.thieves[from];
        let of_queue = match office.standings[from].state {
            State::Called => all_but_one(share, thief.len()),
            _ => share,
        };
        let mut batch = match thief.steal(of_queue) {
            Ok(batch) => batch,
            Err(error) => panic!("the policy chose an impossible share: {error}"),
        };
        if batch.is_empty() {
            batch = self.desks[from].letterbox.take_back(share);
        }
        let region = self.work.region(batch.iter().next()?);
        Some((batch, region))
    }

    /// Takes a share of the longest queue's tasks out of the run.
    pub(super) fn withdraw(&self, office: &mut Office<W>, share: f64) -> Batch<W::Task> {
        let Some(thief) = office.thieves.iter_mut().max_by_key(|thief| thief.len()) else { return Batch::new() };
        match thief.steal(share) {
            Ok(batch) => batch,
            Err(error) => panic!("an impossible share was to be withdrawn: {error}"),
        }
    }

    /// Returns the published notes nearest to a region, at most half a shelf.
    fn notes_near(&self, region: &Region) -> Vec<Note<W::Learnt>> {
        let mut found: Vec<(u32, Note<W::Learnt>)> = Vec::new();
        for desk in &self.desks {
            let shelf = lock(&desk.published);
            // Notes that have nothing in common with the region are skipped.
            let near = shelf.near(region).take_while(|(nearness, _)| *nearness > 0);
            found.extend(near.map(|(nearness, note)| (nearness, note.clone())));
        }
        found.sort_by_key(|(nearness, _)| core::cmp::Reverse(*nearness));
        found.truncate(self.notes / 2);
        // The nearest comes last, so that it is the youngest on the shelf.
        found.into_iter().rev().map(|(_, note)| note).collect()
    }

    /// Brings tasks to a worker that has none.
    ///
    /// Until the worker begins one of them, no other worker takes the last one. Otherwise two
    /// workers without tasks would take it from each other for ever.
    pub(super) fn feed(&self, member: &mut Member<W>, mail: Mail<W::Task, W::Learnt>) {
        // Relaxed: it is read under the baton, and other workers write it only under the baton.
        self.desks[member.index].called.store(true, Ordering::Relaxed);
        member.accept(mail);
    }

    /// Brings tasks to a member.
    ///
    /// If the member waits, it is called. Otherwise the tasks go to its letterbox.
    fn bring(&self, office: &mut Office<W>, to: usize, mail: Mail<W::Task, W::Learnt>, summoner: &dyn Summon<W>) {
        match office.members[to].take() {
            Some(mut member) => {
                office.active += 1;
                self.signal.end_waiting();
                self.feed(&mut member, mail);
                summoner.summon(member);
            }
            None => {
                self.desks[to].letterbox.put(mail);
                self.end_hunger(to);
            }
        }
    }
}

/// The share of `tasks` tasks that leaves at least one.
fn all_but_one(share: f64, tasks: usize) -> f64 {
    let most = tasks.saturating_sub(1) as f64;
    if (share * tasks as f64).ceil() > most {
        // Half a task less; the thief rounds up again.
        (most - 0.5).max(0.0) / tasks.max(1) as f64
    } else {
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_one_leaves_one_and_takes_what_it_can() {
        for tasks in 0..50usize {
            for share in [0.1, 0.5, 0.9, 1.0] {
                let taken = (all_but_one(share, tasks) * tasks as f64).ceil() as usize;
                let asked = (share * tasks as f64).ceil() as usize;
                assert_eq!(taken, asked.min(tasks.saturating_sub(1)), "{share} of {tasks}");
            }
        }
        assert!(all_but_one(f64::NAN, 3).is_nan(), "what is impossible is left to be refused");
    }
}
