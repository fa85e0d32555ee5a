//! A header followed by a row of cells, in a single allocation.

#[cfg(not(loom))]
use alloc::alloc::dealloc;
use alloc::alloc::{alloc, Layout};
use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::CapacityError;

/// A pointer to a row. Its holder knows why the row is still allocated.
pub(super) struct Row<H, C> {
    allocation: NonNull<Allocation<H>>,
    cells: PhantomData<C>,
}

/// The start of the allocation.
struct Allocation<H> {
    header: H,
    /// Lets loom detect a use after free.
    ///
    /// Every use of the row reads it, and freeing the row writes it.
    #[cfg(loom)]
    alive: loom::cell::UnsafeCell<()>,
}

impl<H, C> Clone for Row<H, C> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<H, C> Copy for Row<H, C> {}

impl<H, C> PartialEq for Row<H, C> {
    fn eq(&self, other: &Self) -> bool {
        self.allocation == other.allocation
    }
}

impl<H, C> Row<H, C> {
    /// The offset of the first cell.
    const OFFSET: usize = size_of::<Allocation<H>>().next_multiple_of(align_of::<C>());

    fn layout(cells: u32) -> Option<Layout> {
        let cells = Layout::array::<C>(cells as usize).ok()?;
        Layout::new::<Allocation<H>>().extend(cells).ok().map(|(allocation, _)| allocation)
    }

    /// Allocates a row of `cells` cells.
    pub(super) fn allocate(header: H, cells: u32, cell: impl Fn(u32) -> C) -> Result<Self, CapacityError> {
        let requested = cells as usize;
        let limit = isize::MAX as usize / size_of::<C>().max(1);
        let layout = Self::layout(cells).ok_or(CapacityError::TooLarge { requested, limit })?;
        // SAFETY: the layout contains a header, so its size is not zero.
        let memory = unsafe { alloc(layout) };
        let allocation =
            NonNull::new(memory.cast::<Allocation<H>>()).ok_or(CapacityError::OutOfMemory { requested })?;
        // SAFETY: the memory was just allocated, and its layout starts with a header.
        unsafe {
            allocation.write(Allocation {
                header,
                #[cfg(loom)]
                alive: loom::cell::UnsafeCell::new(()),
            });
        }
        let row = Row { allocation, cells: PhantomData::<C> };
        for n in 0..cells {
            // SAFETY: the layout has `cells` cells.
            unsafe { row.first_cell().cast_mut().add(n as usize).write(cell(n)) };
        }
        Ok(row)
    }

    /// Returns the row that starts at this address.
    ///
    /// # Safety
    ///
    /// The pointer came from [`as_ptr`](Row::as_ptr) of a row with the same types.
    #[inline(always)]
    pub(super) unsafe fn from_ptr(row: *mut ()) -> Self {
        // SAFETY: rows are never null.
        Row { allocation: unsafe { NonNull::new_unchecked(row.cast()) }, cells: PhantomData }
    }

    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut () {
        self.allocation.as_ptr().cast()
    }

    /// Returns the header before the cells.
    ///
    /// # Safety
    ///
    /// The row stays allocated while the header is used.
    #[inline(always)]
    pub(super) unsafe fn header<'a>(self) -> &'a H {
        #[cfg(loom)]
        // SAFETY: the caller guarantees it.
        unsafe {
            (*self.allocation.as_ptr()).alive.with(|_| ())
        };
        // SAFETY: the caller guarantees it.
        unsafe { &(*self.allocation.as_ptr()).header }
    }

    #[inline(always)]
    fn first_cell(self) -> *const C {
        // SAFETY: the cells start there, in the same allocation.
        unsafe { self.allocation.as_ptr().cast::<u8>().add(Self::OFFSET).cast_const().cast() }
    }

    /// Returns the n-th cell.
    ///
    /// # Safety
    ///
    /// The row is still allocated, and `n` is at most the number of cells.
    #[inline(always)]
    pub(super) unsafe fn cell(self, n: u32) -> *const C {
        // SAFETY: the caller guarantees it.
        unsafe { self.first_cell().add(n as usize) }
    }

    /// Frees the memory. The contents of the cells are not dropped.
    ///
    /// # Safety
    ///
    /// No thread uses the row any more, and it has `cells` cells.
    pub(super) unsafe fn free(self, cells: u32) {
        // Under loom the memory is kept, so that loom can report a use after free.
        #[cfg(loom)]
        // SAFETY: the row is still allocated.
        unsafe {
            let _ = cells;
            (*self.allocation.as_ptr()).alive.with_mut(|_| ());
        }
        #[cfg(not(loom))]
        // SAFETY: allocated with this layout, and no thread uses it any more.
        unsafe {
            self.allocation.drop_in_place();
            dealloc(self.allocation.as_ptr().cast(), Self::layout(cells).expect("it was allocated with this layout"));
        }
    }
}
