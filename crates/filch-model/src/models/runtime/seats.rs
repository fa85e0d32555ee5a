//! Callers from outside a pool that take the seat of a sleeping worker. The text is `seats.tso`,
//! which mirrors `crates/filch/src/sleep/mod.rs` and its callers.
//!
//! Claimed: a seat has one occupant, no worker and no guest sleeps forever while there is work for
//! it, every fair run ends, and at the end all counters are 0.
//!
//! `sleep.tso` and `waiters.tso` have the protocol without guests, and the rules it depends on.
//! Guests add the following rules. For each, a run goes wrong without it:
//!
//! | rule | without it |
//! |---|---|
//! | Callers take vacant seats only, not the seat of an owner that still searches | two occupants |
//! | Callers do not take the seat of an owner that sleeps in a wait | two occupants |
//! | An owner that is called while its seat is taken continues to sleep | two occupants |
//! | A waker retries if the word changed from `Resting` to `Vacant`, or back | an injected call waits forever |
//! | A waker unparks the parker that the word names | a guest keeps sleeping although there is work that only it may take |
//! | A call also unparks the parker that the word names | a guest keeps sleeping although its wait is over |
//! | A waiter checks again after it has written its word | a guest keeps sleeping although its wait is over, because calls skip occupants that are awake |
//! | Mail is in the inbox before its seat is called | the call skips a guest, which sees no mail |
//! | A fork whose sleeper was taken by a caller looks for another sleeper | the job waits for the end of that call, while another worker sleeps |
//! | A returned seat is counted before its word is written | its waker takes it out of the count before it is in |
//! | The guest checks the queues, its mail and the stacks after its word is written | the owner keeps sleeping although there is work |
//! | It reads the counters after its word is written | a second guest forks and has seen no sleeper |
//! | It compares the number of seats at the bottom, not of all sleepers, with the number of seats | the jobs below a worker that sleeps in a wait are not seen |
//! | It raises the alarm of the other workers | a fork checks no seat |
//! | It makes a fence before it checks the stacks | the alarm waits in the store buffer |
//! | It wakes the owner for a barrier unless the owner has promised one | a fork waits in the store buffer |
//! | The owner ends its promise before it reads its word | the guest trusts a promise that is over |
//! | A guest begins as a worker does | its first fork checks no seat |
//! | The last searcher checks if a waiter sleeps, guests included | a guest keeps sleeping although there is work that only it may take |
//! | A guest in a wait runs the parts of broadcasts that its wait needs | the wait never ends |
//! | If one of these parts was sent from inside a pool, it also runs all other parts | two guests that broadcast wait for each other |
//!
//! Not needed for these claims:
//!
//! - Look 1 of the text, which hands the seat over to its owner. It keeps callers from overtaking
//!   queued jobs.
//! - Calls skip occupants that are awake. That saves system calls.
//! - The fence of a call, on these machines: a locked instruction publishes the reason for the
//!   call. The C11 model needs the fence.
//! - `Waking` between a wait and `Awake`. Without it, a waiter may be counted for a moment too
//!   long.
//! - A wake-up of another worker if look 2 cannot wake the owner. The code does not do this. Then
//!   the owner is awake and searches itself, or the seat has a new guest, which checks when it
//!   returns the seat.

mod calls;
mod forks;
mod waits;

use super::{of_sleep, Settings};
use crate::models::{Case, Model, Parameters};
use crate::search::Claim;

const TEXT: &str = include_str!("seats.tso");

/// The owners sleep at the start.
const ASLEEP: Settings = &[("ASLEEP", 1)];

pub(in crate::models) fn models() -> Vec<Model> {
    [calls::calls(), calls::mail(), waits::waits(), waits::broadcasts(), forks::forks(), forks::takers()].concat()
}

/// A case with this many workers that own a seat.
fn holds(bound: u8, owners: i16) -> Case {
    Case::holds(Parameters::new(bound, 1, owners))
}

fn refutes(claim: Claim, bound: u8, owners: i16) -> Case {
    Case::refutes(claim, Parameters::new(bound, 1, owners)).quick()
}

/// Cases that get stuck on machines with and without store buffers.
fn stuck(owners: i16) -> Vec<Case> {
    vec![refutes(Claim::NeverStuck, 0, owners), refutes(Claim::NeverStuck, 1, owners)]
}

fn faulty(owners: i16) -> Vec<Case> {
    vec![refutes(Claim::NoFault, 0, owners), refutes(Claim::NoFault, 1, owners)]
}

/// Cases that get stuck only with a store buffer.
fn stuck_by_buffers(bound: u8, owners: i16) -> Vec<Case> {
    vec![holds(0, owners).quick(), refutes(Claim::NeverStuck, bound, owners)]
}

fn form(name: &'static str, about: &'static str, form: Settings) -> Model {
    of_sleep(TEXT, name, about, form)
}

#[cfg(test)]
mod tests {
    use super::{form, holds, models, Settings};
    use crate::models::{confirm, Model};

    #[test]
    fn a_seat_has_one_occupant_and_loses_no_wake_up_and_every_rule_is_needed() {
        confirm(&models());
    }

    /// Each of these has 5 to 25 million states.
    #[test]
    #[ignore = "four minutes; `cargo xtask deep` runs it"]
    fn the_same_holds_with_more_calls_and_more_seats() {
        const LARGER: [(i16, Settings); 7] = [
            (2, &[("JOINS", 1), ("CALLERS", 2), ("LAST_TRIED", 2), ("ASLEEP", 1)]),
            (2, &[("MEETS", 1), ("CALLERS", 2), ("LAST_TRIED", 2), ("ASLEEP", 1), ("INJECTS", 1), ("BEFORE", 1)]),
            (2, &[("FORKERS", 3), ("ASLEEP", 1)]),
            (1, &[("FORKERS", 3), ("CALLERS", 2)]),
            (1, &[("FORKERS", 1), ("CALLERS", 2), ("AFTER_CALL", 1), ("BEFORE", 1)]),
            (1, &[("FORKERS", 1), ("CALLERS", 2), ("AWAITS", 1), ("ASLEEP", 1), ("WAITERS", 1), ("WAITER_ASLEEP", 1)]),
            (
                1,
                &[
                    ("FORKERS", 1),
                    ("ASLEEP", 1),
                    ("MAILS", 1),
                    ("MAIL_BLOCKS", 1),
                    ("WAITERS", 1),
                    ("WAITER_ASLEEP", 1),
                ],
            ),
        ];
        let case = |(owners, settings)| holds(1, owners).with(settings).quick();
        confirm(&[Model { ends: false, cases: LARGER.map(case).to_vec(), ..form("seats", "larger", &[]) }]);
    }
}
