//! Nothing, after some work. What counts is the CPU time that this takes.

use std::thread;
use std::time::Duration;

use super::{join, Program};
use crate::clock::timed;

/// How long a pool that has worked may take to fall asleep. What that costs is seen in `tick`.
const SETTLING: Duration = Duration::from_millis(100);
const WATCH: Duration = Duration::from_secs(1);

/// Sleeps for a second.
pub(crate) fn program() -> Program {
    Box::new(|| {
        join::warm_up();
        thread::sleep(SETTLING);
        timed(1, || thread::sleep(WATCH), |()| 0)
    })
}
