//! The deque of Blitz, as its page on work stealing lists it.

pub(in crate::models) mod deque;
