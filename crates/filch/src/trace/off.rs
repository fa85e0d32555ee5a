//! The recorder without the feature `trace`: records nothing, and costs nothing.

/// The record of a worker, which is empty.
#[derive(Debug)]
pub(crate) struct Log;

/// An activity that lasts until this is dropped.
#[derive(Debug)]
pub(crate) struct Span;

impl Log {
    pub(crate) fn new() -> Log {
        Log
    }

    #[inline(always)]
    pub(crate) fn shared(&self, _jobs: u32) {}

    #[inline(always)]
    pub(crate) fn stolen(&self, _victim: usize) -> Span {
        Span
    }

    #[inline(always)]
    pub(crate) fn job(&self) -> Span {
        Span
    }

    #[inline(always)]
    pub(crate) fn task(&self) -> Span {
        Span
    }

    #[inline(always)]
    pub(crate) fn raid(&self, _victim: usize) -> Span {
        Span
    }

    #[inline(always)]
    pub(crate) fn fall_asleep(&self) {}

    #[inline(always)]
    pub(crate) fn wake_up(&self) {}

    #[inline(always)]
    pub(crate) fn begin_call(&self) {}

    #[inline(always)]
    pub(crate) fn end_call(&self) {}
}
