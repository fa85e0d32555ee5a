//! The delta that a fence-free queue needs, found by search and not by calculation.
//!
//! In section 4 of *Fence-Free Work Stealing on Bounded TSO Processors*, delta is the number of
//! pops that a store buffer of S entries can hide. It is ceil(S / (x + 1)) for an owner that makes
//! x stores between two pops. With the egress slot of section 7.3 the bound is S + 1. With no store
//! in between, nothing bounds the number of pops that coalesce in the slot. [`formula`] computes
//! this delta; [`least`] searches for it.
//!
//! It makes no difference whether the pop or its client makes the stores in between, as long as the
//! pop makes one right after the store to the tail (`ff_the/client-stores` and its like).
//!
//! The searched program has a full queue, an owner that pops until it is empty, and a thief that
//! steals twice. The queue must start with enough tasks. A delta equal to the number of tasks
//! prevents every steal, and a delta of one less prevents the second steal. But FF-CL's owner
//! settles the last task by CAS, so nothing goes wrong before a second steal. So a delta counts
//! only if it leaves two tasks to steal. With [`enough_tasks`], the expected delta and the delta
//! below it both do.

use std::ops::RangeInclusive;

use crate::language::SyntaxError;
use crate::machine::{Buffer, Coalescing};
use crate::models::{Case, Model, Parameters};
use crate::search;

/// The models whose thieves allow for hidden pops, with their fewest extra stores. Every pop of
/// THEP makes one extra store of its own, the echo.
pub const MODELS: [(&str, i16); 3] = [("ff_the", 0), ("ff_cl", 0), ("thep", 1)];

/// A line of the table of deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The store buffers.
    pub buffer: Buffer,
    /// The number of stores to other cache lines that the owner makes between two pops.
    pub extra: i16,
    /// The number of tasks at the start.
    pub tasks: i16,
    /// The least safe delta.
    pub least: Option<i16>,
}

/// Returns the least delta with which every claim of a model holds. Considers only deltas that
/// leave two tasks to steal. Returns `None` if no such delta is safe.
///
/// # Errors
///
/// If the model is too large with this many tasks, or with this store buffer.
pub fn least(model: &Model, buffer: Buffer, extra: i16, tasks: i16) -> Result<Option<i16>, SyntaxError> {
    for delta in 0..=tasks - 2 {
        if is_safe(model, buffer, extra, tasks, delta)? {
            return Ok(Some(delta));
        }
    }
    Ok(None)
}

/// Returns whether every claim of a model holds with a delta.
///
/// # Errors
///
/// The same as for [`least`].
pub fn is_safe(model: &Model, buffer: Buffer, extra: i16, tasks: i16, delta: i16) -> Result<bool, SyntaxError> {
    let (bound, egress) = (buffer.capacity() as u8, buffer.egress());
    let parameters = Parameters { bound, egress, tasks, thieves: 1, delta, extra };
    let machine = model.machine(&Case::holds(parameters))?;
    Ok(search::run(&machine, model.effort(1), &mut |_| {}).holds())
}

/// The paper's formula: the number of pops that such a store buffer can hide.
pub fn formula(buffer: Buffer, extra: i16) -> Option<i16> {
    let bound = buffer.capacity() as i16 + i16::from(buffer.egress().is_some());
    match (buffer, extra) {
        (Buffer::None, _) => Some(0),
        (Buffer::Egress(..), 0) => None,
        _ => Some((bound + extra) / (extra + 1)),
    }
}

/// Returns enough tasks that the expected delta leaves two to steal. Returns a small number if no
/// delta is expected.
pub fn enough_tasks(buffer: Buffer, extra: i16) -> i16 {
    formula(buffer, extra).unwrap_or(4) + 2
}

/// Returns the whole table of a model. The lines are bounds from 1 on, first without an egress
/// slot, then with it.
///
/// # Errors
///
/// The same as for [`least`].
pub fn table(
    model: &Model,
    most: u8,
    extra: RangeInclusive<i16>,
) -> impl Iterator<Item = Result<Entry, SyntaxError>> + '_ {
    let alone = (1..=most).map(Buffer::Bounded);
    let buffers = alone.chain((1..=most).map(|bound| Buffer::Egress(bound, Coalescing::Word)));
    buffers.flat_map(move |buffer| {
        extra.clone().map(move |extra| {
            let tasks = enough_tasks(buffer, extra);
            Ok(Entry { buffer, extra, tasks, least: least(model, buffer, extra, tasks)? })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::named;

    fn check_search_against_formula(most: u8, most_extra: i16) {
        for (name, fewest) in MODELS {
            for entry in table(&named(name).unwrap(), most, fewest..=most_extra) {
                let entry = entry.unwrap();
                println!("{name}: {}, {} extra: {:?}", entry.buffer, entry.extra, entry.least);
                assert_eq!(entry.least, formula(entry.buffer, entry.extra), "{name}: {entry:?}");
            }
        }
    }

    #[test]
    fn the_least_safe_delta_is_the_bound_divided_by_the_stores_of_a_pop_rounded_up() {
        check_search_against_formula(3, 2);
    }

    #[test]
    #[ignore = "half a minute; `cargo xtask deep` runs it"]
    fn the_least_safe_delta_of_larger_buffers_is_the_same_formula() {
        check_search_against_formula(8, 4);
    }

    #[test]
    fn more_tasks_do_not_change_the_least_safe_delta_and_larger_deltas_are_safe() {
        for (name, fewest) in MODELS {
            let model = named(name).unwrap();
            for (buffer, extra) in
                [(Buffer::Bounded(3), 1), (Buffer::Egress(2, Coalescing::Word), 1), (Buffer::Bounded(2), fewest)]
            {
                let tasks = enough_tasks(buffer, extra) + 2;
                let found = least(&model, buffer, extra, tasks).unwrap();
                assert_eq!(found, formula(buffer, extra.max(fewest)), "{name}");
                for delta in found.unwrap()..=tasks {
                    assert!(is_safe(&model, buffer, extra, tasks, delta).unwrap(), "{name}: {delta}");
                }
            }
        }
    }

    #[test]
    fn with_coalescing_and_no_store_between_pops_no_delta_is_safe() {
        for name in ["ff_the", "ff_cl"] {
            for tasks in 2..=6 {
                let buffer = Buffer::Egress(1, Coalescing::Word);
                assert_eq!(least(&named(name).unwrap(), buffer, 0, tasks).unwrap(), None, "{name}: {tasks}");
            }
        }
    }

    #[test]
    fn on_a_machine_without_store_buffers_no_pop_is_hidden() {
        for (name, _) in MODELS {
            assert_eq!(least(&named(name).unwrap(), Buffer::None, 1, 3).unwrap(), Some(0), "{name}");
        }
    }
}
