//! The memory of tasks: chunks of slots, found through a directory.
//!
//! The task deques and the [split queue](crate::split_queue) have it. A slot never moves. The high
//! bits of a position, modulo the length of the directory, are the index of the entry for its chunk.
//! A full directory is replaced by one twice as long with the same chunks. A thief may still read
//! the old one, so that lives as long as the deque. All old directories together are shorter than
//! the newest.
//!
//! The owner keeps the chunk of the block where it last pushed or popped, and looks into the
//! directory only when it enters another block.

use std::alloc::{alloc, dealloc, handle_alloc_error, Layout};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;

use crate::sync::{AtomicPtr, Ordering};

/// The size of a chunk in bytes, for tasks of ordinary sizes.
const CHUNK_BYTES: usize = 4096;

/// The number of entries of the first directory.
const FIRST: usize = if cfg!(loom) { 2 } else { 16 };

/// The number of chunks that a deque without tasks keeps.
const KEPT: u64 = 2;

/// A position where no block begins. No position is less than a chunk above it.
const NO_BLOCK: u64 = 1 << 63;

/// Room for one task.
pub(crate) struct Slot<T> {
    task: MaybeUninit<T>,
    /// Tells loom which threads read and write the task.
    #[cfg(loom)]
    watch: loom::cell::UnsafeCell<()>,
}

impl<T> Slot<T> {
    /// Returns the place of the task, to read it.
    ///
    /// # Safety
    ///
    /// The slot is in a chunk.
    #[inline(always)]
    pub(crate) unsafe fn to_read(slot: *const Slot<T>) -> *const T {
        #[cfg(loom)]
        // SAFETY: only loom looks at it.
        unsafe { &*slot }.watch.with(|_| ());
        // SAFETY: the caller guarantees it.
        unsafe { &raw const (*slot).task }.cast()
    }

    /// Returns the place of the task, to write it.
    ///
    /// # Safety
    ///
    /// The slot is in a chunk.
    #[inline(always)]
    pub(crate) unsafe fn to_write(slot: *mut Slot<T>) -> *mut T {
        #[cfg(loom)]
        // SAFETY: only loom looks at it.
        unsafe { &*slot }.watch.with_mut(|_| ());
        // SAFETY: the caller guarantees it.
        unsafe { &raw mut (*slot).task }.cast()
    }
}

/// The chunks of a range of positions.
struct Directory<T> {
    /// One less than the number of entries, a power of two.
    mask: usize,
    entries: Box<[AtomicPtr<Slot<T>>]>,
}

impl<T> Directory<T> {
    fn new(len: usize) -> *mut Directory<T> {
        let entries = (0..len).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        Box::into_raw(Box::new(Directory { mask: len - 1, entries }))
    }

    #[inline(always)]
    fn entry(&self, block: u64) -> &AtomicPtr<Slot<T>> {
        // SAFETY: the mask keeps the index below the length.
        unsafe { self.entries.get_unchecked(block as usize & self.mask) }
    }
}

/// The chunks of a deque or queue; see the module. Only the owner uses the fields that are not
/// atomic.
pub(crate) struct Ring<T> {
    directory: AtomicPtr<Directory<T>>,
    /// The first position of the owner's current block, or [`NO_BLOCK`], and the block's chunk.
    current: Cell<u64>,
    chunk: Cell<*mut Slot<T>>,
    /// The first position that has no slot.
    room: Cell<u64>,
    /// The first block of positions that has a chunk.
    first: Cell<u64>,
    /// The most blocks at one time since [`trim`](Ring::trim).
    peak: Cell<u64>,
    /// Chunks in no directory.
    spare: RefCell<Vec<*mut Slot<T>>>,
    old: RefCell<Vec<*mut Directory<T>>>,
}

// SAFETY: the functions that use cells are unsafe, and only the owner calls them.
unsafe impl<T> Sync for Ring<T> {}
// SAFETY: the ring owns the memory of its chunks.
unsafe impl<T> Send for Ring<T> {}

impl<T> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").finish_non_exhaustive()
    }
}

/// The allocation of a chunk failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfMemory;

impl OutOfMemory {
    /// Ends the process, for callers that cannot go on without the memory.
    pub(crate) fn abort<T>(self) -> ! {
        handle_alloc_error(Ring::<T>::layout())
    }
}

impl<T> Ring<T> {
    /// The number of tasks in a chunk, a power of two.
    pub(crate) const CHUNK: u64 = if cfg!(loom) {
        2
    } else {
        let size = if size_of::<Slot<T>>() == 0 { 1 } else { size_of::<Slot<T>>() };
        let fit = CHUNK_BYTES / size;
        if fit < 16 {
            16
        } else if fit > 1024 {
            1024
        } else {
            1 << fit.ilog2()
        }
    };

    fn layout() -> Layout {
        // On 64-bit targets a job has a cache line of its own. No chunk has the size zero.
        let layout = Layout::array::<Slot<T>>(Self::CHUNK as usize)
            .and_then(|slots| Layout::from_size_align(slots.size().max(1), slots.align().max(64)));
        layout.expect("a chunk is small")
    }

    fn new_chunk() -> Result<*mut Slot<T>, OutOfMemory> {
        // SAFETY: not of size zero.
        let chunk = unsafe { alloc(Self::layout()) }.cast::<Slot<T>>();
        if chunk.is_null() {
            return Err(OutOfMemory);
        }
        #[cfg(loom)]
        for index in 0..Self::CHUNK as usize {
            let slot = Slot { task: MaybeUninit::uninit(), watch: loom::cell::UnsafeCell::new(()) };
            // SAFETY: within the chunk.
            unsafe { chunk.add(index).write(slot) };
        }
        Ok(chunk)
    }

    /// Frees a chunk.
    ///
    /// # Safety
    ///
    /// From `new_chunk`, and in no directory.
    unsafe fn free_chunk(chunk: *mut Slot<T>) {
        #[cfg(loom)]
        // SAFETY: written by `new_chunk`.
        unsafe {
            std::ptr::slice_from_raw_parts_mut(chunk, Self::CHUNK as usize).drop_in_place();
        }
        // SAFETY: the caller guarantees it.
        unsafe { dealloc(chunk.cast(), Self::layout()) };
    }

    pub(crate) fn new() -> Ring<T> {
        Ring {
            directory: AtomicPtr::new(Directory::new(FIRST)),
            current: Cell::new(NO_BLOCK),
            chunk: Cell::new(ptr::null_mut()),
            room: Cell::new(0),
            first: Cell::new(0),
            peak: Cell::new(0),
            spare: RefCell::new(Vec::new()),
            old: RefCell::new(Vec::new()),
        }
    }

    /// Returns whether the position has a slot. It is not below the positions that have slots.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn has_room(&self, position: u64) -> bool {
        position < self.room.get()
    }

    /// Returns the task at a position that the calling thief has claimed.
    pub(crate) fn claimed(&self, position: u64) -> *const T {
        // Acquire: the directory as it was made. The thief has acquired what the owner had written
        // when the position became public.
        // SAFETY: directories live as long as the ring.
        let directory = unsafe { &*self.directory.load(Ordering::Acquire) };
        // Relaxed: as above.
        let chunk = directory.entry(position / Self::CHUNK).load(Ordering::Relaxed);
        assert!(!cfg!(loom) || !chunk.is_null(), "a position without a slot was claimed");
        // SAFETY: the position keeps its slot until the task is moved out.
        let slot = unsafe { chunk.add((position % Self::CHUNK) as usize) };
        // SAFETY: as above.
        unsafe { Slot::to_read(slot) }
    }

    /// Returns the slot of a position, if it is in the owner's current block.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline(always)]
    unsafe fn slot(&self, position: u64) -> Option<*mut Slot<T>> {
        let offset = position.wrapping_sub(self.current.get());
        // SAFETY: within the chunk.
        (offset < Self::CHUNK).then(|| unsafe { self.chunk.get().add(offset as usize) })
    }

    /// Makes the block of `position` the current one. Returns the slot of the position, if it has
    /// one. Otherwise the result must not be used.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[cold]
    pub(crate) unsafe fn enter(&self, position: u64) -> *mut Slot<T> {
        // SAFETY: as in `claimed`.
        let directory = unsafe { &*self.directory.load(Ordering::Relaxed) };
        let offset = position % Self::CHUNK;
        self.current.set(position - offset);
        // Relaxed: the owner reads its own store.
        self.chunk.set(directory.entry(position / Self::CHUNK).load(Ordering::Relaxed));
        self.chunk.get().wrapping_add(offset as usize)
    }

    /// Returns where to write the task of a position in the current block. Returns `None` for other
    /// blocks.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline(always)]
    pub(crate) unsafe fn to_write(&self, position: u64) -> Option<*mut T> {
        // SAFETY: the caller guarantees it; within the chunk.
        unsafe { self.slot(position).map(|slot| Slot::to_write(slot)) }
    }

    /// Returns where to write the task of a position, and enters its block. The block becomes the
    /// current one. The position has a slot.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn enter_to_write(&self, position: u64) -> *mut T {
        // SAFETY: the caller guarantees it; within the chunk.
        unsafe { Slot::to_write(self.enter(position)) }
    }

    /// Returns the task of a position that was written.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[inline(always)]
    pub(crate) unsafe fn to_read(&self, position: u64) -> *const T {
        // SAFETY: the caller guarantees it.
        let slot = unsafe { self.slot(position).unwrap_or_else(|| self.enter(position)) };
        // SAFETY: within the chunk.
        unsafe { Slot::to_read(slot) }
    }

    /// Gives a slot to the position, and to those after it in its block.
    ///
    /// # Safety
    ///
    /// Called by the owner, for the first position that has none. No thread reads a slot below
    /// `free`. The owner enters the position's block next: its current one may be in use again.
    pub(crate) unsafe fn make_room(&self, position: u64, free: u64) -> Result<(), OutOfMemory> {
        debug_assert!(position == self.room.get() && position % Self::CHUNK == 0);
        let block = position / Self::CHUNK;
        let mut first = self.first.get();
        // SAFETY: as in `claimed`; only the owner replaces it.
        let mut directory = unsafe { &*self.directory.load(Ordering::Relaxed) };
        // If all positions of the first block are free, its chunk goes to this block.
        let chunk = if first < free / Self::CHUNK {
            self.first.set(first + 1);
            // Relaxed: no thief looks for a position below `free`.
            let chunk = directory.entry(first).load(Ordering::Relaxed);
            first += 1;
            chunk
        } else {
            self.spare.borrow_mut().pop().map_or_else(Self::new_chunk, Ok)?
        };
        let len = directory.mask as u64 + 1;
        if block - first == len {
            let larger = Directory::new(2 * len as usize);
            for block in first..block {
                // SAFETY: newly made.
                let entry = unsafe { &*larger }.entry(block);
                // Relaxed: published below.
                entry.store(directory.entry(block).load(Ordering::Relaxed), Ordering::Relaxed);
            }
            // Release: see `claimed`.
            self.old.borrow_mut().push(self.directory.swap(larger, Ordering::Release));
            // SAFETY: as above.
            directory = unsafe { &*larger };
        }
        // Relaxed: published with the tasks of the block.
        directory.entry(block).store(chunk, Ordering::Relaxed);
        self.room.set(position + Self::CHUNK);
        self.peak.set(self.peak.get().max(block + 1 - first));
        Ok(())
    }

    /// Returns whether there are more chunks than a deque without tasks keeps.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    pub(crate) unsafe fn has_many(&self) -> bool {
        self.room.get() / Self::CHUNK - self.first.get() > KEPT || !self.spare.borrow().is_empty()
    }

    /// Frees chunks, for a deque that has no tasks and whose next position is `position`. Frees
    /// those that were not needed since the last call, or, if `all`, all but a few.
    ///
    /// # Safety
    ///
    /// Called by the owner. No thread reads a slot.
    pub(crate) unsafe fn trim(&self, position: u64, all: bool) {
        let (first, end) = (self.first.get(), self.room.get() / Self::CHUNK);
        // SAFETY: the caller guarantees it.
        if !unsafe { self.has_many() } {
            return;
        }
        self.current.set(NO_BLOCK);
        let mut spare = self.spare.borrow_mut();
        // SAFETY: as in `claimed`.
        let directory = unsafe { &*self.directory.load(Ordering::Relaxed) };
        let kept_first = (position / Self::CHUNK).min(end);
        let kept_end = end.min(kept_first + KEPT);
        // Relaxed: no thief looks for a position of these blocks.
        spare.extend(
            (first..kept_first).chain(kept_end..end).map(|block| directory.entry(block).load(Ordering::Relaxed)),
        );
        self.first.set(kept_first);
        self.room.set(kept_end * Self::CHUNK);
        // The next tasks take their chunks from the spare ones again, and so show how many they
        // need.
        let needed = if all { 0 } else { self.peak.get().saturating_sub(KEPT) as usize };
        self.peak.set(0);
        let needed = needed.min(spare.len());
        for chunk in spare.drain(needed..) {
            // SAFETY: in no directory any more.
            unsafe { Self::free_chunk(chunk) };
        }
        if spare.is_empty() {
            *spare = Vec::new();
        }
    }

    /// Makes `position` the first position. It is the first of a block.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) fn begin_at(&self, position: u64) {
        assert_eq!(position % Self::CHUNK, 0);
        self.room.set(position);
        self.first.set(position / Self::CHUNK);
    }

    /// Returns the number of chunks of the ring.
    ///
    /// # Safety
    ///
    /// Called by the owner.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) unsafe fn chunks(&self) -> u64 {
        self.room.get() / Self::CHUNK - self.first.get() + self.spare.borrow().len() as u64
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // Shuttle drops what a failed execution has left when its atomics cannot be used any more.
        if cfg!(shuttle) {
            return;
        }
        let current = self.directory.load(Ordering::Relaxed);
        for block in self.first.get()..self.room.get() / Self::CHUNK {
            // SAFETY: each of these blocks has a chunk, and no thread uses the ring.
            unsafe { Self::free_chunk((*current).entry(block).load(Ordering::Relaxed)) };
        }
        for chunk in self.spare.get_mut().drain(..) {
            // SAFETY: in no directory.
            unsafe { Self::free_chunk(chunk) };
        }
        let old = std::mem::take(self.old.get_mut());
        for directory in old.into_iter().chain([current]) {
            // SAFETY: from `Directory::new`, and in no use.
            drop(unsafe { Box::from_raw(directory) });
        }
    }
}
