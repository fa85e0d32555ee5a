//! The additional work of rank 0: it coordinates, checks limits, and calls the user's callbacks.

use core::time::Duration;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::Arc;
use std::thread::Scope;
use std::time::Instant;

use filch_dd::port::Totals;
use filch_dd::{Cost, Ending, Solution};

use super::driver::Task;
use super::options::{Left, Options, Progress, Solved};
use super::silence::{sentence, Silence};
use crate::protocol::{Answer, Coordinator, Gathered, RankStatistics, To, ToCoordinator, ToMember};

/// How often to check whether a rank has fallen silent.
const LISTEN: Duration = Duration::from_millis(250);

/// The longest time between two signs of life of rank 0, for any patience. Rare enough to cost
/// nothing even with thousands of ranks.
const PULSE: Duration = Duration::from_secs(10);

pub(super) struct Desk<'t, 'h> {
    pub(super) coordinator: Coordinator,
    ranks: usize,
    task: Task<'t>,
    time_limit: Option<Duration>,
    node_limit: Option<u64>,
    patience: Duration,
    silence: Silence,
    listened: Instant,
    /// When the last sign of life was sent to the other ranks.
    pulsed: Instant,
    /// Why all ranks stop.
    reason: Ending,
    checkpoints: Option<Checkpoints>,
    gathered: u64,
    /// The last checkpoint, of a stopped run.
    left: Option<Gathered>,
    /// The worth of the best solution that the user was told.
    told: Option<Cost>,
    on_solution: Option<Box<dyn FnMut(&Solution, Duration) + 'h>>,
    on_progress: Option<(Duration, Box<dyn FnMut(&Progress) + 'h>)>,
    progressed: Instant,
}

struct Checkpoints {
    every: Option<Duration>,
    due: Instant,
    /// Sends to the thread that runs the checkpoint callback.
    sender: Sender<Left>,
    /// How many checkpoints the callback has not finished.
    unwritten: Arc<AtomicUsize>,
}

impl<'t, 'h> Desk<'t, 'h> {
    pub(super) fn new<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        ranks: usize,
        task: Task<'t>,
        options: &mut Options<'h>,
        on_checkpoint: Option<Box<dyn FnMut(Left) + Send + 'h>>,
        out: &mut Vec<(To, ToMember)>,
    ) -> Self
    where
        'h: 'scope,
    {
        let now = Instant::now();
        let mut coordinator = Coordinator::new(ranks, options.identity, options.policy);
        if let Some(Left { parcels, best, .. }) = options.resume.take() {
            coordinator.deal(parcels, best.map(|best| task.answer(&best)), out);
        }
        let checkpoints = on_checkpoint.map(|mut write| {
            let (sender, receiver) = channel();
            let unwritten = Arc::new(AtomicUsize::new(0));
            let written = Arc::clone(&unwritten);
            scope.spawn(move || {
                for left in receiver {
                    write(left);
                    // Relaxed: a count.
                    written.fetch_sub(1, Ordering::Relaxed);
                }
            });
            let every = options.checkpoint_every;
            // The first is due at once, so that there always is one.
            Checkpoints { every, due: now, sender, unwritten }
        });
        Desk {
            told: coordinator.best().map(|best| best.worth),
            coordinator,
            ranks,
            task,
            time_limit: options.time_limit,
            node_limit: options.node_limit,
            patience: options.patience,
            silence: Silence::new(ranks, now),
            listened: now,
            pulsed: now,
            reason: Ending::Cancelled,
            checkpoints,
            gathered: 0,
            left: None,
            on_solution: options.on_solution.take(),
            on_progress: options.on_progress.take(),
            progressed: now,
        }
    }

    pub(super) fn handle(
        &mut self,
        from: usize,
        message: ToCoordinator,
        elapsed: Duration,
        out: &mut Vec<(To, ToMember)>,
    ) {
        self.silence.heard(from, Instant::now());
        self.coordinator.handle(from, message, out);
        if let Some(gathered) = self.coordinator.take_gathered() {
            if gathered.last {
                self.left = Some(gathered);
            } else {
                self.gathered += 1;
                let Gathered { parcels, best, totals, .. } = gathered;
                let best = best.as_ref().and_then(solution);
                self.write(Left { parcels, best, totals, elapsed, last: false });
            }
        }
        let Some(best) = self.coordinator.best() else { return };
        if self.told.is_none_or(|told| best.worth > told) {
            self.told = Some(best.worth);
            if let (Some(tell), Some(solution)) = (&mut self.on_solution, solution(best)) {
                tell(&solution, elapsed);
            }
        }
    }

    /// Performs the actions that are due.
    pub(super) fn look(&mut self, now: Instant, elapsed: Duration, out: &mut Vec<(To, ToMember)>) {
        if self.coordinator.is_over() {
            return;
        }
        let limit = if self.time_limit.is_some_and(|limit| elapsed >= limit) {
            Some(Ending::TimedOut)
        } else if self.node_limit.is_some_and(|limit| self.coordinator.explored() >= limit) {
            Some(Ending::NodeLimit)
        } else {
            None
        };
        if let Some(reason) = limit.filter(|_| self.reason == Ending::Cancelled) {
            self.reason = reason;
            self.coordinator.stop(out);
        }
        if let Some(Checkpoints { every: Some(every), due, unwritten, .. }) = &mut self.checkpoints {
            // Relaxed: a count. No checkpoint is gathered while another waits to be written.
            if now >= *due && unwritten.load(Ordering::Relaxed) == 0 {
                *due = now + *every;
                self.coordinator.checkpoint(out);
            }
        }
        self.silence.look(now);
        if now.duration_since(self.listened) >= LISTEN {
            self.listened = now;
            self.listen(now, out);
        }
        // Ranks that were told to stop or to end wait for no message, and may have left already.
        let awaited = !self.coordinator.is_done() && !self.coordinator.has_stopped();
        if awaited && now.duration_since(self.pulsed) >= PULSE.min(self.patience / 4) {
            self.pulsed = now;
            out.push((To::AllBut(0), ToMember::Alive));
        }
        if let Some((every, tell)) = &mut self.on_progress {
            if now.duration_since(self.progressed) >= *every {
                self.progressed = now;
                let best = self.coordinator.best().map(|best| best.worth);
                let bound = self.coordinator.bound().max(best).filter(|&bound| bound != Cost::MAX);
                tell(&Progress {
                    open: self.coordinator.open(),
                    explored: self.coordinator.explored(),
                    best: best.map(|best| self.task.turn(best)),
                    bound: bound.map(|bound| self.task.turn(bound)),
                    idle: self.coordinator.idle(),
                    transfers: self.coordinator.orders(),
                    elapsed,
                });
            }
        }
    }

    /// Fails the run if another rank has been silent for too long.
    fn listen(&mut self, now: Instant, out: &mut Vec<(To, ToMember)>) {
        let silent = (1..self.ranks)
            .find(|&rank| !self.coordinator.has_finished(rank) && self.silence.of(rank, now) > self.patience);
        if let Some(rank) = silent {
            self.coordinator.fail(sentence(rank, self.patience), out);
        }
    }

    fn write(&mut self, left: Left) {
        if let Some(checkpoints) = &self.checkpoints {
            // Relaxed: a count.
            checkpoints.unwritten.fetch_add(1, Ordering::Relaxed);
            // The receiver lives until the sender is dropped.
            let _ = checkpoints.sender.send(left);
        }
    }

    /// Returns the result of a run that did not fail. All ranks have left.
    pub(super) fn finish(mut self, elapsed: Duration) -> Solved {
        let ranks: Vec<RankStatistics> = self.coordinator.statistics().into_iter().flatten().collect();
        let totals = ranks.iter().fold(Totals::default(), |totals, rank| totals + rank.totals);
        let worth = self.coordinator.best().map(|best| best.worth);
        let best = self.coordinator.best().and_then(solution);
        let mut parcels = self.left.take().map_or(Vec::new(), |left| left.parcels);
        // Nodes that cannot improve on the best solution count as done.
        parcels.retain(|parcel| worth.is_none_or(|worth| parcel.bound() > worth));
        let left = parcels.iter().map(|parcel| parcel.bound()).max();
        let (ending, bound) = match (left, worth) {
            (None, Some(worth)) => (Ending::Optimal, Some(worth)),
            (None, None) => (Ending::Infeasible, None),
            (Some(bound), _) => (self.reason, Some(bound).filter(|&bound| bound != Cost::MAX)),
        };
        self.write(Left { parcels, best: best.clone(), totals, elapsed, last: true });
        Solved {
            ending,
            best,
            bound: bound.map(|bound| self.task.turn(bound)),
            totals,
            ranks,
            transfers: self.coordinator.orders(),
            checkpoints: self.gathered,
            elapsed,
        }
    }
}

fn solution(answer: &Answer) -> Option<Solution> {
    postcard::from_bytes(&answer.bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use filch_dd::port::Port;

    use super::*;

    #[test]
    fn the_others_hear_of_rank_0_well_within_their_patience_until_they_are_told_to_stop() {
        let (port, failure) = (Port::new(), Mutex::new(None));
        let task = Task { port: &port, minimise: false, is_gone: &|| false, failure: &failure };
        std::thread::scope(|scope| {
            for (patience, pulse) in
                [(60, 10), (20, 5)].map(|(patience, pulse)| (Duration::from_secs(patience), Duration::from_secs(pulse)))
            {
                let mut out = Vec::new();
                let start = Instant::now();
                let mut desk = Desk::new(scope, 3, task, &mut Options { patience, ..Options::new(1) }, None, &mut out);
                let early = Duration::from_millis(100);
                desk.look(start + pulse - early, pulse, &mut out);
                assert_eq!(out, []);
                desk.look(start + pulse + early, pulse, &mut out);
                assert_eq!(out, [(To::AllBut(0), ToMember::Alive)]);
                desk.coordinator.stop(&mut out);
                out.clear();
                desk.look(start + 3 * pulse, pulse, &mut out);
                assert_eq!(out, [], "who has stopped may have left");
            }
        });
    }
}
