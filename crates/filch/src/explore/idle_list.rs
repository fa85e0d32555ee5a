//! The list of idle explorers, so that no thread waits for tasks.
//!
//! An explorer whose queue is empty *searches* for a while: it is awake and looks at the queues of
//! others. Then it announces that it becomes idle: it is *pending*. It stops searching, makes all
//! threads pass a barrier, and looks once more. Only then it is added to the list, and its thread
//! goes back to the pool. A push makes the task visible, passes the light half of the barrier, and
//! looks. If no explorer searches, and an explorer is listed or pending, the push *wakes* one,
//! which searches from that moment. The last searching explorer wakes another when it has found a
//! task.
//!
//! **No task is left alone** that a thief could take. A push that wakes no explorer saw an explorer
//! that searched, or none to wake. An explorer that searched can become idle. Then the push is
//! before its barrier, and the last look finds the task. Or it finds a task. Then it leaves the
//! task of the push to another searching explorer, or wakes one, and so on. An explorer that is
//! woken while it is pending is not added to the list. If the kernel provides no such barrier, both
//! sides have a fence.
//!
//! **Alarms.** A queue may tell its owner to look only if its alarm is on. So an explorer raises all
//! alarms after it has announced that it becomes idle, and before the barrier. A push switches the
//! alarm off and looks. If it finds a searching explorer and wakes none, then that one raises the
//! alarm again when it becomes idle, or wakes another when it has found a task. So the alarm is on
//! while an explorer is idle and none searches.

use crossbeam_utils::CachePadded;

use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// The list of idle explorers; see the module. `X` is an explorer.
#[derive(Debug)]
pub(crate) struct IdleList<X> {
    counts: CachePadded<IdleCounts>,
    entries: Mutex<Entries<X>>,
}

/// The counters that tell a push whether to wake an explorer. Read at every push, seldom written.
#[derive(Debug)]
pub(crate) struct IdleCounts {
    /// The number of listed and pending explorers, less those that were woken.
    idle: AtomicUsize,
    /// The number of explorers that are awake and search for tasks.
    searching: AtomicUsize,
}

impl IdleCounts {
    /// Returns whether there is an explorer to wake, and none searches.
    #[inline]
    pub(crate) fn should_wake(&self) -> bool {
        // Relaxed: the caller passes the barrier before it.
        self.idle.load(Ordering::Relaxed) != 0 && self.searching.load(Ordering::Relaxed) == 0
    }

    /// Returns the number of searching explorers.
    #[cfg(all(loom, test))]
    pub(crate) fn searching(&self) -> usize {
        self.searching.load(Ordering::Relaxed)
    }

    /// Counts the calling explorer as searching.
    pub(crate) fn begin_search(&self) {
        // Relaxed: a thread that does not see it yet wakes one explorer too many.
        self.searching.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the search of the calling explorer, which has found a task. Returns whether it must
    /// wake another explorer: one is idle, and no other searches.
    #[must_use]
    pub(crate) fn end_search(&self) -> bool {
        // Acquire: explorers that searched before and become idle now are seen there.
        // Release: the counterpart of the same acquire in other explorers.
        self.searching.fetch_sub(1, Ordering::AcqRel) == 1 && self.idle.load(Ordering::Relaxed) != 0
    }
}

#[derive(Debug)]
struct Entries<X> {
    listed: Vec<X>,
    pending: usize,
    /// The number of pending explorers that were woken.
    woken: usize,
}

impl<X> IdleList<X> {
    /// Creates a list of these explorers.
    pub(crate) fn new(listed: Vec<X>) -> Self {
        let counts = IdleCounts { idle: AtomicUsize::new(listed.len()), searching: AtomicUsize::new(0) };
        let entries = Mutex::new(Entries { listed, pending: 0, woken: 0 });
        IdleList { counts: CachePadded::new(counts), entries }
    }

    pub(crate) fn counts(&self) -> &IdleCounts {
        &self.counts
    }

    /// Wakes an explorer, which searches from now on. Returns an explorer from the list, or makes a
    /// pending one stay awake.
    #[cold]
    pub(crate) fn wake_one(&self) -> Option<X> {
        let mut entries = lock(&self.entries);
        let found = entries.listed.pop();
        let woken = found.is_none() && entries.woken < entries.pending;
        entries.woken += usize::from(woken);
        if found.is_some() || woken {
            self.counts.begin_search();
        }
        self.update_idle(&entries);
        found
    }

    /// Announces that the calling explorer, which searched, becomes idle. It then passes a barrier,
    /// looks once more, and [cancels](Self::cancel_add) or [is added](Self::finish_add).
    pub(crate) fn begin_add(&self) {
        let mut entries = lock(&self.entries);
        entries.pending += 1;
        self.update_idle(&entries);
        drop(entries);
        // Release: an explorer that sees that it is the last to search sees this one here.
        self.counts.searching.fetch_sub(1, Ordering::AcqRel);
    }

    /// Withdraws a pending explorer, which has found a task. It searches until it [ends the
    /// search](IdleCounts::end_search).
    pub(crate) fn cancel_add(&self) {
        let mut entries = lock(&self.entries);
        entries.pending -= 1;
        if entries.woken > entries.pending {
            // The wake-up was for this explorer, and has counted it.
            entries.woken -= 1;
        } else {
            self.counts.begin_search();
        }
        self.update_idle(&entries);
    }

    /// Adds a pending explorer to the list. Returns the explorer if it was woken meanwhile; then it
    /// searches.
    pub(crate) fn finish_add(&self, explorer: X) -> Option<X> {
        let mut entries = lock(&self.entries);
        entries.pending -= 1;
        let back = if entries.woken > 0 {
            entries.woken -= 1;
            Some(explorer)
        } else {
            entries.listed.push(explorer);
            None
        };
        self.update_idle(&entries);
        back
    }

    /// Returns the listed explorers.
    pub(crate) fn into_explorers(self) -> Vec<X> {
        std::mem::take(&mut lock(&self.entries).listed)
    }

    fn update_idle(&self, entries: &Entries<X>) {
        // Relaxed: under the lock, and with a barrier on either side where it matters.
        self.counts.idle.store(entries.listed.len() + entries.pending - entries.woken, Ordering::Relaxed);
    }
}
