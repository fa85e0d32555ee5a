//! Performance goals for the solver, beside the measured figures.
//!
//! This is a report: nothing depends on it.

use super::{DDO, FILCH, MILLISECONDS, NODES, NODES_A_SECOND, PEAK_MEGABYTES, TWO_SERIAL};
use crate::figures::{self, Series};
use crate::stats;

/// The least speed ratio to the peer for independent sets, on two threads.
const MISP: f64 = 2.0;
/// The least speed ratio to the peer for knapsacks.
const KNAPSACK: f64 = 1.0;
/// The least share of the throughput of two serial runs that two threads reach.
const SPEED_UP: f64 = 0.9;

/// A ratio in a case and the requirement.
struct Goal<'a> {
    text: &'static str,
    over: (&'static str, &'a str),
    under: (&'static str, &'a str),
    /// The smallest ratio that meets the goal. `None` if there is no goal.
    required: Option<f64>,
}

fn goals(case: &str, threads: usize) -> Vec<Goal<'static>> {
    let time =
        |text, over, under, required| Goal { text, over: (over, MILLISECONDS), under: (under, MILLISECONDS), required };
    let against_ddo = match case.split('/').next() {
        Some("misp") if threads == 2 => Some(MISP),
        Some("knapsack") => Some(KNAPSACK),
        _ => None,
    };
    vec![
        time("time, ddo / filch", DDO, FILCH, against_ddo),
        time("time, two-serial / filch", TWO_SERIAL, FILCH, Some(SPEED_UP)),
        Goal { text: "nodes, ddo / filch", over: (DDO, NODES), under: (FILCH, NODES), required: None },
        Goal {
            text: "nodes a second, filch / ddo",
            over: (FILCH, NODES_A_SECOND),
            under: (DDO, NODES_A_SECOND),
            required: None,
        },
        Goal {
            text: "peak memory, ddo / filch",
            over: (DDO, PEAK_MEGABYTES),
            under: (FILCH, PEAK_MEGABYTES),
            required: None,
        },
    ]
}

/// All goals for which there are figures, as text.
pub(crate) fn summary(series: &[Series]) -> String {
    let header = ["goal", "threads", "ratio", "95 % interval", "required", ""].map(str::to_owned);
    let mut keys: Vec<(&str, usize)> = Vec::new();
    for series in series {
        if !keys.contains(&(&series.case, series.threads)) {
            keys.push((&series.case, series.threads));
        }
    }
    let lines: Vec<Vec<String>> = keys
        .iter()
        .flat_map(|&(case, threads)| {
            goals(case, threads).into_iter().filter_map(move |goal| line(case, threads, &goal, series))
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "Goals: ratios of medians. Ratios of times and of nodes a second say how many times as fast filch is; the ratio of nodes says how much of that\n\
         is due to another order of search. The interval is a 95 % confidence interval of the median of the ratios round by round; with fewer than\n\
         6 rounds it is their whole range.\n\n{}",
        figures::grid(&header, &lines)
    )
}

fn line(case: &str, threads: usize, goal: &Goal<'_>, series: &[Series]) -> Option<Vec<String>> {
    let find = |(name, unit): (&str, &str)| {
        series.iter().find(|series| {
            series.case == case && series.threads == threads && (series.name, series.unit) == (name, unit)
        })
    };
    let (over, under) = (find(goal.over)?, find(goal.under)?);
    let ratio = over.median() / under.median();
    let interval = stats::interval(&stats::paired_ratios(&over.samples, &under.samples))?;
    let verdict = goal.required.map_or("", |least| if ratio >= least { "met" } else { "missed" });
    Some(vec![
        format!("{case}: {}", goal.text),
        threads.to_string(),
        format!("{ratio:.2}"),
        format!("{:.2} to {:.2}", interval.low, interval.high),
        goal.required.map_or_else(String::new, |least| format!(">= {least:.2}")),
        verdict.to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(case: &str, name: &'static str, threads: usize, unit: &'static str, samples: &[f64]) -> Series {
        Series { case: case.to_owned(), name, threads, unit, samples: samples.to_vec(), note: None }
    }

    fn find(text: &str, start: &str, threads: usize) -> Option<String> {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        text.lines().map(words).find(|line| line.starts_with(&format!("{start} {threads} ")))
    }

    #[test]
    fn a_ratio_is_met_or_missed() {
        let all = [
            series("misp/a", FILCH, 2, MILLISECONDS, &[100.0, 100.0, 100.0]),
            series("misp/a", DDO, 2, MILLISECONDS, &[190.0, 190.0, 250.0]),
            series("misp/a", TWO_SERIAL, 2, MILLISECONDS, &[95.0, 95.0, 95.0]),
            series("golomb/c", FILCH, 2, MILLISECONDS, &[10.0]),
            series("golomb/c", TWO_SERIAL, 2, MILLISECONDS, &[5.0]),
            series("misp/a", FILCH, 1, MILLISECONDS, &[1.0]),
            series("misp/a", DDO, 1, MILLISECONDS, &[1.5]),
            series("knapsack/b", FILCH, 1, MILLISECONDS, &[1.0]),
            series("knapsack/b", DDO, 1, MILLISECONDS, &[0.9]),
        ];
        let text = summary(&all);
        let shown = |start, threads| find(&text, start, threads).unwrap();
        assert!(shown("misp/a: time, ddo / filch", 2).ends_with("1.90 1.90 to 2.50 >= 2.00 missed"), "{text}");
        assert!(shown("misp/a: time, two-serial / filch", 2).ends_with(">= 0.90 met"), "{text}");
        assert!(shown("golomb/c: time, two-serial / filch", 2).ends_with("0.50 0.50 to 0.50 >= 0.90 missed"), "{text}");
        // The goal for independent sets is for two threads.
        assert!(shown("misp/a: time, ddo / filch", 1).ends_with("1.50 1.50 to 1.50"), "{text}");
        assert!(shown("knapsack/b: time, ddo / filch", 1).ends_with(">= 1.00 missed"), "{text}");
    }

    #[test]
    fn without_figures_the_summary_is_empty() {
        assert!(summary(&[]).is_empty());
    }
}
