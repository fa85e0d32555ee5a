//! The expected number of tests, the excluded tests, and the results.

use std::fmt::Write as _;

use anyhow::{ensure, Result};

use super::libtest::Tally;
use crate::console::say;

/// Tests of rayon-core that do not run, with the reasons.
pub(super) const LEFT_OUT: [(&str, &str); 4] = [
    ("scope::test::mixed_lifo_order", OTHER_SCOPE),
    ("scope::test::mixed_fifo_order", OTHER_SCOPE),
    ("scope::test::mixed_lifo_fifo_order", OTHER_SCOPE),
    ("scope::test::mixed_fifo_lifo_order", OTHER_SCOPE),
];

const OTHER_SCOPE: &str = "expects the end of an inner scope to run tasks of the outer one; ours runs that scope's own";

// A crate with a growing list of excluded tests is not a replacement.
const _: () = assert!(LEFT_OUT.len() <= 5);

/// A suite of tests, with their expected number.
#[derive(Debug)]
pub(super) struct Suite {
    what: &'static str,
    /// The expected number of passed tests. `None` if it depends on the search effort.
    passed: Option<usize>,
    left_out: usize,
    why: &'static str,
}

const fn suite(what: &'static str, passed: usize, left_out: usize, why: &'static str) -> Suite {
    Suite { what, passed: Some(passed), left_out, why }
}

const ALONE: &str = "run by others in processes of their own";
pub(super) const PARITY_ON_STOCK: Suite = suite("parity, on stock", 26, 4, ALONE);
pub(super) const PARITY_ON_OURS: Suite = suite("parity, on ours", 26, 4, ALONE);
pub(super) const RAYON_UNIT: Suite = suite("rayon, unit tests", 217, 1, "ignored by rayon");
pub(super) const RAYON_TESTS: Suite = suite("rayon, tests/", 115, 0, "");
pub(super) const RAYON_COMPILE_FAIL: Suite =
    suite("rayon, compile_fail", 83, 163, "examples, run by `cargo xtask deep`");
pub(super) const RAYON_EXAMPLES: Suite = suite("rayon, compile_fail and examples", 246, 0, "");
pub(super) const CORE_UNIT: Suite = suite("rayon-core, unit tests", 97, LEFT_OUT.len(), "see below");
pub(super) const CORE_TESTS: Suite = suite("rayon-core, tests/", 9, 2, ALONE);
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
        say!("\n-- {}", self.what);
        let outcome = tests().and_then(|tally| self.check(tally).map(|()| tally));
        if let Err(error) = &outcome {
            say!("-- {} failed: {error:#}", self.what);
        }
        Row { suite: self, outcome }
    }

    fn check(&self, tally: Tally) -> Result<()> {
        ensure!(tally.failed == 0, "{}: {} tests failed", self.what, tally.failed);
        let Some(passed) = self.passed else { return Ok(()) };
        ensure!(
            (tally.passed, tally.left_out()) == (passed, self.left_out),
            "{}: {} tests passed and {} were left out, where {passed} and {} are known; some were not run, or there are \
             others now",
            self.what,
            tally.passed,
            tally.left_out(),
            self.left_out,
        );
        Ok(())
    }
}

/// Returns a line for each suite and for each test that is excluded by name.
pub(super) fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.suite.what.len()).max().unwrap_or(0);
    let mut table = format!("{:width$}  {:>5}  {:>6}  {:>8}\n", "", "run", "passed", "left out");
    for Row { suite, outcome } in rows {
        match outcome {
            Ok(tally) => {
                let (run, left_out) = (tally.passed + tally.failed, tally.left_out());
                write!(table, "{:width$}  {run:>5}  {:>6}  {left_out:>8}", suite.what, tally.passed)
            }
            Err(_) => write!(table, "{:width$}  FAILED", suite.what),
        }
        .expect("a string grows as needed");
        table += if suite.why.is_empty() { "" } else { "  " };
        table += suite.why;
        table += "\n";
    }
    table += "\nLeft out by name:\n";
    for (name, why) in LEFT_OUT {
        writeln!(table, "{name}: {why}").expect("a string grows as needed");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: Suite = suite("some tests", 9, 2, "ignored there");
    const TALLY: Tally = Tally { passed: 9, failed: 0, ignored: 2, filtered: 0 };

    #[test]
    fn a_suite_that_ran_other_than_all_of_its_tests_fails() {
        assert!(SUITE.check(TALLY).is_ok());
        let error = SUITE.check(Tally { passed: 0, filtered: 9, ..TALLY }).unwrap_err().to_string();
        assert!(error.contains("0 tests passed and 11 were left out, where 9 and 2 are known"), "{error}");
        assert!(SUITE.check(Tally { ignored: 0, ..TALLY }).is_err());
        assert!(SUITE.check(Tally { passed: 10, ..TALLY }).is_err());
        assert!(SUITE.check(Tally { failed: 1, ..TALLY }).is_err());
        assert!(WAITS.check(Tally { failed: 1, ..TALLY }).is_err());
        assert!(WAITS.check(TALLY).is_ok());
    }

    #[test]
    fn the_table_has_a_line_for_each_suite_and_for_what_is_left_out() {
        let rows = [
            Row { suite: &SUITE, outcome: Ok(TALLY) },
            Row { suite: &RAYON_TESTS, outcome: Err(anyhow::anyhow!("a sentence")) },
        ];
        let table = table(&rows);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "                 run  passed  left out");
        assert_eq!(lines[1], "some tests         9       9         2  ignored there");
        assert_eq!(lines[2], "rayon, tests/  FAILED");
        assert!(lines[5].starts_with("scope::test::mixed_lifo_order: expects"), "{table}");
        assert_eq!(lines.len(), 5 + LEFT_OUT.len());
    }
}
