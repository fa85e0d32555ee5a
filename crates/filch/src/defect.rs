//! Deliberate defects, for the checkers only. Each must be caught by a model, or the models prove
//! nothing.

/// A deliberate defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(test, any(loom, shuttle))), allow(dead_code))]
pub(crate) enum Defect {
    /// The owner's half of the barrier does nothing, as far as releases go. This is no defect if
    /// there is no raid, and it is the control for the next.
    NoLightBarrier,
    /// As `NoLightBarrier`, and a share does not publish what it shares.
    ShareWithoutRelease,
    /// No raider and no worker that goes to sleep makes the owner pass a barrier.
    NoBarrier,
    /// A raid goes on although the owner has settled meanwhile.
    RaidAfterSettle,
    /// A worker that goes to sleep does not look for work once more.
    SleepWithoutLook,
    /// A thread that has queued something looks at the sleepers without a fence.
    EventWithoutFence,
    /// A producer of a job does not look at the event counter.
    PostDoesNotLook,
    /// A sleepy worker does not compare the event counter.
    SleepIgnoresEvents,
    /// A worker that becomes sleepy searches without a fence.
    SleepyWithoutFence,
    /// A worker that stops searching wakes no other, though a producer may have relied on it.
    StopWakesNobody,
    /// The last worker that stops searching does not look for unclaimed work.
    LastSearcherDoesNotLook,
    /// The last searcher wakes idle workers only, and no worker that waits.
    WakesNoWaiters,
    /// A job is put back into the injector, and no waiter is woken for it.
    PutBackWakesNoWaiter,
    /// No defect: the kernel refuses every barrier, as after a seccomp filter. The owner's half
    /// does nothing.
    BarrierRefused,
    /// As `BarrierRefused`, and a raid goes on as if the owner had passed a barrier.
    RefusalIgnored,
    /// A raid goes on although the owner has switched to fences meanwhile.
    SwitchKeepsRaids,
    /// As `BarrierRefused`, and a worker wakes up without a fence.
    WakesWithoutFence,
    /// As `BarrierRefused`, and a raid has no fence of its own.
    RaidsWithoutFence,
    /// A waker gives up if the state changes, though the worker still sleeps.
    WakesOnlyOnce,
    /// A seat is lent while its own thread still prepares to sleep.
    LendsRestingSeats,
    /// The own thread of a seat works there although a caller has borrowed the seat.
    OwnerTakesALentSeat,
    /// A notification for a caller in its wait wakes the seat's own thread instead.
    NotifiesTheOwner,
    /// A caller returns a seat and counts it as vacant afterwards.
    ReturnsBeforeItCounts,
    /// A caller that returns a seat relies on counters from before.
    ReturnTrustsOldCounts,
    /// A caller that returns a seat does not look for work.
    ReturnDoesNotLook,
    /// A caller that returns a seat raises no alarm.
    ReturnRaisesNoAlarm,
    /// A caller that returns a seat does not look at what was spawned there.
    ReturnForgetsSpawned,
    /// A caller borrows a seat without a look at what an earlier call has left.
    BorrowDoesNotLook,
    /// A caller that returns a seat does not look at its mail.
    ReturnForgetsMail,
    /// A run that is over leaves its entry as it was.
    KeepsEndedRuns,
    /// A worker that begins to run something raises no alarm of its own.
    BeginRaisesNoAlarm,
    /// A run that is over raises no alarm for the run below.
    EndRaisesNoAlarm,
    /// A fork wakes only the worker that waits for the run that it is in.
    WakesDirectWaitsOnly,
    /// The slot of a task is used again though a thief may still read it.
    ReusesSlotsEarly,
    /// A share or raid lowers the limit though the next pop should look.
    LowersLimitOfAlarm,
    /// A pop that finds its task stolen leaves the position to the next push.
    LeavesBottomBelowTop,
    /// A thief counts a task when the owner may have seen that it was moved.
    CountsAfterMoved,
    /// A task outside of the segments of its scope is counted after it was queued.
    CountsStraysLate,
    /// An owner that takes its oldest task stops if no task is private.
    TakeOldestIgnoresPublic,
    /// A scope ends without a look at what thieves have claimed.
    ScopeIgnoresClaimed,
    /// A stolen task reports its end before it has run what it has spawned.
    FinishesBeforeItsTasks,
    /// A worker enters a level though no other worker is inside.
    EntersClosedLevels,
    /// A worker leaves a level without release.
    LeavesWithoutRelease,
    /// An owner opens a level without release.
    OpensWithoutRelease,
    /// A worker enters a level without acquire.
    EntersWithoutAcquire,
    /// An owner takes idle workers before it opens the level.
    TakesBeforeItOpens,
    /// An owner counts the workers that search before it locks the list of idle workers.
    CountsBeforeTheLock,
    /// A worker becomes idle without a look at the level.
    IdlesWithoutLook,
}

impl Defect {
    /// Returns whether the kernel refuses barriers.
    #[inline(always)]
    pub(crate) fn refuses_barriers() -> bool {
        defect(Defect::BarrierRefused)
            || defect(Defect::RefusalIgnored)
            || defect(Defect::WakesWithoutFence)
            || defect(Defect::RaidsWithoutFence)
    }
}

/// Returns whether the code should have this defect. Always false outside of the checkers.
#[cfg(not(all(test, any(loom, shuttle))))]
#[inline(always)]
pub(crate) fn defect(_: Defect) -> bool {
    false
}

#[cfg(all(test, any(loom, shuttle)))]
pub(crate) use chosen::{defect, with};

#[cfg(all(test, any(loom, shuttle)))]
mod chosen;
