//! The array of slots: a power of two of them, behind a header, in one allocation.

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

/// What stands before the slots. `A` is what an algorithm wants to live and die with the array; most want nothing.
///
/// Padding, not alignment, keeps the anchor off the cache lines of the slots and of whatever lies before the array: memory that is aligned beyond
/// what the allocator gives anyway is zeroed by hand, page by page, where the rest comes zeroed from the system.
#[repr(C, align(16))]
pub(crate) struct Header<A> {
    _before: [usize; 8],
    anchor: A,
    mask: usize,
    /// The lowest index whose slot was ever written.
    base: usize,
    /// Only the owner touches it: with at most this many tasks left, its pop takes the slow path.
    low_water: Cell<isize>,
    /// Every use of the array reads it and the end of the array writes it, so that loom sees a use that is not before the end.
    #[cfg(loom)]
    alive: loom::cell::UnsafeCell<()>,
    _after: [usize; 8],
}

/// A pointer to an array. Whoever holds one knows why it is still allocated.
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
    /// The fewest slots that an array has. One of them is always spare.
    pub(crate) const SMALLEST: usize = 2;

    /// The most slots that fit into the address space: a power of two.
    pub(crate) fn largest() -> usize {
        let bytes = isize::MAX as usize - size_of::<Header<A>>() - align_of::<Header<A>>();
        let slots = bytes / (Slot::<T>::WORDS.max(1) * size_of::<Word>());
        1 << slots.ilog2()
    }

    fn layout(slots: usize) -> Layout {
        let words = Layout::array::<Word>(slots * Slot::<T>::WORDS);
        let whole = words.and_then(|words| Layout::new::<Header<A>>().extend(words));
        whole.expect("the caller asks for no more than `largest`").0
    }

    /// An array of `slots` slots, which must be a power of two and at most [`largest`](Array::largest). No thief may look for a task whose index
    /// is below `base` ([`is_past`](Array::is_past)).
    ///
    /// The slots are zeroed, unless whoever reads one is certain that it was written: an unwritten slot must not be read, even to find out
    /// that it held no task.
    pub(crate) fn allocate(slots: usize, base: usize, zeroed: bool, anchor: A) -> Result<Self, CapacityError> {
        debug_assert!(slots.is_power_of_two() && (Self::SMALLEST..=Self::largest()).contains(&slots));
        let layout = Self::layout(slots);
        // SAFETY: the layout is not of zero size, it has a header.
        let memory = unsafe {
            if zeroed {
                alloc_zeroed(layout)
            } else {
                alloc(layout)
            }
        }
        .cast::<Header<A>>();
        let header = NonNull::new(memory).ok_or(CapacityError::OutOfMemory { requested: slots })?;
        // SAFETY: freshly allocated with the layout of a header followed by the words.
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
            // SAFETY: the words lie behind the header. Those of loom are not valid as zeroes.
            unsafe { array.words().cast_mut().add(n).write(Word::new(ptr::null_mut())) };
        }
        Ok(array)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    ///
    /// Nobody else uses the array any more.
    pub(crate) unsafe fn free(self) {
        // Under loom the memory is kept, for a use that should not be and that loom then reports.
        #[cfg(loom)]
        // SAFETY: still allocated.
        unsafe {
            (*self.header.as_ptr()).alive.with_mut(|_| ());
        }
        #[cfg(not(loom))]
        // SAFETY: written by `allocate` with this layout, and nobody uses it any more. The words need no drop.
        unsafe {
            let layout = Self::layout(self.mask() + 1);
            ptr::drop_in_place(self.header.as_ptr());
            dealloc(self.header.as_ptr().cast(), layout);
        }
    }

    /// The array that `published` points to.
    ///
    /// # Safety
    ///
    /// It came from [`as_ptr`](Array::as_ptr) of an array with the same types.
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(published: *mut Header<A>) -> Self {
        // SAFETY: arrays are never null.
        Array { header: unsafe { NonNull::new_unchecked(published) }, tasks: PhantomData }
    }

    pub(crate) fn as_ptr(self) -> *mut Header<A> {
        self.header.as_ptr()
    }

    /// The first word of the first slot.
    #[inline(always)]
    pub(crate) fn words(self) -> *const Word {
        // SAFETY: the words begin right behind the header, in the same allocation; the header is aligned more strictly.
        unsafe { self.header.as_ptr().add(1).cast_const().cast() }
    }

    /// One less than the number of slots.
    ///
    /// # Safety
    ///
    /// The array is still allocated.
    #[inline(always)]
    pub(crate) unsafe fn mask(self) -> usize {
        #[cfg(loom)]
        // SAFETY: promised.
        unsafe {
            (*self.header.as_ptr()).alive.with(|_| ())
        };
        // SAFETY: promised. The mask is written before the array is published and never after.
        unsafe { (*self.header.as_ptr()).mask }
    }

    /// Whether an index is of a task that was gone before the array came into use, so that it has no slot here.
    ///
    /// # Safety
    ///
    /// The array is still allocated.
    #[inline(always)]
    pub(crate) unsafe fn is_past(self, index: usize) -> bool {
        // SAFETY: promised. The base is written before the array is published and never after.
        let base = unsafe { (*self.header.as_ptr()).base };
        (index.wrapping_sub(base) as isize) < 0
    }

    /// With at most this many tasks left, a pop takes its slow path. Never negative.
    ///
    /// # Safety
    ///
    /// The array is still allocated, and only the owner calls it.
    #[inline(always)]
    pub(crate) unsafe fn low_water<'a>(self) -> &'a Cell<isize> {
        // SAFETY: promised.
        unsafe { &(*self.header.as_ptr()).low_water }
    }

    /// What lives with the array.
    ///
    /// # Safety
    ///
    /// The array stays allocated for as long as the anchor is used.
    #[inline(always)]
    pub(crate) unsafe fn anchor<'a>(self) -> &'a A {
        // SAFETY: promised.
        unsafe { &(*self.header.as_ptr()).anchor }
    }

    /// The slot of a task's index, wherever that is in the round.
    ///
    /// # Safety
    ///
    /// The array stays allocated for as long as the slot is used.
    #[inline(always)]
    pub(crate) unsafe fn slot<'a>(self, index: usize) -> Slot<'a, T> {
        // SAFETY: promised; and the mask keeps any index within the array.
        unsafe { Slot::at(self.words().add((index & self.mask()) * Slot::<T>::WORDS)) }
    }

    /// Copies the tasks of `count` indices, from `first` on, into another array that nobody else knows yet.
    ///
    /// # Safety
    ///
    /// Both arrays are still allocated and hold that many; only the caller writes to this one, and only the caller uses the other.
    pub(crate) unsafe fn copy_to(self, other: Array<T, A>, first: usize, count: usize) {
        // SAFETY: promised.
        let (mask, other_mask) = unsafe { (self.mask(), other.mask()) };
        let mut copied = 0;
        while copied < count {
            let index = first.wrapping_add(copied);
            let (from, to) = (index & mask, index & other_mask);
            // Up to where either array goes round.
            let run = (count - copied).min(mask + 1 - from).min(other_mask + 1 - to);
            // SAFETY: the run lies within both arrays. Nobody writes to the words that are read, and nobody else has the others, so they need
            // not be accessed as atomics.
            unsafe {
                let (from, to) = (self.words().add(from * Slot::<T>::WORDS), other.words().add(to * Slot::<T>::WORDS));
                copy_words(from, to.cast_mut(), run * Slot::<T>::WORDS);
            }
            copied += run;
        }
    }
}

/// Copies words that nobody writes to words that nobody else has.
///
/// # Safety
///
/// As it says; and both are allocated and do not overlap.
unsafe fn copy_words(from: *const Word, to: *mut Word, count: usize) {
    #[cfg(not(loom))]
    // SAFETY: promised.
    unsafe {
        ptr::copy_nonoverlapping(from, to, count);
    }
    #[cfg(loom)]
    for n in 0..count {
        // loom's words know where they are, so only their values are copied. Relaxed: as plain as it gets.
        // SAFETY: promised.
        unsafe {
            let value = (*from.add(n)).load(crate::sync::Ordering::Relaxed);
            (*to.add(n)).store(value, crate::sync::Ordering::Relaxed);
        }
    }
}

/// An array that thieves can find.
pub(crate) type Published<A> = AtomicPtr<Header<A>>;
