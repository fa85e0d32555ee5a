//! The worker as user code sees it.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::Ordering;

use crate::seat::Seat;
use crate::stack::{start_of, Slot, STRIDE};
use crate::sync::thread_local_constant;

thread_local_constant! {
    /// The seat of this thread, if it is a worker.
    static SEAT: Cell<*const Seat> = Cell::new(ptr::null());
}

/// The thread that runs this code, as a worker of its pool.
///
/// A closure passes its worker on to the next [`join`](Worker::join), which then need not look it
/// up. This is the fastest way to fork and join.
///
/// ```
/// fn fib(worker: &mut filch::Worker, n: u32) -> u64 {
///     if n < 2 {
///         return n.into();
///     }
///     let (a, b) = worker.join(|worker| fib(worker, n - 1), |worker| fib(worker, n - 2));
///     a + b
/// }
/// assert_eq!(filch::with_worker(|worker| fib(worker, 20)), 6765);
/// ```
///
/// A worker cannot be owned or sent to another thread. An outer worker cannot be used inside an
/// inner closure:
///
/// ```compile_fail
/// filch::with_worker(|worker| {
///     worker.join(|_| worker.join(|_| (), |_| ()), |_| ());
/// });
/// ```
//
// A reference to a `Worker` is the address of the first free slot of the thread's fork stack, and
// nothing else. To pass it on costs no store and no load. The type has no size, so the reference
// claims no memory. The slot is reached by exposed provenance.
//
// It must not be `Send`: a forked closure that captured an outer worker would fork into slots that
// are in use. All closures that run above a forked job are `Send`, so none of them can hold a
// worker.
pub struct Worker {
    _not_send: PhantomData<*mut ()>,
}

impl Worker {
    /// Returns the worker at an address.
    ///
    /// # Safety
    ///
    /// `address` is `bottom` of the fork stack of the calling thread, as long as the reference is
    /// used to fork.
    #[inline(always)]
    pub(crate) unsafe fn at<'a>(address: usize) -> &'a mut Worker {
        // SAFETY: no size, so no memory is claimed; not null and aligned.
        unsafe { &mut *ptr::with_exposed_provenance_mut::<Worker>(address) }
    }

    #[inline(always)]
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Returns the first free slot.
    #[inline(always)]
    pub(crate) fn slot<'a>(&self) -> &'a Slot {
        // SAFETY: see `at`. A slot lives as long as its pool, which outlives what runs on it.
        unsafe { &*ptr::with_exposed_provenance::<Slot>(self.address()) }
    }

    /// Returns the seat. It is stored at the start of the region that contains the slot.
    #[inline(always)]
    pub(crate) fn seat<'a>(&self) -> &'a Seat {
        // SAFETY: as above.
        unsafe { &*ptr::with_exposed_provenance::<Seat>(start_of(self.address())) }
    }

    /// Returns the worker one job higher.
    ///
    /// # Safety
    ///
    /// A job was forked into this worker's slot.
    #[inline(always)]
    pub(crate) unsafe fn above<'a>(&self) -> &'a mut Worker {
        // SAFETY: then `bottom` is the next slot.
        unsafe { Worker::at(self.address() + STRIDE) }
    }

    /// Returns the same worker, but the compiler forgets what it has derived from it. After a call,
    /// an `and` that finds the seat again is cheaper than a register that was saved for it.
    #[inline(always)]
    pub(crate) fn opaque<'a>(&mut self) -> &'a mut Worker {
        let address = self.address();
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        let address = {
            let mut address = address;
            // SAFETY: an empty block that changes nothing.
            unsafe { std::arch::asm!("/* {0} */", inout(reg) address, options(nomem, nostack, preserves_flags, pure)) };
            address
        };
        // SAFETY: the same worker.
        unsafe { Worker::at(address) }
    }

    /// Panics if jobs stand above this worker. Then it is an outer worker, used inside a closure
    /// that it forked.
    ///
    /// No forked closure can own or borrow an outer worker, because it is not `Send`. But code that
    /// passes references through thread-local variables can get round that.
    #[inline(always)]
    pub(crate) fn check(&self) {
        if self.seat().stack.bottom() != self.address() {
            misused();
        }
    }

    /// Returns the number of jobs that stand below.
    pub(crate) fn depth(&self) -> u32 {
        self.seat().stack.index_of(self.slot())
    }

    /// Returns the worker of the calling thread, if it is a worker.
    #[inline(always)]
    pub(crate) fn current<'a>() -> Option<&'a mut Worker> {
        Seat::current().map(Seat::worker)
    }

    /// Returns the index of this worker in its pool, counted from 0.
    #[inline]
    pub fn index(&self) -> usize {
        self.seat().index
    }

    /// Returns the number of workers of the pool.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.seat().pool().seats.len()
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("index", &self.index()).finish_non_exhaustive()
    }
}

impl Seat {
    /// Returns the seat of the calling thread.
    #[inline(always)]
    pub(crate) fn current<'a>() -> Option<&'a Seat> {
        let seat = SEAT.with(Cell::get);
        // SAFETY: set for as long as the thread runs its pool's main loop, which holds the pool, or
        // a call into the pool, which borrows the pool.
        unsafe { seat.as_ref() }
    }

    /// Returns all seats of the calling thread, innermost first.
    ///
    /// A worker may run as a worker of another pool.
    pub(crate) fn all_current<'a>() -> impl Iterator<Item = &'a Seat> {
        std::iter::successors(Seat::current(), |seat| {
            // In a borrowed seat, `outer` is about the seat's own thread.
            let outer = if seat.sleep.has_guest() { ptr::null_mut() } else { seat.outer.load(Ordering::Relaxed) };
            // SAFETY: the thread is inside the main loop of the outer seat too, which holds its
            // pool.
            // Relaxed: only the thread itself reads and writes it.
            unsafe { outer.as_ref() }
        })
    }

    /// Sets the seat that the calling thread had before this one.
    pub(crate) fn set_outer(&self, outer: Option<&Seat>) {
        // Relaxed: as in `all_current`.
        self.outer.store(outer.map_or(ptr::null_mut(), |outer| ptr::from_ref(outer).cast_mut()), Ordering::Relaxed);
    }

    /// Returns the worker of this seat. Called on its own thread.
    #[inline(always)]
    pub(crate) fn worker<'a>(&self) -> &'a mut Worker {
        // SAFETY: the thread's own `bottom`.
        unsafe { Worker::at(self.stack.bottom()) }
    }

    /// Makes the calling thread the worker of this seat, or of none.
    pub(crate) fn set_current(seat: Option<&Seat>) {
        SEAT.with(|current| current.set(seat.map_or(ptr::null(), ptr::from_ref)));
    }
}

#[cold]
#[inline(never)]
fn misused() -> ! {
    panic!("a worker was used inside a closure that it has forked; that closure gets a worker of its own");
}
