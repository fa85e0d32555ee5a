//! Where explorers are that have found nothing to steal, so that no thread waits with them.
//!
//! An explorer whose queue is empty *searches* for a while: it is awake and looks at the queues of others. Then it says that it is coming, searches no longer, has everybody pass a barrier, and
//! looks once more; only then it sits down, and its thread goes back to the pool. A push makes the task visible, passes the light half of the barrier, and looks: if nobody searches, and
//! somebody sits here or is coming, it calls one, who searches from that moment. The last of those who search calls another when it has found a task.
//!
//! **No task is left alone** that a thief could take. A push that calls nobody saw somebody who searched, or nobody to call. The one that searched goes to the bench, and then the push is before its
//! barrier and the last look finds the task; or it finds a task, and leaves it to another one who searches, or calls one, and so on. One that is called while it is coming does
//! not sit down. Where the kernel makes no such barrier, both sides have a fence.

use crossbeam_utils::CachePadded;

use crate::sync::{lock, AtomicUsize, Mutex, Ordering};

/// See the module. `X` is an explorer.
#[derive(Debug)]
pub(crate) struct Bench<X> {
    callable: CachePadded<Callable>,
    places: Mutex<Places<X>>,
}

/// Whether a push is to call anybody. Read with every push, written seldom.
#[derive(Debug)]
pub(crate) struct Callable {
    /// How many sit here or are coming, less those that were called.
    idle: AtomicUsize,
    /// How many are awake and look for tasks.
    searching: AtomicUsize,
}

impl Callable {
    #[inline]
    pub(crate) fn is_anybody(&self) -> bool {
        // Relaxed: the barrier before it is the caller's.
        self.idle.load(Ordering::Relaxed) != 0 && self.searching.load(Ordering::Relaxed) == 0
    }

    /// How many search.
    #[cfg(all(loom, test))]
    pub(crate) fn searching(&self) -> usize {
        self.searching.load(Ordering::Relaxed)
    }

    /// The caller looks for tasks from now on.
    pub(crate) fn begin_search(&self) {
        // Relaxed: who does not see it yet calls one too many.
        self.searching.fetch_add(1, Ordering::Relaxed);
    }

    /// The caller has found a task. Whether there is somebody to call now, since nobody else searches.
    #[must_use]
    pub(crate) fn end_search(&self) -> bool {
        // Acquire: those that searched before and come to the bench now are seen there. Release: as the others' in this.
        self.searching.fetch_sub(1, Ordering::AcqRel) == 1 && self.idle.load(Ordering::Relaxed) != 0
    }
}

#[derive(Debug)]
struct Places<X> {
    sitting: Vec<X>,
    coming: usize,
    /// How many of those that come were called.
    called: usize,
}

impl<X> Bench<X> {
    /// With these sitting on it.
    pub(crate) fn new(sitting: Vec<X>) -> Self {
        let callable = Callable { idle: AtomicUsize::new(sitting.len()), searching: AtomicUsize::new(0) };
        let places = Mutex::new(Places { sitting, coming: 0, called: 0 });
        Bench { callable: CachePadded::new(callable), places }
    }

    pub(crate) fn callable(&self) -> &Callable {
        &self.callable
    }

    /// Calls one back, who searches from now on: gives one that sat here, or lets one turn back that is coming.
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

    /// The caller, which searched, comes. It passes a barrier, looks once more, and then [turns back](Self::turn_back) or [sits down](Self::sit).
    pub(crate) fn come(&self) {
        let mut places = lock(&self.places);
        places.coming += 1;
        self.count(&places);
        drop(places);
        // Release: who is the last to search, and sees that it is, sees this one here.
        self.callable.searching.fetch_sub(1, Ordering::AcqRel);
    }

    /// The caller, which was coming, has found something. It searches until it [has said so](Callable::end_search).
    pub(crate) fn turn_back(&self) {
        let mut places = lock(&self.places);
        places.coming -= 1;
        if places.called > places.coming {
            // The call was for this one, and has counted it.
            places.called -= 1;
        } else {
            self.callable.begin_search();
        }
        self.count(&places);
    }

    /// The caller, which was coming, sits down; or is given back, because it was called, and searches.
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

    /// Those that sit here.
    pub(crate) fn into_sitting(self) -> Vec<X> {
        std::mem::take(&mut lock(&self.places).sitting)
    }

    fn count(&self, places: &Places<X>) {
        // Relaxed: under the lock, and with a barrier on either side where it matters.
        self.callable.idle.store(places.sitting.len() + places.coming - places.called, Ordering::Relaxed);
    }
}
