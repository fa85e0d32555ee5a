//! A header and a row of cells behind it, in one allocation.

#[cfg(not(loom))]
use alloc::alloc::dealloc;
use alloc::alloc::{alloc, Layout};
use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::CapacityError;

/// A pointer to a row. Whoever holds one knows why it is still allocated.
pub(super) struct Row<H, C> {
    whole: NonNull<Whole<H>>,
    cells: PhantomData<C>,
}

/// What the allocation begins with.
struct Whole<H> {
    header: H,
    /// Every use of the row reads it and the end of the row writes it, so that loom sees a use that is not before the end.
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
        self.whole == other.whole
    }
}

impl<H, C> Row<H, C> {
    /// Where the cells begin.
    const OFFSET: usize = size_of::<Whole<H>>().next_multiple_of(align_of::<C>());

    fn layout(cells: u32) -> Option<Layout> {
        let cells = Layout::array::<C>(cells as usize).ok()?;
        Layout::new::<Whole<H>>().extend(cells).ok().map(|(whole, _)| whole)
    }

    /// A row of so many cells.
    pub(super) fn allocate(header: H, cells: u32, cell: impl Fn(u32) -> C) -> Result<Self, CapacityError> {
        let requested = cells as usize;
        let limit = isize::MAX as usize / size_of::<C>().max(1);
        let layout = Self::layout(cells).ok_or(CapacityError::TooLarge { requested, limit })?;
        // SAFETY: the layout is not of zero size, it has a header.
        let memory = unsafe { alloc(layout) };
        let whole = NonNull::new(memory.cast::<Whole<H>>()).ok_or(CapacityError::OutOfMemory { requested })?;
        // SAFETY: freshly allocated, and its layout begins with a header.
        unsafe {
            whole.write(Whole {
                header,
                #[cfg(loom)]
                alive: loom::cell::UnsafeCell::new(()),
            });
        }
        let row = Row { whole, cells: PhantomData::<C> };
        for n in 0..cells {
            // SAFETY: the layout has so many cells.
            unsafe { row.first_cell().cast_mut().add(n as usize).write(cell(n)) };
        }
        Ok(row)
    }

    /// The row that begins here.
    ///
    /// # Safety
    ///
    /// It came from [`as_ptr`](Row::as_ptr) of a row with the same types.
    #[inline(always)]
    pub(super) unsafe fn from_ptr(row: *mut ()) -> Self {
        // SAFETY: rows are never null.
        Row { whole: unsafe { NonNull::new_unchecked(row.cast()) }, cells: PhantomData }
    }

    #[inline(always)]
    pub(super) fn as_ptr(self) -> *mut () {
        self.whole.as_ptr().cast()
    }

    /// What stands before the cells.
    ///
    /// # Safety
    ///
    /// The row stays allocated for as long as the header is used.
    #[inline(always)]
    pub(super) unsafe fn header<'a>(self) -> &'a H {
        #[cfg(loom)]
        // SAFETY: promised.
        unsafe {
            (*self.whole.as_ptr()).alive.with(|_| ())
        };
        // SAFETY: promised.
        unsafe { &(*self.whole.as_ptr()).header }
    }

    #[inline(always)]
    fn first_cell(self) -> *const C {
        // SAFETY: the cells begin there, in the same allocation.
        unsafe { self.whole.as_ptr().cast::<u8>().add(Self::OFFSET).cast_const().cast() }
    }

    /// The n-th cell.
    ///
    /// # Safety
    ///
    /// The row is still allocated, and has so many cells or one fewer.
    #[inline(always)]
    pub(super) unsafe fn cell(self, n: u32) -> *const C {
        // SAFETY: promised.
        unsafe { self.first_cell().add(n as usize) }
    }

    /// Gives the memory back. Whatever is in the cells is forgotten.
    ///
    /// # Safety
    ///
    /// Nobody uses the row any more, and it has so many cells.
    pub(super) unsafe fn free(self, cells: u32) {
        // Under loom the memory is kept, for a use that should not be and that loom then reports.
        #[cfg(loom)]
        // SAFETY: still allocated.
        unsafe {
            let _ = cells;
            (*self.whole.as_ptr()).alive.with_mut(|_| ());
        }
        #[cfg(not(loom))]
        // SAFETY: allocated with this layout, and nobody uses it any more.
        unsafe {
            self.whole.drop_in_place();
            dealloc(self.whole.as_ptr().cast(), Self::layout(cells).expect("it was allocated with this layout"));
        }
    }
}
