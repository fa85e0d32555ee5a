//! The visitors of the queues without a lock: a turnstile for each thief.
//!
//! Thieves do not wait for each other.
//!
//! A thief enters its own turnstile with a single locked instruction, which is the full barrier
//! that its algorithm needs anyway. It leaves with a plain store.

use alloc::boxed::Box;
use core::ops::Deref;
use core::ptr::{self, NonNull};

use crossbeam_utils::CachePadded;

use crate::barrier;
use crate::handle::Handle;
use crate::storage::Turnstiles;
use crate::sync::{AtomicBool, AtomicPtr, Ordering};
use crate::turnstile::{Turnstile, Visit};

/// The turnstiles of all thieves.
pub(crate) struct Visitors {
    first: AtomicPtr<Visitor>,
}

/// A thief's turnstile, in a list that only grows until the queue is dropped.
struct Visitor {
    turnstile: CachePadded<Turnstile>,
    /// Whether a thief has claimed the turnstile.
    ///
    /// It only avoids contention; any thief may enter any turnstile.
    taken: AtomicBool,
    next: *mut Visitor,
}

impl Visitors {
    pub(crate) fn new() -> Self {
        Visitors { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the first result of `choose` that is not `None`, in list order.
    fn find<R>(&self, mut choose: impl FnMut(&Visitor) -> Option<R>) -> Option<R> {
        // Acquire: pairs with the release in `add`. The visitor behind the pointer is complete.
        let mut at = self.first.load(Ordering::Acquire);
        // SAFETY: visitors live until the list is dropped.
        while let Some(visitor) = unsafe { at.as_ref() } {
            let choice = choose(visitor);
            if choice.is_some() {
                return choice;
            }
            at = visitor.next;
        }
        None
    }

    /// Claims a turnstile for a thief: an unclaimed turnstile, or a new one.
    fn take(&self) -> NonNull<Visitor> {
        let free = self.find(|visitor| {
            // Relaxed: two thieves with the same turnstile cost time but break nothing.
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
            // Relaxed: the pointer is only compared and linked to, never dereferenced here.
            let first = self.first.load(Ordering::Relaxed);
            // SAFETY: the visitor is not published yet, so no other thread reads it.
            unsafe { (*visitor.as_ptr()).next = first };
            // Release: a thread that finds the visitor finds it complete, and the older visitors
            // behind it. Pairs with `find`. Acquire, in AcqRel: this exchange publishes the older
            // visitors again.
            let linked = self.first.compare_exchange(first, visitor.as_ptr(), Ordering::AcqRel, Ordering::Relaxed);
            if linked.is_ok() {
                return visitor;
            }
        }
    }

    /// Enters any turnstile: another thread with the same handle is in the thief's own.
    #[cold]
    fn enter_elsewhere(&self) -> Visit<'_> {
        loop {
            let free = self.find(|visitor| {
                // SAFETY: visitors live until the list is dropped, and the visit borrows the list.
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

impl Turnstiles for Visitors {
    fn for_each(&self, f: &mut dyn FnMut(&Turnstile)) {
        self.find(|visitor| {
            f(&visitor.turnstile);
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

/// A thief's handle: the queue, and a turnstile of its own.
pub(crate) struct VisitorHandle<S: HasVisitors> {
    shared: Handle<S>,
    own: NonNull<Visitor>,
}

/// A queue with a turnstile for each thief.
pub(crate) trait HasVisitors {
    /// Returns the turnstiles of all thieves.
    fn visitors(&self) -> &Visitors;
}

impl<S: HasVisitors> VisitorHandle<S> {
    pub(crate) fn new(shared: Handle<S>) -> Self {
        VisitorHandle { own: shared.visitors().take(), shared }
    }

    /// Begins a visit, with a full barrier.
    ///
    /// Until the visit is dropped, arrays that the thief loads stay allocated.
    #[inline]
    pub(crate) fn enter(&self) -> Visit<'_> {
        // SAFETY: visitors live until the list is dropped, and the handle keeps the list alive.
        let own = unsafe { &self.own.as_ref().turnstile };
        let visit = match own.try_enter() {
            Some(visit) => visit,
            None => self.shared.visitors().enter_elsewhere(),
        };
        barrier::after_exchange();
        visit
    }
}

impl<S: HasVisitors> Deref for VisitorHandle<S> {
    type Target = S;

    #[inline(always)]
    fn deref(&self) -> &S {
        &self.shared
    }
}

impl<S: HasVisitors> Clone for VisitorHandle<S> {
    fn clone(&self) -> Self {
        VisitorHandle::new(self.shared.clone())
    }
}

impl<S: HasVisitors> Drop for VisitorHandle<S> {
    fn drop(&mut self) {
        // SAFETY: as in `enter`. Relaxed: see `take`.
        unsafe { self.own.as_ref() }.taken.store(false, Ordering::Relaxed);
    }
}
