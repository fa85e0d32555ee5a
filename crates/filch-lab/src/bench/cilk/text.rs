//! The figures of the paper as text.

use std::collections::BTreeSet;

use super::normalised::{fence_removal, is_fine_grained, normalised, FenceRemoval, Ratio, BASELINE, WITHOUT_A_FENCE};
use super::{ABORTS_A_RUN, STEALS_A_RUN};
use crate::figures::{self, Series};

/// The cells of a ratio: its median, and the range of most rounds.
fn cells(ratio: Option<Ratio>) -> (String, String) {
    match ratio {
        Some(ratio) => (format!("{:.2}", ratio.median), format!("{:.2}-{:.2}", ratio.p10, ratio.p90)),
        None => ("-".to_owned(), String::new()),
    }
}

/// Two lines of a table: the ratios, and under them the ranges of most rounds.
fn lines(title: &str, ratios: &[Option<Ratio>]) -> [Vec<String>; 2] {
    let (medians, ranges): (Vec<String>, Vec<String>) = ratios.iter().map(|&ratio| cells(ratio)).unzip();
    let end = std::iter::once(String::new());
    [
        std::iter::once(title.to_owned()).chain(medians).chain(end.clone()).collect(),
        std::iter::once(String::new()).chain(ranges).chain(end).collect(),
    ]
}

/// Figure 10, for each number of threads.
pub(super) fn figure_10(series: &[Series]) -> String {
    let threads: BTreeSet<usize> =
        series.iter().filter(|series| series.name == BASELINE).map(|series| series.threads).collect();
    threads.into_iter().map(|threads| figure_10_of(series, threads)).collect()
}

fn figure_10_of(series: &[Series], threads: usize) -> String {
    let figure = normalised(series, threads);
    let mut header = vec![String::new()];
    header.extend(figure.names.iter().map(|&name| name.to_owned()));
    header.push(String::new());
    let mut table: Vec<Vec<String>> =
        figure.programs.iter().flat_map(|program| lines(&program.case, &program.ratios)).collect();
    table.extend(lines("geometric mean", &figure.all));
    table.extend(lines("of fine-grained", &figure.fine_grained));
    format!(
        "\nRun times with {} as multiples of those of {BASELINE}, round by round (figure 10): the median, and under it the 10th and 90th percentile.\n\n{}",
        figures::threads(threads),
        figures::grid(&header, &table)
    )
}

/// Figure 1.
pub(super) fn figure_1(series: &[Series]) -> String {
    let bars = fence_removal(series);
    let mut cases: Vec<&str> = Vec::new();
    for bar in &bars {
        if !cases.contains(&&*bar.case) {
            cases.push(&bar.case);
        }
    }
    if cases.is_empty() {
        return String::new();
    }
    let find = |case: &str, (fenced, free): (&str, &str)| {
        let is_it = |bar: &&FenceRemoval| (&*bar.case, bar.fenced, bar.free) == (case, fenced, free);
        bars.iter().find(is_it).map(|bar| bar.ratio)
    };
    let mut header = vec![String::new()];
    header.extend(WITHOUT_A_FENCE.map(|(fenced, free)| format!("{free} / {fenced}")));
    header.push(String::new());
    let line = |case: &&str| lines(case, &WITHOUT_A_FENCE.map(|pair| find(case, pair)));
    let mut table: Vec<Vec<String>> = cases.iter().flat_map(line).collect();
    let mean = |wanted: fn(&str) -> bool| {
        WITHOUT_A_FENCE.map(|pair| {
            let of_cases = cases.iter().filter(|case| wanted(case)).map(|case| find(case, pair));
            Ratio::mean(&of_cases.collect::<Option<Vec<Ratio>>>()?)
        })
    };
    table.extend(lines("geometric mean", &mean(|_| true)));
    table.extend(lines("of fine-grained", &mean(is_fine_grained)));
    format!(
        "\nRun times with 1 thread without the owner's fence, as multiples of those with it (figure 1).\n\n{}",
        figures::grid(&header, &table)
    )
}

/// A table of median thefts by program and queue, with refusals behind a slash.
pub(super) fn thefts(series: &[Series]) -> String {
    let of_unit =
        |unit: &'static str| series.iter().filter(move |series| series.unit == unit && !series.samples.is_empty());
    let (mut cases, mut names) = (Vec::<&str>::new(), Vec::<&'static str>::new());
    for series in of_unit(STEALS_A_RUN) {
        if !cases.contains(&&*series.case) {
            cases.push(&series.case);
        }
        if !names.contains(&series.name) {
            names.push(series.name);
        }
    }
    if cases.is_empty() {
        return String::new();
    }
    let median = |case: &str, name: &str, unit| {
        of_unit(unit).find(|series| series.case == case && series.name == name).map(Series::median)
    };
    let count = |figure: f64| figures::grouped(figure.round() as usize);
    let cell = |case: &str, name: &str| match (median(case, name, STEALS_A_RUN), median(case, name, ABORTS_A_RUN)) {
        (Some(steals), Some(0.0) | None) => count(steals),
        (Some(steals), Some(aborts)) => format!("{}/{}", count(steals), count(aborts)),
        (None, _) => "-".to_owned(),
    };
    let mut header = vec![String::new()];
    header.extend(names.iter().map(|&name| name.to_owned()));
    header.push(String::new());
    let line = |case: &&str| {
        let mut line = vec![(*case).to_owned()];
        line.extend(names.iter().map(|name| cell(case, name)));
        line.push(String::new());
        line
    };
    let table: Vec<Vec<String>> = cases.iter().map(line).collect();
    let never: Vec<&str> =
        cases.iter().copied().filter(|case| median(case, "ff_the", STEALS_A_RUN) == Some(0.0)).collect();
    format!(
        "\nJobs stolen in a run, medians, and after a slash the attempts that the queue refused. ff_the stole nothing in {} of {} programs.\n\n{}\n",
        never.len(),
        cases.len(),
        figures::grid(&header, &table)
    )
}

#[cfg(test)]
mod tests {
    use super::super::normalised::tests::series;
    use super::*;

    #[test]
    fn figures_have_a_line_for_each_program_and_one_for_the_mean() {
        let all = [
            series("fib-42", ("the", 1), &[2.0]),
            series("fib-42", ("thep", 1), &[1.5]),
            series("lu-1024", ("the", 1), &[1.0]),
            series("lu-1024", ("thep", 1), &[1.0]),
        ];
        let text = figure_10(&all);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        for line in [
            &["fib-42", "1.00", "0.75"][..],
            &["1.00-1.00", "0.75-0.75"],
            &["geometric", "mean", "1.00", "0.87"],
            &["of", "fine-grained", "1.00", "0.75"],
        ] {
            assert!(lines.contains(&line.to_vec()), "{line:?} is not in {text}");
        }
        let text = figure_1(&all);
        assert!(text.contains("thep / the") && text.contains("lu-1024"), "{text}");
        assert_eq!((figure_10(&[]), figure_1(&[]), thefts(&[])), (String::new(), String::new(), String::new()));
    }

    #[test]
    fn programs_in_which_ff_the_stole_nothing_are_counted() {
        let of = |case, name, unit, figure| Series { unit, ..series(case, (name, 2), &[figure]) };
        let text = thefts(&[
            of("fib-42", "ff_the", STEALS_A_RUN, 0.0),
            of("fib-42", "ff_the", ABORTS_A_RUN, 12_345.0),
            of("fib-42", "the", STEALS_A_RUN, 70.0),
            of("fib-42", "the", ABORTS_A_RUN, 0.0),
            of("lu-1024", "ff_the", STEALS_A_RUN, 3.0),
        ]);
        assert!(text.contains("ff_the stole nothing in 1 of 2 programs"), "{text}");
        assert!(text.contains("0/12,345") && text.contains("70"), "{text}");
    }
}
