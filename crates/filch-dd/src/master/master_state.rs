//! The data of the master, and how it serves the workers that want work.

use std::time::Duration;

use filch_queue::bulk::Batch;

use super::inbox::Mail;
use super::notes::Note;
use super::overview::{Overview, State, WorkerStatus};
use super::policy::Policy;
use super::queue::{Queue, QueueThief};
use super::region::Region;
use super::report::{Counts, Log, Transfer};
use super::shared::{Shared, Waker};
use super::worker_data::WorkerData;
use super::Work;
use crate::defect::{defect, Defect};
use crate::sync::{lock, Ordering};

/// The data of the master: all thieves, the workers that wait, and the overview.
pub(super) struct MasterState<W: Work<Q>, Q: Queue> {
    thieves: Vec<Q::Thief<W::Task>>,
    /// The workers that wait, and in the end all workers.
    pub(super) parked: Vec<Option<WorkerData<W, Q>>>,
    /// The number of workers that do not wait.
    pub(super) active: usize,
    policy: Box<dyn Policy>,
    log: Log,
    given: Vec<u64>,
    got: Vec<u64>,
    statuses: Vec<WorkerStatus>,
    wanting: Vec<usize>,
}

impl<W: Work<Q>, Q: Queue> MasterState<W, Q> {
    /// Returns the data of a master whose workers all wait, except the first.
    pub(super) fn new(
        thieves: Vec<Q::Thief<W::Task>>,
        parked: Vec<Option<WorkerData<W, Q>>>,
        policy: Box<dyn Policy>,
        log: Log,
    ) -> Self {
        let workers = thieves.len();
        MasterState {
            thieves,
            parked,
            active: 1,
            policy,
            log,
            given: vec![0; workers],
            got: vec![0; workers],
            statuses: Vec::with_capacity(workers),
            wanting: Vec::with_capacity(workers),
        }
    }

    /// Returns the counts of the workers, and the log.
    pub(super) fn into_counts(self, end: Duration) -> (Vec<Counts>, Log) {
        let mut workers = Vec::with_capacity(self.parked.len());
        for ((data, given), got) in self.parked.into_iter().zip(self.given).zip(self.got) {
            // A worker is lost only by a panic, and then there is no report.
            let mut data = data.expect("every worker has ended and returned its data");
            data.end_idle(end);
            workers.push(Counts { given, got, ..data.counts });
        }
        (workers, self.log)
    }
}

impl<W: Work<Q>, Q: Queue> Shared<'_, W, Q> {
    /// Moves tasks to the workers that want work, as the policy decides, until it returns `None`.
    ///
    /// `own` is the caller if it is one of them and has no task at all.
    ///
    /// Returns the number of batches that were moved.
    pub(super) fn serve(
        &self,
        master: &mut MasterState<W, Q>,
        waker: &dyn Waker<W, Q>,
        mut own: Option<&mut WorkerData<W, Q>>,
    ) -> usize {
        // Parked workers may have ended instead of waiting, and must not be woken again.
        // Relaxed: a worker that ends takes the master lock after it has seen that the run is over.
        if self.signal.load().is_over() {
            return 0;
        }
        self.update_overview(master, own.as_deref());
        let mut moved = 0;
        while let Some(&receiver) = master.wanting.first() {
            let overview = Overview { workers: &master.statuses, low_watermark: self.low_watermark };
            let Some(chosen) = master.policy.choose(&overview, receiver) else {
                master.wanting.remove(0);
                continue;
            };
            assert!(
                chosen.from < overview.workers.len() && chosen.from != receiver && chosen.share > 0.0,
                "invalid choice of the policy: a share of {} from worker {} for worker {receiver}, of {} workers",
                chosen.share,
                chosen.from,
                overview.workers.len(),
            );
            let Some((batch, region)) = self.steal(master, chosen.from, chosen.share) else {
                // The owner was faster. For this call its queue counts as empty, so a policy that
                // chooses it again does not loop.
                if core::mem::take(&mut master.statuses[chosen.from].queued) == 0 {
                    master.wanting.remove(0);
                }
                continue;
            };
            let overview = Overview { workers: &master.statuses, low_watermark: self.low_watermark };
            let mut to = master.policy.choose_receiver(&overview, &region, &master.wanting);
            if !master.wanting.contains(&to) || to == chosen.from {
                to = receiver;
            }
            moved += 1;
            let tasks = batch.len();
            let nearness = overview.nearness(to, Some(&region));
            let at = self.clock.now();
            master.log.add(Transfer { at, from: chosen.from, to, tasks, share: chosen.share, nearness });
            master.given[chosen.from] += tasks as u64;
            master.got[to] += tasks as u64;
            master.statuses[chosen.from].queued = master.statuses[chosen.from].queued.saturating_sub(tasks);
            let status = &mut master.statuses[to];
            status.queued += tasks;
            status.state = if status.state == State::Idle { State::Starting } else { State::Working };
            master.wanting.retain(|worker| *worker != to);
            let mail = Mail { tasks: batch, notes: self.notes_near(&region) };
            match &mut own {
                Some(data) if data.index == to => self.supply(data, mail),
                _ => self.deliver(master, to, mail, waker),
            }
        }
        moved
    }

    /// Updates the overview, and lists the workers that want work.
    ///
    /// Workers without tasks come first, the caller before the others; then those with the fewest
    /// tasks.
    fn update_overview(&self, master: &mut MasterState<W, Q>, own: Option<&WorkerData<W, Q>>) {
        master.statuses.clear();
        master.wanting.clear();
        for (index, info) in self.worker_infos.iter().enumerate() {
            let mail = if defect(Defect::MailIsForgotten) { 0 } else { info.inbox.len() };
            let queued = master.thieves[index].queued() + mail;
            let tasks = info.tasks.load(Ordering::Relaxed);
            let state = if master.parked[index].is_some() || own.is_some_and(|data| data.index == index) {
                State::Idle
            } else if info.starting.load(Ordering::Relaxed) {
                State::Starting
            } else if !info.running_low.load(Ordering::Relaxed) {
                State::Working
            } else if queued > self.low_watermark {
                // It has pushed since it signalled.
                self.end_running_low(index);
                State::Working
            } else {
                State::RunningLow
            };
            if matches!(state, State::Idle | State::RunningLow) {
                master.wanting.push(index);
            }
            let region = (tasks > 0).then(|| info.region());
            master.statuses.push(WorkerStatus { state, queued, region, tasks });
        }
        most_urgent_first(&mut master.wanting, &master.statuses, own.map(|data| data.index));
    }

    /// Takes a share of a worker's tasks, and returns the region of the oldest.
    ///
    /// The tasks come from the worker's queue, or else from its mail.
    fn steal(&self, master: &mut MasterState<W, Q>, from: usize, share: f64) -> Option<(Batch<W::Task>, Region)> {
        let thief = &mut master.thieves[from];
        let of_queue = match master.statuses[from].state {
            State::Starting => all_but_one(share, thief.queued()),
            _ => share,
        };
        let mut batch = match thief.steal(of_queue) {
            Ok(batch) => batch,
            Err(error) => panic!("invalid share chosen by the policy: {error}"),
        };
        if batch.is_empty() {
            batch = self.worker_infos[from].inbox.take_back(share);
        }
        let region = self.work.region(batch.iter().next()?);
        Some((batch, region))
    }

    /// Takes a share of the longest queue's tasks out of the run.
    pub(super) fn withdraw(&self, master: &mut MasterState<W, Q>, share: f64) -> Batch<W::Task> {
        let Some(thief) = master.thieves.iter_mut().max_by_key(|thief| thief.queued()) else { return Batch::new() };
        match thief.steal(share) {
            Ok(batch) => batch,
            Err(error) => panic!("invalid share to withdraw: {error}"),
        }
    }

    /// Returns the published notes nearest to a region, at most half as many as a worker keeps.
    fn notes_near(&self, region: &Region) -> Vec<Note<W::Learnt>> {
        let mut found: Vec<(u32, Note<W::Learnt>)> = Vec::new();
        for info in &self.worker_infos {
            let notes = lock(&info.published);
            // Notes that have nothing in common with the region are skipped.
            let near = notes.nearest_first(region).take_while(|(nearness, _)| *nearness > 0);
            found.extend(near.map(|(nearness, note)| (nearness, note.clone())));
        }
        nearest_first(&mut found);
        found.truncate(self.notes / 2);
        // The nearest comes last, so that it is the youngest note of the worker.
        found.into_iter().rev().map(|(_, note)| note).collect()
    }

    /// Brings tasks to a worker that has none.
    ///
    /// Until the worker begins one of them, no other worker takes the last one. Otherwise two
    /// workers without tasks would take it from each other for ever.
    pub(super) fn supply(&self, data: &mut WorkerData<W, Q>, mail: Mail<W::Task, W::Learnt>) {
        // Relaxed: it is read under the master lock, and other workers write it only under that
        // lock.
        self.worker_infos[data.index].starting.store(true, Ordering::Relaxed);
        data.accept(mail);
    }

    /// Brings tasks to a worker.
    ///
    /// If the worker waits, it is woken. Otherwise the tasks go to its inbox.
    fn deliver(
        &self,
        master: &mut MasterState<W, Q>,
        to: usize,
        mail: Mail<W::Task, W::Learnt>,
        waker: &dyn Waker<W, Q>,
    ) {
        match master.parked[to].take() {
            Some(mut data) => {
                master.active += 1;
                self.signal.end_waiting();
                self.supply(&mut data, mail);
                waker.wake(data);
            }
            None => {
                self.worker_infos[to].inbox.put(mail);
                self.end_running_low(to);
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

/// Sorts workers that want tasks: idle ones first, then the master itself, then those with the
/// fewest tasks. It is compiled once, not for each kind of work.
fn most_urgent_first(wanting: &mut [usize], statuses: &[WorkerStatus], own: Option<usize>) {
    wanting.sort_by_key(|&worker| {
        let status = &statuses[worker];
        (status.state != State::Idle, Some(worker) != own, status.queued, worker)
    });
}

/// Sorts notes by nearness. It is compiled once for each kind of note, not for each kind of work.
fn nearest_first<L>(found: &mut [(u32, Note<L>)]) {
    found.sort_by_key(|(nearness, _)| core::cmp::Reverse(*nearness));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_one_leaves_one_task_and_takes_as_many_others_as_asked() {
        for tasks in 0..50usize {
            for share in [0.1, 0.5, 0.9, 1.0] {
                let taken = (all_but_one(share, tasks) * tasks as f64).ceil() as usize;
                let asked = (share * tasks as f64).ceil() as usize;
                assert_eq!(taken, asked.min(tasks.saturating_sub(1)), "{share} of {tasks}");
            }
        }
        assert!(all_but_one(f64::NAN, 3).is_nan(), "an invalid share stays invalid, so that the thief refuses it");
    }
}
