//! How long other ranks have been silent.

use core::time::Duration;
use std::time::Instant;

/// The longest normal time between two calls of `look`. A longer gap means that this process did
/// not run. Then perhaps no process did, as when a job is suspended, so the silence proves nothing.
const ASLEEP: Duration = Duration::from_secs(1);

/// When each rank was last heard.
#[derive(Clone, Debug)]
pub(super) struct Silence {
    heard: Vec<Instant>,
    looked: Instant,
    /// Since when this process has been listening without a gap.
    awake: Instant,
}

impl Silence {
    pub(super) fn new(ranks: usize, now: Instant) -> Silence {
        Silence { heard: vec![now; ranks], looked: now, awake: now }
    }

    pub(super) fn heard(&mut self, rank: usize, now: Instant) {
        self.heard[rank] = now;
    }

    /// Records that this process runs. Must be called often.
    pub(super) fn look(&mut self, now: Instant) {
        if now.saturating_duration_since(self.looked) > ASLEEP {
            self.awake = now;
        }
        self.looked = now;
    }

    /// Returns how long this process has been listening without a message from `rank`.
    pub(super) fn of(&self, rank: usize, now: Instant) -> Duration {
        now.saturating_duration_since(self.heard[rank].max(self.awake))
    }
}

/// Returns the error for a silent rank.
pub(super) fn sentence(rank: usize, patience: Duration) -> String {
    let seconds = patience.as_secs_f64();
    format!("nothing was heard of rank {rank} for {seconds} seconds: its process or its machine is gone, or does not get to run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_nothing_is_silent_from_its_last_word_on() {
        let start = Instant::now();
        let mut silence = Silence::new(2, start);
        let at = |tenths: u64| start + Duration::from_millis(100 * tenths);
        for tenths in 1..=50 {
            silence.look(at(tenths));
            if tenths == 20 {
                silence.heard(1, at(tenths));
            }
        }
        assert_eq!(silence.of(0, at(50)), Duration::from_secs(5));
        assert_eq!(silence.of(1, at(50)), Duration::from_secs(3));
    }

    #[test]
    fn what_was_not_heard_while_this_process_did_not_run_is_no_silence() {
        let start = Instant::now();
        let mut silence = Silence::new(2, start);
        let at = |seconds| start + Duration::from_secs(seconds);
        silence.look(at(1));
        // Suspended for an hour. The earlier message of rank 1 is found first.
        silence.heard(1, at(3601));
        silence.look(at(3602));
        assert_eq!(silence.of(0, at(3602)), Duration::ZERO);
        silence.look(at(3603));
        assert_eq!(silence.of(0, at(3603)), Duration::from_secs(1), "from now on it counts");
        assert_eq!(silence.of(1, at(3603)), Duration::from_secs(1));
    }
}
