//! The gate of the queues without a lock: a turnstile for each thief, so that thieves do not wait for each other.
//!
//! A thief enters by its own turnstile with one locked instruction, which is the full barrier that its algorithm needs anyway,
//! and leaves with a plain store.

use alloc::boxed::Box;
use core::ops::Deref;
use core::ptr::{self, NonNull};

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::handle::Handle;
use crate::storage::Gate;
use crate::sync::{AtomicBool, AtomicPtr, Ordering};
use crate::turnstile::{Turnstile, Visit};

/// The turnstiles of all thieves.
pub(crate) struct Visitors {
    first: AtomicPtr<Visitor>,
}

/// A thief's turnstile, in a list that only grows until the queue is gone.
struct Visitor {
    turnstile: CachePadded<Turnstile>,
    /// Whether a thief calls it its own. It decides who is in whose way, not who may enter.
    taken: AtomicBool,
    next: *mut Visitor,
}

impl Visitors {
    pub(crate) fn new() -> Self {
        Visitors { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The first visitor in the list for which `choose` gives something.
    fn find<R>(&self, mut choose: impl FnMut(&Visitor) -> Option<R>) -> Option<R> {
        // Acquire: pairs with the release in `add`; the visitor behind the pointer is complete.
        let mut at = self.first.load(Ordering::Acquire);
        // SAFETY: visitors stay until the list is dropped.
        while let Some(visitor) = unsafe { at.as_ref() } {
            let choice = choose(visitor);
            if choice.is_some() {
                return choice;
            }
            at = visitor.next;
        }
        None
    }

    /// A turnstile for one thief: one that nobody uses any more, or a new one.
    fn take(&self) -> NonNull<Visitor> {
        let free = self.find(|visitor| {
            // Relaxed: being two at a turnstile costs time and breaks nothing.
            let took = visitor.taken.compare_exchange(false, true, Ordering::Relaxed, Ordering::Relaxed);
            took.ok().map(|_| NonNull::from(visitor))
        });
        free.unwrap_or_else(|| self.add(true))
    }

    fn add(&self, taken: bool) -> NonNull<Visitor> {
        let turnstile = CachePadded::new(Turnstile::new());
        let visitor = Box::new(Visitor { turnstile, taken: AtomicBool::new(taken), next: ptr::null_mut() });
        let visitor = NonNull::from(Box::leak(visitor));
        loop {
            // Relaxed: only compared and linked to, never followed from here.
            let first = self.first.load(Ordering::Relaxed);
            // SAFETY: not published yet, so nobody else reads it.
            unsafe { (*visitor.as_ptr()).next = first };
            // Release: whoever finds the visitor finds it complete, and the older ones behind it. Pairs with `find`.
            // Acquire, in AcqRel: the older visitors are published again by this exchange.
            let linked = self.first.compare_exchange(first, visitor.as_ptr(), Ordering::AcqRel, Ordering::Relaxed);
            if linked.is_ok() {
                return visitor;
            }
        }
    }

    /// Enters by any turnstile, because somebody else is in the thief's own with the same handle.
    #[cold]
    fn enter_elsewhere(&self) -> Visit<'_> {
        loop {
            let free = self.find(|visitor| {
                // SAFETY: visitors stay until the gate is dropped, and the visit borrows the gate.
                let visitor: &Visitor = unsafe { &*ptr::from_ref(visitor) };
                visitor.turnstile.try_enter()
            });
            match free {
                Some(visit) => return visit,
                None => self.add(false),
            };
        }
    }
}

impl Gate for Visitors {
    fn turnstiles(&self, show: &mut dyn FnMut(&Turnstile)) {
        self.find(|visitor| {
            show(&visitor.turnstile);
            None::<()>
        });
    }
}

impl Drop for Visitors {
    fn drop(&mut self) {
        // Relaxed: no other handle is left.
        let mut at = self.first.load(Ordering::Relaxed);
        while !at.is_null() {
            // SAFETY: leaked by `add`, freed once, and no thief is left.
            let visitor = unsafe { Box::from_raw(at) };
            at = visitor.next;
        }
    }
}

/// What a thief holds on to: the queue, and a turnstile of its own.
pub(crate) struct Visiting<S: Visited> {
    shared: Handle<S>,
    own: NonNull<Visitor>,
}

/// What has a gate for visitors.
pub(crate) trait Visited {
    /// The gate.
    fn visitors(&self) -> &Visitors;
}

impl<S: Visited> Visiting<S> {
    pub(crate) fn new(shared: Handle<S>) -> Self {
        Visiting { own: shared.visitors().take(), shared }
    }

    /// Begins a visit: from here until it is dropped, arrays that are found stay allocated. A full barrier.
    #[inline]
    pub(crate) fn enter(&self) -> Visit<'_> {
        // SAFETY: visitors stay until the gate is dropped, and the handle keeps it.
        let own = unsafe { &self.own.as_ref().turnstile };
        let visit = match own.try_enter() {
            Some(visit) => visit,
            None => self.shared.visitors().enter_elsewhere(),
        };
        barrier::after_exchange();
        visit
    }
}

impl<S: Visited> Deref for Visiting<S> {
    type Target = S;

    #[inline(always)]
    fn deref(&self) -> &S {
        &self.shared
    }
}

impl<S: Visited> Clone for Visiting<S> {
    fn clone(&self) -> Self {
        Visiting::new(self.shared.clone())
    }
}

impl<S: Visited> Drop for Visiting<S> {
    fn drop(&mut self) {
        // SAFETY: as in `enter`. Relaxed: see `take`.
        unsafe { self.own.as_ref() }.taken.store(false, Ordering::Relaxed);
    }
}
