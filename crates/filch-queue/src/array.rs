//! An array of slots, after a header, in a single allocation.
//!
//! The number of slots is a power of two.

#[cfg(not(loom))]
use alloc::alloc::dealloc;
use alloc::alloc::{alloc, alloc_zeroed};
use core::alloc::Layout;
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr;
use core::ptr::NonNull;

use crate::sync::AtomicPtr;
use crate::task::{Slot, Word};
use crate::CapacityError;

/// The header before the slots.
///
/// `A` is data of the algorithm with the lifetime of the array; most algorithms need none.
///
/// Padding, not alignment, keeps the anchor off the cache lines of the slots and of the memory
/// before the array. The allocator zeroes over-aligned memory by hand, page by page, while other
/// memory comes zeroed from the system.
#[repr(C, align(16))]
pub(crate) struct Header<A> {
    _before: [usize; 8],
    anchor: A,
    mask: usize,
    /// The lowest index whose slot was ever written.
    base: usize,
    /// With at most this many tasks left, the owner's pop takes the slow path.
    ///
    /// Only the owner accesses it.
    low_water: Cell<isize>,
    /// Lets loom detect a use after free.
    ///
    /// Every use of the array reads it, and freeing the array writes it.
    #[cfg(loom)]
    alive: loom::cell::UnsafeCell<()>,
    _after: [usize; 8],
}

/// A pointer to an array. Its holder knows why the array is still allocated.
pub(crate) struct Array<T, A> {
    header: NonNull<Header<A>>,
    tasks: PhantomData<T>,
}

impl<T, A> Clone for Array<T, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, A> Copy for Array<T, A> {}

impl<T, A> Array<T, A> {
    /// The minimum number of slots of an array. One slot is always spare.
    pub(crate) const SMALLEST: usize = 2;

    /// Returns the maximum number of slots in the address space: a power of two.
    pub(crate) fn largest() -> usize {
        let bytes = isize::MAX as usize - size_of::<Header<A>>() - align_of::<Header<A>>();
        let slots = bytes / (Slot::<T>::WORDS.max(1) * size_of::<Word>());
        1 << slots.ilog2()
    }

    fn layout(slots: usize) -> Layout {
        let words = Layout::array::<Word>(slots * Slot::<T>::WORDS);
        let whole = words.and_then(|words| Layout::new::<Header<A>>().extend(words));
        whole.expect("the number of slots is at most `largest`").0
    }

    /// Allocates an array of `slots` slots.
    ///
    /// `slots` must be a power of two and at most [`largest`](Array::largest). No thief may look
    /// for a task with an index below `base` ([`is_past`](Array::is_past)).
    ///
    /// `zeroed` must be true unless each reader of a slot is certain that the slot was written. An
    /// unwritten slot must not be read, even to find out that it holds no task.
    pub(crate) fn allocate(slots: usize, base: usize, zeroed: bool, anchor: A) -> Result<Self, CapacityError> {
        debug_assert!(slots.is_power_of_two() && (Self::SMALLEST..=Self::largest()).contains(&slots));
        let layout = Self::layout(slots);
        // SAFETY: the layout contains a header, so its size is not zero.
        let memory = unsafe {
            if zeroed {
                alloc_zeroed(layout)
            } else {
                alloc(layout)
            }
        }
        .cast::<Header<A>>();
        let header = NonNull::new(memory).ok_or(CapacityError::OutOfMemory { requested: slots })?;
        // SAFETY: the memory was just allocated with the layout of a header followed by the words.
        unsafe {
            header.write(Header {
                _before: [0; 8],
                anchor,
                mask: slots - 1,
                base,
                low_water: Cell::new(0),
                #[cfg(loom)]
                alive: loom::cell::UnsafeCell::new(()),
                _after: [0; 8],
            });
        }
        let array = Array { header, tasks: PhantomData };
        #[cfg(loom)]
        for n in 0..slots * Slot::<T>::WORDS {
            // SAFETY: the words follow the header. loom's words are not valid as zeroes.
            unsafe { array.words().cast_mut().add(n).write(Word::new(ptr::null_mut())) };
        }
        Ok(array)
    }

    /// Frees the memory of the array.
    ///
    /// # Safety
    ///
    /// No other thread uses the array any more.
    pub(crate) unsafe fn free(self) {
        // Under loom the memory is kept, so that loom can report a use after free.
        #[cfg(loom)]
        // SAFETY: the array is still allocated.
        unsafe {
            (*self.header.as_ptr()).alive.with_mut(|_| ());
        }
        #[cfg(not(loom))]
        // SAFETY: `allocate` wrote it with this layout, and no other thread uses it any more. The
        // words need no drop.
        unsafe {
            let layout = Self::layout(self.mask() + 1);
            ptr::drop_in_place(self.header.as_ptr());
            dealloc(self.header.as_ptr().cast(), layout);
        }
    }

    /// Returns the array that `published` points to.
    ///
    /// # Safety
    ///
    /// The pointer came from [`as_ptr`](Array::as_ptr) of an array with the same types.
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(published: *mut Header<A>) -> Self {
        // SAFETY: arrays are never null.
        Array { header: unsafe { NonNull::new_unchecked(published) }, tasks: PhantomData }
    }

    pub(crate) fn as_ptr(self) -> *mut Header<A> {
        self.header.as_ptr()
    }

    /// Returns a pointer to the first word of the first slot.
    #[inline(always)]
    pub(crate) fn words(self) -> *const Word {
        // SAFETY: the words start directly after the header, in the same allocation. The header has
        // the stricter alignment.
        unsafe { self.header.as_ptr().add(1).cast_const().cast() }
    }

    /// Returns the number of slots minus 1.
    ///
    /// # Safety
    ///
    /// The array is still allocated.
    #[inline(always)]
    pub(crate) unsafe fn mask(self) -> usize {
        #[cfg(loom)]
        // SAFETY: the caller guarantees it.
        unsafe {
            (*self.header.as_ptr()).alive.with(|_| ())
        };
        // SAFETY: the caller guarantees it. The mask is written before the array is published and
        // never after.
        unsafe { (*self.header.as_ptr()).mask }
    }

    /// Returns whether a task with this index was taken before the array came into use.
    ///
    /// Such an index has no slot in this array.
    ///
    /// # Safety
    ///
    /// The array is still allocated.
    #[inline(always)]
    pub(crate) unsafe fn is_past(self, index: usize) -> bool {
        // SAFETY: the caller guarantees it. The base is written before the array is published and
        // never after.
        let base = unsafe { (*self.header.as_ptr()).base };
        (index.wrapping_sub(base) as isize) < 0
    }

    /// With at most this many tasks left, a pop takes the slow path. Never negative.
    ///
    /// # Safety
    ///
    /// The array is still allocated, and only the owner calls it.
    #[inline(always)]
    pub(crate) unsafe fn low_water<'a>(self) -> &'a Cell<isize> {
        // SAFETY: the caller guarantees it.
        unsafe { &(*self.header.as_ptr()).low_water }
    }

    /// Returns the anchor: the data that lives with the array.
    ///
    /// # Safety
    ///
    /// The array stays allocated while the anchor is used.
    #[inline(always)]
    pub(crate) unsafe fn anchor<'a>(self) -> &'a A {
        // SAFETY: the caller guarantees it.
        unsafe { &(*self.header.as_ptr()).anchor }
    }

    /// Returns the slot of a task's index, modulo the number of slots.
    ///
    /// # Safety
    ///
    /// The array stays allocated while the slot is used.
    #[inline(always)]
    pub(crate) unsafe fn slot<'a>(self, index: usize) -> Slot<'a, T> {
        // SAFETY: the caller guarantees it, and the mask keeps any index within the array.
        unsafe { Slot::at(self.words().add((index & self.mask()) * Slot::<T>::WORDS)) }
    }

    /// Copies the tasks of `count` indices, from `first` on, into an unpublished array.
    ///
    /// # Safety
    ///
    /// Both arrays are still allocated and hold that many tasks. Only the caller writes to this
    /// array, and only the caller uses the other array.
    pub(crate) unsafe fn copy_to(self, other: Array<T, A>, first: usize, count: usize) {
        // SAFETY: the caller guarantees it.
        let (mask, other_mask) = unsafe { (self.mask(), other.mask()) };
        let mut copied = 0;
        while copied < count {
            let index = first.wrapping_add(copied);
            let (from, to) = (index & mask, index & other_mask);
            // The run ends where either array wraps around.
            let run = (count - copied).min(mask + 1 - from).min(other_mask + 1 - to);
            // SAFETY: the run is within both arrays. No thread writes to the words that are read,
            // and no other thread has the other words. So they need not be accessed as atomics.
            unsafe {
                let (from, to) = (self.words().add(from * Slot::<T>::WORDS), other.words().add(to * Slot::<T>::WORDS));
                copy_words(from, to.cast_mut(), run * Slot::<T>::WORDS);
            }
            copied += run;
        }
    }
}

/// Copies words that no thread writes to words that no other thread has.
///
/// # Safety
///
/// The above holds, both ranges are allocated, and they do not overlap.
unsafe fn copy_words(from: *const Word, to: *mut Word, count: usize) {
    #[cfg(not(loom))]
    // SAFETY: the caller guarantees it.
    unsafe {
        ptr::copy_nonoverlapping(from, to, count);
    }
    #[cfg(loom)]
    for n in 0..count {
        // loom's words are bound to their address, so only their values are copied. Relaxed: no
        // other thread writes either range.
        // SAFETY: the caller guarantees it.
        unsafe {
            let value = (*from.add(n)).load(crate::sync::Ordering::Relaxed);
            (*to.add(n)).store(value, crate::sync::Ordering::Relaxed);
        }
    }
}

/// A published array, which thieves can load.
pub(crate) type Published<A> = AtomicPtr<Header<A>>;
