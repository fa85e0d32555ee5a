//! Deliberate defects, for loom alone.
//!
//! A model must catch each of them; otherwise the models prove nothing.

/// A defect that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(crate) enum Defect {
    /// A worker that releases the master lock does not check for notes.
    RequestsAreIgnored,
    /// A worker that parks looks at the queues without a barrier on all threads first.
    ParkWithoutBarrier,
    /// A worker that parks does not look at the queues after its announcement.
    ParkWithoutLastLook,
    /// A worker that has nothing left ignores mail: its own, and that of others.
    MailIsForgotten,
}

filch::defect_switch!(all(test, loom));
