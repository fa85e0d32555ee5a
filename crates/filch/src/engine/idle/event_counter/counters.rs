//! The word of the event counter: sleeping workers, idle workers, events.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicU64, Ordering};

const SLEEPING: u64 = 1;
const IDLE: u64 = 1 << 16;
const EVENT: u64 = 1 << 32;

/// The counters of a pool, in one word, so that one exchange compares and changes all of them.
///
/// | bits | what |
/// |---|---|
/// | 0 to 15 | workers that sleep |
/// | 16 to 31 | idle workers: those that search, are sleepy, or sleep |
/// | 32 to 63 | events: even if a worker became sleepy after the last job, odd otherwise |
///
/// The counts are below 2^16, the most workers of a pool. The events wrap after 2^32, so a sleepy
/// worker that is suspended while the counter goes around takes an old value for its own. Each two
/// events are a worker that becomes sleepy and a job, two locked instructions on one word by
/// different threads. At 20 nanoseconds for both, that takes 43 seconds.
#[derive(Debug)]
pub(super) struct Counters(CachePadded<AtomicU64>);

/// The counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts(u64);

/// The value of the event counter when a worker became sleepy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot(u64);

impl Counts {
    #[inline(always)]
    fn field(self, unit: u64) -> usize {
        ((self.0 / unit) & 0xffff) as usize
    }

    /// Returns the number of workers that sleep.
    #[inline(always)]
    pub(super) fn sleeping(self) -> usize {
        self.field(SLEEPING)
    }

    /// Returns the number of idle workers that are awake.
    pub(super) fn searching(self) -> usize {
        self.field(IDLE) - self.sleeping()
    }

    /// Returns whether a worker became sleepy after the last job.
    #[inline(always)]
    pub(super) fn is_sleepy(self) -> bool {
        self.0 & EVENT == 0
    }

    fn events(self) -> u64 {
        self.0 / EVENT
    }
}

impl Counters {
    pub(super) fn new() -> Counters {
        Counters(CachePadded::new(AtomicU64::new(0)))
    }

    /// Returns the counters now.
    #[inline(always)]
    pub(super) fn load(&self) -> Counts {
        // Relaxed: the fences of the callers order it. See the protocol.
        Counts(self.0.load(Ordering::Relaxed))
    }

    /// Counts a worker as idle.
    pub(super) fn start(&self) {
        // Relaxed: a producer that counts on this worker reads the count from here on, and the
        // worker orders its looks itself before it sleeps.
        self.0.fetch_add(IDLE, Ordering::Relaxed);
    }

    /// Counts a worker as no longer idle. Returns the counters after this.
    pub(super) fn stop(&self) -> Counts {
        // Relaxed: a worker that is woken has a fence before it sleeps again. See the protocol.
        Counts(self.0.fetch_sub(IDLE, Ordering::Relaxed) - IDLE)
    }

    /// Makes the event counter even, if it is odd. Returns its value.
    pub(super) fn become_sleepy(&self) -> Snapshot {
        Snapshot(self.count_event_if(|counts| !counts.is_sleepy()).events())
    }

    /// Makes the event counter odd, if it is even. Returns the counters.
    pub(super) fn post(&self) -> Counts {
        self.count_event_if(Counts::is_sleepy)
    }

    /// Counts an event if `is_due` returns true. Returns the counters, for which it is false.
    fn count_event_if(&self, is_due: impl Fn(Counts) -> bool) -> Counts {
        let mut now = self.load();
        while is_due(now) {
            // Wrapping: the events are the upper bits.
            let next = Counts(now.0.wrapping_add(EVENT));
            // Relaxed: as in `load`.
            match self.0.compare_exchange_weak(now.0, next.0, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return next,
                Err(other) => now = Counts(other),
            }
        }
        now
    }

    /// Counts an idle worker as sleeping, if no event was counted since `snapshot`. Returns whether
    /// it did.
    pub(super) fn fall_asleep(&self, snapshot: Snapshot, ignores_events: bool) -> bool {
        let mut now = self.load();
        while now.events() == snapshot.0 || ignores_events {
            // Relaxed: the exchange fails if the event counter has changed, whatever that orders.
            match self.0.compare_exchange_weak(now.0, now.0 + SLEEPING, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(other) => now = Counts(other),
            }
        }
        false
    }

    /// Counts a sleeping worker as searching: the calling thread wakes it.
    pub(super) fn wake(&self) {
        // Relaxed: as in `stop`.
        let before = self.0.fetch_sub(SLEEPING, Ordering::Relaxed);
        assert!(!cfg!(loom) || Counts(before).sleeping() > 0, "a sleeping worker is not counted");
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_job_after_a_worker_became_sleepy_keeps_it_awake() {
        let counters = Counters::new();
        counters.start();
        let snapshot = counters.become_sleepy();
        assert!(counters.load().is_sleepy());
        assert!(!counters.post().is_sleepy());
        assert!(!counters.fall_asleep(snapshot, false));
        assert_eq!((counters.load().searching(), counters.load().sleeping()), (1, 0));
    }

    #[test]
    fn only_the_first_job_counts_an_event() {
        let counters = Counters::new();
        let first = counters.post();
        assert_eq!(counters.post(), first);
    }

    #[test]
    fn sleepy_workers_share_an_event_and_all_of_them_sleep() {
        let counters = Counters::new();
        counters.post();
        let snapshots = [0; 3].map(|_| {
            counters.start();
            counters.become_sleepy()
        });
        assert!(snapshots.iter().all(|&snapshot| snapshot == snapshots[0] && counters.fall_asleep(snapshot, false)));
        assert_eq!((counters.load().searching(), counters.load().sleeping()), (0, 3));
        counters.wake();
        assert_eq!((counters.load().searching(), counters.load().sleeping()), (1, 2));
        assert_eq!(counters.stop().sleeping(), 2);
    }

    #[test]
    fn events_wrap_without_a_change_of_the_counts() {
        let counters = Counters::new();
        counters.start();
        counters.0.fetch_add(EVENT.wrapping_mul(u64::from(u32::MAX)), Ordering::Relaxed);
        assert!(!counters.load().is_sleepy());
        let snapshot = counters.become_sleepy();
        assert_eq!((snapshot, counters.load().searching()), (Snapshot(0), 1));
    }
}
