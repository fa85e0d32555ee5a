//! When an exploration of tasks with homes is over: exactly when every rank is idle and no message with tasks is on its way.
//!
//! Every rank counts the messages with tasks that it has sent and those that it has received. Rank 0 asks all for their counts, wave after wave; each answers when it is idle, and says what its counts are then. It
//! is over when as many messages were **received by the first** of two successive waves as were **sent by the second**.
//!
//! **Why that is right.** Let `t` be the moment at which the first wave is complete. Counts only grow, so what the first wave says was received is at most what was received at `t`; that is at most what was sent at `t`, as
//! nothing is received that was not sent; and that is at most what the second wave says was sent, as each rank is asked again after `t`. If the two ends are equal, so is everything between. Nothing was on its way at `t`; and
//! no rank received anything between its answer and `t`, so each of them was idle from its answer on, as only a message ends that. The second wave only confirms what was true when it began.
//!
//! **Why one wave is not enough.** Its answers are of different moments. Rank 0 has nothing to do, has sent and received nothing, and asks. Rank 1 is busy: it sends a task to rank 0, which sends two back. One of them reaches
//! rank 1, which does that too and then answers: one sent, one received. The sums are equal, and a message is on its way. The model beside this file finds that run.
//!
//! It is a state machine without clock, thread or network. All that it assumes is that messages between two ranks arrive in order. While a rank is busy a wave waits for it, so an exploration that goes on
//! everywhere costs one question a rank.

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod model;

/// What ranks say about the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Signal {
    /// Rank 0: say what you have counted, when you are idle.
    Ask {
        /// Which wave this is.
        wave: u64,
    },
    /// To rank 0: I am idle, and have counted this.
    Counted {
        /// The wave that it is for.
        wave: u64,
        /// Messages with tasks, ever.
        counts: Messages,
    },
    /// Rank 0: it is over.
    Over,
}

/// Messages with tasks that were sent and received, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Messages {
    /// How many were sent.
    pub sent: u64,
    /// How many were received.
    pub received: u64,
}

/// A rank's part in finding out that it is over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Counting {
    counts: Messages,
    idle: bool,
    /// The wave that it was asked for and has not answered yet.
    asked: Option<u64>,
    over: bool,
    /// On rank 0.
    waves: Option<Waves>,
}

/// What rank 0 knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waves {
    ranks: usize,
    /// How many there have been, with the one under way.
    wave: u64,
    /// How many ranks have not answered; 0 between two waves.
    missing: usize,
    /// What those that have answered have counted together.
    sum: Messages,
    /// What the wave before says was received.
    before: Option<u64>,
    /// How many waves must agree: 2. The model also has a rank 0 that is content with 1.
    confirmed: bool,
}

/// What to send to whom.
pub type Letters = Vec<(usize, Signal)>;

impl Counting {
    /// Of one of so many ranks, busy until it says otherwise.
    pub fn new(rank: usize, ranks: usize) -> Self {
        let waves = Waves { ranks, wave: 0, missing: 0, sum: Messages::default(), before: None, confirmed: true };
        Counting {
            counts: Messages::default(),
            idle: false,
            asked: None,
            over: false,
            waves: (rank == 0).then_some(waves),
        }
    }

    /// A message with tasks was sent to another rank.
    pub fn sent(&mut self) {
        debug_assert!(!self.idle, "who sends is not idle");
        self.counts.sent += 1;
    }

    /// A message with tasks came from another rank: this one is busy.
    pub fn received(&mut self) {
        self.counts.received += 1;
        self.idle = false;
    }

    /// This rank has no task, and has sent all that it had to send.
    pub fn rest(&mut self) -> Letters {
        self.idle = true;
        let mut letters = Letters::new();
        self.go_on(&mut letters);
        letters
    }

    /// A rank has said something.
    pub fn hear(&mut self, signal: Signal) -> Letters {
        let mut letters = Letters::new();
        match signal {
            Signal::Ask { wave } => self.asked = Some(wave),
            Signal::Counted { wave, counts } => {
                // More answers than were asked for are not of this program; they are not to end it, or to make it panic.
                if let Some(waves) = self.waves.as_mut().filter(|waves| waves.wave == wave && waves.missing > 0) {
                    waves.count(counts);
                }
            }
            Signal::Over => self.over = true,
        }
        self.go_on(&mut letters);
        letters
    }

    /// Whether it is over, everywhere.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// How many waves there have been; known on rank 0.
    pub fn waves(&self) -> u64 {
        self.waves.as_ref().map_or(0, |waves| waves.wave)
    }

    /// Does what can be done while it is idle.
    fn go_on(&mut self, letters: &mut Letters) {
        if !self.idle || self.over {
            return;
        }
        if let Some(wave) = self.asked.take() {
            letters.push((0, Signal::Counted { wave, counts: self.counts }));
        }
        // A wave begins when rank 0 has nothing better to do. Alone, it has its answers at once.
        while let Some(waves) = self.waves.as_mut().filter(|waves| waves.missing == 0) {
            if waves.is_confirmed() {
                self.over = true;
                letters.extend((1..waves.ranks).map(|rank| (rank, Signal::Over)));
                return;
            }
            let wave = waves.begin();
            letters.extend((1..waves.ranks).map(|rank| (rank, Signal::Ask { wave })));
            waves.count(self.counts);
        }
    }
}

impl Waves {
    fn begin(&mut self) -> u64 {
        self.before = (self.wave > 0).then_some(self.sum.received);
        self.wave += 1;
        self.missing = self.ranks;
        self.sum = Messages::default();
        self.wave
    }

    fn count(&mut self, counts: Messages) {
        self.missing -= 1;
        self.sum.sent = self.sum.sent.saturating_add(counts.sent);
        self.sum.received = self.sum.received.saturating_add(counts.received);
    }

    /// Whether the wave that is complete says that it is over.
    fn is_confirmed(&self) -> bool {
        match self.confirmed {
            true => self.before == Some(self.sum.sent),
            false => self.wave > 0 && self.sum.received == self.sum.sent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rank_alone_is_done_when_it_rests() {
        let mut only = Counting::new(0, 1);
        assert_eq!(only.rest(), []);
        assert!(only.is_over());
    }

    #[test]
    fn a_busy_rank_answers_when_it_rests() {
        let mut rank = Counting::new(1, 2);
        assert_eq!(rank.hear(Signal::Ask { wave: 1 }), []);
        rank.sent();
        let counts = Messages { sent: 1, received: 0 };
        assert_eq!(rank.rest(), [(0, Signal::Counted { wave: 1, counts })]);
        assert_eq!(rank.rest(), [], "once");
    }

    #[test]
    fn the_end_takes_two_waves_that_agree() {
        let mut first = Counting::new(0, 2);
        first.sent();
        assert_eq!(first.rest(), [(1, Signal::Ask { wave: 1 })]);
        let counts = Messages { sent: 0, received: 1 };
        assert_eq!(first.hear(Signal::Counted { wave: 1, counts }), [(1, Signal::Ask { wave: 2 })]);
        assert!(!first.is_over());
        assert_eq!(first.hear(Signal::Counted { wave: 2, counts }), [(1, Signal::Over)]);
        assert!(first.is_over());
    }

    #[test]
    fn what_nobody_asked_for_is_not_counted() {
        let mut first = Counting::new(0, 2);
        let counts = Messages { sent: u64::MAX, received: u64::MAX };
        assert_eq!(first.hear(Signal::Counted { wave: 0, counts }), [], "before the first wave");
        first.sent();
        first.rest();
        first.received();
        assert_eq!(first.hear(Signal::Counted { wave: 1, counts }), [], "it is not idle, so no wave begins");
        assert_eq!(first.hear(Signal::Counted { wave: 1, counts }), [], "all have answered");
        assert_eq!(first.rest(), [(1, Signal::Ask { wave: 2 })]);
    }
}
