//! Deliberate defects, for the model alone: each must be refuted by it, or the model proves nothing.

/// A way to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Defect {
    /// The end is believed when all are idle, whatever orders are outstanding.
    OutstandingOrdersAreForgotten,
    /// Who receives nodes does not say so.
    ReceiptIsNotTold,
    /// Who receives nodes says so, but is still believed to be idle.
    ReceiptLeavesIdle,
    /// An idle word of the search from before the last nodes were delivered is passed on.
    StaleIdleIsBelieved,
    /// Orders are given while a checkpoint is gathered.
    OrdersWhileGathering,
    /// Frontiers are asked for while orders are outstanding.
    GatherWithoutDraining,
    /// A solution is told of after the frontier that was made with it.
    FoundAfterFrontier,
    /// The coordinator passes a solution on and does not keep it.
    FoundIsNotKept,
    /// The bound forgets what is on its way.
    BoundForgetsOrders,
    /// The bound forgets what was received since the last status.
    BoundForgetsReceipts,
    /// Who has nothing to spare says nothing.
    RefusalIsNotTold,
    /// The coordinator answers its own rank before that has done all that it was about to: it may be asked for its frontier before it has what it said that it received.
    AnsweredInTheMiddle,
}

/// What is wrong with a state machine: nothing, but under test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Flaw(#[cfg(test)] pub(crate) Option<Defect>);

impl Flaw {
    /// Whether this is.
    pub(crate) fn is(self, how: Defect) -> bool {
        #[cfg(test)]
        return self.0 == Some(how);
        #[cfg(not(test))]
        {
            let _ = how;
            false
        }
    }
}
