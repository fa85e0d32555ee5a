//! A case as a table, with a line for each contender and both thread counts.

use super::setup::{NANOS_A_VERTEX, REDUNDANT, STOLEN};
use crate::bench::SERIAL;
use crate::figures::{self, number, Series};
use crate::queue::Queue;
use crate::stats;

/// The contenders and thread counts whose time is the baseline of speed-ups, if they were measured.
const BASELINES: [(&str, usize); 2] = [(Queue::ChaseLev.name(), 1), (SERIAL, 1)];

/// The table of a case.
///
/// A speed-up is the time of filch's Chase-Lev on one thread, divided by the contender's time. In a
/// case without it, it is that of the serial loop.
pub(crate) fn table(series: &[Series]) -> String {
    let find = |(name, threads): (&str, usize), unit: &str| {
        series.iter().find(|series| (series.name, series.threads, series.unit) == (name, threads, unit))
    };
    let (mut names, mut counts) = (Vec::new(), Vec::new());
    for series in series {
        if !names.contains(&series.name) {
            names.push(series.name);
        }
        if !counts.contains(&series.threads) {
            counts.push(series.threads);
        }
    }

    let mut header = vec!["impl".to_owned()];
    for &threads in &counts {
        header.extend([figures::threads(threads), "best".to_owned(), "speed-up".to_owned()]);
    }
    header.extend(["redundant".to_owned(), "stolen".to_owned(), String::new()]);

    let baseline = BASELINES.iter().find_map(|&name| find(name, NANOS_A_VERTEX)).map(Series::median);
    let line = |name: &str| {
        let mut line = vec![name.to_owned()];
        for &threads in &counts {
            let time = find((name, threads), NANOS_A_VERTEX);
            let speed_up = baseline.zip(time).map(|(baseline, time)| format!("{:.2}", baseline / time.median()));
            line.push(time.map(|time| number(time.median())).unwrap_or_default());
            line.push(time.and_then(|time| stats::min(&time.samples)).map(number).unwrap_or_default());
            line.push(speed_up.unwrap_or_default());
        }
        let most = counts.iter().copied().max().unwrap_or(1);
        for unit in [REDUNDANT, STOLEN] {
            line.push(find((name, most), unit).map(|series| percent(series.median())).unwrap_or_default());
        }
        let noted = series.iter().find(|series| series.name == name && series.note.is_some());
        line.push(noted.and_then(|series| series.note.clone()).unwrap_or_default());
        line
    };
    figures::grid(&header, &names.into_iter().map(line).collect::<Vec<_>>())
}

/// Formats a share. Shares are small, and one that is not zero must not look like zero.
fn percent(share: f64) -> String {
    match share {
        share if share != 0.0 && share < 0.01 => "< 0.01 %".to_owned(),
        share => format!("{share:.2} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_ups_are_relative_to_chase_lev_on_one_thread() {
        let series = |name, threads, unit, samples: &[f64]| Series {
            case: "closure/torus-1m".to_owned(),
            name,
            threads,
            unit,
            samples: samples.to_vec(),
            note: None,
        };
        let text = table(&[
            series("serial", 1, NANOS_A_VERTEX, &[8.0]),
            series("chase_lev", 1, NANOS_A_VERTEX, &[30.0, 20.0, 25.0]),
            series("chase_lev", 1, REDUNDANT, &[0.0]),
            series("chase_lev", 2, NANOS_A_VERTEX, &[12.5]),
            series("chase_lev", 2, REDUNDANT, &[0.001]),
            series("chase_lev", 2, STOLEN, &[3.0]),
        ]);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "impl       1 thread  best  speed-up  2 threads  best  speed-up  redundant  stolen",
                "serial         8.00  8.00      3.12",
                "chase_lev      25.0  20.0      1.00       12.5  12.5      2.00   < 0.01 %  3.00 %",
            ]
        );
    }
}
