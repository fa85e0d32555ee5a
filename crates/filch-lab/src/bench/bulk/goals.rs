//! Performance goals for the bulk queue, beside the measured figures.
//!
//! This is a report: nothing depends on it.

use std::fmt::Write;

use super::cases::{Case, BATCHES, NANOS_A_POP, NANOS_A_PUSH, NANOS_A_STEAL, SHARES};
use super::contenders::{BULK, CHASE_LEV, CROSSBEAM, MUTEX};
use super::dag::{NANOS_A_NODE, SERIAL_PAIR};
use super::operations::Fill;
use crate::figures::{self, Series};
use crate::stats;

/// The largest ratio of push times, a batch of 1,024 to a batch of 1.
const FLAT_PUSHES: f64 = 1.5;
/// The most nanoseconds that a push of a batch of 1,024 may take.
const QUICK_PUSH: f64 = 50.0;
/// The largest ratio of a pop's time to that of the queue for single tasks.
const POP: f64 = 1.5;
/// The largest ratio of steal times, the slowest share to the fastest.
const FLAT_STEALS: f64 = 1.3;
/// The most nanoseconds that a steal may take.
const QUICK_STEAL: f64 = 2_000.0;

/// A figure, its goal, and the cases it comes from.
struct Line {
    goal: String,
    figure: f64,
    /// Ratios round by round, if the figure is a ratio.
    rounds: Vec<f64>,
    /// The largest figure that meets the goal. `None` if there is no goal.
    required: Option<f64>,
    from: String,
}

/// All goals for which there are figures, as text.
pub(crate) fn summary(series: &[Series]) -> String {
    let lines = lines(series);
    if lines.is_empty() {
        return String::new();
    }
    let header = ["goal", "figure", "95 % interval", "required", "", "from"].map(str::to_owned);
    let cells = |line: &Line| {
        let interval = stats::interval(&line.rounds);
        vec![
            line.goal.clone(),
            figures::number(line.figure),
            interval.map_or_else(String::new, |interval| format!("{:.2} to {:.2}", interval.low, interval.high)),
            line.required.map_or_else(String::new, |most| format!("<= {}", figures::number(most))),
            line.required.map_or("", |most| if line.figure <= most { "met" } else { "missed" }).to_owned(),
            line.from.clone(),
        ]
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Goals: figures are medians, and `a / b` is the time of a divided by the time of b. The interval is a 95 % confidence interval of the median of\n\
         the ratios round by round; with fewer than 6 rounds it is their whole range. Of several cases, the worst is shown.\n"
    );
    text.push_str(&figures::grid(&header, &lines.iter().map(cells).collect::<Vec<_>>()));
    text
}

fn lines(series: &[Series]) -> Vec<Line> {
    let find = |case: &str, name: &str, unit: &str, threads: Option<usize>| {
        series.iter().find(|series| {
            series.case == case
                && (series.name, series.unit) == (name, unit)
                && threads.is_none_or(|threads| series.threads == threads)
        })
    };
    let ratio = |a: &Series, b: &Series| (a.median() / b.median(), stats::paired_ratios(&a.samples, &b.samples));
    let mut lines = Vec::new();

    let push = |size: usize| find(&Case::Push(size).to_string(), BULK, NANOS_A_PUSH, None);
    let [one, .., largest] = BATCHES;
    if let (Some(one), Some(largest)) = (push(one), push(largest)) {
        let (figure, rounds) = ratio(largest, one);
        let from = format!("{} / {}", largest.case, one.case);
        lines.push(Line { goal: "pushes are flat".to_owned(), figure, rounds, required: Some(FLAT_PUSHES), from });
    }
    if let Some(largest) = push(largest) {
        let goal = "a large push, ns".to_owned();
        let from = largest.case.clone();
        lines.push(Line { goal, figure: largest.median(), rounds: Vec::new(), required: Some(QUICK_PUSH), from });
    }

    let pops = Fill::ALL.into_iter().filter_map(|fill| {
        let case = Case::Pop(fill).to_string();
        let (figure, rounds) = ratio(find(&case, BULK, NANOS_A_POP, None)?, find(&case, CHASE_LEV, NANOS_A_POP, None)?);
        let from = format!("{case}, {BULK} / {CHASE_LEV}");
        Some(Line { goal: "pops".to_owned(), figure, rounds, required: Some(POP), from })
    });
    lines.extend(worst(pops));

    for busy in [false, true] {
        let of_fill = |fill: Fill| -> Vec<&Series> {
            let case = |percent| Case::Steal { percent, fill, busy }.to_string();
            SHARES.iter().filter_map(|&percent| find(&case(percent), BULK, NANOS_A_STEAL, None)).collect()
        };
        let owner = if busy { "owner busy" } else { "owner idle" };
        let flat = Fill::ALL.into_iter().filter_map(|fill| {
            let mut steals = of_fill(fill);
            steals.sort_by(|a, b| a.median().total_cmp(&b.median()));
            let [fastest, .., slowest] = steals[..] else { return None };
            let (figure, rounds) = ratio(slowest, fastest);
            let from = format!("{} / {}", slowest.case, fastest.case);
            Some(Line { goal: format!("steals are flat, {owner}"), figure, rounds, required: Some(FLAT_STEALS), from })
        });
        lines.extend(worst(flat));
        let quick = Fill::ALL.into_iter().flat_map(of_fill).map(|steal| Line {
            goal: format!("a steal, ns, {owner}"),
            figure: steal.median(),
            rounds: Vec::new(),
            required: Some(QUICK_STEAL),
            from: steal.case.clone(),
        });
        lines.extend(worst(quick));
    }

    let cases = |other: &str| -> Vec<&Series> {
        series.iter().filter(|series| (series.name, series.unit, series.threads) == (other, NANOS_A_NODE, 2)).collect()
    };
    for other in [CROSSBEAM, MUTEX, SERIAL_PAIR] {
        let ratios = cases(other).into_iter().filter_map(|peer| {
            let (figure, rounds) = ratio(find(&peer.case, BULK, NANOS_A_NODE, Some(2))?, peer);
            let from = format!("{}, {BULK} / {other}, 2 threads", peer.case);
            Some(Line { goal: "graphs".to_owned(), figure, rounds, required: None, from })
        });
        lines.extend(worst(ratios));
    }
    lines
}

fn worst(lines: impl Iterator<Item = Line>) -> Option<Line> {
    lines.max_by(|a, b| a.figure.total_cmp(&b.figure))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(case: &str, name: &'static str, unit: &'static str, samples: &[f64]) -> Series {
        Series { case: case.to_owned(), name, threads: 1, unit, samples: samples.to_vec(), note: None }
    }

    #[test]
    fn a_goal_is_met_or_missed_by_medians() {
        let text = summary(&[
            series("push/1", BULK, NANOS_A_PUSH, &[10.0, 10.0, 90.0]),
            series("push/1024", BULK, NANOS_A_PUSH, &[16.0, 16.0, 16.0]),
        ]);
        let line = |start: &str| text.lines().find(|line| line.trim().starts_with(start)).unwrap().to_owned();
        assert!(line("pushes are flat").contains("missed"), "{text}");
        assert!(line("pushes are flat").contains("push/1024 / push/1"), "{text}");
        assert!(line("a large push, ns").contains("met"), "{text}");
    }

    #[test]
    fn shares_are_compared_within_one_fill_and_the_worst_is_shown() {
        let steal = |case: &str, nanos: f64| series(case, BULK, NANOS_A_STEAL, &[nanos]);
        let lines = lines(&[
            steal("steal/10%", 500.0),
            steal("steal/60%", 550.0),
            steal("steal/10%/singles", 1_000.0),
            steal("steal/30%/singles", 1_500.0),
            steal("steal/60%/singles/busy", 2_500.0),
        ]);
        let shown: Vec<_> = lines.iter().map(|line| (&*line.goal, line.figure, &*line.from)).collect();
        assert_eq!(
            shown,
            [
                ("steals are flat, owner idle", 1.5, "steal/30%/singles / steal/10%/singles"),
                ("a steal, ns, owner idle", 1_500.0, "steal/30%/singles"),
                ("a steal, ns, owner busy", 2_500.0, "steal/60%/singles/busy"),
            ]
        );
    }

    #[test]
    fn a_pop_is_compared_with_that_of_the_queue_for_single_tasks() {
        let lines = lines(&[
            series("pop/singles", BULK, NANOS_A_POP, &[6.0]),
            series("pop/singles", CHASE_LEV, NANOS_A_POP, &[5.0]),
            series("pop", BULK, NANOS_A_POP, &[60.0]),
        ]);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].figure, 1.2);
    }

    #[test]
    fn without_figures_the_summary_is_empty() {
        assert!(summary(&[]).is_empty());
    }
}
