//! Repeats tests that hang if a pool does not take work in time. They run with few and with many
//! workers.

use std::time::Duration;

use anyhow::{ensure, Context as _, Result};

use super::libtest::Tally;
use super::programs::Programs;
use super::workspace::{CORE_TESTS, PARITY};
use crate::output::print_line;
use crate::steps::{Context, Effort};

/// Tests of rayon-core in which closures, pools or scopes wait for one another.
pub(super) const NAMES: [&str; 7] = [
    "broadcast::test::broadcast_mutual",
    "join::test::join_context_second",
    "scope::test::scope_spawn_broadcast_barrier",
    "thread_pool::test::in_place_scope_fifo_no_deadlock",
    "thread_pool::test::in_place_scope_no_deadlock",
    "thread_pool::test::mutual_install",
    "thread_pool::test::self_install",
];

/// The number of tests in `xtask/rayon/barriers.rs`.
const BARRIERS: usize = 5;

/// The numbers of workers of the global pool.
const THREADS: [&str; 3] = ["1", "2", "8"];

/// The time limit of a repetition. A repetition takes milliseconds, so a test that takes this long
/// hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs these tests, each repetition in its own process.
pub(super) fn run(context: &Context, programs: &Programs<'_>) -> Result<Tally> {
    let repetitions = match context.effort {
        Effort::Quick | Effort::Usual => 100,
        Effort::Deep { .. } => 2000,
    };
    let mut sum = Tally::default();
    for threads in THREADS {
        let unit = programs.find(CORE_TESTS, "rayon_core_tests")?.arg("--exact");
        let named = NAMES.iter().fold(unit, |command, name| command.arg(name));
        let barriers = programs.find(PARITY, "barriers")?;
        for (command, tests) in [(named, NAMES.len()), (barriers, BARRIERS)] {
            let command = command.env("RAYON_NUM_THREADS", threads);
            print_line!("{repetitions} times $ {command}");
            for repetition in 1..=repetitions {
                let output = command.capture_with_timeout(TIMEOUT, &programs.log("waits")).with_context(|| {
                    format!(
                        "tests that wait for one another, with RAYON_NUM_THREADS={threads}, in repetition {repetition}"
                    )
                })?;
                let tally = Tally::parse(&output).unwrap_or_default();
                ensure!(tally.passed == tests, "`{command}` passed {} tests, but {tests} are expected", tally.passed);
                sum += Tally { passed: tally.passed, ..Tally::default() };
            }
        }
    }
    Ok(sum)
}
