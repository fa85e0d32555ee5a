//! Charts of every kind, as a run produces them, for tests.

use super::{BarSeries, Bars, Chart, Estimate, HeatMap, Lanes, Line, Lines};

/// Returns a figure with an interval.
pub(super) fn estimate(value: f64) -> Estimate {
    Estimate { value, low: value * 0.96, high: value * 1.05 }
}

/// Returns `groups` groups with `series` bars each.
pub fn bars(groups: usize, series: usize) -> Chart {
    let known = ["the", "thep", "ff_the", "filch", "rayon", "chase_lev", "asymmetric", "thep (delta 4)"];
    let name = |place: usize| known.get(place).map_or_else(|| format!("contender {place}"), ToString::to_string);
    let programs =
        ["fib", "jacobi", "quicksort", "matmul", "integrate", "knapsack", "cholesky", "heat", "lu", "strassen"];
    let group = |place: usize| programs.get(place).map_or_else(|| format!("program-{place}"), ToString::to_string);
    let value = |place: usize, group: usize| 1.0 + 0.35 * ((place * 7 + group * 3) % 11) as f64 / 11.0 - 0.15;
    let bars = |place: usize| {
        let bars = (0..groups).map(|group| (place + group != 5).then(|| estimate(value(place, group))));
        BarSeries { name: name(place), bars: bars.collect() }
    };
    Chart::Bars(Bars {
        axis: "run time, THE = 1, shorter is better".to_owned(),
        groups: (0..groups).map(group).collect(),
        series: (0..series).map(bars).collect(),
        reference: Some(1.0),
    })
}

/// Returns the knee of a store buffer, with a band.
pub fn knee() -> Chart {
    let point = |k: u32| {
        let value = if k <= 72 { 151.0 + f64::from(k) * 0.06 } else { 155.0 + 3.4 * f64::from(k - 72) };
        (f64::from(k), Estimate { value, low: value - 3.0, high: value + 5.0 })
    };
    Chart::Lines(Lines {
        x_axis: "stores in a row".to_owned(),
        y_axis: "cycles per round".to_owned(),
        log_x: false,
        log_y: false,
        lines: vec![Line { name: "150 multiplications".to_owned(), points: (1..=110).map(point).collect() }],
        marker: Some((72.5, "knee at 72 stores".to_owned())),
    })
}

/// Returns lines with two logarithmic axes and few points.
pub fn logarithmic() -> Chart {
    let line = |name: &str, factor: f64| {
        let points = (0..7).map(|power| {
            let x = f64::from(1 << (2 * power));
            (x, estimate(factor * x.powf(0.8)))
        });
        Line { name: name.to_owned(), points: points.collect() }
    };
    Chart::Lines(Lines {
        x_axis: "nodes in the batch".to_owned(),
        y_axis: "ns per push".to_owned(),
        log_x: true,
        log_y: true,
        lines: vec![line("bulk", 4.0), line("chase_lev", 9.0), line("crossbeam-lifo", 14.0), line("st3-lifo", 7.0)],
        marker: None,
    })
}

/// Returns a sweep of the litmus test: incorrect below the line.
pub fn sweep() -> Chart {
    let mut cells = Vec::new();
    for hidden in (1..=37).step_by(2) {
        for delta in (1..=40).step_by(2) {
            let share =
                if delta >= hidden { 0.0 } else { 0.3 * f64::from(hidden - delta) / f64::from(hidden * hidden) };
            cells.push((hidden, delta, share));
        }
    }
    Chart::HeatMap(HeatMap {
        x_axis: "most pops that S = 73 can hide".to_owned(),
        y_axis: "delta".to_owned(),
        cells,
        diagonal: true,
    })
}

/// Returns two workers, divided in advance and by stealing.
pub fn balance() -> Chart {
    let pieces = |from: u32, to: u32, stolen: bool| {
        (from..to).map(move |n| (f64::from(n) * 2.0, f64::from(n) * 2.0 + 1.9, stolen)).collect::<Vec<_>>()
    };
    let fixed = vec![("worker 0".to_owned(), pieces(0, 60, false)), ("worker 1".to_owned(), pieces(0, 14, false))];
    let stolen = [pieces(0, 14, false), pieces(14, 37, true)].concat();
    let stealing = vec![("worker 0".to_owned(), pieces(0, 37, false)), ("worker 1".to_owned(), stolen)];
    Chart::Lanes(Lanes {
        axis: "milliseconds".to_owned(),
        groups: vec![("divided in advance".to_owned(), fixed), ("stealing".to_owned(), stealing)],
    })
}

/// Returns a chart of each kind.
pub fn all() -> Vec<(&'static str, Chart)> {
    vec![
        ("columns", bars(4, 3)),
        ("programs", bars(10, 4)),
        ("panels", bars(14, 15)),
        ("knee", knee()),
        ("logarithmic", logarithmic()),
        ("sweep", sweep()),
        ("balance", balance()),
    ]
}
