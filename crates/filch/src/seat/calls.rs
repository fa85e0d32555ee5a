//! Calls from outside that run in a seat. If they are brief, thieves leave the seat alone.

use super::Seat;
use crate::spin;
use crate::sync::Ordering;

/// The most [turns](crate::spin) between the ends of two calls that count as brief. A thief cannot
/// help with such calls.
const BRIEF: u32 = 6;

/// The number of brief calls in a row after which the next should be brief.
const SEVERAL: u32 = 8;

/// What is known about the calls from outside that run in a seat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    /// When the latest call was over, if there is a clock.
    pub(super) last: Option<u64>,
    /// The number of brief calls in a row.
    pub(super) brief: u32,
}

impl Seat {
    /// Records the end of a call from outside.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn learn_from_call(&self) {
        let Calls { last, brief } = self.calls.0.get();
        let now = spin::ticks();
        let brief = if spin::is_within(BRIEF, last, now) { brief.saturating_add(1) } else { 0 };
        self.calls.0.set(Calls { last: now, brief });
        // Relaxed: a hint. Written only if it changes: other workers read it all the time.
        if (brief >= SEVERAL) != self.has_brief_calls() {
            self.has_brief_calls.store(brief >= SEVERAL, Ordering::Relaxed);
        }
    }

    /// Forgets how long calls were: the seat belongs to its own thread again.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn forget_calls(&self) {
        if self.has_brief_calls() {
            self.calls.0.set(Calls { last: None, brief: 0 });
            // Relaxed: a hint.
            self.has_brief_calls.store(false, Ordering::Relaxed);
        }
    }

    /// Returns whether recent calls here end before a thief could help. This is a hint.
    pub(crate) fn has_brief_calls(&self) -> bool {
        self.has_brief_calls.load(Ordering::Relaxed)
    }

    /// Returns whether this worker should ask `victim` for work.
    ///
    /// If the calls there are brief, it asks only now and then, in case the present call is longer.
    ///
    /// # Safety
    ///
    /// Called by the occupant of this seat.
    pub(crate) unsafe fn should_ask(&self, victim: &Seat) -> bool {
        const LOOKS: u32 = 8;
        if !victim.has_brief_calls() {
            return true;
        }
        let looks = self.looks.0.get().wrapping_add(1);
        self.looks.0.set(looks);
        looks % LOOKS == 0
    }
}
