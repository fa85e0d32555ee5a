//! The additional work of rank 0: it coordinates, checks limits, and calls the user's callbacks.

use core::time::Duration;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::Arc;
use std::thread::Scope;
use std::time::Instant;

use filch_dd::port::Totals;
use filch_dd::{Cost, Solution, SolveStatus};

use super::driver::SearchHandle;
use super::options::{Options, Progress, RunCheckpoint, Solved};
use super::silence::{silence_error, Silence};
use crate::protocol::{Coordinator, Destination, EncodedSolution, Gathered, RankStatistics, ToCoordinator, ToMember};

/// How often to check whether a rank has fallen silent.
const SILENCE_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// The longest time between two heartbeats of rank 0, for any silence timeout. Rare enough to cost
/// nothing even with thousands of ranks.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// The state of the coordinating rank, beside that of its driver.
pub(super) struct RankZero<'t, 'h> {
    pub(super) coordinator: Coordinator,
    ranks: usize,
    search: SearchHandle<'t>,
    time_limit: Option<Duration>,
    node_limit: Option<u64>,
    silence_timeout: Duration,
    silence: Silence,
    silence_checked: Instant,
    /// When the last heartbeat was sent to the other ranks.
    last_heartbeat: Instant,
    /// Why all ranks stop.
    reason: SolveStatus,
    checkpoints: Option<Checkpoints>,
    gathered: u64,
    /// The last checkpoint, of a stopped run.
    last_checkpoint: Option<Gathered>,
    /// The worth of the best solution that was reported to the user.
    reported: Option<Cost>,
    on_solution: Option<Box<dyn FnMut(&Solution, Duration) + 'h>>,
    on_progress: Option<(Duration, Box<dyn FnMut(&Progress) + 'h>)>,
    last_progress: Instant,
}

struct Checkpoints {
    every: Option<Duration>,
    due: Instant,
    /// Sends to the thread that runs the checkpoint callback.
    sender: Sender<RunCheckpoint>,
    /// How many checkpoints the callback has not finished.
    unwritten: Arc<AtomicUsize>,
}

impl<'t, 'h> RankZero<'t, 'h> {
    pub(super) fn new<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        ranks: usize,
        search: SearchHandle<'t>,
        options: &mut Options<'h>,
        on_checkpoint: Option<Box<dyn FnMut(RunCheckpoint) + Send + 'h>>,
        out: &mut Vec<(Destination, ToMember)>,
    ) -> Self
    where
        'h: 'scope,
    {
        let now = Instant::now();
        let mut coordinator = Coordinator::new(ranks, options.identity, options.policy);
        if let Some(RunCheckpoint { packages, best, .. }) = options.resume.take() {
            coordinator.deal(packages, best.map(|best| search.encode(&best)), out);
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
        RankZero {
            reported: coordinator.best().map(|best| best.worth),
            coordinator,
            ranks,
            search,
            time_limit: options.time_limit,
            node_limit: options.node_limit,
            silence_timeout: options.silence_timeout,
            silence: Silence::new(ranks, now),
            silence_checked: now,
            last_heartbeat: now,
            reason: SolveStatus::Cancelled,
            checkpoints,
            gathered: 0,
            last_checkpoint: None,
            on_solution: options.on_solution.take(),
            on_progress: options.on_progress.take(),
            last_progress: now,
        }
    }

    pub(super) fn handle(
        &mut self,
        from: usize,
        message: ToCoordinator,
        elapsed: Duration,
        out: &mut Vec<(Destination, ToMember)>,
    ) {
        self.silence.record_message(from, Instant::now());
        self.coordinator.handle(from, message, out);
        if let Some(gathered) = self.coordinator.take_gathered() {
            if gathered.last {
                self.last_checkpoint = Some(gathered);
            } else {
                self.gathered += 1;
                let Gathered { packages, best, totals, .. } = gathered;
                let best = best.as_ref().and_then(decode_solution);
                self.write(RunCheckpoint { packages, best, totals, elapsed, last: false });
            }
        }
        let Some(best) = self.coordinator.best() else { return };
        if self.reported.is_none_or(|reported| best.worth > reported) {
            self.reported = Some(best.worth);
            if let (Some(callback), Some(solution)) = (&mut self.on_solution, decode_solution(best)) {
                callback(&solution, elapsed);
            }
        }
    }

    /// Performs the actions that are due.
    pub(super) fn tick(&mut self, now: Instant, elapsed: Duration, out: &mut Vec<(Destination, ToMember)>) {
        if self.coordinator.is_over() {
            return;
        }
        let limit = if self.time_limit.is_some_and(|limit| elapsed >= limit) {
            Some(SolveStatus::TimedOut)
        } else if self.node_limit.is_some_and(|limit| self.coordinator.explored() >= limit) {
            Some(SolveStatus::NodeLimit)
        } else {
            None
        };
        if let Some(reason) = limit.filter(|_| self.reason == SolveStatus::Cancelled) {
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
        self.silence.tick(now);
        if now.duration_since(self.silence_checked) >= SILENCE_CHECK_INTERVAL {
            self.silence_checked = now;
            self.check_silence(now, out);
        }
        // Ranks that were told to stop or to end wait for no message, and may have left already.
        let awaited = !self.coordinator.is_done() && !self.coordinator.has_stopped();
        if awaited && now.duration_since(self.last_heartbeat) >= HEARTBEAT_INTERVAL.min(self.silence_timeout / 4) {
            self.last_heartbeat = now;
            out.push((Destination::AllBut(0), ToMember::Alive));
        }
        if let Some((every, callback)) = &mut self.on_progress {
            if now.duration_since(self.last_progress) >= *every {
                self.last_progress = now;
                let best = self.coordinator.best().map(|best| best.worth);
                let bound = self.coordinator.bound().max(best).filter(|&bound| bound != Cost::MAX);
                callback(&Progress {
                    open: self.coordinator.open(),
                    explored: self.coordinator.explored(),
                    best: best.map(|best| self.search.negate_if_minimising(best)),
                    bound: bound.map(|bound| self.search.negate_if_minimising(bound)),
                    idle: self.coordinator.idle(),
                    transfers: self.coordinator.orders(),
                    elapsed,
                });
            }
        }
    }

    /// Fails the run if another rank has been silent for too long.
    fn check_silence(&mut self, now: Instant, out: &mut Vec<(Destination, ToMember)>) {
        let silent = (1..self.ranks).find(|&rank| {
            !self.coordinator.has_finished(rank) && self.silence.since_last_message(rank, now) > self.silence_timeout
        });
        if let Some(rank) = silent {
            self.coordinator.fail(silence_error(rank, self.silence_timeout), out);
        }
    }

    fn write(&mut self, left: RunCheckpoint) {
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
        let best = self.coordinator.best().and_then(decode_solution);
        let mut packages = self.last_checkpoint.take().map_or(Vec::new(), |left| left.packages);
        // Nodes that cannot improve on the best solution count as done.
        packages.retain(|package| worth.is_none_or(|worth| package.bound() > worth));
        let left = packages.iter().map(|package| package.bound()).max();
        let (status, bound) = match (left, worth) {
            (None, Some(worth)) => (SolveStatus::Optimal, Some(worth)),
            (None, None) => (SolveStatus::Infeasible, None),
            (Some(bound), _) => (self.reason, Some(bound).filter(|&bound| bound != Cost::MAX)),
        };
        self.write(RunCheckpoint { packages, best: best.clone(), totals, elapsed, last: true });
        Solved {
            status,
            best,
            bound: bound.map(|bound| self.search.negate_if_minimising(bound)),
            totals,
            ranks,
            transfers: self.coordinator.orders(),
            checkpoints: self.gathered,
            elapsed,
        }
    }
}

fn decode_solution(encoded: &EncodedSolution) -> Option<Solution> {
    postcard::from_bytes(&encoded.bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use filch_dd::port::Port;

    use super::*;

    #[test]
    fn rank_0_sends_heartbeats_in_time_until_the_ranks_are_told_to_stop() {
        let (port, failure) = (Port::new(), Mutex::new(None));
        let search = SearchHandle { port: &port, minimise: false, has_exited: &|| false, failure: &failure };
        std::thread::scope(|scope| {
            for (silence_timeout, heartbeat) in [(60, 10), (20, 5)].map(|(silence_timeout, heartbeat)| {
                (Duration::from_secs(silence_timeout), Duration::from_secs(heartbeat))
            }) {
                let mut out = Vec::new();
                let start = Instant::now();
                let mut rank_zero = RankZero::new(
                    scope,
                    3,
                    search,
                    &mut Options { silence_timeout, ..Options::new(1) },
                    None,
                    &mut out,
                );
                let margin = Duration::from_millis(100);
                rank_zero.tick(start + heartbeat - margin, heartbeat, &mut out);
                assert_eq!(out, []);
                rank_zero.tick(start + heartbeat + margin, heartbeat, &mut out);
                assert_eq!(out, [(Destination::AllBut(0), ToMember::Alive)]);
                rank_zero.coordinator.stop(&mut out);
                out.clear();
                rank_zero.tick(start + 3 * heartbeat, heartbeat, &mut out);
                assert_eq!(out, [], "a rank that was told to stop may have left");
            }
        });
    }
}
