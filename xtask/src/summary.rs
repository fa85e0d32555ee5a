//! The results of the steps. Each step has a line with its time, and a closing line has the counts.

use std::fmt::Write as _;
use std::time::Duration;

/// The verdict on a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The step ran and found no fault.
    Passed,
    /// The step ran and failed. The text says why, and how to repeat it.
    Failed(String),
    /// The step could not run here. The sentence says what is missing and how to get it.
    Skipped(String),
    /// An earlier step failed.
    NotReached,
}

/// The name, verdict and time of a step.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) step: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
}

/// Returns a table of all steps with their times, and the total time. The total is less than the
/// sum if steps ran in parallel.
pub(crate) fn table(reports: &[Report], total: Duration) -> String {
    let width = reports.iter().map(|r| r.step.len()).max().unwrap_or(0).max("total".len());
    let mut table = String::new();
    for report in reports {
        let time = if report.verdict == Verdict::NotReached { String::new() } else { clock(report.took) };
        let verdict = match &report.verdict {
            Verdict::Passed => "passed".to_owned(),
            Verdict::Failed(_) => "FAILED".to_owned(),
            Verdict::Skipped(why) => format!("skipped: {why}"),
            Verdict::NotReached => "skipped: a step before it failed".to_owned(),
        };
        writeln!(table, "{:width$}  {time:>12}  {verdict}", report.step).expect("a string grows as needed");
    }
    writeln!(table, "{:width$}  {:>12}", "total", clock(total)).expect("a string grows as needed");
    table
}

/// Returns `N passed, M failed, K skipped`, counting steps.
pub(crate) fn closing_line(reports: &[Report]) -> String {
    let count = |wanted: fn(&Verdict) -> bool| reports.iter().filter(|r| wanted(&r.verdict)).count();
    format!(
        "{} passed, {} failed, {} skipped",
        count(|v| *v == Verdict::Passed),
        count(|v| matches!(v, Verdict::Failed(_))),
        count(|v| matches!(v, Verdict::Skipped(_) | Verdict::NotReached)),
    )
}

/// Formats a duration for readers.
pub(crate) fn clock(took: Duration) -> String {
    let tenths = (took.as_millis() + 50) / 100;
    match tenths / 600 {
        0 => format!("{}.{} s", tenths / 10, tenths % 10),
        minutes => format!("{minutes} min {:02} s", tenths % 600 / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(step: &'static str, verdict: Verdict, millis: u64) -> Report {
        Report { step, verdict, took: Duration::from_millis(millis) }
    }

    #[test]
    fn the_closing_line_counts_every_step_once() {
        let reports = [
            report("fmt", Verdict::Passed, 1),
            report("unit", Verdict::Passed, 1),
            report("tsan", Verdict::Skipped("no nightly".into()), 0),
            report("asm", Verdict::Failed("a sentence".into()), 1),
            report("bench-smoke", Verdict::NotReached, 0),
        ];
        assert_eq!(closing_line(&reports), "2 passed, 1 failed, 2 skipped");
        assert_eq!(closing_line(&[]), "0 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn the_table_gives_each_step_its_time_and_says_why_one_was_left_out() {
        let reports = [
            report("fmt", Verdict::Passed, 1_240),
            report("tsan", Verdict::Skipped("no nightly".into()), 0),
            report("bench-smoke", Verdict::NotReached, 0),
        ];
        let expected = "\
fmt                 1.2 s  passed
tsan                0.0 s  skipped: no nightly
bench-smoke                skipped: a step before it failed
total               1.3 s
";
        assert_eq!(table(&reports, Duration::from_millis(1_310)), expected);
    }

    #[test]
    fn times_read_as_people_say_them() {
        assert_eq!(clock(Duration::from_millis(0)), "0.0 s");
        assert_eq!(clock(Duration::from_millis(59_940)), "59.9 s");
        assert_eq!(clock(Duration::from_millis(59_960)), "1 min 00 s");
        assert_eq!(clock(Duration::from_secs(125)), "2 min 05 s");
    }
}
