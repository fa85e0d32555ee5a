//! The lock of the THE family, and the mark of reading thieves.
//!
//! The same word serves for both.
//!
//! The word is odd while a thread is inside and even otherwise. Entering and leaving each add 1, so
//! each visit has its own number. The same odd number, seen twice, is the same visit. Any other
//! number means that the visit is over. This is all that the owner needs to free an array that
//! visitors may have been reading.

use core::ptr;

use crate::barrier;
use crate::sync::{pause, AtomicPtr, AtomicUsize, Ordering};

/// A word that at most one thread at a time is inside of.
#[derive(Debug)]
pub(crate) struct Turnstile {
    visits: AtomicUsize,
    /// The pointer that the visitor announced with `announce_view`; null between visits.
    view: AtomicPtr<()>,
}

impl Turnstile {
    pub(crate) fn new() -> Self {
        Turnstile { visits: AtomicUsize::new(0), view: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Enters if no thread is inside.
    #[inline]
    pub(crate) fn try_enter(&self) -> Option<Visit<'_>> {
        // Relaxed: a guess that the exchange checks.
        let outside = self.visits.load(Ordering::Relaxed);
        if outside % 2 != 0 {
            return None;
        }
        let inside = outside.wrapping_add(1);
        // SeqCst, which implies acquire: pairs with the release store of the previous visit
        // (`Visit::drop`), so that its effects are seen. On x86 the instruction is a full barrier
        // too, which `barrier::after_exchange` relies on.
        let entered = self.visits.compare_exchange(outside, inside, Ordering::SeqCst, Ordering::Relaxed);
        entered.ok().map(|_| Visit { turnstile: self, inside, has_view: false })
    }

    /// Enters, and waits while another thread is inside.
    #[inline]
    pub(crate) fn enter(&self) -> Visit<'_> {
        match self.try_enter() {
            Some(visit) => visit,
            None => self.wait(),
        }
    }

    #[cold]
    fn wait(&self) -> Visit<'_> {
        let mut turn = 0;
        loop {
            pause(turn);
            turn = turn.saturating_add(1);
            if let Some(visit) = self.try_enter() {
                return visit;
            }
        }
    }

    /// Returns a number that changes with every entry and exit.
    ///
    /// It is odd while a thread is inside.
    pub(crate) fn visits(&self) -> usize {
        // Acquire: later loads come after it.
        self.visits.load(Ordering::Acquire)
    }

    /// Returns the number of the current visit, if there is one.
    pub(crate) fn visit_under_way(&self) -> Option<usize> {
        // Acquire: an even number, or a later number, pairs with the release store in
        // `Visit::drop`. All reads of the visit come before the caller's next operations.
        let visits = self.visits();
        (visits % 2 != 0).then_some(visits)
    }

    /// Returns the pointer that the current visitor announced.
    ///
    /// It is null if the visitor has not announced a pointer yet, or has left.
    pub(crate) fn view(&self) -> *mut () {
        // Relaxed: the caller has seen the current visit with acquire, and so sees no view of an
        // earlier visit.
        self.view.load(Ordering::Relaxed)
    }
}

/// A visit of a turnstile. Dropping it leaves the turnstile.
#[must_use]
pub(crate) struct Visit<'a> {
    turnstile: &'a Turnstile,
    inside: usize,
    has_view: bool,
}

impl Visit<'_> {
    /// Announces what the visitor reads from now on, with a full barrier.
    ///
    /// If a thread does not see the announcement yet, the visitor's next loads see that thread's
    /// earlier stores.
    #[inline(always)]
    pub(crate) fn announce_view(&mut self, view: *mut ()) {
        self.has_view = true;
        // Relaxed: the barrier orders it.
        self.turnstile.view.store(view, Ordering::Relaxed);
        barrier::full();
    }
}

impl Drop for Visit<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.has_view {
            // Relaxed: the release below keeps it before the exit.
            self.turnstile.view.store(ptr::null_mut(), Ordering::Relaxed);
        }
        // Release: the reads and writes of the visit stay before the exit. Pairs with the acquire
        // in `try_enter` and `visit_under_way`. No other thread writes while the number is odd, so
        // a store is enough.
        self.turnstile.visits.store(self.inside.wrapping_add(1), Ordering::Release);
    }
}
