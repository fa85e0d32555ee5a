//! The bench: the list of idle explorers, so that no thread waits for tasks.
//!
//! An explorer whose queue is empty *searches* for a while: it is awake and looks at the queues of
//! others. Then it announces that it is *coming* to the bench, stops searching, makes all threads
//! pass a barrier, and looks once more. Only then it joins the bench (`sit`), and its thread goes
//! back to the pool. A push makes the task visible, passes the light half of the barrier, and
//! looks. If no explorer searches, and an explorer is on the bench or coming, the push *calls* one,
//! which searches from that moment. The last searching explorer calls another when it has found a
//! task.
//!
//! **No task is left alone** that a thief could take. A push that calls no explorer saw an explorer
//! that searched, or none to call. An explorer that searched can go to the bench. Then the push is
//! before its barrier, and the last look finds the task. Or it finds a task. Then it leaves the
//! task of the push to another searching explorer, or calls one, and so on. An explorer that is
//! called while it is coming does not join the bench. If the kernel provides no such barrier, both
//! sides have a fence.

use crossbeam_utils::CachePadded;

use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// The list of idle explorers; see the module. `X` is an explorer.
#[derive(Debug)]
pub(crate) struct Bench<X> {
    callable: CachePadded<Callable>,
    places: Mutex<Places<X>>,
}

/// The counters that tell a push whether to call an explorer. Read at every push, seldom written.
#[derive(Debug)]
pub(crate) struct Callable {
    /// The number of explorers on the bench or coming, less those that were called.
    idle: AtomicUsize,
    /// The number of explorers that are awake and search for tasks.
    searching: AtomicUsize,
}

impl Callable {
    #[inline]
    pub(crate) fn is_anybody(&self) -> bool {
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
        // Relaxed: a thread that does not see it yet calls one explorer too many.
        self.searching.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the search of the calling explorer, which has found a task. Returns whether it must
    /// call another explorer: one is idle, and no other searches.
    #[must_use]
    pub(crate) fn end_search(&self) -> bool {
        // Acquire: explorers that searched before and come to the bench now are seen there.
        // Release: the counterpart of the same acquire in other explorers.
        self.searching.fetch_sub(1, Ordering::AcqRel) == 1 && self.idle.load(Ordering::Relaxed) != 0
    }
}

#[derive(Debug)]
struct Places<X> {
    sitting: Vec<X>,
    coming: usize,
    /// The number of coming explorers that were called.
    called: usize,
}

impl<X> Bench<X> {
    /// Creates a bench with these explorers on it.
    pub(crate) fn new(sitting: Vec<X>) -> Self {
        let callable = Callable { idle: AtomicUsize::new(sitting.len()), searching: AtomicUsize::new(0) };
        let places = Mutex::new(Places { sitting, coming: 0, called: 0 });
        Bench { callable: CachePadded::new(callable), places }
    }

    pub(crate) fn callable(&self) -> &Callable {
        &self.callable
    }

    /// Calls an explorer, which searches from now on. Returns an explorer from the bench, or makes
    /// a coming one turn back.
    #[cold]
    pub(crate) fn call(&self) -> Option<X> {
        let mut places = lock(&self.places);
        let found = places.sitting.pop();
        let turned = found.is_none() && places.called < places.coming;
        places.called += usize::from(turned);
        if found.is_some() || turned {
            self.callable.begin_search();
        }
        self.count(&places);
        found
    }

    /// Announces that the calling explorer, which searched, is coming. It then passes a barrier,
    /// looks once more, and [turns back](Self::turn_back) or [sits down](Self::sit).
    pub(crate) fn come(&self) {
        let mut places = lock(&self.places);
        places.coming += 1;
        self.count(&places);
        drop(places);
        // Release: an explorer that sees that it is the last to search sees this one here.
        self.callable.searching.fetch_sub(1, Ordering::AcqRel);
    }

    /// Withdraws a coming explorer, which has found a task. It searches until it [ends the
    /// search](Callable::end_search).
    pub(crate) fn turn_back(&self) {
        let mut places = lock(&self.places);
        places.coming -= 1;
        if places.called > places.coming {
            // The call was for this explorer, and has counted it.
            places.called -= 1;
        } else {
            self.callable.begin_search();
        }
        self.count(&places);
    }

    /// Puts a coming explorer on the bench. Returns the explorer if it was called meanwhile; then
    /// it searches.
    pub(crate) fn sit(&self, explorer: X) -> Option<X> {
        let mut places = lock(&self.places);
        places.coming -= 1;
        let back = if places.called > 0 {
            places.called -= 1;
            Some(explorer)
        } else {
            places.sitting.push(explorer);
            None
        };
        self.count(&places);
        back
    }

    /// Returns the explorers on the bench.
    pub(crate) fn into_sitting(self) -> Vec<X> {
        std::mem::take(&mut lock(&self.places).sitting)
    }

    fn count(&self, places: &Places<X>) {
        // Relaxed: under the lock, and with a barrier on either side where it matters.
        self.callable.idle.store(places.sitting.len() + places.coming - places.called, Ordering::Relaxed);
    }
}
