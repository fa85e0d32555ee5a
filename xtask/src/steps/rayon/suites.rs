//! The expected number of tests, the excluded tests, and the results.

use std::fmt::Write as _;

use anyhow::{ensure, Result};

use super::libtest::Tally;
use crate::output::print_line;

/// Tests of rayon-core that do not run, with the reasons.
pub(super) const EXCLUDED: [(&str, &str); 4] = [
    ("scope::test::mixed_lifo_order", OUTER_SCOPE),
    ("scope::test::mixed_fifo_order", OUTER_SCOPE),
    ("scope::test::mixed_lifo_fifo_order", OUTER_SCOPE),
    ("scope::test::mixed_fifo_lifo_order", OUTER_SCOPE),
];

const OUTER_SCOPE: &str =
    "expects the end of an inner scope to run tasks of the outer one; filch runs only tasks of the inner scope";

// A crate with a growing list of excluded tests is not a replacement.
const _: () = assert!(EXCLUDED.len() <= 5);

/// A suite of tests, with their expected number.
#[derive(Debug)]
pub(super) struct Suite {
    name: &'static str,
    /// The expected number of passed tests. `None` if it depends on the search effort.
    passed: Option<usize>,
    not_run: usize,
    /// Why some tests do not run.
    reason: &'static str,
}

const fn suite(name: &'static str, passed: usize, not_run: usize, reason: &'static str) -> Suite {
    Suite { name, passed: Some(passed), not_run, reason }
}

const OWN_PROCESS: &str = "run by other tests in separate processes";
pub(super) const PARITY_ON_STOCK: Suite = suite("parity, on stock", 26, 4, OWN_PROCESS);
pub(super) const PARITY_ON_FILCH: Suite = suite("parity, on filch", 26, 4, OWN_PROCESS);
pub(super) const RAYON_UNIT: Suite = suite("rayon, unit tests", 217, 1, "ignored by rayon");
pub(super) const RAYON_TESTS: Suite = suite("rayon, tests/", 115, 0, "");
pub(super) const RAYON_COMPILE_FAIL: Suite =
    suite("rayon, compile_fail", 83, 163, "examples: run by `cargo xtask deep`");
pub(super) const RAYON_EXAMPLES: Suite = suite("rayon, compile_fail and examples", 246, 0, "");
pub(super) const CORE_UNIT: Suite = suite("rayon-core, unit tests", 97, EXCLUDED.len(), "see below");
pub(super) const CORE_TESTS: Suite = suite("rayon-core, tests/", 9, 2, OWN_PROCESS);
pub(super) const CORE_COMPILE_FAIL: Suite = suite("rayon-core, compile_fail and a control", 8, 0, "");
pub(super) const WAITS: Suite = Suite { passed: None, ..suite("waits, on 1, 2 and 8 workers", 0, 0, "") };

/// The result of a suite.
#[derive(Debug)]
pub(super) struct Row {
    suite: &'static Suite,
    pub(super) outcome: Result<Tally>,
}

impl Suite {
    /// Runs the suite by `tests`, and checks the numbers.
    pub(super) fn run(&'static self, tests: impl FnOnce() -> Result<Tally>) -> Row {
        print_line!("\n-- {}", self.name);
        let outcome = tests().and_then(|tally| self.check(tally).map(|()| tally));
        if let Err(error) = &outcome {
            print_line!("-- {} failed: {error:#}", self.name);
        }
        Row { suite: self, outcome }
    }

    fn check(&self, tally: Tally) -> Result<()> {
        ensure!(tally.failed == 0, "{}: {} tests failed", self.name, tally.failed);
        let Some(passed) = self.passed else { return Ok(()) };
        ensure!(
            (tally.passed, tally.not_run()) == (passed, self.not_run),
            "{}: {} tests passed and {} did not run, but {passed} and {} are expected; either some tests were skipped, or \
             the suite has changed",
            self.name,
            tally.passed,
            tally.not_run(),
            self.not_run,
        );
        Ok(())
    }
}

/// Returns a line for each suite and for each test that is excluded by name.
pub(super) fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.suite.name.len()).max().unwrap_or(0);
    let mut table = format!("{:width$}  {:>5}  {:>6}  {:>8}\n", "", "run", "passed", "not run");
    for Row { suite, outcome } in rows {
        match outcome {
            Ok(tally) => {
                let (run, not_run) = (tally.passed + tally.failed, tally.not_run());
                write!(table, "{:width$}  {run:>5}  {:>6}  {not_run:>8}", suite.name, tally.passed)
            }
            Err(_) => write!(table, "{:width$}  FAILED", suite.name),
        }
        .expect("writing to a string cannot fail");
        table += if suite.reason.is_empty() { "" } else { "  " };
        table += suite.reason;
        table += "\n";
    }
    table += "\nExcluded by name:\n";
    for (name, reason) in EXCLUDED {
        writeln!(table, "{name}: {reason}").expect("writing to a string cannot fail");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: Suite = suite("some tests", 9, 2, "ignored there");
    const TALLY: Tally = Tally { passed: 9, failed: 0, ignored: 2, filtered: 0 };

    #[test]
    fn a_suite_with_an_unexpected_number_of_tests_fails() {
        assert!(SUITE.check(TALLY).is_ok());
        let error = SUITE.check(Tally { passed: 0, filtered: 9, ..TALLY }).unwrap_err().to_string();
        assert!(error.contains("0 tests passed and 11 did not run, but 9 and 2 are expected"), "{error}");
        assert!(SUITE.check(Tally { ignored: 0, ..TALLY }).is_err());
        assert!(SUITE.check(Tally { passed: 10, ..TALLY }).is_err());
        assert!(SUITE.check(Tally { failed: 1, ..TALLY }).is_err());
        assert!(WAITS.check(Tally { failed: 1, ..TALLY }).is_err());
        assert!(WAITS.check(TALLY).is_ok());
    }

    #[test]
    fn the_table_has_a_line_for_each_suite_and_each_excluded_test() {
        let rows = [
            Row { suite: &SUITE, outcome: Ok(TALLY) },
            Row { suite: &RAYON_TESTS, outcome: Err(anyhow::anyhow!("a message")) },
        ];
        let table = table(&rows);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "                 run  passed   not run");
        assert_eq!(lines[1], "some tests         9       9         2  ignored there");
        assert_eq!(lines[2], "rayon, tests/  FAILED");
        assert!(lines[5].starts_with("scope::test::mixed_lifo_order: expects"), "{table}");
        assert_eq!(lines.len(), 5 + EXCLUDED.len());
    }
}
