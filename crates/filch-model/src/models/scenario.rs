//! Scenarios for owner and thieves of the THE and Chase-Lev family. All texts of the family know
//! these settings.
//!
//! Without any setting, all tasks are in the queue at the start, the owner pops until the queue is
//! empty, and each thief steals twice.

/// Settings of a case.
pub(super) type Scenario = &'static [(&'static str, i16)];

/// Each thief steals once.
pub(super) const ONE_STEAL: Scenario = &[("STEALS", 1)];

/// One task is in an array that is then full. The owner pushes the others and moves to a larger
/// array.
pub(super) const GROWS: Scenario = &[("PREFILLED", 1), ("SLOTS", 2), ("LARGE", 8)];

/// The array grows after a pop, and each thief steals once.
pub(super) const GROWS_AFTER_A_POP: Scenario =
    &[("PREFILLED", 1), ("POPS", 1), ("SLOTS", 2), ("LARGE", 8), ("STEALS", 1)];

/// The array grows after a pop, and each thief steals twice.
pub(super) const GROWS_UNDER_THEFT: Scenario = &[("PREFILLED", 1), ("POPS", 1), ("SLOTS", 2), ("LARGE", 8)];

/// Three tasks are in an array that has grown. The owner pops two and moves to a smaller array,
/// because so few tasks are left. Then it pushes the others.
pub(super) const SHRINKS: Scenario = &[("PREFILLED", 3), ("POPS", 2), ("SLOTS", 2), ("LARGE", 8), ("SMALLER", 4)];

/// The array shrinks after the owner has popped all three tasks. Each thief steals once.
pub(super) const SHRINKS_EMPTY: Scenario =
    &[("PREFILLED", 3), ("POPS", 3), ("SLOTS", 2), ("LARGE", 8), ("SMALLER", 4), ("STEALS", 1)];

/// The owner pops a task, and one after each push. So indices are used again.
pub(super) const REUSES: Scenario = &[("PREFILLED", 2), ("POPS", 1), ("BETWEEN", 1)];

/// The owner pops two tasks and then pushes the others.
pub(super) const REUSES_TWO: Scenario = &[("PREFILLED", 2), ("POPS", 2)];

/// The owner pops two of three tasks and then pushes the others.
pub(super) const REUSES_TWO_OF_THREE: Scenario = &[("PREFILLED", 3), ("POPS", 2)];

/// More tasks than slots, one after the other, so that indices wrap in the array.
pub(super) const GOES_ROUND: Scenario = &[("PREFILLED", 2), ("POPS", 1), ("BETWEEN", 1), ("SLOTS", 4), ("LARGE", 16)];

/// The owner pops once, and continues when the thieves are gone. Each thief steals once. With one
/// more task than all of them take, the queue is never empty.
pub(super) const NEVER_EMPTY: Scenario = &[("NEVER_EMPTY", 1), ("POPS", 1), ("STEALS", 1)];

/// The owner only waits until the thieves are gone. Each thief steals once.
pub(super) const NO_POPS: Scenario = &[("NEVER_EMPTY", 1), ("STEALS", 1)];

/// The owner pops once and is dropped; a thief takes the rest.
pub(super) const DROPPED: Scenario = &[("DROPPED", 1), ("DRAINS", 0), ("POPS", 1), ("STEALS", 1)];
