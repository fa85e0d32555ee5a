//! Parses the output of a test program.

use std::collections::BTreeSet;
use std::ops::AddAssign;

/// The number of tests, by their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) ignored: usize,
    pub(super) filtered: usize,
}

impl Tally {
    /// The sum of all result lines in `output`, or `None` if there is none.
    pub(super) fn parse(output: &str) -> Option<Self> {
        let mut lines = output.lines().filter_map(Self::parse_line);
        let mut sum = lines.next()?;
        lines.for_each(|line| sum += line);
        Some(sum)
    }

    /// Parses `test result: ok. 9 passed; 0 failed; 2 ignored; 0 measured; 4 filtered out; finished
    /// in 0.10s`.
    fn parse_line(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let count = |result: &str| counts.split("; ").find_map(|count| count.strip_suffix(result)?.trim().parse().ok());
        Some(Self {
            passed: count("passed")?,
            failed: count("failed")?,
            ignored: count("ignored")?,
            filtered: count("filtered out")?,
        })
    }

    /// The number of tests that were not run.
    pub(super) fn not_run(self) -> usize {
        self.ignored + self.filtered
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.filtered += other.filtered;
    }
}

/// The names that `--list --format terse` prints.
pub(super) fn test_names(list: &str) -> BTreeSet<&str> {
    list.lines().filter_map(|line| line.strip_suffix(": test")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 3 tests
test a ... ok
test result: of nothing
test result: ok. 217 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 13.86s

   Doc-tests rayon
test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 40 filtered out; finished in 0.00s
";

    #[test]
    fn result_lines_are_added_up() {
        let sum = Tally { passed: 219, failed: 3, ignored: 1, filtered: 40 };
        assert_eq!(Tally::parse(OUTPUT), Some(sum));
    }

    #[test]
    fn output_without_a_valid_result_line_has_no_tally() {
        assert_eq!(Tally::parse(""), None);
        assert_eq!(Tally::parse("running 3 tests\ntest a ... ok\n"), None);
        assert_eq!(Tally::parse("test result: ok. many passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"), None);
    }

    #[test]
    fn only_tests_are_listed() {
        let list = "scope::test::scope_two: test\njoin::test::sort: test\nsome: benchmark\n\n2 tests, 1 benchmark\n";
        assert_eq!(test_names(list), BTreeSet::from(["join::test::sort", "scope::test::scope_two"]));
    }
}
