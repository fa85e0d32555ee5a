//! What the owner does in the models of the THE and Chase-Lev family, and what its thieves do: settings that all their texts know.
//!
//! With none of these all tasks are there when everybody starts, the owner pops until the queue is empty, and each thief steals twice.

/// Settings of a case.
pub(super) type Scenario = &'static [(&'static str, i16)];

/// Each thief steals once.
pub(super) const ONE_STEAL: Scenario = &[("STEALS", 1)];

/// One task at first in an array that is then full; the owner pushes the others, and the array is exchanged for a larger one.
pub(super) const GROWS: Scenario = &[("PREFILLED", 1), ("SLOTS", 2), ("LARGE", 8)];

/// The same after a pop, and thieves that steal once.
pub(super) const GROWS_AFTER_A_POP: Scenario =
    &[("PREFILLED", 1), ("POPS", 1), ("SLOTS", 2), ("LARGE", 8), ("STEALS", 1)];

/// The same with thieves that steal twice.
pub(super) const GROWS_UNDER_THEFT: Scenario = &[("PREFILLED", 1), ("POPS", 1), ("SLOTS", 2), ("LARGE", 8)];

/// Three tasks in an array that has grown; the owner pops two, which leaves so few that it takes a smaller one, and pushes the others.
pub(super) const SHRINKS: Scenario = &[("PREFILLED", 3), ("POPS", 2), ("SLOTS", 2), ("LARGE", 8), ("SMALLER", 4)];

/// The same with an owner that pops all three, and thieves that steal once.
pub(super) const SHRINKS_EMPTY: Scenario =
    &[("PREFILLED", 3), ("POPS", 3), ("SLOTS", 2), ("LARGE", 8), ("SMALLER", 4), ("STEALS", 1)];

/// The owner pops a task, and one after each push: indices are used again.
pub(super) const REUSES: Scenario = &[("PREFILLED", 2), ("POPS", 1), ("BETWEEN", 1)];

/// The owner pops two tasks and then pushes the others.
pub(super) const REUSES_TWO: Scenario = &[("PREFILLED", 2), ("POPS", 2)];

/// The same after three, of which two are popped.
pub(super) const REUSES_TWO_OF_THREE: Scenario = &[("PREFILLED", 3), ("POPS", 2)];

/// More tasks than slots, one after the other: indices go round in the array.
pub(super) const GOES_ROUND: Scenario = &[("PREFILLED", 2), ("POPS", 1), ("BETWEEN", 1), ("SLOTS", 4), ("LARGE", 16)];

/// The owner pops once, and goes on when the thieves, which steal once, are gone. With a task more than all of them take the queue is never empty.
pub(super) const NEVER_EMPTY: Scenario = &[("NEVER_EMPTY", 1), ("POPS", 1), ("STEALS", 1)];

/// The same with an owner that only waits.
pub(super) const NOBODY_POPS: Scenario = &[("NEVER_EMPTY", 1), ("STEALS", 1)];

/// The owner pops once and is dropped; a thief takes the rest.
pub(super) const DROPPED: Scenario = &[("DROPPED", 1), ("DRAINS", 0), ("POPS", 1), ("STEALS", 1)];
