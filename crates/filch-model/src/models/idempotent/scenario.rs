//! Scenarios that the three queues have in common. The comments in each text explain the settings.

use crate::machine::Coalescing;
use crate::models::{Case, Parameters};
use crate::search::Claim;

/// The owner pops and pushes in turn.
pub(super) const REUSE: &[(&str, i16)] = &[("PREFILLED", 1), ("POPS", 1)];
/// The owner pushes beyond an array of two slots, one of which is spare.
pub(super) const GROWTH: &[(&str, i16)] = &[("PREFILLED", 1), ("SLOTS", 2)];
/// The array grows to 16 slots, and shrinks to 4 when one task is left. Needs five tasks.
pub(super) const SHRINKING: &[(&str, i16)] =
    &[("PREFILLED", 3), ("FIRST", 1), ("POPS", 3), ("LOW_WATER", 2), ("STEALS", 2)];
/// The owner has pushed all tasks and does nothing more.
pub(super) const THIEVES_ALONE: &[(&str, i16)] = &[("DRAINS", 0)];

/// The thieves and the owner take fewer tasks than the queue has.
pub(super) const NEVER_EMPTY: &[(&str, i16)] = &[("NEVER_EMPTY", 1), ("DRAINS", 0), ("STEALS", 1)];

/// Cases with a long buffer, with an egress slot, and with more thieves and steals. `in_turn` is
/// the number of tasks if pops and pushes take turns with an egress slot.
pub(super) fn on_other_buffers(in_turn: i16) -> Vec<Case> {
    let long = |settings| Case::holds(Parameters::new(8, 4, 1)).with(settings).quick();
    let mut cases = vec![long(REUSE), long(GROWTH)];
    for bound in 1..=4 {
        let coalescing =
            |tasks, thieves| Case::holds(Parameters::new(bound, tasks, thieves).with_egress(Coalescing::Word));
        cases.extend([
            coalescing(3, 1).quick(),
            coalescing(in_turn, 1).with(REUSE).quick(),
            coalescing(3, 1).with(GROWTH).quick(),
            coalescing(3, 2).with(REUSE),
            coalescing(3, 2).with(GROWTH),
            coalescing(5, 2).with(SHRINKING),
        ]);
    }
    cases.extend([
        Case::holds(Parameters::new(4, 5, 2)).with(&[("PREFILLED", 2), ("POPS", 1), ("STEALS", 3)]),
        Case::holds(Parameters::new(4, 4, 3)).with(&[("PREFILLED", 2), ("POPS", 1), ("STEALS", 1)]),
    ]);
    cases
}

/// Cases in which no side reports an empty queue. The queue has more tasks than are taken.
pub(super) fn never_empty() -> Vec<Case> {
    let cases = (0..=4).flat_map(|bound| {
        let on = |tasks, thieves| Case::holds(Parameters::new(bound, tasks, thieves));
        [
            on(3, 1).with(&[("POPS", 1)]),
            on(4, 1).with(&[("PREFILLED", 2), ("POPS", 1)]),
            on(4, 2).with(&[("PREFILLED", 3), ("POPS", 1)]),
        ]
    });
    cases.map(Case::quick).collect()
}

/// Cases in which each pop can cause one more extraction of a task, but no more.
pub(super) fn more_often_by_pops() -> Vec<Case> {
    let cases = (0..=4).flat_map(|bound| {
        let on = |thieves| Parameters::new(bound, 3, thieves);
        [
            Case::refutes(Claim::NoFault, on(1)).with(&[("POPS", 1), ("MOST", 1)]).quick(),
            Case::holds(on(1)).with(&[("POPS", 1), ("MOST", 2)]).quick(),
            Case::refutes(Claim::NoFault, on(1)).with(&[("POPS", 2), ("MOST", 2)]).quick(),
            Case::holds(on(1)).with(&[("POPS", 2), ("MOST", 3)]).quick(),
            Case::holds(on(2)).with(&[("POPS", 2), ("STEALS", 3), ("MOST", 3)]),
        ]
    });
    cases.collect()
}
