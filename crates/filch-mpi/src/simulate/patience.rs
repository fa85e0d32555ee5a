//! The waits of a communicating thread between two checks for messages.
//!
//! They grow while nothing happens.

use super::queue::Time;

/// The waits of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    shortest: Time,
    longest: Time,
    wait: Time,
    /// When it last checked.
    looked: Time,
}

impl Patience {
    pub(super) fn new(shortest: Time, longest: Time) -> Patience {
        let shortest = shortest.max(1);
        Patience { shortest, longest: longest.max(shortest), wait: shortest, looked: 0 }
    }

    /// Records a check and whether something had happened. Returns the time of the next check.
    pub(super) fn look(&mut self, now: Time, happened: bool) -> Time {
        self.looked = now;
        self.wait = if happened { self.shortest } else { (2 * self.wait).min(self.longest) };
        now + self.wait
    }

    /// Returns when the thread notices a message that arrives now, if nothing happens before.
    pub(super) fn notice(&mut self, arrival: Time) -> Time {
        let mut at = self.looked + self.wait;
        while at < arrival && self.wait < self.longest {
            self.wait = (2 * self.wait).min(self.longest);
            at += self.wait;
        }
        if at < arrival {
            at += (arrival - at).div_ceil(self.longest) * self.longest;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_until_something_happens() {
        let mut patience = Patience::new(50, 300);
        assert_eq!(patience.look(1_000, true), 1_050);
        assert_eq!(patience.look(1_050, false), 1_150);
        assert_eq!(patience.look(1_150, false), 1_350);
        assert_eq!(patience.look(1_350, false), 1_650);
        assert_eq!(patience.look(1_650, false), 1_950);
        assert_eq!(patience.look(1_950, true), 2_000);
    }

    #[test]
    fn what_arrives_is_noticed_when_it_would_have_looked_anyway() {
        let looks: Vec<Time> = [10, 1_050, 1_051, 1_151, 1_500, 2_000, 9_999]
            .map(|arrival| {
                let mut patience = Patience::new(50, 300);
                patience.look(1_000, true);
                patience.notice(arrival)
            })
            .to_vec();
        assert_eq!(looks, [1_050, 1_050, 1_150, 1_350, 1_650, 2_250, 10_050]);
    }
}
