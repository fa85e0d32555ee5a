//! An idle pool after some work. The measured figure is its CPU time.

use std::thread;
use std::time::Duration;

use super::{join, Program};
use crate::clock::timed;

/// The time that a pool has to fall asleep after work.
///
/// The program `tick` shows the cost of falling asleep.
const SETTLING: Duration = Duration::from_millis(100);
const WATCH: Duration = Duration::from_secs(1);

/// A program that sleeps for a second.
pub(crate) fn program() -> Program {
    Box::new(|| {
        join::warm_up();
        thread::sleep(SETTLING);
        timed(1, || thread::sleep(WATCH), |()| 0)
    })
}
