//! The lock of the THE family, and the mark that a thief leaves while it reads an array: one word for both.
//!
//! The word is even while nobody is inside and odd while one thread is; leaving adds one, so that each visit has a number
//! of its own. Who sees the same odd number twice has seen the same visit, and who sees another number knows that the
//! visit is over. That is all the owner needs to free an array that visitors may have been reading.

use core::ptr;

use crate::barrier;
use crate::sync::{pause, AtomicPtr, AtomicUsize, Ordering};

/// A word that one thread at a time may be inside of.
#[derive(Debug)]
pub(crate) struct Turnstile {
    visits: AtomicUsize,
    /// What the visitor has in view, if it says so; null between visits.
    view: AtomicPtr<()>,
}

impl Turnstile {
    pub(crate) fn new() -> Self {
        Turnstile { visits: AtomicUsize::new(0), view: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Enters if nobody is inside.
    #[inline]
    pub(crate) fn try_enter(&self) -> Option<Visit<'_>> {
        // Relaxed: a guess, which the exchange checks.
        let outside = self.visits.load(Ordering::Relaxed);
        if outside % 2 != 0 {
            return None;
        }
        let inside = outside.wrapping_add(1);
        // SeqCst, which is acquire here: pairs with the release store of the visit before (`Visit::drop`), so that what it
        // did is seen. On x86 the instruction is a full barrier too, which `barrier::after_exchange` relies on.
        let entered = self.visits.compare_exchange(outside, inside, Ordering::SeqCst, Ordering::Relaxed);
        entered.ok().map(|_| Visit { turnstile: self, inside, has_view: false })
    }

    /// Enters, waiting for whoever is inside.
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

    /// A number that is odd while somebody is inside, and changes whenever somebody enters or leaves.
    pub(crate) fn visits(&self) -> usize {
        // Acquire: what is loaded next is loaded after it.
        self.visits.load(Ordering::Acquire)
    }

    /// The number of the visit that is under way, if one is.
    pub(crate) fn visit_under_way(&self) -> Option<usize> {
        // Acquire: an even number, or a later one, pairs with the release store in `Visit::drop`: all that the visit read
        // was read before whatever the caller does next.
        let visits = self.visits();
        (visits % 2 != 0).then_some(visits)
    }

    /// What the visitor that is under way has in view; null if it has not looked yet, or no longer looks.
    pub(crate) fn view(&self) -> *mut () {
        // Relaxed: whoever asks has found the visit under way with acquire, and so sees no view of an earlier visit.
        self.view.load(Ordering::Relaxed)
    }
}

/// Somebody is inside; dropping it leaves.
#[must_use]
pub(crate) struct Visit<'a> {
    turnstile: &'a Turnstile,
    inside: usize,
    has_view: bool,
}

impl Visit<'_> {
    /// Says what the visitor will look at from now on. A full barrier: who does not see it yet is seen by what the visitor loads next.
    #[inline(always)]
    pub(crate) fn look_at(&mut self, view: *mut ()) {
        self.has_view = true;
        // Relaxed: ordered by the barrier.
        self.turnstile.view.store(view, Ordering::Relaxed);
        barrier::full();
    }
}

impl Drop for Visit<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.has_view {
            // Relaxed: before the leaving, by the release below.
            self.turnstile.view.store(ptr::null_mut(), Ordering::Relaxed);
        }
        // Release: what was read and written inside stays before the leaving; pairs with the acquire in `try_enter` and
        // `visit_under_way`. No other thread writes while the number is odd, so a store is enough.
        self.turnstile.visits.store(self.inside.wrapping_add(1), Ordering::Release);
    }
}
