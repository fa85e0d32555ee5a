//! How long other ranks have been silent.

use core::time::Duration;
use std::time::Instant;

/// The longest normal time between two calls of `tick`. A longer gap means that this process did
/// not run. Then perhaps no process did, as when a job is suspended, so the silence proves nothing.
const LONGEST_GAP: Duration = Duration::from_secs(1);

/// The time of the last message from each rank.
#[derive(Clone, Debug)]
pub(super) struct Silence {
    last_message: Vec<Instant>,
    last_tick: Instant,
    /// Since when this process has been listening without a gap.
    awake_since: Instant,
}

impl Silence {
    pub(super) fn new(ranks: usize, now: Instant) -> Silence {
        Silence { last_message: vec![now; ranks], last_tick: now, awake_since: now }
    }

    pub(super) fn record_message(&mut self, rank: usize, now: Instant) {
        self.last_message[rank] = now;
    }

    /// Records that this process runs. Must be called often.
    pub(super) fn tick(&mut self, now: Instant) {
        if now.saturating_duration_since(self.last_tick) > LONGEST_GAP {
            self.awake_since = now;
        }
        self.last_tick = now;
    }

    /// Returns how long this process has been listening without a message from `rank`.
    pub(super) fn since_last_message(&self, rank: usize, now: Instant) -> Duration {
        now.saturating_duration_since(self.last_message[rank].max(self.awake_since))
    }
}

/// Returns the error for a silent rank.
pub(super) fn silence_error(rank: usize, timeout: Duration) -> String {
    let seconds = timeout.as_secs_f64();
    format!("no message from rank {rank} for {seconds} seconds: its process or machine has failed, or is not scheduled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_silent_since_its_last_message() {
        let start = Instant::now();
        let mut silence = Silence::new(2, start);
        let at = |tenths: u64| start + Duration::from_millis(100 * tenths);
        for tenths in 1..=50 {
            silence.tick(at(tenths));
            if tenths == 20 {
                silence.record_message(1, at(tenths));
            }
        }
        assert_eq!(silence.since_last_message(0, at(50)), Duration::from_secs(5));
        assert_eq!(silence.since_last_message(1, at(50)), Duration::from_secs(3));
    }

    #[test]
    fn the_time_when_this_process_did_not_run_does_not_count_as_silence() {
        let start = Instant::now();
        let mut silence = Silence::new(2, start);
        let at = |seconds| start + Duration::from_secs(seconds);
        silence.tick(at(1));
        // Suspended for an hour. The earlier message of rank 1 is found first.
        silence.record_message(1, at(3601));
        silence.tick(at(3602));
        assert_eq!(silence.since_last_message(0, at(3602)), Duration::ZERO);
        silence.tick(at(3603));
        assert_eq!(silence.since_last_message(0, at(3603)), Duration::from_secs(1), "from now on the silence counts");
        assert_eq!(silence.since_last_message(1, at(3603)), Duration::from_secs(1));
    }
}
