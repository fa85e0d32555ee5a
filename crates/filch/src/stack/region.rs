//! The memory of a worker's seat and its fork stack.
//!
//! Address space is reserved at once and filled as it is used. A region is as large as its
//! alignment, so that the address of any slot leads to the seat at the region's start by one `and`.
//! That is how a [`Worker`](crate::Worker) can be nothing but the address of a slot.

use std::io;
use std::marker::PhantomData;
use std::mem;
use std::ptr;

use super::slot::{Slot, STRIDE};

/// The size of a region, and its alignment.
const SIZE: usize = 1 << 24;

/// A seat and the slots behind it.
#[derive(Debug)]
pub(crate) struct Region<S> {
    start: *mut u8,
    slots: usize,
    _memory: memory::Memory,
    _seat: PhantomData<S>,
}

// SAFETY: a region is memory and one `S` in it, which it owns.
unsafe impl<S: Send> Send for Region<S> {}
// SAFETY: as above; slots are atomics.
unsafe impl<S: Sync> Sync for Region<S> {}

impl<S> Region<S> {
    /// The offset of the slots from the region's start.
    const SLOTS: usize = mem::size_of::<S>().next_multiple_of(128);

    /// The largest number of slots that fit. That is deeper than the usual thread stack can nest
    /// joins.
    pub(crate) const MAX_SLOTS: usize = if cfg!(loom) {
        4
    } else if cfg!(shuttle) {
        64
    } else {
        (SIZE - Self::SLOTS) / STRIDE
    };

    /// Reserves a region of `slots` slots and puts the result of `seat` at its start. `seat` gets
    /// the address of the slots and their number; it must not look at them yet.
    pub(crate) fn new(slots: usize, seat: impl FnOnce(usize, usize) -> S) -> io::Result<Region<S>> {
        const { assert!(mem::align_of::<S>() <= SIZE) };
        let slots = slots.clamp(2, Self::MAX_SLOTS);
        let (start, memory) = memory::reserve(Self::SLOTS + slots * STRIDE)?;
        let address = start.expose_provenance();
        let base = address + Self::SLOTS;
        if cfg!(any(loom, shuttle)) {
            for index in 0..slots {
                // SAFETY: within the memory. On real memory zero bytes are free slots already, but
                // not for a checker's atomics.
                unsafe { ptr::with_exposed_provenance_mut::<Slot>(base + index * STRIDE).write(Slot::new()) };
            }
        }
        // SAFETY: the memory begins with room for an `S`, aligned for it.
        unsafe { start.cast::<S>().write(seat(base, slots)) };
        Ok(Region { start, slots, _memory: memory, _seat: PhantomData })
    }

    /// Returns the seat.
    pub(crate) fn seat(&self) -> &S {
        // SAFETY: written by `new`, dropped with the region.
        unsafe { &*self.start.cast::<S>() }
    }
}

impl<S> Drop for Region<S> {
    fn drop(&mut self) {
        if cfg!(any(loom, shuttle)) {
            for index in 0..self.slots {
                // SAFETY: written by `new`.
                unsafe { self.start.add(Self::SLOTS + index * STRIDE).cast::<Slot>().drop_in_place() };
            }
        }
        // SAFETY: written by `new`, and a region that is dropped is not borrowed.
        unsafe { self.start.cast::<S>().drop_in_place() };
    }
}

/// Returns the start of the region that contains the slot at this address.
#[inline(always)]
pub(crate) fn start_of(address: usize) -> usize {
    address & !(SIZE - 1)
}

#[cfg(not(any(loom, shuttle)))]
mod memory {
    use std::io;

    use memmap2::{MmapMut, MmapOptions};

    use super::SIZE;

    /// Unmapped when dropped.
    pub(super) type Memory = MmapMut;

    /// Reserves zeroed memory, aligned to the size of a region. The memory is allocated when it is
    /// touched.
    pub(super) fn reserve(_size: usize) -> io::Result<(*mut u8, Memory)> {
        let mut memory = MmapOptions::new().len(2 * SIZE).no_reserve_swap().map_anon()?;
        let start = memory.as_mut_ptr();
        // SAFETY: by less than half of what was mapped.
        let start = unsafe { start.add(start.align_offset(SIZE)) };
        Ok((start, memory))
    }
}

#[cfg(any(loom, shuttle))]
mod memory {
    use std::alloc::{alloc_zeroed, dealloc, Layout};
    use std::io;

    use super::SIZE;

    /// Freed when dropped.
    #[derive(Debug)]
    pub(super) struct Memory(*mut u8, Layout);

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.0, self.1) };
        }
    }

    pub(super) fn reserve(size: usize) -> io::Result<(*mut u8, Memory)> {
        let layout = Layout::from_size_align(size, SIZE).map_err(io::Error::other)?;
        // SAFETY: not of size zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        Ok((start, Memory(start, layout)))
    }
}
