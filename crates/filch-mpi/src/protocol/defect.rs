//! Deliberate defects for the model checker. It must refute each of them, or it proves nothing.

/// A deliberate defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Defect {
    /// The coordinator declares the end when all ranks are idle, even if orders are outstanding.
    OutstandingOrdersAreForgotten,
    /// The receiver of nodes does not report them.
    ReceiptIsNotReported,
    /// The receiver of nodes reports them, but the coordinator still believes that it is idle.
    ReceiptLeavesIdle,
    /// A member passes on an idle report from before the last delivery of nodes.
    StaleIdleIsBelieved,
    /// The coordinator sends orders while it gathers a checkpoint.
    OrdersWhileGathering,
    /// The coordinator asks for frontiers while orders are outstanding.
    GatherWithoutDraining,
    /// A member reports a solution after the frontier that was made with it.
    FoundAfterFrontier,
    /// The coordinator passes a solution on and does not keep it.
    FoundIsNotKept,
    /// The bound ignores nodes in transit.
    BoundForgetsOrders,
    /// The bound ignores nodes received since the last status.
    BoundForgetsReceipts,
    /// A member with nothing to spare does not report that.
    RefusalIsNotReported,
    /// The coordinator answers its own rank before the rank has performed all its effects. The rank
    /// may be asked for its frontier before its search has the nodes that it reported as received.
    AnsweredBeforeAllEffects,
}

/// The defect of a state machine. Always none outside of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Flaw(#[cfg(test)] pub(crate) Option<Defect>);

impl Flaw {
    /// Returns whether this defect is `how`.
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
