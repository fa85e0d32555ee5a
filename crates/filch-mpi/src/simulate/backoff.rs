//! The waits of a communicating thread between two checks for messages.
//!
//! They grow while nothing happens.

use super::queue::Time;

/// The waits of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    shortest: Time,
    longest: Time,
    wait: Time,
    /// When it last checked.
    last_check: Time,
}

impl Backoff {
    pub(super) fn new(shortest: Time, longest: Time) -> Backoff {
        let shortest = shortest.max(1);
        Backoff { shortest, longest: longest.max(shortest), wait: shortest, last_check: 0 }
    }

    /// Records a check and whether something had happened. Returns the time of the next check.
    pub(super) fn record_check(&mut self, now: Time, happened: bool) -> Time {
        self.last_check = now;
        self.wait = if happened { self.shortest } else { (2 * self.wait).min(self.longest) };
        now + self.wait
    }

    /// Returns when the thread notices a message that arrives now, if nothing happens before.
    pub(super) fn next_check_after(&mut self, arrival: Time) -> Time {
        let mut check = self.last_check + self.wait;
        while check < arrival && self.wait < self.longest {
            self.wait = (2 * self.wait).min(self.longest);
            check += self.wait;
        }
        if check < arrival {
            check += (arrival - check).div_ceil(self.longest) * self.longest;
        }
        check
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_until_something_happens() {
        let mut backoff = Backoff::new(50, 300);
        assert_eq!(backoff.record_check(1_000, true), 1_050);
        assert_eq!(backoff.record_check(1_050, false), 1_150);
        assert_eq!(backoff.record_check(1_150, false), 1_350);
        assert_eq!(backoff.record_check(1_350, false), 1_650);
        assert_eq!(backoff.record_check(1_650, false), 1_950);
        assert_eq!(backoff.record_check(1_950, true), 2_000);
    }

    #[test]
    fn a_message_is_noticed_at_the_next_check() {
        let checks: Vec<Time> = [10, 1_050, 1_051, 1_151, 1_500, 2_000, 9_999]
            .map(|arrival| {
                let mut backoff = Backoff::new(50, 300);
                backoff.record_check(1_000, true);
                backoff.next_check_after(arrival)
            })
            .to_vec();
        assert_eq!(checks, [1_050, 1_050, 1_150, 1_350, 1_650, 2_250, 10_050]);
    }
}
