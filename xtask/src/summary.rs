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
        let time = if report.verdict == Verdict::NotReached { String::new() } else { format_duration(report.took) };
        let verdict = match &report.verdict {
            Verdict::Passed => "passed".to_owned(),
            Verdict::Failed(_) => "FAILED".to_owned(),
            Verdict::Skipped(reason) => format!("skipped: {reason}"),
            Verdict::NotReached => "skipped: an earlier step failed".to_owned(),
        };
        writeln!(table, "{:width$}  {time:>12}  {verdict}", report.step).expect("writing to a string cannot fail");
    }
    writeln!(table, "{:width$}  {:>12}", "total", format_duration(total)).expect("writing to a string cannot fail");
    table
}

/// Returns `N passed, M failed, K skipped`, counting steps.
pub(crate) fn totals(reports: &[Report]) -> String {
    let count = |select: fn(&Verdict) -> bool| reports.iter().filter(|r| select(&r.verdict)).count();
    format!(
        "{} passed, {} failed, {} skipped",
        count(|v| *v == Verdict::Passed),
        count(|v| matches!(v, Verdict::Failed(_))),
        count(|v| matches!(v, Verdict::Skipped(_) | Verdict::NotReached)),
    )
}

/// Formats a duration for readers.
pub(crate) fn format_duration(took: Duration) -> String {
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
    fn the_totals_count_every_step_once() {
        let reports = [
            report("fmt", Verdict::Passed, 1),
            report("unit", Verdict::Passed, 1),
            report("tsan", Verdict::Skipped("no nightly".into()), 0),
            report("asm", Verdict::Failed("a reason".into()), 1),
            report("bench-smoke", Verdict::NotReached, 0),
        ];
        assert_eq!(totals(&reports), "2 passed, 1 failed, 2 skipped");
        assert_eq!(totals(&[]), "0 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn the_table_has_the_time_of_each_step_and_why_one_was_skipped() {
        let reports = [
            report("fmt", Verdict::Passed, 1_240),
            report("tsan", Verdict::Skipped("no nightly".into()), 0),
            report("bench-smoke", Verdict::NotReached, 0),
        ];
        let expected = "\
fmt                 1.2 s  passed
tsan                0.0 s  skipped: no nightly
bench-smoke                skipped: an earlier step failed
total               1.3 s
";
        assert_eq!(table(&reports, Duration::from_millis(1_310)), expected);
    }

    #[test]
    fn durations_are_in_seconds_or_minutes() {
        assert_eq!(format_duration(Duration::from_millis(0)), "0.0 s");
        assert_eq!(format_duration(Duration::from_millis(59_940)), "59.9 s");
        assert_eq!(format_duration(Duration::from_millis(59_960)), "1 min 00 s");
        assert_eq!(format_duration(Duration::from_secs(125)), "2 min 05 s");
    }
}
