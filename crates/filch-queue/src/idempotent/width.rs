//! The number of tag bits in an anchor.

mod sealed {
    pub trait Sealed {}
}

/// The width of the tag: [`Wide`] in every queue that can be constructed.
///
/// Narrower widths exist for tests that show what goes wrong.
pub trait Width: sealed::Sealed + 'static {
    #[doc(hidden)]
    const LIFO_TAG_BITS: u32;
    #[doc(hidden)]
    const DOUBLE_ENDED_TAG_BITS: u32;
    /// Whether the owner watches for thieves during whose steal a tag could wrap.
    #[doc(hidden)]
    const WATCHED: bool;
}

/// The widths that the modules document.
#[derive(Clone, Copy, Debug)]
pub enum Wide {}

impl sealed::Sealed for Wide {}

impl Width for Wide {
    const LIFO_TAG_BITS: u32 = 34;
    const DOUBLE_ENDED_TAG_BITS: u32 = 10;
    const WATCHED: bool = true;
}

/// Tags that wrap after four pushes, without the watch: a broken variant for the tests.
#[cfg(all(test, not(loom)))]
#[derive(Clone, Copy, Debug)]
pub(super) enum Narrow {}

#[cfg(all(test, not(loom)))]
impl sealed::Sealed for Narrow {}

#[cfg(all(test, not(loom)))]
impl Width for Narrow {
    const LIFO_TAG_BITS: u32 = 2;
    const DOUBLE_ENDED_TAG_BITS: u32 = 2;
    const WATCHED: bool = false;
}

/// Tags that wrap after four pushes, with the watch.
#[cfg(all(test, not(loom)))]
#[derive(Clone, Copy, Debug)]
pub(super) enum NarrowWatched {}

#[cfg(all(test, not(loom)))]
impl sealed::Sealed for NarrowWatched {}

#[cfg(all(test, not(loom)))]
impl Width for NarrowWatched {
    const LIFO_TAG_BITS: u32 = 2;
    const DOUBLE_ENDED_TAG_BITS: u32 = 2;
    const WATCHED: bool = true;
}

/// No tag: a broken variant for the tests.
#[cfg(all(test, not(loom)))]
#[derive(Clone, Copy, Debug)]
pub(super) enum Untagged {}

#[cfg(all(test, not(loom)))]
impl sealed::Sealed for Untagged {}

#[cfg(all(test, not(loom)))]
impl Width for Untagged {
    const LIFO_TAG_BITS: u32 = 0;
    const DOUBLE_ENDED_TAG_BITS: u32 = 0;
    const WATCHED: bool = false;
}
