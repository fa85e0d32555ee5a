//! Performance goals for the runtime, beside the measured figures.
//!
//! This is a report: nothing depends on it.

use std::fmt;

use super::cases::{
    CPU_MICROS_A_CALL, CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK, MILLIS_A_RUN, NANOS_A_JOIN, NANOS_A_WAKE,
    POOL_CPU_MILLIS_A_SECOND, SERIAL_CALL_PAIR, SERIAL_PAIR, SWITCHES_A_SECOND, WIDTHS,
};
use crate::bench::work::Shape;
use crate::figures::{self, Series};
use crate::stats;

/// The required figure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Requirement {
    AtLeast(f64),
    AtMost(f64),
    MoreThan(f64),
    LessThan(f64),
    /// No requirement: the figure is shown for information.
    None,
}

impl Requirement {
    fn is_met(self, figure: f64) -> Option<bool> {
        match self {
            Requirement::AtLeast(least) => Some(figure >= least),
            Requirement::AtMost(most) => Some(figure <= most),
            Requirement::MoreThan(bound) => Some(figure > bound),
            Requirement::LessThan(bound) => Some(figure < bound),
            Requirement::None => None,
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::AtLeast(least) => write!(f, ">= {least:.2}"),
            Requirement::AtMost(most) => write!(f, "<= {most:.2}"),
            Requirement::MoreThan(bound) => write!(f, "> {bound:.2}"),
            Requirement::LessThan(bound) => write!(f, "< {bound:.2}"),
            Requirement::None => Ok(()),
        }
    }
}

/// An implementation and its number of threads.
type RunnerId = (&'static str, usize);

/// The figure that a goal is about.
#[derive(Clone, Debug)]
enum Figure {
    /// The time of the first as a multiple of the second's.
    Ratio(RunnerId, RunnerId),
    /// The time of the first as a multiple of that of the fastest of several.
    RatioToFastest(RunnerId, Vec<RunnerId>),
    /// The ratio of two speed-ups.
    ///
    /// The speed-up of a pair is the time of its first as a multiple of its second's.
    SpeedUps((RunnerId, RunnerId), (RunnerId, RunnerId)),
    /// The median of a figure.
    Median(RunnerId),
    /// The worst of all rounds.
    Worst(RunnerId),
}

/// A figure and the requirement.
#[derive(Clone, Debug)]
struct Goal {
    case: &'static str,
    unit: &'static str,
    figure: Figure,
    required: Requirement,
}

fn goals() -> Vec<Goal> {
    let goal = |case, unit, figure, required| Goal { case, unit, figure, required };
    // `within` is about how many times as long filch takes, `faster` about how many times as long
    // the other does.
    let within =
        |case, filch, other, most| goal(case, NANOS_A_JOIN, Figure::Ratio(filch, other), Requirement::AtMost(most));
    let faster = |case, filch, other, required| goal(case, NANOS_A_JOIN, Figure::Ratio(other, filch), required);
    let mut goals = vec![
        within("fib-38", ("filch-worker", 1), ("serial-call", 1), 1.15),
        within("fib-38", ("filch", 1), ("serial-call", 1), 1.3),
    ];
    for filch in [("filch-worker", 1), ("filch", 1)] {
        goals.push(faster("fib-38", filch, ("chili", 1), Requirement::MoreThan(1.0)));
        goals.push(faster("fib-38", filch, ("rayon", 1), Requirement::AtLeast(4.0)));
    }

    let filch = ("filch-worker", 2);
    for case in ["fib-38", "queens-13"] {
        // Two serial runs side by side are the most that the machine can do. Two comparisons use
        // them: their throughput, and their speed-up over a single run.
        goals.push(faster(case, filch, (SERIAL_PAIR, 2), Requirement::AtLeast(0.92)));
        goals.push(faster(case, filch, (SERIAL_CALL_PAIR, 2), Requirement::AtLeast(0.92)));
        let speed_ups = Figure::SpeedUps((("filch-worker", 1), filch), (("serial", 1), (SERIAL_PAIR, 2)));
        goals.push(goal(case, NANOS_A_JOIN, speed_ups, Requirement::AtLeast(0.92)));
    }

    let either = vec![("filch-worker", 2), ("filch-maybe", 2)];
    for (other, required) in [("chili", Requirement::AtLeast(1.0)), ("rayon", Requirement::AtLeast(2.0))] {
        goals.push(goal("tree-16m", NANOS_A_JOIN, Figure::RatioToFastest((other, 2), either.clone()), required));
        for filch in &either {
            goals.push(faster("tree-16m", *filch, (other, 2), Requirement::None));
        }
    }

    for filch in [("filch-worker", 2), ("filch", 2)] {
        goals.push(within("tree-1023", filch, ("serial", 1), 1.5));
        for case in ["tree-32767", "tree-32767-gap"] {
            for other in [("serial", 1), ("chili", 2), ("rayon", 2)] {
                goals.push(faster(case, filch, other, Requirement::MoreThan(1.0)));
            }
        }
    }
    for other in [("serial", 1), ("chili", 2), ("rayon", 2)] {
        let figure = Figure::Ratio(("filch-worker", 2), other);
        goals.push(goal("tree-32767-gap", CPU_MICROS_A_CALL, figure, Requirement::None));
    }

    // This means 0.000 seconds: less than half a millisecond.
    goals.push(goal("idle", CPU_MILLIS_A_SECOND, Figure::Median(("filch", 2)), Requirement::LessThan(0.5)));
    goals.push(goal("idle", POOL_CPU_MILLIS_A_SECOND, Figure::Worst(("filch", 2)), Requirement::LessThan(0.5)));
    goals.push(goal("idle", SWITCHES_A_SECOND, Figure::Worst(("filch", 2)), Requirement::AtMost(0.0)));
    for case in ["tick", "tick-serial"] {
        let figure = Figure::Ratio(("filch", 2), ("rayon", 2));
        goals.push(goal(case, EXTRA_CPU_MICROS_A_TICK, figure, Requirement::AtMost(1.0 / 3.0)));
    }
    for threads in [1, 2] {
        let figure = Figure::Ratio(("filch", threads), ("rayon", threads));
        goals.push(goal("wake", NANOS_A_WAKE, figure, Requirement::AtMost(1.0)));
    }
    for shape in Shape::ALL {
        // The chain of a comb goes from thief to thief, so steals are part of its time.
        let (any, rayon) = if shape == Shape::Comb { (1.08, 1.10) } else { (1.03, 1.05) };
        for threads in WIDTHS {
            for (other, most) in [("filch-any", any), ("rayon", rayon)] {
                let figure = Figure::Ratio(("filch", threads), (other, threads));
                goals.push(goal(shape.name(), MILLIS_A_RUN, figure, Requirement::AtMost(most)));
            }
        }
    }
    goals
}

/// All goals for which there are figures, as text.
pub(crate) fn summary(series: &[Series]) -> String {
    let header = ["goal", "unit", "figure", "95 % interval", "required", ""].map(str::to_owned);
    let lines: Vec<_> = goals().iter().filter_map(|goal| line(goal, series)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "Goals: `a / b` is the time of a divided by the time of b. The number after a name is its threads. A figure is a ratio of medians.\n\
         The interval is a 95 % confidence interval of the median of the ratios round by round; with fewer than 6 rounds it is their\n\
         whole range.\n\n{}",
        figures::grid(&header, &lines)
    )
}

fn line(goal: &Goal, series: &[Series]) -> Option<Vec<String>> {
    let find = |(name, threads): RunnerId| {
        series.iter().find(|series| {
            series.case == goal.case && series.unit == goal.unit && series.name == name && series.threads == threads
        })
    };
    let ratio = |(over, under): (RunnerId, RunnerId)| -> Option<(String, f64, Vec<f64>)> {
        let (a, b) = (find(over)?, find(under)?);
        let text = format!("{} {} / {} {}", over.0, over.1, under.0, under.1);
        Some((text, a.median() / b.median(), stats::paired_ratios(&a.samples, &b.samples)))
    };

    let (text, figure, rounds) = match &goal.figure {
        Figure::Ratio(over, under) => ratio((*over, *under))?,
        Figure::RatioToFastest(over, unders) => {
            let median = |runner: &RunnerId| find(*runner).map_or(f64::INFINITY, Series::median);
            let fastest = unders.iter().min_by(|a, b| median(a).total_cmp(&median(b)))?;
            let (text, figure, rounds) = ratio((*over, *fastest))?;
            (format!("{text}, the fastest of filch's"), figure, rounds)
        }
        Figure::SpeedUps(filch, others) => {
            let (filch_text, filch_figure, filch_rounds) = ratio(*filch)?;
            let (other_text, other_figure, other_rounds) = ratio(*others)?;
            let rounds = stats::paired_ratios(&filch_rounds, &other_rounds);
            (format!("({filch_text}) / ({other_text})"), filch_figure / other_figure, rounds)
        }
        Figure::Median(runner) => {
            let series = find(*runner)?;
            (format!("{} {}", runner.0, runner.1), series.median(), series.samples.clone())
        }
        Figure::Worst(runner) => {
            let samples = &find(*runner)?.samples;
            (format!("{} {}, worst round", runner.0, runner.1), stats::max(samples)?, samples.clone())
        }
    };
    let interval = stats::interval(&rounds)?;
    let verdict = match goal.required.is_met(figure) {
        Some(true) => "met",
        Some(false) => "not met",
        None => "",
    };
    Some(vec![
        format!("{}: {text}", goal.case),
        goal.unit.to_owned(),
        format!("{figure:.2}"),
        format!("{:.2} to {:.2}", interval.low, interval.high),
        goal.required.to_string(),
        verdict.to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(case: &str, (name, threads): RunnerId, unit: &'static str, samples: &[f64]) -> Series {
        Series { case: case.to_owned(), name, threads, unit, samples: samples.to_vec(), note: None }
    }

    fn fib(runner: RunnerId, samples: &[f64]) -> Series {
        series("fib-38", runner, NANOS_A_JOIN, samples)
    }

    fn verdict(figure: Figure, required: Requirement, series: &[Series]) -> Option<Vec<String>> {
        line(&Goal { case: "fib-38", unit: NANOS_A_JOIN, figure, required }, series).map(|line| line[2..].to_vec())
    }

    #[test]
    fn a_ratio_is_of_medians_and_its_interval_of_rounds() {
        let all = [fib(("filch", 1), &[1.0, 2.0, 9.0]), fib(("rayon", 1), &[8.0, 4.0, 18.0])];
        let ratio = || Figure::Ratio(("rayon", 1), ("filch", 1));
        assert_eq!(
            verdict(ratio(), Requirement::AtLeast(4.0), &all).unwrap(),
            ["4.00", "2.00 to 8.00", ">= 4.00", "met"]
        );
        assert_eq!(verdict(ratio(), Requirement::MoreThan(4.0), &all).unwrap()[3], "not met");
        assert_eq!(verdict(ratio(), Requirement::AtMost(4.0), &all).unwrap()[3], "met");
        assert_eq!(verdict(ratio(), Requirement::LessThan(4.0), &all).unwrap()[3], "not met");
        assert_eq!(verdict(ratio(), Requirement::None, &all).unwrap()[3], "");
    }

    #[test]
    fn threads_and_units_are_distinguished() {
        let all = [fib(("filch", 1), &[1.0]), fib(("filch", 2), &[2.0])];
        let ratio = verdict(Figure::Ratio(("filch", 2), ("filch", 1)), Requirement::None, &all).unwrap();
        assert_eq!(ratio[0], "2.00");
        let other_unit = [series("fib-38", ("filch", 1), CPU_MICROS_A_CALL, &[1.0])];
        assert!(verdict(Figure::Worst(("filch", 1)), Requirement::None, &other_unit).is_none());
    }

    #[test]
    fn speed_ups_are_compared_with_each_other() {
        let all = [
            fib(("filch-worker", 1), &[4.0]),
            fib(("filch-worker", 2), &[2.5]),
            fib(("serial", 1), &[2.0]),
            fib((SERIAL_PAIR, 2), &[1.25]),
        ];
        let filch = (("filch-worker", 1), ("filch-worker", 2));
        let figure = Figure::SpeedUps(filch, (("serial", 1), (SERIAL_PAIR, 2)));
        assert_eq!(verdict(figure, Requirement::AtLeast(0.92), &all).unwrap()[0], "1.00");
    }

    #[test]
    fn a_ratio_to_the_fastest_uses_the_fastest_of_several() {
        let all = [fib(("chili", 2), &[6.0]), fib(("filch-worker", 2), &[8.0]), fib(("filch-maybe", 2), &[5.0])];
        let either = vec![("filch-worker", 2), ("filch-maybe", 2)];
        let figure = Figure::RatioToFastest(("chili", 2), either);
        assert_eq!(verdict(figure, Requirement::AtLeast(1.0), &all).unwrap()[0], "1.20");
    }

    #[test]
    fn one_bad_round_is_enough_for_the_worst() {
        let all = [fib(("filch", 2), &[0.0, 3.0, 0.0])];
        let worst = verdict(Figure::Worst(("filch", 2)), Requirement::AtMost(0.0), &all).unwrap();
        assert_eq!((&*worst[0], &*worst[3]), ("3.00", "not met"));
        let median = verdict(Figure::Median(("filch", 2)), Requirement::AtMost(0.0), &all).unwrap();
        assert_eq!((&*median[0], &*median[3]), ("0.00", "met"));
    }

    #[test]
    fn without_figures_the_summary_is_empty() {
        assert!(summary(&[]).is_empty());
    }

    #[test]
    fn wide_programs_have_a_goal_for_each_number_of_workers_and_each_peer() {
        let all: Vec<Series> = ["filch", "filch-any", "rayon"]
            .into_iter()
            .flat_map(|name| WIDTHS.map(|threads| (name, threads)))
            .flat_map(|runner| {
                Shape::ALL.map(|shape| {
                    series(shape.name(), runner, MILLIS_A_RUN, &[if runner.0 == "filch" { 1.06 } else { 1.0 }])
                })
            })
            .collect();
        let text = summary(&all);
        let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        assert_eq!(count("wide-"), 6 * 3 * 2);
        assert_eq!((count(" not met"), count("wide-comb")), (5 * 3 * 2, 3 * 2));
    }
}
