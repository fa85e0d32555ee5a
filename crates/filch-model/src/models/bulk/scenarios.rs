//! What owner and thieves of the bulk queue do in each case: the constants of `queue.tso`.

/// Constants of the program, with their values.
pub(super) type Scenario = &'static [(&'static str, i16)];

/// Tasks in blocks, and a batch on top of them.
pub(super) const BATCH_ON_TOP: Scenario = &[("SINGLES", 3), ("BATCH", 3)];
/// The owner pops a batch and pushes another in its place, and again.
pub(super) const REPLACED: Scenario = &[("SINGLES", 0), ("BATCH", 2), ("ROUNDS", 2), ("POPS", 2), ("PUSHED_BATCH", 2)];
/// The owner pops out of a batch. It pushes the next tasks into the block before it.
pub(super) const POPPED_OUT: Scenario = &[("SINGLES", 1), ("BATCH", 1), ("ROUNDS", 1), ("POPS", 2), ("PUSHES", 3)];
/// The owner pops and pushes across the end of a block and back.
pub(super) const SWINGS: Scenario = &[("SINGLES", 2), ("ROUNDS", 2), ("POPS", 1), ("PUSHES", 2)];
/// Entries wrap in a ring of two. If the thief, which takes everything, is late, they move to a
/// ring of four.
pub(super) const GROWS: Scenario =
    &[("SINGLES", 2), ("BATCH", 2), ("ROUNDS", 1), ("PUSHED_BATCH", 2), ("SMALL", 2), ("LARGE", 4), ("OF", 1)];
/// The ring grows, the owner pops, and the queue is dropped with tasks in it.
pub(super) const GROWS_AND_ENDS: Scenario = &[
    ("SINGLES", 2),
    ("BATCH", 2),
    ("ROUNDS", 2),
    ("POPS", 2),
    ("PUSHED_BATCH", 1),
    ("SMALL", 2),
    ("LARGE", 4),
    ("LAST_POPS", 1),
];
/// The ring grows for a batch of two runs, after the owner has left an entry.
pub(super) const GROWS_AFTER_STEP_BACK: Scenario =
    &[("SINGLES", 2), ("BATCH", 2), ("ROUNDS", 1), ("POPS", 3), ("PUSHED_BATCH", 3), ("SMALL", 2), ("LARGE", 4)];
/// Entries of one task in a ring of three. The owner reuses the cells of two entries below the top,
/// or moves to a ring of five.
pub(super) const REUSES_CELLS: Scenario =
    &[("SLOTS", 1), ("SINGLES", 3), ("ROUNDS", 1), ("PUSHES", 2), ("SMALL", 3), ("LARGE", 5)];
/// The same with a batch of two runs.
pub(super) const REUSES_CELLS_FOR_BATCH: Scenario =
    &[("SLOTS", 1), ("SINGLES", 3), ("ROUNDS", 1), ("PUSHED_BATCH", 2), ("SMALL", 3), ("LARGE", 5)];
/// Positions wrap.
pub(super) const WRAPS: Scenario =
    &[("BEGIN", 29), ("SINGLES", 3), ("BATCH", 2), ("ROUNDS", 2), ("POPS", 3), ("PUSHES", 1)];
/// Positions wrap after eight, so the queue holds three tasks. The owner pops and pushes in turn,
/// so often that a late thief looks again.
pub(super) const MANY_PUSHES: Scenario =
    &[("WRAP", 8), ("SINGLES", 1), ("ROUNDS", 6), ("POPS", 1), ("PUSHES", 1), ("LAST_POPS", 1), ("STEALS", 1)];
/// Positions wrap after eight, and entries have one task. So the owner must raise `oldest` although
/// the ring is not full, and keeps a task if the queue is.
pub(super) const KEEPS_DISTANCE: Scenario = &[
    ("WRAP", 8),
    ("SLOTS", 1),
    ("SEGMENTS", 7),
    ("SMALL", 7),
    ("SINGLES", 2),
    ("ROUNDS", 5),
    ("PUSHES", 1),
    ("LAST_POPS", 0),
    ("STEALS", 3),
    ("OF", 1),
];
/// A stolen run is pushed again. The queue may hold another part of the run's segment.
pub(super) const RETURNED: Scenario = &[("RETURNS", 1), ("STRICT", 0), ("LAST_POPS", 3)];
/// A stolen run is pushed again while the owner continues in its block.
pub(super) const RETURNED_LATER: Scenario =
    &[("RETURNS", 1), ("STRICT", 0), ("STEALS", 3), ("SINGLES", 1), ("ROUNDS", 2), ("PUSHES", 2), ("POPS", 1)];
/// The thief takes one task at a time.
pub(super) const ONE_BY_ONE: Scenario =
    &[("ONE", 1), ("STEALS", 4), ("SINGLES", 2), ("BATCH", 2), ("ROUNDS", 1), ("POPS", 1), ("PUSHED_BATCH", 2)];
/// Batches of two are moved into blocks of three. Each leaves a free slot, which is kept and used
/// by the next single task.
pub(super) const MOVED: Scenario = &[
    ("MOVED", 1),
    ("SLOTS", 3),
    ("SEGMENTS", 4),
    ("SINGLES", 2),
    ("ROUNDS", 2),
    ("POPS", 1),
    ("PUSHED_BATCH", 2),
    ("PUSHES", 1),
];
/// Three steals, and all features at once.
pub(super) const LONG: Scenario = &[
    ("BEGIN", 27),
    ("SINGLES", 3),
    ("BATCH", 1),
    ("ROUNDS", 3),
    ("POPS", 2),
    ("PUSHES", 1),
    ("PUSHED_BATCH", 1),
    ("SMALL", 3),
    ("LARGE", 4),
    ("SEGMENTS", 6),
    ("STEALS", 3),
    ("LAST_POPS", 6),
];
/// Fewer pops, and a thief that takes two thirds.
pub(super) const LONG_AND_GREEDY: Scenario = &[
    ("BEGIN", 27),
    ("SINGLES", 3),
    ("BATCH", 1),
    ("ROUNDS", 2),
    ("POPS", 1),
    ("PUSHES", 1),
    ("PUSHED_BATCH", 1),
    ("SMALL", 3),
    ("LARGE", 5),
    ("SEGMENTS", 6),
    ("STEALS", 3),
    ("SHARE", 2),
    ("OF", 3),
    ("LAST_POPS", 4),
];

// Scenarios for two thieves.

/// Each thief steals half of a batch in two segments, and the owner pops two tasks.
pub(super) const TWO_OF_A_BATCH: Scenario = &[("STEALS", 1), ("SINGLES", 0), ("BATCH", 4), ("LAST_POPS", 2)];
/// Each thief tries twice. The queue is dropped with tasks in it, or empty.
pub(super) const TWO_TWICE: Scenario = &[("LAST_POPS", 1)];
/// Each thief wants everything.
pub(super) const TWO_GREEDY: Scenario = &[("STEALS", 1), ("SINGLES", 2), ("BATCH", 2), ("LAST_POPS", 1), ("OF", 1)];
/// Each thief takes two single tasks.
pub(super) const TWO_ONE_BY_ONE: Scenario = &[("ONE", 1), ("SINGLES", 1), ("BATCH", 2), ("LAST_POPS", 1)];
/// The owner pops a batch and pushes another in its place. It leaves tasks in the queue.
pub(super) const TWO_REPLACED: Scenario =
    &[("STEALS", 1), ("SINGLES", 0), ("BATCH", 2), ("ROUNDS", 1), ("POPS", 2), ("PUSHED_BATCH", 2), ("LAST_POPS", 0)];
/// One of the thieves passes a run back to the owner.
pub(super) const TWO_RETURNED: Scenario = &[("RETURNS", 1), ("STRICT", 0), ("STEALS", 1), ("LAST_POPS", 2)];
/// The ring grows for a batch of two runs.
pub(super) const TWO_GROWS: Scenario =
    &[("STEALS", 1), ("SINGLES", 1), ("ROUNDS", 1), ("PUSHED_BATCH", 3), ("SMALL", 2), ("LARGE", 4), ("LAST_POPS", 0)];
/// The owner pops out of a batch. It pushes the next tasks into the block before it.
pub(super) const TWO_POPPED_OUT: Scenario =
    &[("STEALS", 1), ("SINGLES", 1), ("BATCH", 1), ("ROUNDS", 1), ("POPS", 2), ("PUSHES", 2), ("LAST_POPS", 0)];
/// The owner reuses cells below the top, or moves to a larger ring.
pub(super) const TWO_REUSE_CELLS: Scenario = &[
    ("STEALS", 1),
    ("SLOTS", 1),
    ("SINGLES", 3),
    ("ROUNDS", 1),
    ("PUSHES", 2),
    ("SMALL", 3),
    ("LARGE", 5),
    ("LAST_POPS", 0),
];
/// The owner pops all tasks.
pub(super) const TWO_AND_POPS: Scenario = &[("STEALS", 1)];
