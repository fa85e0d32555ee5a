//! Termination detection for tasks with homes.
//!
//! The exploration is over when every rank is idle and no message with tasks is in transit. Every
//! rank counts the messages with tasks that it has sent and received. Rank 0 asks all ranks for
//! their counts, wave after wave. Each rank answers when it is idle, with its counts at that
//! moment. The exploration is over when the number of messages **received in the first** of two
//! successive waves equals the number **sent in the second**.
//!
//! **Why that is right.** Let `t` be the moment at which the first wave is complete.
//!
//! 1. Counts only grow. So the received count of the first wave is at most the number of messages
//!    received at `t`.
//! 2. Every received message was sent. So that number is at most the number sent at `t`.
//! 3. Each rank is asked again after `t`. So that number is at most the sent count of the second
//!    wave.
//!
//! If the first and the last of these numbers are equal, all of them are. So no message was in
//! transit at `t`. No rank received anything between its answer and `t`, so each rank was idle from
//! its answer on: only a message makes an idle rank busy. The second wave only confirms what was
//! true when it began.
//!
//! **Why one wave is not enough.** Its answers are from different moments. Rank 0 is idle, has sent
//! and received nothing, and asks. Rank 1 is busy: it sends a task to rank 0, which sends two back.
//! One of them reaches rank 1, which runs it and then answers: one sent, one received. The sums are
//! equal, but a message is in transit. The model beside this file finds that run.
//!
//! This is a state machine without clock, thread or network. It assumes only that messages between
//! two ranks arrive in order. A wave waits for a busy rank, so an exploration that is busy
//! everywhere costs one question per rank.

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod model;

/// A message about termination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Signal {
    /// From rank 0: report the counts when idle.
    Ask {
        /// The number of the wave.
        wave: u64,
    },
    /// To rank 0: this rank is idle and has these counts.
    Counted {
        /// The wave that this answers.
        wave: u64,
        /// The messages with tasks since the start.
        counts: MessageCounts,
    },
    /// From rank 0: the exploration is over.
    Over,
}

/// The numbers of messages with tasks that were sent and received since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MessageCounts {
    /// The number sent.
    pub sent: u64,
    /// The number received.
    pub received: u64,
}

/// One rank's state of the termination detection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Termination {
    counts: MessageCounts,
    idle: bool,
    /// The wave that rank 0 asked for and this rank has not answered yet.
    asked: Option<u64>,
    over: bool,
    /// The state of the waves, on rank 0.
    waves: Option<Waves>,
}

/// The waves, as rank 0 sees them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waves {
    ranks: usize,
    /// The number of waves so far, including the current one.
    wave: u64,
    /// How many ranks have not answered; 0 between two waves.
    missing: usize,
    /// The sum of the answers so far.
    sum: MessageCounts,
    /// The received count of the previous wave.
    received_before: Option<u64>,
    /// Whether a second wave must confirm the first. Always true, except for a broken rank 0 in the
    /// model.
    needs_confirmation: bool,
}

/// Signals to send, each with its receiver.
pub type Signals = Vec<(usize, Signal)>;

impl Termination {
    /// Returns the state of `rank`, one of `ranks`. It is busy at first.
    pub fn new(rank: usize, ranks: usize) -> Self {
        let waves = Waves {
            ranks,
            wave: 0,
            missing: 0,
            sum: MessageCounts::default(),
            received_before: None,
            needs_confirmation: true,
        };
        Termination {
            counts: MessageCounts::default(),
            idle: false,
            asked: None,
            over: false,
            waves: (rank == 0).then_some(waves),
        }
    }

    /// Counts a message with tasks sent to another rank.
    pub fn count_sent(&mut self) {
        debug_assert!(!self.idle, "an idle rank sends no tasks");
        self.counts.sent += 1;
    }

    /// Counts a message with tasks received from another rank. This rank is busy now.
    pub fn count_received(&mut self) {
        self.counts.received += 1;
        self.idle = false;
    }

    /// Marks this rank as idle: it has no task, and has sent all its messages.
    pub fn become_idle(&mut self) -> Signals {
        self.idle = true;
        let mut signals = Signals::new();
        self.advance(&mut signals);
        signals
    }

    /// Handles a signal.
    pub fn handle(&mut self, signal: Signal) -> Signals {
        let mut signals = Signals::new();
        match signal {
            Signal::Ask { wave } => self.asked = Some(wave),
            Signal::Counted { wave, counts } => {
                // Surplus answers cannot come from this program. They must not end the exploration
                // or cause a panic.
                if let Some(waves) = self.waves.as_mut().filter(|waves| waves.wave == wave && waves.missing > 0) {
                    waves.count(counts);
                }
            }
            Signal::Over => self.over = true,
        }
        self.advance(&mut signals);
        signals
    }

    /// Returns whether the exploration is over on all ranks.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Returns the number of waves so far. Known on rank 0 only.
    pub fn waves(&self) -> u64 {
        self.waves.as_ref().map_or(0, |waves| waves.wave)
    }

    /// Answers rank 0 and starts waves, while this rank is idle.
    fn advance(&mut self, signals: &mut Signals) {
        if !self.idle || self.over {
            return;
        }
        if let Some(wave) = self.asked.take() {
            signals.push((0, Signal::Counted { wave, counts: self.counts }));
        }
        // A wave starts when rank 0 is idle. If rank 0 is the only rank, its wave is complete at
        // once.
        while let Some(waves) = self.waves.as_mut().filter(|waves| waves.missing == 0) {
            if waves.is_confirmed() {
                self.over = true;
                signals.extend((1..waves.ranks).map(|rank| (rank, Signal::Over)));
                return;
            }
            let wave = waves.begin();
            signals.extend((1..waves.ranks).map(|rank| (rank, Signal::Ask { wave })));
            waves.count(self.counts);
        }
    }
}

impl Waves {
    fn begin(&mut self) -> u64 {
        self.received_before = (self.wave > 0).then_some(self.sum.received);
        self.wave += 1;
        self.missing = self.ranks;
        self.sum = MessageCounts::default();
        self.wave
    }

    fn count(&mut self, counts: MessageCounts) {
        self.missing -= 1;
        self.sum.sent = self.sum.sent.saturating_add(counts.sent);
        self.sum.received = self.sum.received.saturating_add(counts.received);
    }

    /// Returns whether the complete wave shows that the exploration is over.
    fn is_confirmed(&self) -> bool {
        match self.needs_confirmation {
            true => self.received_before == Some(self.sum.sent),
            false => self.wave > 0 && self.sum.received == self.sum.sent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_rank_is_done_when_it_becomes_idle() {
        let mut only = Termination::new(0, 1);
        assert_eq!(only.become_idle(), []);
        assert!(only.is_over());
    }

    #[test]
    fn a_busy_rank_answers_when_it_becomes_idle() {
        let mut rank = Termination::new(1, 2);
        assert_eq!(rank.handle(Signal::Ask { wave: 1 }), []);
        rank.count_sent();
        let counts = MessageCounts { sent: 1, received: 0 };
        assert_eq!(rank.become_idle(), [(0, Signal::Counted { wave: 1, counts })]);
        assert_eq!(rank.become_idle(), [], "once");
    }

    #[test]
    fn the_end_takes_two_waves_that_agree() {
        let mut first = Termination::new(0, 2);
        first.count_sent();
        assert_eq!(first.become_idle(), [(1, Signal::Ask { wave: 1 })]);
        let counts = MessageCounts { sent: 0, received: 1 };
        assert_eq!(first.handle(Signal::Counted { wave: 1, counts }), [(1, Signal::Ask { wave: 2 })]);
        assert!(!first.is_over());
        assert_eq!(first.handle(Signal::Counted { wave: 2, counts }), [(1, Signal::Over)]);
        assert!(first.is_over());
    }

    #[test]
    fn unrequested_counts_are_ignored() {
        let mut first = Termination::new(0, 2);
        let counts = MessageCounts { sent: u64::MAX, received: u64::MAX };
        assert_eq!(first.handle(Signal::Counted { wave: 0, counts }), [], "before the first wave");
        first.count_sent();
        first.become_idle();
        first.count_received();
        assert_eq!(first.handle(Signal::Counted { wave: 1, counts }), [], "it is not idle, so no wave begins");
        assert_eq!(first.handle(Signal::Counted { wave: 1, counts }), [], "all have answered");
        assert_eq!(first.become_idle(), [(1, Signal::Ask { wave: 2 })]);
    }
}
